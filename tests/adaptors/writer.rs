//! `Utf8Writer`: sinks that accept little, wait or fail, which text is copied, backpressure, cancelled futures, wakers, the end,
//! and real sockets. `tests/random/plans.rs` writes random parts.
#![cfg(feature = "stream")]

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::net::Ipv4Addr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::{FutureExt, SinkExt, StreamExt, TryStreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_test::{assert_pending, assert_ready_ok, task};
use utf8_codec::stream::{Utf8Stream, Utf8Writer};
use utf8_codec::utf16::Utf16Error;
use utf8_codec::{ByteString, ErrorMode, Utf8Encoder};

// ---- scripts ----------------------------------------------------------------------------------

/// What a sink does when it is called.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// Accepts at most this many bytes.
    Take(usize),
    /// Is pending, and wakes the task at once.
    Pause,
    /// Is pending until the task is woken elsewhere.
    Stall,
    Fail(ErrorKind),
}

use Does::{Fail, Pause, Stall, Take};

/// A sink that follows a script, and then accepts everything.
#[derive(Debug, Default)]
struct Script {
    does: VecDeque<Does>,
    vectored: bool,
    taken: Vec<u8>,
    /// The address and length of each slice, for each call with bytes.
    calls: Vec<Vec<(usize, usize)>>,
    polls: usize,
    flushes: usize,
    shutdowns: usize,
    waker: Option<Waker>,
}

impl Script {
    fn new(does: &[Does]) -> Self {
        Self { does: does.iter().copied().collect(), ..Self::default() }
    }

    fn vectored(does: &[Does]) -> Self {
        Self { vectored: true, ..Self::new(does) }
    }

    fn text(&self) -> &str {
        str::from_utf8(&self.taken).expect("the output is complete")
    }

    fn write(&mut self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.polls += 1;
        let len = slices.iter().map(|slice| slice.len()).sum::<usize>();
        assert!(len > 0, "an unnecessary call");
        match self.does.pop_front().unwrap_or(Take(usize::MAX)) {
            Take(most) => {
                self.calls.push(slices.iter().map(|slice| place(slice)).collect());
                let bytes = slices.iter().flat_map(|slice| slice.iter());
                self.taken.extend(bytes.take(most));
                Poll::Ready(Ok(most.min(len)))
            }
            Pause => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Stall => {
                self.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            Fail(kind) => Poll::Ready(Err(kind.into())),
        }
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        assert!(self.vectored, "it does not support vectored writes");
        self.write(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushes += 1;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.shutdowns += 1;
        Poll::Ready(Ok(()))
    }
}

/// The address and the length of a slice.
fn place(slice: &[u8]) -> (usize, usize) {
    (slice.as_ptr().addr(), slice.len())
}

/// The result of a future that is ready.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("there is nothing to wait for")
}

/// The unpaired surrogate that an error of the writer reports.
fn lone_surrogate(error: &io::Error) -> Option<Utf16Error> {
    error.get_ref()?.downcast_ref().copied()
}

/// The kind of an error.
fn io_kind(error: io::Error) -> ErrorKind {
    assert!(lone_surrogate(&error).is_none(), "{error}");
    error.kind()
}

// ---- sinks that accept little ------------------------------------------------------------------

#[test]
fn a_sink_that_takes_one_byte_per_call_gets_everything() {
    let text = "naïve, 東京, 👋. ".repeat(40);
    for vectored in [false, true] {
        let trickle = [Take(1), Pause].repeat(2 * text.len() + 10);
        let mut writer = Utf8Writer::new(Script { vectored, ..Script::new(&trickle) });
        tokio_test::block_on(async {
            writer.write_text(text.clone().into()).await.unwrap();
            writer.write_char('|').await.unwrap();
            writer.write_text(text.clone().into()).await.unwrap();
            writer.close().await.unwrap();
        });
        assert_eq!(writer.get_ref().text(), format!("{text}|{text}"));
    }
}

// ---- copies -----------------------------------------------------------------------------------

#[test]
fn long_texts_are_written_vectored_without_copying() {
    let texts: Vec<_> = (0..100).map(|n| ByteString::from(format!("{n:0256}"))).collect();
    let mut writer = Utf8Writer::new(Script::vectored(&[])).with_capacity(1 << 20);
    for text in &texts {
        now(writer.write_text(text.clone())).unwrap();
    }
    now(writer.flush()).unwrap();
    let script = writer.into_inner();
    let places: Vec<_> = texts.iter().map(|text| place(text.as_bytes())).collect();
    assert_eq!(script.calls.concat(), places);
    assert_eq!(script.calls.iter().map(Vec::len).collect::<Vec<_>>(), [64, 36]);
}

#[test]
fn short_texts_between_long_ones_are_gathered_in_order() {
    let long = ByteString::from("long ".repeat(100));
    let mut writer = Utf8Writer::new(Script::vectored(&[]));
    for part in ["a ", "b "] {
        now(writer.write_str(part)).unwrap();
    }
    now(writer.write_text(long.clone())).unwrap();
    now(writer.write_char('c')).unwrap();
    now(writer.write_text("d ".into())).unwrap();
    now(writer.write_text(long.clone())).unwrap();
    now(writer.flush()).unwrap();
    let script = writer.into_inner();
    assert_eq!(script.text(), format!("a b {long}cd {long}"));
    let [call] = &*script.calls else { panic!("{} calls", script.calls.len()) };
    assert_eq!(call.iter().map(|slice| slice.1).collect::<Vec<_>>(), [4, 500, 3, 500]);
    assert_eq!([call[1], call[3]], [place(long.as_bytes()); 2]);
}

#[test]
fn texts_are_gathered_for_a_sink_without_vectored_writes() {
    let text = ByteString::from("x".repeat(1000));
    let mut writer = Utf8Writer::new(Script::new(&[]));
    for _ in 0..16 {
        now(writer.write_text(text.clone())).unwrap();
    }
    now(writer.flush()).unwrap();
    let sizes: Vec<_> = writer.get_ref().calls.iter().map(|call| call[0].1).collect();
    assert_eq!(sizes, [9000, 7000]);

    let long = ByteString::from("x".repeat(8192));
    now(writer.write_text(long.clone())).unwrap();
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().calls.last().unwrap(), &[place(long.as_bytes())]);
}

#[test]
fn an_owned_string_is_not_copied() {
    let text = "x".repeat(300);
    let place = place(text.as_bytes());
    let mut writer = Utf8Writer::new(Script::vectored(&[]));
    now(writer.send(text)).unwrap();
    assert_eq!(writer.get_ref().calls, [[place]]);
}

// ---- backpressure -----------------------------------------------------------------------------

#[test]
fn a_write_waits_while_the_buffer_is_full() {
    let mut writer =
        Utf8Writer::new(Script::new(&[Stall, Take(3), Stall, Take(2)])).with_capacity(10);
    now(writer.write_str("0123456789")).unwrap();
    assert_eq!(writer.get_ref().polls, 0, "nothing is written early");

    let mut write = task::spawn(writer.write_str("abc"));
    assert_pending!(write.poll());
    drop(write);
    assert_eq!(writer.unwritten_len(), 10, "a dropped future adds nothing");

    // Three bytes have been written, so there is room and the text is taken entirely.
    now(writer.write_str("abc")).unwrap();
    assert_eq!(writer.unwritten_len(), 10);
    assert!(writer.write_str("d").now_or_never().is_none());
    now(writer.write_str("d")).unwrap();
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().text(), "0123456789abcd");
}

#[test]
fn a_stalled_sink_bounds_the_buffer() {
    let mut writer = Utf8Writer::new(Script::new(&[Stall; 10]));
    let text = "0123456789abcdef";
    let mut written = 0;
    while writer.feed(text).now_or_never().is_some() {
        written += text.len();
    }
    assert_eq!((written, writer.unwritten_len()), (8192, 8192));
}

#[test]
fn with_capacity_zero_each_text_is_written_before_the_next() {
    let mut writer = Utf8Writer::new(Script::new(&[Take(2), Stall])).with_capacity(0);
    now(writer.write_str("one")).unwrap();
    assert!(writer.write_str("two").now_or_never().is_none());
    assert_eq!(writer.get_ref().text(), "on");
    now(writer.write_str("two")).unwrap();
    assert_eq!(writer.get_ref().text(), "one");
}

// ---- wakers -----------------------------------------------------------------------------------

#[test]
fn a_writer_is_pending_only_if_its_sink_is() {
    let mut writer = Utf8Writer::new(Script::new(&[Take(2), Stall, Take(1), Stall]));
    now(writer.write_str("abcdef")).unwrap();
    let writer = &mut writer;
    {
        let mut flush = task::spawn(writer.flush());
        assert_pending!(flush.poll());
        assert!(!flush.is_woken(), "it has not been woken");
    }
    assert_eq!((writer.get_ref().text(), writer.get_ref().polls), ("ab", 2), "no busy loop");

    // The waker of the task that polled last is registered.
    let mut flush = task::spawn(poll_flush(writer));
    assert_pending!(flush.poll());
    assert!(!flush.is_woken());
    let waker = flush.waker.lock().unwrap().take().expect("it has registered its waker");
    waker.wake();
    assert!(flush.is_woken());
    assert_ready_ok!(flush.poll());
}

/// A future that flushes, and gives access to the waker that the sink holds.
fn poll_flush(writer: &mut Utf8Writer<Script>) -> Flush<'_> {
    Flush { writer, waker: std::sync::Mutex::new(None) }
}

struct Flush<'a> {
    writer: &'a mut Utf8Writer<Script>,
    waker: std::sync::Mutex<Option<Waker>>,
}

impl Future for Flush<'_> {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let poll = Pin::new(&mut *self.writer).poll_flush(cx);
        let waker = self.writer.get_mut().waker.take();
        *self.waker.lock().unwrap() = waker;
        poll
    }
}

#[test]
fn one_wake_causes_one_poll() {
    let mut writer = Utf8Writer::new(Script::new(&[Pause, Take(1), Pause, Pause]));
    now(writer.write_str("ab")).unwrap();
    let mut flush = task::spawn(writer.flush());
    for _ in 0..3 {
        assert_pending!(flush.poll());
        assert!(flush.is_woken());
    }
    assert_ready_ok!(flush.poll());
    drop(flush);
    assert_eq!((writer.get_ref().text(), writer.get_ref().polls), ("ab", 5));
}

// ---- cancelled futures ------------------------------------------------------------------------

/// Drops every future after its first poll whenever the sink pauses. No data is lost or duplicated.
#[tokio::test]
async fn cancelled_writes_lose_no_data() {
    let script: Vec<_> =
        (0..400).map(|n| if n % 3 == 0 { Take(n % 5 + 1) } else { Pause }).collect();
    let mut writer = Utf8Writer::new(Script::new(&script)).with_capacity(4);
    let mut lost = 0;
    // `biased`, so that a call that is ready wins.
    macro_rules! race {
        ($call:expr) => {
            loop {
                tokio::select! {
                    biased;
                    result = $call => break result.unwrap(),
                    () = std::future::ready(()) => lost += 1,
                }
            }
        };
    }
    let mut expected = String::new();
    for n in 0..20 {
        race!(writer.write_str("ünï"));
        race!(writer.write_char('👋'));
        race!(writer.write_text(ByteString::from_static("東京")));
        race!(writer.write_utf16(&[0x61, 0xD83D]));
        race!(writer.write_utf16(&[0xDC4B]));
        if n % 4 == 0 {
            race!(writer.flush());
        }
        expected += "ünï👋東京a👋";
    }
    race!(writer.close());
    assert!(lost > 100, "only {lost} futures were dropped");
    assert_eq!(writer.get_ref().text(), expected);
    assert_eq!(writer.get_ref().shutdowns, 1);
}

#[test]
fn a_dropped_flush_continues_at_the_next_call() {
    let mut writer = Utf8Writer::new(Script::new(&[Take(4), Stall]));
    now(writer.write_str("€€€")).unwrap();
    assert!(writer.flush().now_or_never().is_none());
    assert_eq!(writer.get_ref().taken, b"\xE2\x82\xAC\xE2");
    assert_eq!(writer.unwritten_len(), 5);
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().text(), "€€€");
}

// ---- errors -----------------------------------------------------------------------------------

#[test]
fn an_io_error_loses_no_data_and_the_next_call_retries() {
    let mut writer = Utf8Writer::new(Script::new(&[Take(2), Fail(ErrorKind::TimedOut)]));
    now(writer.write_str("abcd")).unwrap();
    assert_eq!(io_kind(now(writer.flush()).unwrap_err()), ErrorKind::TimedOut);
    assert_eq!(writer.unwritten_len(), 2);
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().text(), "abcd");
}

#[test]
fn a_text_whose_write_fails_has_not_been_taken() {
    let mut writer = Utf8Writer::new(Script::new(&[Fail(ErrorKind::TimedOut)])).with_capacity(1);
    now(writer.write_str("a")).unwrap();
    assert_eq!(io_kind(now(writer.write_str("b")).unwrap_err()), ErrorKind::TimedOut);
    assert_eq!(writer.unwritten_len(), 1);
    now(writer.write_str("b")).unwrap();
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().text(), "ab");
}

#[test]
fn a_write_of_zero_bytes_is_an_error() {
    for vectored in [false, true] {
        let mut writer = Utf8Writer::new(Script { vectored, ..Script::new(&[Take(0)]) });
        now(writer.write_text("x".repeat(500).into())).unwrap();
        assert_eq!(io_kind(now(writer.flush()).unwrap_err()), ErrorKind::WriteZero);
        assert_eq!(writer.unwritten_len(), 500);
    }
}

#[test]
fn an_overstated_write_count_is_clamped() {
    struct Liar;
    impl AsyncWrite for Liar {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len() + 7))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
    let mut writer = Utf8Writer::new(Liar);
    now(writer.write_str("abc")).unwrap();
    now(writer.close()).unwrap();
    assert_eq!(writer.unwritten_len(), 0);
}

#[test]
fn into_parts_returns_all_unwritten_text() {
    let long = "long ".repeat(100);
    let mut writer = Utf8Writer::new(Script::vectored(&[Take(4), Stall]));
    now(writer.write_str("€")).unwrap();
    now(writer.write_text(long.clone().into())).unwrap();
    now(writer.write_utf16(&[0x21, 0xD83D])).unwrap();
    assert!(writer.flush().now_or_never().is_none());
    assert_eq!(writer.utf16().incomplete(), Some(0xD83D));
    let (script, unwritten) = writer.into_parts();
    assert_eq!(script.taken, b"\xE2\x82\xACl");
    assert_eq!(unwritten, format!("{}!", &long[1..]));

    let shared = ByteString::from(long);
    let mut writer = Utf8Writer::new(Script::vectored(&[Take(10), Stall]));
    now(writer.write_text(shared.clone())).unwrap();
    assert!(writer.flush().now_or_never().is_none());
    let (_, unwritten) = writer.into_parts();
    assert_eq!(unwritten.as_ptr(), shared[10..].as_ptr(), "a single piece is not copied");
}

// ---- surrogates -------------------------------------------------------------------------------

#[test]
fn flush_and_empty_text_keep_a_pending_high_surrogate() {
    let mut writer = Utf8Writer::new(Script::default());
    now(writer.write_utf16(&[0x61, 0xD83D])).unwrap();
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().text(), "a");
    now(writer.write_utf16(&[])).unwrap();
    now(writer.write_str("")).unwrap();
    now(writer.write_text(ByteString::new())).unwrap();
    now(writer.write_utf16(&[0xDC4B])).unwrap();
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().text(), "a👋");
}

#[test]
fn text_after_a_lone_high_surrogate_reports_it_and_is_taken() {
    let mut writer = Utf8Writer::new(Script::default());
    now(writer.write_utf16(&[0x61, 0xD83D])).unwrap();
    let error = lone_surrogate(&now(writer.write_str("b")).unwrap_err()).unwrap();
    assert_eq!((error.offset(), error.unpaired_surrogate()), (1, 0xD83D));
    assert!(!error.is_incomplete());
    // Offsets count all units, including those of other writes.
    let error = now(writer.write_utf16(&[0x63, 0xDC00, 0xDC01, 0x64])).unwrap_err();
    assert_eq!(lone_surrogate(&error).unwrap().offset(), 3);
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().text(), "abcd");
    assert_eq!(writer.utf16().error_count(), 3);
}

#[test]
fn close_reports_a_lone_high_surrogate_once() {
    let mut writer = Utf8Writer::new(Script::default());
    now(writer.write_utf16(&[0x61, 0xD83D])).unwrap();
    let error = now(writer.close()).unwrap_err();
    assert_eq!(lone_surrogate(&error).unwrap().offset(), 1);
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    assert_eq!(writer.get_ref().shutdowns, 0);
    now(writer.close()).unwrap();
    assert_eq!((writer.get_ref().text(), writer.get_ref().shutdowns), ("a", 1));
}

#[test]
fn close_repairs_a_lone_high_surrogate_in_a_lossy_mode() {
    let mode = ErrorMode::Escape;
    let mut writer = Utf8Writer::new(Script::default()).with_surrogate_mode(mode);
    now(writer.send(vec![0xD83D])).unwrap();
    now(writer.close()).unwrap();
    assert_eq!(writer.get_ref().text(), r"\ud83d");
}

// ---- BOM --------------------------------------------------------------------------------------

fn with_bom() -> Utf8Writer<Script> {
    Utf8Writer::new(Script::default()).with_encoder(Utf8Encoder::new().with_bom())
}

#[test]
fn a_bom_is_written_once_before_the_first_text() {
    let mut writer = with_bom();
    now(writer.write_str("")).unwrap();
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().text(), "\u{FEFF}");
    now(writer.write_char('x')).unwrap();
    now(writer.close()).unwrap();
    assert_eq!(writer.get_ref().text(), "\u{FEFF}x");

    let mut writer = with_bom();
    now(writer.write_utf16(&[0xD83D])).unwrap();
    now(writer.write_text(ByteString::from("x".repeat(300)))).unwrap_err();
    now(writer.close()).unwrap();
    assert_eq!(writer.get_ref().text(), format!("\u{FEFF}{}", "x".repeat(300)));
}

#[test]
fn no_bom_is_written_without_text() {
    let mut writer = with_bom();
    now(writer.flush()).unwrap();
    now(writer.close()).unwrap();
    assert_eq!(writer.get_ref().text(), "");
}

// ---- the end ----------------------------------------------------------------------------------

#[test]
fn close_is_idempotent_and_later_writes_fail() {
    let mut writer = Utf8Writer::new(Script::new(&[Pause]));
    now(writer.write_str("x")).unwrap();
    assert!(writer.close().now_or_never().is_none());
    now(writer.close()).unwrap();
    now(writer.close()).unwrap();
    assert_eq!(writer.get_ref().shutdowns, 1);
    assert_eq!(io_kind(now(writer.write_str("y")).unwrap_err()), ErrorKind::BrokenPipe);
    assert_eq!(io_kind(now(writer.send('y')).unwrap_err()), ErrorKind::BrokenPipe);
    let error = Pin::new(&mut writer).start_send_unpin("y").unwrap_err();
    assert_eq!(io_kind(error), ErrorKind::BrokenPipe);
    now(writer.flush()).unwrap();
    assert_eq!(writer.get_ref().text(), "x");
}

#[test]
fn flush_always_flushes_the_sink() {
    let mut writer = Utf8Writer::new(Script::default());
    now(writer.flush()).unwrap();
    assert_eq!((writer.get_ref().polls, writer.get_ref().flushes), (0, 1));
}

// ---- sinks ------------------------------------------------------------------------------------

#[tokio::test]
async fn every_text_type_can_be_sent() {
    let mut writer = Utf8Writer::new(Script::default());
    writer.feed("a").await.unwrap();
    writer.feed(&String::from("b")).await.unwrap();
    writer.feed(String::from("c")).await.unwrap();
    writer.feed(std::borrow::Cow::Borrowed("d")).await.unwrap();
    writer.feed(ByteString::from("e")).await.unwrap();
    writer.feed('f').await.unwrap();
    writer.feed(&[0x67, 0x68, 0xD83D][..]).await.unwrap();
    writer.feed(vec![0xDC4B]).await.unwrap();
    writer.send_all(&mut stream::iter(["i", "j"]).map(Ok)).await.unwrap();
    writer.close().await.unwrap(); // the inherent method, so the call is not ambiguous
    assert_eq!(writer.get_ref().text(), "abcdefgh👋ij");
}

#[tokio::test]
async fn a_stream_of_text_can_be_forwarded() {
    let bytes = "grüß dich, 東京 👋, ".repeat(500);
    let mut writer = Utf8Writer::new(Script::vectored(&[Take(1), Pause, Take(100), Pause]));
    let texts = Utf8Stream::from_reader(bytes.as_bytes());
    texts.map_err(io::Error::from).forward(&mut writer).await.unwrap();
    assert_eq!(writer.get_ref().text(), bytes);
    assert_eq!(writer.get_ref().shutdowns, 1);
}

#[test]
fn the_poll_functions_write_text() {
    let mut writer = pin!(Utf8Writer::new(Script::new(&[Stall])).with_capacity(1));
    let mut cx = Context::from_waker(Waker::noop());
    assert_ready_ok!(writer.as_mut().poll_ready(&mut cx));
    writer.as_mut().start_send_unpin("ab").unwrap();
    assert_pending!(writer.as_mut().poll_ready(&mut cx));
    assert_ready_ok!(writer.as_mut().poll_ready(&mut cx));
    assert_ready_ok!(writer.as_mut().poll_flush(&mut cx));
    assert_ready_ok!(writer.as_mut().poll_close(&mut cx));
    assert_eq!(writer.get_ref().text(), "ab");
}

// ---- pipes and sockets ------------------------------------------------------------------------

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn pipes_of_every_small_size() {
    let text = "ünïcödé: 東京 👋. ".repeat(30);
    let units: Vec<_> = text.encode_utf16().collect();
    for size in [1, 2, 3, 5, 64] {
        let (mut peer, socket) = tokio::io::duplex(size);
        let write = async {
            let mut writer = Utf8Writer::new(socket).with_capacity(16);
            for unit in &units {
                writer.feed(std::slice::from_ref(unit)).await?;
            }
            writer.write_text(text.clone().into()).await?;
            writer.close().await
        };
        let mut received = String::new();
        let read = peer.read_to_string(&mut received);
        let (written, read) = timeout(PATIENCE, async { tokio::join!(write, read) }).await.unwrap();
        written.unwrap();
        read.unwrap();
        assert_eq!(received, format!("{text}{text}"));
    }
}

/// The peer reads nothing until the socket buffers are full, then reads everything.
#[tokio::test]
async fn a_slow_peer_receives_all_text() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let verse = ByteString::from("Да здравствует 東京! 👋 ".repeat(40) + "\n");
    let count = 20_000_000 / verse.len();
    let (full, is_full) = tokio::sync::oneshot::channel();

    let write = async {
        let socket = TcpStream::connect(address).await.unwrap();
        assert!(socket.is_write_vectored());
        let mut writer = Utf8Writer::new(socket);
        let mut full = Some(full);
        for n in 0..count {
            if writer.write_text(verse.clone()).now_or_never().is_none() {
                if let Some(full) = full.take() {
                    full.send(n).unwrap();
                }
                writer.write_text(verse.clone()).await.unwrap();
            }
            assert!(writer.unwritten_len() <= 8192 + verse.len());
        }
        writer.close().await.unwrap();
    };
    let read = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        assert!(is_full.await.unwrap() < count, "the socket was never full");
        let mut received = String::new();
        socket.read_to_string(&mut received).await.unwrap();
        received
    };
    let ((), received) = timeout(PATIENCE, async { tokio::join!(write, read) }).await.unwrap();
    assert_eq!(received.len(), count * verse.len());
    assert!(received.split_inclusive('\n').all(|line| verse == line));
}

#[tokio::test]
async fn a_closed_peer_is_an_error() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    drop(listener.accept().await.unwrap());
    let mut writer = Utf8Writer::new(socket);
    let gone = async {
        loop {
            let result = async {
                writer.write_str("anybody there?").await?;
                writer.flush().await
            };
            if let Err(error) = result.await {
                break io_kind(error);
            }
            tokio::task::yield_now().await;
        }
    };
    let kind = timeout(PATIENCE, gone).await.unwrap();
    assert!(matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{kind:?}");
}

// ---- formatted text ---------------------------------------------------------------------------

/// An argument whose formatting fails after some text.
struct Unprintable;

impl std::fmt::Display for Unprintable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("some text")?;
        Err(std::fmt::Error)
    }
}

#[tokio::test]
async fn formatted_text_is_written_in_order() {
    let mut writer = Utf8Writer::new(Vec::new());
    write!(writer, "plain ").await.unwrap();
    let price = 5;
    writeln!(writer, "{price} €").await.unwrap();
    writer.write_utf16(&[0xD83D]).await.unwrap();
    write!(writer, "").await.unwrap(); // does not end the pair
    writer.write_utf16(&[0xDC4B]).await.unwrap();
    write!(writer, "{}", "long ".repeat(100)).await.unwrap(); // is not copied
    writer.close().await.unwrap();
    let expected = "plain 5 €\n👋".to_owned() + &"long ".repeat(100);
    assert_eq!(String::from_utf8(writer.into_inner()).unwrap(), expected);
}

#[tokio::test]
async fn nothing_is_taken_if_formatting_fails_or_the_future_is_dropped() {
    let mut writer = Utf8Writer::new(Vec::new());
    let error = write!(writer, "before {Unprintable}").await.unwrap_err();
    assert_eq!((error.kind(), writer.unwritten_len()), (ErrorKind::Other, 0));

    let (_peer, socket) = tokio::io::duplex(1);
    let mut writer = Utf8Writer::new(socket).with_capacity(1);
    write!(writer, "ab").await.unwrap();
    assert!(futures::FutureExt::now_or_never(write!(writer, "cd")).is_none());
    let (_socket, unwritten) = writer.into_parts();
    assert_eq!(unwritten, "b", "cd is not taken");
}

// ---- sizes and traits -------------------------------------------------------------------------

#[cfg(target_pointer_width = "64")]
#[test]
fn the_size_is_as_documented() {
    assert_eq!(size_of::<Utf8Writer<()>>(), 136);
}

#[test]
fn all_types_are_send_and_sync() {
    fn assert<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    assert::<Utf8Writer<TcpStream>>();
    fn assert_future<T: Send>(_: T) {}
    let mut writer = Utf8Writer::new(tokio::io::sink());
    assert_future(writer.write_str(""));
    assert_future(writer.close());
    assert_future(write!(writer, "{}", std::cell::Cell::new(5).get()));
    assert!(format!("{writer:?}").contains("unwritten_len: 0"));
}
