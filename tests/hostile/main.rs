//! Malicious peers on loopback sockets: memory stays bounded, other connections continue, and no valid
//! byte is lost.
//!
//! Each test runs on one thread, so that the allocator's count for the thread is that of the test, with
//! both ends of its connections.
#![cfg(all(feature = "codec", feature = "stream"))]

#[path = "../support/counting.rs"]
mod counting;
mod faults;
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
