//! Sends uploads to the server over a loopback socket, and checks its answers.

use std::convert::Infallible;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use bytes::Bytes;
use futures::stream;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Body, Client};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::Limits;

/// The longest upload in the test, in bytes.
pub const LIMIT: u64 = 2 << 30;

type Outcome = Result<(), Box<dyn Error>>;

/// Starts a server on a free port.
///
/// # Errors
///
/// Those of the socket.
pub async fn start(limits: Limits) -> std::io::Result<(SocketAddr, JoinHandle<()>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    Ok((address, tokio::spawn(super::serve(listener, limits))))
}

/// Runs every test, one with an upload of at least `upload` bytes, and prints each result.
///
/// # Errors
///
/// The first wrong answer.
pub async fn run(upload: u64) -> Outcome {
    let (address, server) = start(Limits { body: LIMIT, ..Limits::default() }).await?;
    let peer = Peer { address, client: Client::new() };
    peer.text_in_chunks_of_every_size().await?;
    peer.errors_have_offsets().await?;
    peer.other_charsets().await?;
    peer.rejected_before_it_is_sent().await?;
    peer.disconnects_in_the_middle().await?;
    peer.large(upload).await?;
    server.abort();
    Ok(())
}

/// A client, and the address of its server.
#[derive(Debug)]
struct Peer {
    address: SocketAddr,
    client: Client,
}

impl Peer {
    async fn post(
        &self,
        charset: &str,
        body: impl Into<Body>,
    ) -> Result<(u16, Value), reqwest::Error> {
        let request = self
            .client
            .post(format!("http://{}/", self.address))
            .header(CONTENT_TYPE, format!("text/plain; charset={charset}"));
        let response = request.body(body).send().await?;
        let status = response.status().as_u16();
        let answer = serde_json::from_slice(&response.bytes().await?).unwrap_or_default();
        Ok((status, answer))
    }

    async fn text_in_chunks_of_every_size(&self) -> Outcome {
        let expected = json!({ "charset": "UTF-8", "bytes": 60, "chars": 32, "lines": 2 });
        for size in 1..=TEXT.len() {
            let chunks = TEXT.as_bytes().chunks(size).map(Ok::<_, Infallible>);
            let (status, answer) =
                self.post("utf-8", Body::wrap_stream(stream::iter(chunks))).await?;
            expect((status, &answer), (200, &expected))?;
        }
        println!("ok: {} bytes in chunks of every size: {expected}", TEXT.len());
        Ok(())
    }

    async fn errors_have_offsets(&self) -> Outcome {
        let (status, answer) = self.post("utf-8", &b"caf\xC3\xA9\ncaf\xE9\n"[..]).await?;
        let expected = json!({
            "error": "invalid UTF-8 in the body at byte 9: truncated character (e9, followed by 0a)",
            "kind": "truncated character", "offset": 9, "line": 2, "bytes": "e9",
        });
        expect((status, &answer), (400, &expected))?;
        println!("ok: {status} {answer}");
        let (status, answer) = self.post("utf-8", &b"10 \xE2\x82"[..]).await?;
        expect((status, &answer["kind"]), (400, &json!("unexpected end inside a character")))?;
        println!("ok: {status} {answer}");
        Ok(())
    }

    async fn other_charsets(&self) -> Outcome {
        let (status, answer) = self.post("Shift_JIS", &b"\x93\xFA\x96{\n"[..]).await?;
        let expected = json!({ "charset": "Shift_JIS", "bytes": 7, "chars": 3, "lines": 1 });
        expect((status, &answer), (200, &expected))?;
        println!("ok: {status} {answer}");
        let (status, answer) = self.post("klingon", "").await?;
        expect((status, &answer["kind"]), (415, &json!("charset")))?;
        println!("ok: {status} {answer}");
        Ok(())
    }

    /// A client that waits for `100 Continue` is rejected before it sends the body.
    async fn rejected_before_it_is_sent(&self) -> Outcome {
        let mut socket = TcpStream::connect(self.address).await?;
        let head = format!(
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\
             Connection: close\r\n\r\n",
            LIMIT + 1
        );
        socket.write_all(head.as_bytes()).await?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await?;
        let first = answer.lines().next().unwrap_or_default();
        expect((0, &json!(first)), (0, &json!("HTTP/1.1 413 Payload Too Large")))?;
        println!("ok: {first}, before the body was sent");
        Ok(())
    }

    /// A client that disconnects does not affect the others.
    async fn disconnects_in_the_middle(&self) -> Outcome {
        let mut socket = TcpStream::connect(self.address).await?;
        socket
            .write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n\xE2\x82")
            .await?;
        drop(socket);
        let (status, answer) = self.post("utf-8", "still here").await?;
        expect((status, &answer["chars"]), (200, &json!(10)))?;
        println!("ok: a client disconnected inside a character, and the next one was served");
        Ok(())
    }

    /// An upload of at least `len` bytes, generated while it is sent.
    async fn large(&self, len: u64) -> Outcome {
        const FRAME: u64 = 16381;
        let text = Bytes::from(TEXT.repeat(FRAME as usize / TEXT.len() + 2));
        let sent = len.div_ceil(FRAME) * FRAME;
        // Each frame starts where the previous one ended.
        let frames = (0..sent / FRAME).map(move |n| {
            let at = (n * FRAME % TEXT.len() as u64) as usize;
            Ok::<_, Infallible>(text.slice(at..at + FRAME as usize))
        });
        let rest = Bytes::from_static(&TEXT.as_bytes()[(sent % TEXT.len() as u64) as usize..]);
        let total = sent + rest.len() as u64;
        let body = Body::wrap_stream(stream::iter(frames.chain([Ok(rest)])));
        let (before, start) = (peak_memory(), Instant::now());
        let (status, answer) = self.post("utf-8", body).await?;
        let seconds = start.elapsed().as_secs_f64();
        expect((status, &answer["bytes"]), (200, &json!(total)))?;
        let speed = total as f64 / seconds / 1e6;
        println!("ok: {total} bytes in {seconds:.2} s, {speed:.0} MB/s: {answer}");
        let (Some(before), Some(after)) = (before, peak_memory()) else {
            println!("    (peak memory is unknown on this system)");
            return Ok(());
        };
        println!("    peak memory of client and server: {before} KiB before, {after} KiB after");
        if after > before + GROWTH_KIB {
            return Err(format!("the memory grew by more than {GROWTH_KIB} KiB").into());
        }
        Ok(())
    }
}

fn expect(seen: (u16, &Value), wanted: (u16, &Value)) -> Outcome {
    if seen == wanted {
        return Ok(());
    }
    Err(format!("{} {} instead of {} {}", seen.0, seen.1, wanted.0, wanted.1).into())
}

/// The peak memory of this process so far, in KiB.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// The memory that buffers and the allocator may use, whatever the length of an upload, in KiB.
const GROWTH_KIB: u64 = 16 * 1024;

/// A text with characters of one to four bytes.
const TEXT: &str = "Grüße, Привет, שלום\n色は匂へど 👋🏽 ok\n";
