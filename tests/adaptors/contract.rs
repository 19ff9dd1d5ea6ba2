//! Contracts of every adaptor over a source: wakers, other tasks, dropped futures, the end, settings, sockets; and those of
//! the adaptors that collect text.
#![cfg(all(feature = "codec", feature = "http-body", feature = "stream"))]

use std::convert::Infallible;
use std::io::{self, Cursor};
use std::net::Ipv4Addr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::stream::FusedStream;
use futures::{FutureExt, Stream, StreamExt};
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, DuplexStream, ReadBuf, duplex, repeat};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::yield_now;
use tokio_test::{assert_pending, assert_ready, task};
use utf8_codec::http::{BodyError, Utf8Body};
use utf8_codec::lines::Line;
use utf8_codec::stream::{
    CharStream, CharsetReader, LineSource, StreamError, Utf8ByteReader, Utf8Lines, Utf8Reader,
    Utf8Stream, Utf8StreamExt,
};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Error, Utf8Options};

use crate::lists::{MODES, MULTILINGUAL};
use crate::script::Does::{self, Chunk, End, Error, Pause};
use crate::script::{
    Script, assert_waits_only_for_script, scripts, socket_in_odd_pieces, soon, write_slowly,
};

/// Runs each contract for each adaptor.
macro_rules! contracts {
    ($($name:ident: $adaptor:ty, $seen:literal, $pauses:literal;)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test]
            async fn losing_a_select_loses_no_data() {
                super::losing_a_select_loses_no_data::<$adaptor>().await;
            }

            #[test]
            fn only_the_last_waker_is_woken() {
                super::only_the_last_waker_is_woken::<$adaptor>();
            }

            #[test]
            fn a_dropped_future_loses_no_data() {
                super::a_dropped_future_loses_no_data::<$adaptor>($seen, $pauses);
            }

            #[test]
            fn it_is_pending_only_if_its_source_is() {
                super::it_is_pending_only_if_its_source_is::<$adaptor>();
            }

            #[test]
            fn without_output_it_yields_to_other_tasks() {
                super::without_output_it_yields_to_other_tasks::<$adaptor>();
            }

            #[test]
            fn an_ended_source_is_not_polled_again() {
                super::an_ended_source_is_not_polled_again::<$adaptor>();
            }

            #[tokio::test]
            async fn a_socket_with_odd_packet_sizes_loses_no_data() {
                super::a_socket_with_odd_packet_sizes_loses_no_data::<$adaptor>().await;
            }

            #[tokio::test]
            async fn text_before_a_connection_reset_is_delivered() {
                super::text_before_a_connection_reset_is_delivered::<$adaptor>().await;
            }

            #[test]
            fn settings_can_be_set_in_any_order() {
                super::settings_can_be_set_in_any_order::<$adaptor>();
            }
        }
    )*};
}

contracts! {
    stream: Utf8Stream<Chunks>, "a€b<5 [ff]><e>é\n", 8;
    chars: CharStream<Chunks>, "a€b<5 [ff]><e>é\n", 8;
    reader: Utf8Reader<Source>, "a€b<5 [ff]><e>é\n", 8;
    any_charset: Utf8Reader<CharsetReader<Source>>, "a€b<5 [ff]><e>é\n", 8;
    byte_reader: Utf8ByteReader<Utf8Reader<Source>>, "a€b<5 [ff]><e>é\n", 8;
    lines: Utf8Lines<Utf8Reader<Source>>, "<line><e>", 8;
    lines_of_chunks: Utf8Lines<Chunks>, "<line><e>", 8;
    body: Utf8Body<Frames>, "a€b<5 [ff]><e>", 5;
}

async fn losing_a_select_loses_no_data<A: Adaptor>() {
    let text = format!("{MULTILINGUAL}\n").repeat(20);
    for method in 0..A::METHODS {
        let (peer, socket) = duplex(3);
        let writer = write_slowly(peer, &text);
        let mut adaptor = A::over(Source::reader(socket));
        let (mut seen, mut interrupted, mut turns) = (String::new(), 0, 0);
        loop {
            turns += 1;
            tokio::select! {
                biased;
                () = yield_now(), if turns % 2 == 0 => interrupted += 1,
                more = adaptor.take(method, &mut seen) => if !more { break },
                () = yield_now() => interrupted += 1,
            }
        }
        soon(writer).await.unwrap();
        assert_eq!(seen, text, "{method}");
        assert!(interrupted > 10, "{method} was interrupted only {interrupted} times");
    }
}

fn only_the_last_waker_is_woken<A: Adaptor>() {
    for method in 0..A::METHODS {
        let (mut peer, socket) = duplex(64);
        let mut adaptor = A::over(Source::reader(socket));
        let (mut first, mut second) = (task::spawn(()), task::spawn(()));
        let mut seen = String::new();
        let mut poll = |task: &mut task::Spawn<()>| {
            task.enter(|cx, _| pin!(adaptor.take(method, &mut seen)).poll(cx))
        };
        assert_pending!(poll(&mut first));
        assert_pending!(poll(&mut second));
        peer.write_all(b"x\n").now_or_never().unwrap().unwrap();
        assert!(!first.is_woken() && second.is_woken(), "{method}");
        drop(peer);
        assert_ready!(poll(&mut second));
        assert!(seen.starts_with('x'), "{method}");
    }
}

const INTERRUPTED: [Does; 15] = [
    Pause,
    Chunk(b"a\xE2"),
    Pause,
    Pause,
    Chunk(b"\x82"),
    Pause,
    Chunk(b"\xACb\xFF"),
    Pause,
    Error("e"),
    Pause,
    Chunk(b"\xC3"),
    Pause,
    Chunk(b"\xA9\n"),
    Pause,
    End,
];

/// Drops the future each time the source is pending.
fn a_dropped_future_loses_no_data<A: Adaptor>(expected: &str, pauses: usize) {
    for method in 0..A::METHODS {
        let mut adaptor = A::over(Scripted::new(&INTERRUPTED).source());
        let (mut seen, mut dropped) = (String::new(), 0);
        loop {
            match adaptor.take(method, &mut seen).now_or_never() {
                Some(true) => {}
                Some(false) => break,
                None => dropped += 1,
            }
        }
        assert_eq!((&*seen, dropped), (expected, pauses), "{method}");
    }
}

fn it_is_pending_only_if_its_source_is<A: Adaptor>() {
    let steps = [Chunk(b"a\xFF\xE2"), Chunk(b"\x82\n"), Error("e"), Pause, End, Chunk(b"")];
    let steps = if A::IS_OF_CHUNKS { &steps[..] } else { &steps[..5] };
    for does in scripts(steps, 5) {
        for method in 0..A::METHODS {
            for mode in [ErrorMode::Fatal, ErrorMode::Skip] {
                let script = Scripted::new(&does);
                let adaptor = A::with_mode_first(script.source(), Utf8Options::new(), mode);
                let look = |_: &A| script.lock().look();
                assert_waits_only_for_script(&does, adaptor, look, |cx, adaptor| {
                    pin!(adaptor.get_mut().take(method, &mut String::new())).poll(cx)
                });
            }
        }
    }
}

fn without_output_it_yields_to_other_tasks<A: Adaptor>() {
    let silent: [(ErrorMode, &[u8]); 2] = [(ErrorMode::Skip, b"\xFF"), (ErrorMode::Fatal, b"")];
    for (mode, chunk) in &silent[..if A::IS_OF_CHUNKS { 2 } else { 1 }] {
        for method in 0..A::METHODS {
            let does = [[Chunk(chunk); 100].as_slice(), &[Chunk(b"at last\n"), End]].concat();
            let script = Scripted::new(&does);
            let mut adaptor = A::with_mode_first(script.source(), Utf8Options::new(), *mode);
            let (mut task, mut seen) = (task::spawn(()), String::new());
            for turn in 1..=3 {
                let poll = |cx: &mut Context<'_>, _: Pin<&mut ()>| {
                    pin!(adaptor.take(method, &mut seen)).poll(cx)
                };
                assert_pending!(task.enter(poll));
                assert!(task.is_woken(), "the task is woken");
                // The charset of a file takes a poll more.
                assert!((32 * turn..=32 * turn + 1).contains(&script.lock().polls), "{method}");
            }
            assert!(adaptor.take(method, &mut seen).now_or_never().is_some(), "{method}");
            assert!(!seen.is_empty() && "at last\n".starts_with(&seen), "{method}: {seen}");
        }
    }
}

fn an_ended_source_is_not_polled_again<A: Adaptor>() {
    for method in 0..A::METHODS {
        let script = Scripted::new(&[Chunk(b"a\xF0\x9F"), End, Chunk(b"b"), Error("late")]);
        let mut adaptor = A::over(script.source());
        let mut seen = String::new();
        assert_ne!(adaptor.is_ended(), Some(true));
        while adaptor.take(method, &mut seen).now_or_never().expect("nothing is pending") {}
        assert!(["a<1 [f0, 9f]>", "<line>"].contains(&&*seen), "{seen}");
        for method in 0..A::METHODS {
            assert_ne!(adaptor.is_ended(), Some(false));
            assert_eq!(adaptor.take(method, &mut String::new()).now_or_never(), Some(false));
        }
        let script = script.lock();
        assert_eq!((script.polls, script.does.len()), (2, 2));
    }
}

async fn a_socket_with_odd_packet_sizes_loses_no_data<A: Adaptor>() {
    let text = format!("{MULTILINGUAL}\n").repeat(300);
    let damaged = [text.as_bytes(), b"\xFF", text.as_bytes(), b"\xF0\x9F"].concat();
    for method in 0..A::METHODS {
        let (mut whole, mut seen) = (String::new(), String::new());
        let mut adaptor = A::over(Source::reader(Cursor::new(damaged.clone())));
        while adaptor.take(method, &mut whole).await {}
        let (socket, peer) = socket_in_odd_pieces(damaged.clone()).await;
        let mut adaptor = A::over(Source::reader(socket));
        while soon(adaptor.take(method, &mut seen)).await {}
        peer.await.unwrap();
        assert!(seen == whole && seen.starts_with(&text), "{method}");
        assert_eq!(adaptor.decoder().position(), damaged.len() as u64, "{method}");
    }
}

async fn text_before_a_connection_reset_is_delivered<A: Adaptor>() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let mut adaptor = A::over(Source::reader(listener.accept().await.unwrap().0));
    let mut seen = String::new();
    peer.write_all(b"good\n\xE2").await.unwrap();
    while seen.len() < 5 {
        assert!(soon(adaptor.take(0, &mut seen)).await, "{seen}");
    }
    peer.set_zero_linger().unwrap();
    drop(peer);
    soon(adaptor.take(0, &mut seen)).await;
    assert!(seen.starts_with("good\n<"), "{seen}");
}

fn settings_can_be_set_in_any_order<A: Adaptor>() {
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    for make in [A::with_options_first, A::with_mode_first] {
        let script = Scripted::new(&[Chunk(b"\xEF\xBB\xBFa\xFF\n"), End]);
        let mut adaptor = make(script.source(), options, ErrorMode::Skip);
        let mut seen = String::new();
        while adaptor.take(0, &mut seen).now_or_never().expect("nothing is pending") {}
        assert_eq!(seen, "a\n");
        assert!(adaptor.decoder().bom_seen());
        assert_eq!(adaptor.decoder().error_count(), 1);
    }
}

// ---- collecting ---------------------------------------------------------------------------------

/// Runs each contract for each adaptor that collects text.
macro_rules! collecting {
    ($($name:ident: $adaptor:ty;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn collected_text_is_at_most_the_limit() {
                super::collected_text_is_at_most_the_limit::<$adaptor>();
            }

            #[test]
            fn the_limit_counts_bytes_of_text() {
                super::the_limit_counts_bytes_of_text::<$adaptor>();
            }

            #[test]
            fn limit_and_error_order_does_not_depend_on_splits() {
                super::limit_and_error_order_does_not_depend_on_splits::<$adaptor>();
            }

            #[tokio::test]
            async fn collecting_an_endless_source_is_bounded_by_the_limit() {
                super::collecting_an_endless_source_is_bounded_by_the_limit::<$adaptor>().await;
            }

            #[test]
            fn collecting_keeps_its_waker() {
                super::collecting_keeps_its_waker::<$adaptor>();
            }
        }
    )*};
}

#[test]
fn collecting_an_endless_stream_of_empty_chunks_yields_to_other_tasks() {
    let endless = futures::stream::repeat(Ok::<_, Infallible>("")).utf8();
    assert!(endless.collect_text(1).now_or_never().is_none());
}

collecting! {
    collected_stream: Utf8Stream<Chunks>;
    collected_reader: Utf8Reader<Source>;
    collected_body: Utf8Body<Frames>;
}

/// An adaptor that collects its text.
trait Collecting: Adaptor {
    /// The text up to this limit, or an error: `<...>`, or `> n` of the limit.
    async fn collect(self, max_length: usize) -> Result<String, String>;
}

impl Collecting for Utf8Stream<Chunks> {
    async fn collect(self, max_length: usize) -> Result<String, String> {
        self.collect_text(max_length).await.map_err(word)
    }
}

impl Collecting for Utf8Reader<Source> {
    async fn collect(mut self, max_length: usize) -> Result<String, String> {
        self.collect_text(max_length).await.map_err(word)
    }
}

impl Collecting for Utf8Body<Frames> {
    async fn collect(self, max_length: usize) -> Result<String, String> {
        self.collect_text(max_length).await.map_err(body_word)
    }
}

fn collected<A: Collecting>(
    does: &[Does],
    options: Utf8Options,
    mode: ErrorMode,
    limit: usize,
) -> Result<String, String> {
    let adaptor = A::with_options_first(Scripted::new(does).source(), options, mode);
    adaptor.collect(limit).now_or_never().expect("nothing is pending")
}

fn collected_text_is_at_most_the_limit<A: Collecting>() {
    let does = [Chunk(b"5 \xE2"), Chunk(b"\x82\xAC"), Chunk(b", 6"), End];
    for limit in (0..12).chain([usize::MAX]) {
        for mode in MODES {
            let expected =
                if limit < 8 { Err(format!("> {limit}")) } else { Ok("5 €, 6".into()) };
            assert_eq!(collected::<A>(&does, Utf8Options::new(), mode, limit), expected, "{mode}");
            assert_eq!(collected::<A>(&[End], Utf8Options::new(), mode, limit), Ok(String::new()));
        }
    }
}

fn the_limit_counts_bytes_of_text<A: Collecting>() {
    let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
    let table: [(&[u8], _, _, Result<&str, &str>); 7] = [
        (b"\xFF\xFF", ErrorMode::Skip, 0, Ok("")),
        (b"\xFF\xFF", ErrorMode::Escape, 8, Ok(r"\xff\xff")),
        (b"\xFF\xFF", ErrorMode::Escape, 7, Err("> 7")),
        // The repair at the end counts too.
        (b"a\xC3", ErrorMode::Replacement, 3, Err("> 3")),
        (b"\xEF\xBB\xBFabc", ErrorMode::Fatal, 3, Ok("abc")),
        (b"\xEF\xBB\xBFabc", ErrorMode::Fatal, 2, Err("> 2")),
        (b"abc\xE2\x82", ErrorMode::Fatal, 100, Err("<3 [e2, 82]>")),
    ];
    for (bytes, mode, limit, expected) in table {
        let found = collected::<A>(&[Chunk(bytes), End], strip, mode, limit);
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{bytes:02x?}");
    }
    let does = [Chunk(b"abc"), Error("reset"), Chunk(b"def"), End];
    let failed = collected::<A>(&does, strip, ErrorMode::Fatal, 100);
    assert_eq!(failed, Err("<reset>".to_owned()));
}

fn limit_and_error_order_does_not_depend_on_splits<A: Collecting>() {
    let bytes: &'static [u8] = b"abcd\xFFefgh\xE2";
    for limit in 0..12 {
        let expected = if limit < 4 { format!("> {limit}") } else { "<4 [ff]>".to_owned() };
        for size in 1..=bytes.len() {
            let does: Vec<_> = bytes.chunks(size).map(Chunk).chain([End]).collect();
            let found = collected::<A>(&does, Utf8Options::new(), ErrorMode::Fatal, limit);
            assert_eq!(found.unwrap_err(), expected, "{size}");
        }
    }
}

async fn collecting_an_endless_source_is_bounded_by_the_limit<A: Collecting>() {
    let adaptor = A::over(Source::reader(repeat(b'x')));
    assert_eq!(soon(adaptor.collect(1_000_005)).await, Err("> 1000005".to_owned()));
    let adaptor = A::over(Source::reader(repeat(b'x').take(10_000)));
    let text = soon(adaptor.collect(10_007)).await.unwrap();
    assert_eq!(text.len(), 10_000);
    assert!(text.capacity() <= 10_007, "{}", text.capacity());
}

fn collecting_keeps_its_waker<A: Collecting>() {
    let (mut peer, socket) = duplex(64);
    let write = |peer: &mut DuplexStream, bytes| {
        peer.write_all(bytes).now_or_never().expect("there is room").unwrap();
    };
    let mut collecting = task::spawn(A::over(Source::reader(socket)).collect(10));
    assert_pending!(collecting.poll());
    write(&mut peer, b"a\xC3");
    assert!(collecting.is_woken());
    assert_pending!(collecting.poll());
    write(&mut peer, b"\xA9");
    drop(peer);
    assert!(collecting.is_woken());
    assert_eq!(assert_ready!(collecting.poll()), Ok("aé".to_owned()));
}

// ---- the adaptors -------------------------------------------------------------------------------

type Chunks = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// A source that reads or returns chunks.
enum Source {
    Reader(Pin<Box<dyn AsyncRead + Send>>),
    Script(Scripted),
}

impl Source {
    fn reader(reader: impl AsyncRead + Send + 'static) -> Self {
        Self::Reader(Box::pin(reader))
    }

    /// The chunks of the script, or those that `Utf8Stream::from_reader` decodes.
    fn into_chunks(self) -> Chunks {
        match self {
            Self::Reader(reader) => Utf8Stream::from_reader(reader).into_inner().boxed(),
            Self::Script(script) => script.boxed(),
        }
    }
}

impl AsyncRead for Source {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Reader(reader) => reader.as_mut().poll_read(cx, room),
            Self::Script(script) => Pin::new(&mut *script.lock()).poll_read(cx, room),
        }
    }
}

/// A script that the test can look at while an adaptor holds it.
#[derive(Clone)]
struct Scripted(Arc<Mutex<Script>>);

impl Scripted {
    fn new(does: &[Does]) -> Self {
        Self(Arc::new(Mutex::new(Script::new(does))))
    }

    fn source(&self) -> Source {
        Source::Script(self.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Script> {
        self.0.lock().unwrap()
    }
}

impl Stream for Scripted {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut *self.lock()).poll_next(cx);
        next.map(|next| next.map(|next| next.map(Bytes::from_static).map_err(io::Error::other)))
    }
}

/// An adaptor over a source.
trait Adaptor: Sized + Unpin {
    /// The number of methods that return text.
    const METHODS: usize;

    /// Whether it takes chunks, which can be empty.
    const IS_OF_CHUNKS: bool = false;

    /// Sets the options before the error mode.
    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self;

    /// Sets the error mode before the options.
    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self;

    fn over(source: Source) -> Self {
        Self::with_options_first(source, Utf8Options::new(), ErrorMode::Fatal)
    }

    fn decoder(&self) -> &Utf8Decoder;

    /// Whether it reports that it has ended, if it has a method for that.
    fn is_ended(&self) -> Option<bool> {
        None
    }

    /// Appends the next item that this method returns to `seen`, an error as `<...>`. Returns false at
    /// the end.
    async fn take(&mut self, method: usize, seen: &mut String) -> bool;
}

fn ill_formed(error: &Utf8Error) -> String {
    format!("<{} {:02x?}>", error.valid_up_to(), error.bytes())
}

fn word(error: StreamError<io::Error>) -> String {
    match error {
        StreamError::Utf8(error) => ill_formed(&error),
        StreamError::TooLong { max_length } => format!("> {max_length}"),
        other => format!("<{}>", io::Error::from(other)),
    }
}

impl Adaptor for Utf8Stream<Chunks> {
    const METHODS: usize = 1;
    const IS_OF_CHUNKS: bool = true;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::new(source.into_chunks()).with_options(options).with_error_mode(mode)
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::new(source.into_chunks()).with_error_mode(mode).with_options(options)
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.decoder()
    }

    fn is_ended(&self) -> Option<bool> {
        Some(self.is_terminated())
    }

    async fn take(&mut self, _: usize, seen: &mut String) -> bool {
        let Some(item) = self.next().await else { return false };
        *seen += &item.map_or_else(word, String::from);
        true
    }
}

impl Adaptor for CharStream<Chunks> {
    const METHODS: usize = 4;
    const IS_OF_CHUNKS: bool = true;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Stream::with_options_first(source, options, mode).chars()
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Stream::with_mode_first(source, options, mode).chars()
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.get_ref().decoder()
    }

    fn is_ended(&self) -> Option<bool> {
        Some(self.is_terminated())
    }

    async fn take(&mut self, method: usize, seen: &mut String) -> bool {
        let next = match method {
            0 => self.next().await.map(|next| next.map(String::from)),
            1 => self.next_indexed().await.map(|next| next.map(|(_, c)| c.into())),
            2 => self.next_block().await.map(|next| next.map(String::from_iter)),
            _ => {
                if self.peek().await.is_some_and(|next| next.is_ok()) {
                    let text = self.as_str().to_owned();
                    self.advance(text.len());
                    Some(Ok(text))
                } else {
                    self.next().await.map(|next| next.map(String::from))
                }
            }
        };
        let Some(next) = next else { return false };
        *seen += &next.unwrap_or_else(word);
        true
    }
}

/// A reader over the source, perhaps with another between them.
trait FromSource: AsyncRead + Unpin {
    fn from_source(source: Source) -> Self;
}

impl FromSource for Source {
    fn from_source(source: Source) -> Self {
        source
    }
}

impl FromSource for CharsetReader<Source> {
    fn from_source(source: Source) -> Self {
        Self::new(source)
    }
}

impl<R: FromSource> Adaptor for Utf8Reader<R> {
    const METHODS: usize = 4;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::new(R::from_source(source)).with_options(options).with_error_mode(mode)
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::new(R::from_source(source)).with_error_mode(mode).with_options(options)
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.decoder()
    }

    async fn take(&mut self, method: usize, seen: &mut String) -> bool {
        let next = match method {
            0 => self.next_str().await.map(|text| text.map(str::to_owned)),
            1 => self.next_char().await.map(|c| c.map(String::from)),
            2 => {
                let text = self.peek_str().await.map(|text| text.map(str::to_owned));
                self.consume(text.as_ref().map_or(0, |text| text.as_ref().map_or(0, String::len)));
                text
            }
            _ => self.append_text(seen, usize::MAX).await.map(|()| None),
        };
        let Some(next) = next.transpose() else { return false };
        *seen += &next.unwrap_or_else(word);
        true
    }
}

impl Adaptor for Utf8ByteReader<Utf8Reader<Source>> {
    const METHODS: usize = 1;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Reader::with_options_first(source, options, mode).into_byte_reader()
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Reader::with_mode_first(source, options, mode).into_byte_reader()
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.get_ref().decoder()
    }

    async fn take(&mut self, _: usize, seen: &mut String) -> bool {
        // Longer than any text, so that no character is split.
        let mut bytes = vec![0; 1 << 14];
        match self.read(&mut bytes).await {
            Ok(0) => return false,
            Ok(len) => *seen += str::from_utf8(&bytes[..len]).expect("whole characters"),
            Err(error) => {
                let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
                *seen += &cause.map_or_else(|| format!("<{error}>"), ill_formed);
            }
        }
        true
    }
}

/// A source of lines: a reader or chunks.
trait IntoLines: LineSource<Error = io::Error> + Unpin + Sized {
    /// The adaptor that becomes the lines.
    type Text: Adaptor;

    fn lines(text: Self::Text) -> Utf8Lines<Self>;
}

impl IntoLines for Utf8Reader<Source> {
    type Text = Self;

    fn lines(text: Self) -> Utf8Lines<Self> {
        text.into_lines()
    }
}

impl IntoLines for Chunks {
    type Text = Utf8Stream<Self>;

    fn lines(text: Utf8Stream<Self>) -> Utf8Lines<Self> {
        text.lines()
    }
}

impl<S: IntoLines> Adaptor for Utf8Lines<S> {
    const METHODS: usize = 2;
    const IS_OF_CHUNKS: bool = S::Text::IS_OF_CHUNKS;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        S::lines(S::Text::with_options_first(source, options, mode))
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        S::lines(S::Text::with_mode_first(source, options, mode))
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.decoder()
    }

    fn is_ended(&self) -> Option<bool> {
        Some(self.is_terminated())
    }

    async fn take(&mut self, method: usize, seen: &mut String) -> bool {
        let next = match method {
            0 => self.next().await,
            _ => self.next_line().await.map(|line| line.map(Line::from)),
        };
        match next {
            None => return false,
            Some(Ok(line)) => {
                *seen += &line;
                seen.extend(line.is_terminated().then_some('\n'));
            }
            Some(Err(StreamError::Inner(error))) => *seen += &format!("<{error}>"),
            Some(Err(_)) => *seen += "<line>",
        }
        true
    }
}

/// A body that reads its chunks from a reader.
type Frames =
    StreamBody<futures::stream::Map<Chunks, fn(io::Result<Bytes>) -> io::Result<Frame<Bytes>>>>;

fn body(source: Source) -> Utf8Body<Frames> {
    let frame: fn(io::Result<Bytes>) -> io::Result<Frame<Bytes>> = |chunk| chunk.map(Frame::data);
    Utf8Body::new(StreamBody::new(source.into_chunks().map(frame)))
}

fn body_word(error: BodyError) -> String {
    match error {
        BodyError::Utf8(error) => ill_formed(&error),
        BodyError::TooLong { max_length } => format!("> {max_length}"),
        other => format!("<{}>", io::Error::from(other)),
    }
}

impl Adaptor for Utf8Body<Frames> {
    const METHODS: usize = 1;
    const IS_OF_CHUNKS: bool = true;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        body(source).with_options(options).with_error_mode(mode)
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        body(source).with_error_mode(mode).with_options(options)
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.decoder()
    }

    fn is_ended(&self) -> Option<bool> {
        Some(self.is_end_stream())
    }

    async fn take(&mut self, _: usize, seen: &mut String) -> bool {
        match self.text_frame().await {
            None => return false,
            Some(Ok(frame)) => *seen += &frame.into_data().expect("there are no trailers"),
            Some(Err(error)) => *seen += &body_word(error),
        }
        true
    }
}
