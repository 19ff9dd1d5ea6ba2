//! An HTTP server that counts the bytes, characters and lines of uploads of any size, in constant memory,
//! and reports where they are not text.
//!
//! It shows `Utf8Body` around the body of an axum request, and how its errors become answers: see the
//! functions `upload` and `count` in `src/upload.rs`.
//!
//! ```text
//! cargo run --release -p servers --bin http_upload
//! ```
//!
//! Without arguments, or with `--self-test`, it uploads to itself over a loopback socket, and exits with 0
//! if every answer is right. With `--gigabyte`, one of the uploads is 1 GiB. To serve:
//!
//! ```text
//! cargo run --release -p servers --bin http_upload -- --listen 127.0.0.1:8080
//! curl --data-binary @notes.txt -H 'Content-Type: text/plain; charset=utf-8' http://127.0.0.1:8080/
//! ```

#[path = "../../../support/output.rs"]
mod output;

use std::convert::Infallible;
use std::error::Error;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Parser;
use futures::stream;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Body, Client};
use serde_json::{Value, json};
use servers::socket::seconds;
use servers::upload::{self, Limits};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use output::{complain, say};

/// An HTTP server that counts the text of uploads.
#[derive(Debug, Parser)]
#[command(name = "http_upload")]
struct Arguments {
    /// The address to listen on (port 0: any free port).
    #[arg(long, value_name = "ADDR", conflicts_with = "self_test")]
    listen: Option<SocketAddr>,
    /// The longest upload, in bytes [default: no limit].
    #[arg(long, value_name = "BYTES", requires = "listen")]
    limit: Option<u64>,
    /// The longest time for the header of a request, also before its first byte.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    header_timeout: Duration,
    /// The longest time without a byte of the body.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    idle_timeout: Duration,
    /// The longest time for a whole body.
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = seconds)]
    upload_timeout: Duration,
    /// The longest time in which a client accepts no byte of the answer.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    write_timeout: Duration,
    /// How long to read what a rejected client still sends, so that it receives the answer.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    drain_timeout: Duration,
    /// How many bytes to read of it.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().drain_bytes)]
    drain_bytes: u64,
    /// The most connections at a time; others wait.
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// Uploads to itself, checks the answers, and exits; this is the default.
    #[arg(long)]
    self_test: bool,
    /// Makes one upload of the self-test 1 GiB long.
    #[arg(long, conflicts_with = "listen")]
    gigabyte: bool,
}

impl Arguments {
    fn limits(&self) -> Limits {
        Limits {
            body: self.limit.unwrap_or(u64::MAX),
            header: self.header_timeout,
            idle: self.idle_timeout,
            upload: self.upload_timeout,
            write: self.write_timeout,
            drain: self.drain_timeout,
            drain_bytes: self.drain_bytes,
            connections: self.max_connections,
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.listen {
        Some(address) => listen(address, arguments.limits()).await.map_err(Into::into),
        None => self_test(if arguments.gigabyte { 1 << 30 } else { 64 << 20 }).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(error);
            ExitCode::FAILURE
        }
    }
}

async fn listen(address: SocketAddr, limits: Limits) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    say(format_args!("listening on http://{}/", listener.local_addr()?))?;
    upload::serve(listener, limits).await;
    Ok(())
}

// ---- the self-test -------------------------------------------------------------------------------

/// The longest upload in the test, in bytes.
const LIMIT: u64 = 2 << 30;

type Outcome = Result<(), Box<dyn Error>>;

/// Runs every test, one with an upload of at least `upload` bytes, and prints each result. The first wrong answer is an error.
async fn self_test(upload: u64) -> Outcome {
    let (address, server) = upload::start(Limits { body: LIMIT, ..Limits::default() }).await?;
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
        say(format_args!("ok: {} bytes in chunks of every size: {expected}", TEXT.len()))?;
        Ok(())
    }

    async fn errors_have_offsets(&self) -> Outcome {
        let (status, answer) = self.post("utf-8", &b"caf\xC3\xA9\ncaf\xE9\n"[..]).await?;
        let expected = json!({
            "error": "invalid UTF-8 in the body at byte 9: truncated character (e9, followed by 0a)",
            "kind": "truncated character", "offset": 9, "line": 2, "bytes": "e9",
        });
        expect((status, &answer), (400, &expected))?;
        say(format_args!("ok: {status} {answer}"))?;
        let (status, answer) = self.post("utf-8", &b"10 \xE2\x82"[..]).await?;
        expect((status, &answer["kind"]), (400, &json!("unexpected end inside a character")))?;
        say(format_args!("ok: {status} {answer}"))?;
        Ok(())
    }

    async fn other_charsets(&self) -> Outcome {
        let (status, answer) = self.post("Shift_JIS", &b"\x93\xFA\x96{\n"[..]).await?;
        let expected = json!({ "charset": "Shift_JIS", "bytes": 7, "chars": 3, "lines": 1 });
        expect((status, &answer), (200, &expected))?;
        say(format_args!("ok: {status} {answer}"))?;
        let (status, answer) = self.post("klingon", "").await?;
        expect((status, &answer["kind"]), (415, &json!("charset")))?;
        say(format_args!("ok: {status} {answer}"))?;
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
        say(format_args!("ok: {first}, before the body was sent"))?;
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
        say("ok: a client disconnected inside a character, and the next one was served")?;
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
        say(format_args!("ok: {total} bytes in {seconds:.2} s, {speed:.0} MB/s: {answer}"))?;
        let (Some(before), Some(after)) = (before, peak_memory()) else {
            say("    (peak memory is unknown on this system)")?;
            return Ok(());
        };
        let peak = "peak memory of client and server";
        say(format_args!("    {peak}: {before} KiB before, {after} KiB after"))?;
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
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// The memory that buffers and the allocator may use, whatever the length of an upload, in KiB.
const GROWTH_KIB: u64 = 16 * 1024;

/// A text with characters of one to four bytes.
const TEXT: &str = "Grüße, Привет, שלום\n色は匂へど 👋🏽 ok\n";
