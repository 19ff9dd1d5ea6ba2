//! Scripted streams and readers; and pipes, channels and sockets that deliver text in pieces.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{FutureExt, Stream, StreamExt, stream};
use tokio::io::{AsyncRead, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::timeout;
use tokio_test::task;

/// Formats all items that are ready, with `-` for the end.
pub(crate) fn items<S: Stream + Unpin>(
    mut stream: S,
    word: impl Fn(S::Item) -> String,
) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(item) = stream.next().now_or_never() {
        let Some(item) = item else {
            words.push("-".to_owned());
            break;
        };
        words.push(word(item));
    }
    words
}

/// What a source does when it is polled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    Chunk(&'static [u8]),
    /// Of a body: sends trailers with a field `x` of this value.
    Trailers(&'static str),
    Error(&'static str),
    /// Is pending once, and wakes the task at once.
    Pause,
    /// Reports its end, even if more follows.
    End,
}

use Does::{Chunk, End, Error, Pause, Trailers};

/// A stream, reader or body that follows a script, and then is pending forever.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) does: VecDeque<Does>,
    pub(crate) polls: usize,
    /// Whether the last poll returned `Pending`.
    pending: bool,
    /// The largest room that a read offered.
    pub(crate) room: usize,
}

impl Script {
    pub(crate) fn new(does: &[Does]) -> Self {
        Self { does: does.iter().copied().collect(), polls: 0, pending: false, room: 0 }
    }

    pub(crate) fn look(&self) -> Look {
        Look { polls: self.polls, pending: self.pending, is_over: self.does.is_empty() }
    }

    pub(crate) fn step(&mut self, cx: &mut Context<'_>) -> Poll<Does> {
        self.polls += 1;
        let does = self.does.pop_front();
        self.pending = matches!(does, Some(Pause) | None);
        match does {
            Some(Pause) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(does) => Poll::Ready(does),
            None => Poll::Pending,
        }
    }
}

impl Stream for Script {
    type Item = Result<&'static [u8], &'static str>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.step(cx).map(|does| match does {
            Chunk(chunk) => Some(Ok(chunk)),
            Error(error) => Some(Err(error)),
            End | Pause | Trailers(_) => None,
        })
    }
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.room = self.room.max(buffer.remaining());
        self.step(cx).map(|does| match does {
            Chunk(chunk) => {
                let (now, later) = chunk.split_at(chunk.len().min(buffer.remaining()));
                assert!(!now.is_empty(), "there must be room");
                buffer.put_slice(now);
                if !later.is_empty() {
                    self.does.push_front(Chunk(later));
                }
                Ok(())
            }
            // Of the connection: the reader loses nothing.
            Error(error) => Err(io::Error::new(io::ErrorKind::TimedOut, error)),
            End | Pause | Trailers(_) => Ok(()),
        })
    }
}

/// A script of these chunks, then the end.
pub(crate) fn whole(
    chunks: &[&'static [u8]],
) -> impl Stream<Item = Result<&'static [u8], Infallible>> + use<> {
    stream::iter(chunks.iter().copied().map(Ok).collect::<Vec<_>>())
}

// ---- wakers -------------------------------------------------------------------------------------

/// The progress of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) polls: usize,
    /// Whether the last poll returned `Pending`.
    pub(crate) pending: bool,
    /// Whether the script is at its end.
    pub(crate) is_over: bool,
}

/// Every script of `len` of these steps.
pub(crate) fn scripts<D: Copy>(steps: &[D], len: usize) -> Vec<Vec<D>> {
    (0..len).fold(vec![vec![]], |scripts, _| {
        let longer = |script: &Vec<D>| {
            let script = script.clone();
            steps.iter().map(move |&step| [script.as_slice(), &[step]].concat())
        };
        scripts.iter().flat_map(longer).collect()
    })
}

/// Polls `subject` until `poll` returns that it has ended, or its script is at its end. Checks that it
/// is pending only after the script was, and with a waker that the script holds.
pub(crate) fn assert_waits_only_for_script<T: Unpin>(
    does: &[impl Debug],
    subject: T,
    look: impl Fn(&T) -> Look,
    mut poll: impl FnMut(&mut Context<'_>, Pin<&mut T>) -> Poll<bool>,
) {
    let mut task = task::spawn(subject);
    loop {
        let polls = look(&task).polls;
        match task.enter(&mut poll) {
            Poll::Ready(true) => {}
            Poll::Ready(false) => break,
            Poll::Pending => {
                let script = look(&task);
                assert!(script.pending && script.polls > polls, "{does:?}");
                if script.is_over && !task.is_woken() {
                    break;
                }
                assert!(task.is_woken(), "the waker was passed on");
            }
        }
    }
}

/// Waits for `future`; fails instead of hanging.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future).await.expect("hangs")
}

// ---- text in pieces -----------------------------------------------------------------------------

/// Writes pieces of two bytes and yields after each.
pub(crate) fn write_slowly(mut peer: DuplexStream, text: &str) -> JoinHandle<()> {
    let bytes = text.to_owned().into_bytes();
    tokio::spawn(async move {
        for piece in bytes.chunks(2) {
            peer.write_all(piece).await.unwrap();
            yield_now().await;
        }
    })
}

/// A channel from another task, which sends seven bytes at once.
pub(crate) fn channel(text: &str) -> impl Stream<Item = io::Result<Vec<u8>>> + use<> {
    let (sender, receiver) = tokio::sync::mpsc::channel(2);
    let bytes = text.to_owned().into_bytes();
    tokio::spawn(async move {
        for chunk in bytes.chunks(7) {
            sender.send(Ok(chunk.to_vec())).await.unwrap();
        }
    });
    stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|chunk| (chunk, receiver))
    })
}

/// Both ends of a new connection, with TCP_NODELAY.
pub(crate) async fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (near, far) = tokio::join!(TcpStream::connect(address), listener.accept());
    let (near, far) = (near.unwrap(), far.unwrap().0);
    near.set_nodelay(true).unwrap();
    far.set_nodelay(true).unwrap();
    (near, far)
}

/// A socket that receives `bytes` in pieces of odd sizes, and the task that writes them.
pub(crate) async fn socket_in_odd_pieces(bytes: Vec<u8>) -> (TcpStream, JoinHandle<()>) {
    let (mut peer, socket) = connection().await;
    let writing = tokio::spawn(async move {
        let mut rest = &bytes[..];
        for size in [1, 2, 3, 5, 7, 95, 96, 97, 997, 4999, 20_000].into_iter().cycle() {
            let (piece, after) = rest.split_at(size.min(rest.len()));
            peer.write_all(piece).await.unwrap();
            yield_now().await;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    });
    (socket, writing)
}
