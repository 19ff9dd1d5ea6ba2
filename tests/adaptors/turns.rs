//! Readers and writers that are always ready: interrupted calls are repeated, other tasks have their turn, and buffers
//! have a largest size.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::{FutureExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use utf8_codec::stream::{Utf8Reader, Utf8Stream, Utf8Writer};

/// The number of calls in one poll.
const TURNS: usize = 32;

/// A reader of one byte a call, or a writer of one byte a call. It is always ready.
#[derive(Debug, Default)]
struct Greedy {
    text: Vec<u8>,
    /// The number of interruptions before each call.
    interruptions: usize,
    interrupted: usize,
    calls: usize,
    is_vectored: bool,
}

impl Greedy {
    fn new(text: &str, interruptions: usize) -> Self {
        Self { text: text.bytes().rev().collect(), interruptions, ..Self::default() }
    }

    fn call<T>(&mut self, succeed: impl FnOnce(&mut Self) -> T) -> Poll<io::Result<T>> {
        self.calls += 1;
        if self.interrupted < self.interruptions {
            self.interrupted += 1;
            return Poll::Ready(Err(ErrorKind::Interrupted.into()));
        }
        self.interrupted = 0;
        Poll::Ready(Ok(succeed(self)))
    }
}

impl AsyncRead for Greedy {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.call(|this| {
            assert!(room.remaining() <= 1 << 24, "a room of {} bytes", room.remaining());
            room.put_slice(this.text.pop().as_slice());
        })
    }
}

impl AsyncWrite for Greedy {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.call(|this| {
            this.text.push(bytes[0]);
            1
        })
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write(cx, &slices[0])
    }

    fn is_write_vectored(&self) -> bool {
        self.is_vectored
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.call(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.call(|_| ())
    }
}

const TEXT: &str = "größe\n€\n👋 and more\n";

/// Polls until the future is ready.
fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    for _ in 0..100_000 {
        if let Some(done) = future.as_mut().now_or_never() {
            return done;
        }
    }
    panic!("it is always pending");
}

#[test]
fn an_interrupted_read_is_repeated() {
    for interruptions in [0, 1, 2, TURNS] {
        let greedy = || Greedy::new(TEXT, interruptions);
        let lines: Vec<_> = TEXT.lines().collect();

        assert_eq!(finish(Utf8Reader::new(greedy()).collect_text(100)).unwrap(), TEXT);
        assert_eq!(finish(Utf8Stream::from_reader(greedy()).collect_text(100)).unwrap(), TEXT);
        let mut text = String::new();
        let mut bytes = Utf8Reader::new(greedy()).into_byte_reader();
        finish(bytes.read_to_string(&mut text)).unwrap();
        assert_eq!(text, TEXT);
        let read =
            finish(Utf8Reader::new(greedy()).into_lines().map(Result::unwrap).collect::<Vec<_>>());
        assert_eq!(read, lines);
        let read = Utf8Stream::from_reader(greedy()).lines().map(Result::unwrap);
        assert_eq!(finish(read.collect::<Vec<_>>()), lines);
        let read = Utf8Stream::from_reader(greedy()).chars().map(Result::unwrap);
        assert_eq!(finish(read.collect::<String>()), TEXT);
    }
}

#[test]
fn an_interrupted_write_is_repeated() {
    for interruptions in [0, 1, 2, TURNS] {
        for is_vectored in [false, true] {
            let greedy = Greedy { interruptions, is_vectored, ..Greedy::default() };
            let mut writer = Utf8Writer::new(greedy).with_capacity(2);
            let long = "x".repeat(300);
            finish(writer.write_str(TEXT)).unwrap();
            finish(writer.write_text(long.clone().into())).unwrap();
            finish(writer.flush()).unwrap();
            finish(writer.write_char('!')).unwrap();
            finish(writer.close()).unwrap();
            assert_eq!(writer.into_inner().text, format!("{TEXT}{long}!").into_bytes());
        }
    }
}

#[test]
fn calls_that_are_always_interrupted_let_other_tasks_run() {
    let greedy = || Greedy::new(TEXT, usize::MAX);
    let mut reader = Utf8Reader::new(greedy());
    let mut texts = Utf8Stream::from_reader(greedy());
    let mut lines = Utf8Reader::new(greedy()).into_lines();
    let mut writer = Utf8Writer::new(greedy());
    assert!(writer.write_str("a").now_or_never().unwrap().is_ok());
    for polls in 1..4 {
        assert!(reader.next_str().now_or_never().is_none());
        assert!(texts.next().now_or_never().is_none());
        assert!(lines.next().now_or_never().is_none());
        assert!(writer.flush().now_or_never().is_none());
        let calls = [
            reader.get_ref().calls,
            texts.get_ref().get_ref().calls,
            lines.get_ref().get_ref().calls,
            writer.get_ref().calls,
        ];
        assert_eq!(calls, [polls; 4]);
    }
    drop(writer.into_parts());
}

#[test]
fn collecting_text_lets_other_tasks_run() {
    let text = "a".repeat(1000);
    let mut reader = Utf8Reader::new(Greedy::new(&text, 0));
    let mut appended = String::new();
    for polls in 1..4 {
        assert!(reader.append_text(&mut appended, 2000).now_or_never().is_none());
        assert_eq!((appended.len(), reader.get_ref().calls), (TURNS * polls, TURNS * polls));
    }
    finish(reader.append_text(&mut appended, 2000)).unwrap();
    assert_eq!(appended, text);

    let mut polls = 0;
    let mut collected = Box::pin(Utf8Stream::from_reader(Greedy::new(&text, 0)).collect_text(2000));
    let collected = loop {
        polls += 1;
        if let Some(collected) = collected.as_mut().now_or_never() {
            break collected;
        }
    };
    assert_eq!((collected.unwrap(), polls), (text, 1 + 1000 / TURNS));
}

#[tokio::test]
async fn any_capacity_is_clamped() {
    for capacity in [0, 1, usize::MAX] {
        let reader = || Greedy::new(TEXT, 0);
        let mut texts = Utf8Reader::new(reader()).with_capacity(capacity);
        assert_eq!(texts.collect_text(100).await.unwrap(), TEXT);
        // After a read that fills the inline buffer.
        let mut texts = Utf8Reader::new(&[b'a'; 1000][..]).with_capacity(capacity);
        assert_eq!(texts.collect_text(1000).await.unwrap().len(), 1000);
        let texts = Utf8Stream::from_reader(reader()).with_capacity(capacity);
        assert_eq!(texts.collect_text(100).await.unwrap(), TEXT);
        let mut writer = Utf8Writer::new(Vec::new()).with_capacity(capacity);
        writer.write_str(TEXT).await.unwrap();
        writer.close().await.unwrap();
        assert_eq!(writer.into_inner(), TEXT.as_bytes());
    }
}
