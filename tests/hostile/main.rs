//! Malicious peers on loopback sockets: memory stays bounded, other connections continue, and no valid
//! byte is lost.
//!
//! Each test runs on one thread, so that the allocator's count for the thread is that of the test, with
//! both ends of its connections.
#![cfg(all(feature = "codec", feature = "stream"))]

#[path = "../support/counting.rs"]
mod counting;
mod floods;
mod neighbours;
mod slow;

use std::future::Future;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use std::{io, iter};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Both ends of `count` new connections, with TCP_NODELAY.
async fn connections(count: usize) -> (Vec<TcpStream>, Vec<TcpStream>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (mut near, mut far) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        let (ours, theirs) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (ours, theirs) = (ours.unwrap(), theirs.unwrap().0);
        ours.set_nodelay(true).unwrap();
        theirs.set_nodelay(true).unwrap();
        near.push(ours);
        far.push(theirs);
    }
    (near, far)
}

async fn connection() -> (TcpStream, TcpStream) {
    let (mut near, mut far) = connections(1).await;
    (near.remove(0), far.remove(0))
}

/// Waits for `future`; fails instead of hanging.
async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(60), future).await.expect("hangs")
}

/// `wanted` connections, or as many as this process may open, beside those of other tests.
fn as_many_as(wanted: usize) -> usize {
    #[cfg(unix)]
    let files = rlimit::increase_nofile_limit(u64::MAX).map_or(256, |files| files as usize);
    #[cfg(not(unix))]
    let files = 1000;
    wanted.min(files.saturating_sub(128) / 4).max(1)
}

/// Text in many scripts with characters of all lengths, at least this many bytes.
fn multilingual(least: usize) -> String {
    let samples =
        ["Съешь ещё булок, ", "色は匂へど散りぬるを、", "👩‍👩‍👧‍👦 🏳️‍🌈 𝒜𝒷𝒸 ", "né, à Zürich; ", "plain, "];
    let mut text = String::with_capacity(least + 64);
    for (number, sample) in iter::zip(0.., samples.into_iter().cycle()) {
        if text.len() >= least {
            return text;
        }
        text += &format!("{number} {sample}");
    }
    text
}

/// Counts the reads that return data.
struct Counted<R> {
    reader: R,
    reads: usize,
}

impl<R> Counted<R> {
    fn new(reader: R) -> Self {
        Self { reader, reads: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Counted<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let poll = Pin::new(&mut self.reader).poll_read(cx, buffer);
        self.reads += usize::from(buffer.filled().len() > before);
        poll
    }
}

mod faults {
    //! Connections that break, tasks that are aborted, consumers that panic.

    use std::panic::resume_unwind;

    use futures::StreamExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::sync::mpsc;
    use tokio_util::codec::FramedRead;
    use utf8_codec::codec::{CodecError, Utf8Codec, Utf8LinesCodec};
    use utf8_codec::stream::{StreamError, Utf8Reader, Utf8Stream};

    use crate::{connections, counting, multilingual, soon};

    /// Reads until the connection breaks, and reports each text as it arrives.
    async fn read_until_it_breaks(
        number: usize,
        socket: TcpStream,
        heard: mpsc::UnboundedSender<(usize, usize)>,
    ) -> String {
        let mut text = String::new();
        let report = |text: &str| heard.send((number, text.len())).unwrap();
        match number % 3 {
            0 => {
                let mut reader = Utf8Reader::new(socket);
                loop {
                    match reader.next_str().await {
                        Ok(read) => {
                            text.push_str(read.expect("the connection breaks before it ends"))
                        }
                        Err(StreamError::Inner(_)) => break,
                        Err(error) => panic!("{error}"),
                    }
                    report(&text);
                }
                assert!(b"\xE2\x82".starts_with(reader.rest()), "{:02x?}", reader.rest());
            }
            1 => {
                let mut texts = FramedRead::new(socket, Utf8Codec::new());
                loop {
                    match texts.next().await.expect("the connection breaks before it ends") {
                        Ok(read) => text.push_str(&read),
                        Err(CodecError::Io(_)) => break,
                        Err(error) => panic!("{error}"),
                    }
                    report(&text);
                }
                assert!(b"\xE2\x82".starts_with(texts.read_buffer()), "{texts:?}");
            }
            _ => {
                let mut texts = Utf8Stream::from_reader(socket);
                while let Some(Ok(read)) = texts.next().await {
                    text.push_str(&read);
                    report(&text);
                }
                assert!(b"\xE2\x82".starts_with(texts.decoder().incomplete()), "{texts:?}");
            }
        }
        text
    }

    #[tokio::test]
    async fn a_reset_inside_a_character_keeps_earlier_text_and_other_connections() {
        let text = multilingual(20_000);
        let (peers, sockets) = connections(300).await;
        let before = counting::held();
        let (heard, mut hearings) = mpsc::unbounded_channel();
        let tasks: Vec<_> = sockets
            .into_iter()
            .enumerate()
            .map(|(number, socket)| {
                tokio::spawn(read_until_it_breaks(number, socket, heard.clone()))
            })
            .collect();
        let mut waiting = Vec::new();
        for (number, mut peer) in peers.into_iter().enumerate() {
            soon(peer.write_all(text.as_bytes())).await.unwrap();
            peer.write_all(b"\xE2\x82").await.unwrap();
            peer.set_zero_linger().unwrap();
            // Every other peer resets at once: some of what it sent may never be read.
            waiting.push((number % 2 == 0).then_some(peer));
        }
        while waiting.iter().any(Option::is_some) {
            let (number, length) = soon(hearings.recv()).await.unwrap();
            if length == text.len() {
                waiting[number] = None;
            }
        }
        for (number, task) in tasks.into_iter().enumerate() {
            let seen = soon(task).await.unwrap();
            assert!(text.starts_with(&seen), "connection {number}");
            assert!(number % 2 == 1 || seen == text, "connection {number}: {} bytes", seen.len());
        }
        drop((heard, hearings, waiting));
        let more = counting::held() - before;
        assert!(more <= 64 * 1024, "{more} bytes are still held");
    }

    #[tokio::test]
    async fn a_task_aborted_inside_a_character_frees_its_memory() {
        let line = multilingual(3000) + "€";
        let (mut peers, sockets) = connections(200).await;
        let (heard, mut hearings) = mpsc::unbounded_channel();
        let serve = |number: usize, socket: TcpStream| {
            let heard = heard.clone();
            tokio::spawn(async move {
                let mut lines = FramedRead::new(socket, Utf8LinesCodec::new());
                let mut count = 0;
                while let Some(line) = lines.next().await {
                    count += usize::from(line.unwrap().is_ok());
                    heard.send(number).unwrap();
                }
                count
            })
        };
        let before = counting::held();
        let tasks: Vec<_> =
            sockets.into_iter().enumerate().map(|(number, socket)| serve(number, socket)).collect();
        let half = format!("{line}\n{line}");
        for peer in &mut peers {
            soon(peer.write_all(&half.as_bytes()[..half.len() - 1])).await.unwrap();
        }
        for _ in 0..peers.len() {
            soon(hearings.recv()).await.unwrap();
        }
        let during = counting::held() - before;
        for task in tasks.iter().step_by(2) {
            task.abort();
        }
        for (number, mut peer) in peers.into_iter().enumerate() {
            // Writing to closed connections may fail.
            let written = peer.write_all(b"\xAC\n").await;
            assert!(number % 2 == 0 || written.is_ok());
        }
        for (number, task) in tasks.into_iter().enumerate() {
            match soon(task).await {
                Ok(lines) => assert_eq!((number % 2, lines), (1, 2)),
                Err(error) => assert!(number % 2 == 0 && error.is_cancelled(), "{error}"),
            }
        }
        while hearings.try_recv().is_ok() {}
        let after = counting::held() - before;
        println!("200 connections: {during} bytes while they wait, {after} when they are gone");
        assert!(during >= 200 * 3000 && after <= 64 * 1024, "{during}, then {after}");
    }

    #[tokio::test]
    async fn a_panicking_consumer_ends_only_its_own_connection() {
        let text = multilingual(1000);
        let (peers, sockets) = connections(120).await;
        let before = counting::held();
        let tasks: Vec<_> = sockets
            .into_iter()
            .map(|socket| {
                tokio::spawn(async move {
                    let mut reader = Utf8Reader::new(socket);
                    let mut chars = 0;
                    while let Some(c) = reader.next_char().await.unwrap() {
                        if c == '\0' {
                            // Without the panic message, which would use memory where it is captured.
                            resume_unwind(Box::new("as it should"));
                        }
                        chars += 1;
                    }
                    reader.into_inner().write_all(b"thanks").await.unwrap();
                    chars
                })
            })
            .collect();
        for (number, mut peer) in peers.into_iter().enumerate() {
            peer.write_all(text.as_bytes()).await.unwrap();
            if number % 4 == 0 {
                peer.write_all(b"\0").await.unwrap();
            }
            let _may_be_gone = peer.write_all(text.as_bytes()).await;
            let _may_be_gone = peer.shutdown().await;
            let mut answer = Vec::new();
            let read = soon(peer.read_to_end(&mut answer)).await;
            if number % 4 == 0 {
                assert!(answer.is_empty(), "{answer:02x?}");
            } else {
                read.unwrap();
                assert_eq!(answer, b"thanks");
            }
        }
        for (number, task) in tasks.into_iter().enumerate() {
            match soon(task).await {
                Ok(chars) => {
                    assert_eq!((number % 4 == 0, chars), (false, 2 * text.chars().count()));
                }
                Err(error) => assert!(number % 4 == 0 && error.is_panic(), "{error}"),
            }
        }
        let more = counting::held() - before;
        assert!(more <= 64 * 1024, "{more} bytes are still held");
    }
}
