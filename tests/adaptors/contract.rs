//! Contracts of every adaptor over a reader: wakers, dropped futures, settings.
#![cfg(all(feature = "codec", feature = "http-body", feature = "stream"))]

use std::io;
use std::pin::{Pin, pin};

use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt};
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, duplex};
use tokio::task::yield_now;
use tokio_test::{assert_pending, assert_ready, task};
use utf8_codec::http::{BodyError, Utf8Body};
use utf8_codec::lines::Line;
use utf8_codec::stream::{
    CharStream, CharsetReader, StreamError, Utf8ByteReader, Utf8Lines, Utf8Reader, Utf8Stream,
};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Error, Utf8Options};

use crate::lists::MULTILINGUAL;
use crate::script::Does::{self, Chunk, End, Error, Pause};
use crate::script::{Script, soon, write_slowly};

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
    body: Utf8Body<Frames>, "a€b<5 [ff]><e>", 5;
}

async fn losing_a_select_loses_no_data<A: Adaptor>() {
    let text = format!("{MULTILINGUAL}\n").repeat(20);
    for method in 0..A::METHODS {
        let (peer, socket) = duplex(3);
        let writer = write_slowly(peer, &text);
        let mut adaptor = A::over(Box::pin(socket));
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
        let mut adaptor = A::over(Box::pin(socket));
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
        let mut adaptor = A::over(Box::pin(Script::new(&INTERRUPTED)));
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

fn settings_can_be_set_in_any_order<A: Adaptor>() {
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    for make in [A::with_options_first, A::with_mode_first] {
        let script = Script::new(&[Chunk(b"\xEF\xBB\xBFa\xFF\n"), End]);
        let mut adaptor = make(Box::pin(script), options, ErrorMode::Skip);
        let mut seen = String::new();
        while adaptor.take(0, &mut seen).now_or_never().expect("nothing is pending") {}
        assert_eq!(seen, "a\n");
        assert!(adaptor.decoder().bom_seen());
        assert_eq!(adaptor.decoder().error_count(), 1);
    }
}

// ---- the adaptors -------------------------------------------------------------------------------

type Source = Pin<Box<dyn AsyncRead + Send>>;
type Chunks = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

/// The chunks that `Utf8Stream::from_reader` decodes.
fn chunks(source: Source) -> Chunks {
    Utf8Stream::from_reader(source).into_inner().boxed()
}

/// An adaptor over a reader.
trait Adaptor: Sized {
    /// The number of methods that return text.
    const METHODS: usize;

    /// Sets the options before the error mode.
    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self;

    /// Sets the error mode before the options.
    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self;

    fn over(source: Source) -> Self {
        Self::with_options_first(source, Utf8Options::new(), ErrorMode::Fatal)
    }

    fn decoder(&self) -> &Utf8Decoder;

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
        other => format!("<{}>", io::Error::from(other)),
    }
}

impl Adaptor for Utf8Stream<Chunks> {
    const METHODS: usize = 1;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::new(chunks(source)).with_options(options).with_error_mode(mode)
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::new(chunks(source)).with_error_mode(mode).with_options(options)
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.decoder()
    }

    async fn take(&mut self, _: usize, seen: &mut String) -> bool {
        let Some(item) = self.next().await else { return false };
        *seen += &item.map_or_else(word, String::from);
        true
    }
}

impl Adaptor for CharStream<Chunks> {
    const METHODS: usize = 4;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Stream::with_options_first(source, options, mode).chars()
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Stream::with_mode_first(source, options, mode).chars()
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.get_ref().decoder()
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
        let mut bytes = [0; 100];
        match self.read(&mut bytes).await {
            Ok(0) => return false,
            Ok(len) => *seen += str::from_utf8(&bytes[..len]).expect("the texts are short"),
            Err(error) => {
                let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
                *seen += &cause.map_or_else(|| format!("<{error}>"), ill_formed);
            }
        }
        true
    }
}

impl Adaptor for Utf8Lines<Utf8Reader<Source>> {
    const METHODS: usize = 2;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Reader::with_options_first(source, options, mode).into_lines()
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Reader::with_mode_first(source, options, mode).into_lines()
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.decoder()
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
    Utf8Body::new(StreamBody::new(chunks(source).map(frame)))
}

impl Adaptor for Utf8Body<Frames> {
    const METHODS: usize = 1;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        body(source).with_options(options).with_error_mode(mode)
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        body(source).with_error_mode(mode).with_options(options)
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.decoder()
    }

    async fn take(&mut self, _: usize, seen: &mut String) -> bool {
        match self.text_frame().await {
            None => return false,
            Some(Ok(frame)) => *seen += &frame.into_data().expect("there are no trailers"),
            Some(Err(BodyError::Utf8(error))) => *seen += &ill_formed(&error),
            Some(Err(error)) => *seen += &format!("<{}>", io::Error::from(error)),
        }
        true
    }
}
