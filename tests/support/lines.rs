//! One interface for all types that decode lines. All must decode the same lines at the same times.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

use bytes::BytesMut;
use tokio_util::codec::Decoder;
use utf8_codec::codec::Utf8LinesCodec;
use utf8_codec::fallback::FallbackDecoder;
use utf8_codec::lines::{Delimiter, Line, LineDecoder, LineError, LongLines};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Options};

pub type Item = Result<Line, LineError>;

#[derive(Clone, Debug)]
pub struct LineSettings {
    pub options: Utf8Options,
    pub mode: ErrorMode,
    pub delimiter: Delimiter,
    pub limit: usize,
    pub long_lines: LongLines,
    /// Only forms that do no I/O have one.
    pub fallback: Option<FallbackDecoder>,
}

impl Default for LineSettings {
    fn default() -> Self {
        Self {
            options: Utf8Options::new(),
            mode: ErrorMode::Fatal,
            delimiter: Delimiter::lf(),
            limit: Utf8LinesCodec::DEFAULT_MAX_LENGTH,
            long_lines: LongLines::Reject,
            fallback: None,
        }
    }
}

/// A type that decodes lines.
pub trait Lines {
    /// Returns the lines that the bytes so far determine.
    fn push(&mut self, chunk: &[u8]) -> Vec<Item>;

    /// Ends the stream. Returns the last lines.
    fn finish(&mut self) -> Vec<Item>;

    /// Changes settings, with which the next bytes are decoded.
    fn change(&mut self, delimiter: &Delimiter, limit: usize);

    /// Starts a new stream. Returns false if this type cannot.
    fn reset(&mut self) -> bool {
        false
    }

    /// The bytes that are in no line yet.
    fn rest(&self) -> &[u8];

    fn decoder(&self) -> &Utf8Decoder;
}

/// The types that decode lines. The lines of a reader or a stream are owned or borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Codec,
    Decoder,
    Chunks,
    BorrowedChunks,
    Reader,
    BorrowedReader,
    Blocking,
    BorrowedBlocking,
}

impl Form {
    pub const SANS_IO: &'static [Self] = &[Self::Codec, Self::Decoder];
    pub const ASYNC: &'static [Self] =
        &[Self::Chunks, Self::BorrowedChunks, Self::Reader, Self::BorrowedReader];
    pub const BLOCKING: &'static [Self] = &[Self::Blocking, Self::BorrowedBlocking];

    /// Returns every form that can have these settings.
    fn all(settings: &LineSettings) -> Vec<Self> {
        match cfg!(feature = "stream") && settings.fallback.is_none() {
            true => [Self::SANS_IO, Self::ASYNC, Self::BLOCKING].concat(),
            false => Self::SANS_IO.to_vec(),
        }
    }

    pub fn start(self, settings: &LineSettings) -> Box<dyn Lines> {
        let LineSettings { options, mode, delimiter, limit, long_lines, fallback } =
            settings.clone();
        match self {
            Self::Codec => {
                let codec = Utf8LinesCodec::new().with_options(options).with_error_mode(mode);
                let codec = codec.with_delimiter(delimiter).with_max_length(limit);
                let codec = codec.with_long_lines(long_lines);
                let codec = match fallback {
                    Some(fallback) => codec.with_fallback(fallback),
                    None => codec,
                };
                Box::new(ByCodec { codec, buffer: BytesMut::new() })
            }
            Self::Decoder => {
                let decoder = LineDecoder::new().with_options(options).with_error_mode(mode);
                let decoder = decoder.with_delimiter(delimiter).with_max_length(limit);
                let decoder = decoder.with_long_lines(long_lines);
                Box::new(ByDecoder(match fallback {
                    Some(fallback) => decoder.with_fallback(fallback),
                    None => decoder,
                }))
            }
            #[cfg(feature = "stream")]
            _ => feed::start(self, settings),
            #[cfg(not(feature = "stream"))]
            _ => panic!("{self:?} needs a feature"),
        }
    }
}

struct ByCodec {
    codec: Utf8LinesCodec,
    buffer: BytesMut,
}

impl Lines for ByCodec {
    fn push(&mut self, chunk: &[u8]) -> Vec<Item> {
        self.buffer.extend_from_slice(chunk);
        std::iter::from_fn(|| self.codec.decode(&mut self.buffer).unwrap()).collect()
    }

    fn finish(&mut self) -> Vec<Item> {
        std::iter::from_fn(|| self.codec.decode_eof(&mut self.buffer).unwrap()).collect()
    }

    fn change(&mut self, delimiter: &Delimiter, limit: usize) {
        let codec = self.codec.clone().with_delimiter(delimiter.clone());
        self.codec = codec.with_max_length(limit);
    }

    fn reset(&mut self) -> bool {
        self.buffer.clear();
        self.codec.reset();
        true
    }

    fn rest(&self) -> &[u8] {
        &self.buffer
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.codec.decoder()
    }
}

struct ByDecoder(LineDecoder);

impl Lines for ByDecoder {
    fn push(&mut self, chunk: &[u8]) -> Vec<Item> {
        let mut lines = self.0.push(chunk);
        let mut items = Vec::new();
        while let Some(line) = lines.next_line() {
            items.push(line.map(Line::from));
            assert!(chunk.ends_with(lines.rest()));
        }
        assert_eq!(lines.rest(), b"");
        items
    }

    fn finish(&mut self) -> Vec<Item> {
        let next = || self.0.finish_line().map(|line| line.map(Line::from));
        std::iter::from_fn(next).collect()
    }

    fn change(&mut self, delimiter: &Delimiter, limit: usize) {
        let decoder = self.0.clone().with_delimiter(delimiter.clone());
        self.0 = decoder.with_max_length(limit);
    }

    fn reset(&mut self) -> bool {
        self.0.reset();
        true
    }

    fn rest(&self) -> &[u8] {
        self.0.incomplete()
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.0.decoder()
    }
}

/// The lines after each chunk and at the end, which are the same in every form.
pub fn line_steps<'a>(
    settings: &LineSettings,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Vec<Item>> {
    let mut all = EveryForm::start(settings);
    let mut steps: Vec<_> = chunks.into_iter().map(|chunk| all.push(chunk)).collect();
    steps.push(all.finish());
    steps
}

/// All forms, which must report the same.
pub struct EveryForm(Vec<(Form, Box<dyn Lines>)>);

impl EveryForm {
    pub fn start(settings: &LineSettings) -> Self {
        Self(Form::all(settings).into_iter().map(|form| (form, form.start(settings))).collect())
    }

    pub fn push(&mut self, chunk: &[u8]) -> Vec<Item> {
        self.take(&|lines| lines.push(chunk))
    }

    pub fn finish(&mut self) -> Vec<Item> {
        let items = self.take(&|lines| lines.finish());
        for (form, lines) in &self.0 {
            assert_eq!(lines.rest(), b"", "{form:?}: no byte is left over at the end");
        }
        items
    }

    pub fn change(&mut self, delimiter: &Delimiter, limit: usize) {
        self.0.iter_mut().for_each(|(_, lines)| lines.change(delimiter, limit));
    }

    fn take(&mut self, take: &dyn Fn(&mut dyn Lines) -> Vec<Item>) -> Vec<Item> {
        let [(_, first), others @ ..] = &mut self.0[..] else { panic!("there are forms") };
        let items = take(&mut **first);
        for (form, lines) in others {
            assert_eq!(take(&mut **lines), items, "{form:?}");
            assert_eq!(lines.rest(), first.rest(), "{form:?}");
            assert_eq!(known(lines.decoder()), known(first.decoder()), "{form:?}");
        }
        items
    }
}

fn known(decoder: &Utf8Decoder) -> impl PartialEq + std::fmt::Debug {
    let errors = (decoder.error_count(), decoder.first_error());
    (decoder.position(), errors, decoder.bom_seen(), decoder.skipped())
}

#[cfg(feature = "stream")]
pub mod feed {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::io::{self, ErrorKind, Read};
    use std::pin::Pin;
    use std::rc::Rc;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use futures::{FutureExt, Stream, StreamExt};
    use tokio::io::{AsyncRead, ReadBuf};
    use utf8_codec::stream::{StreamError, Utf8Lines, Utf8Reader, Utf8Stream};

    use super::{Delimiter, Form, Item, Line, LineSettings, Lines, Utf8Decoder};

    /// A reader, and a stream of one chunk, of what has been pushed. At the end of that it would block, until the stream ends.
    #[derive(Clone, Debug, Default)]
    pub struct Feed(Rc<RefCell<Fed>>);

    #[derive(Debug, Default)]
    struct Fed {
        bytes: VecDeque<u8>,
        has_ended: bool,
    }

    impl Feed {
        pub fn push(&self, chunk: &[u8]) {
            self.0.borrow_mut().bytes.extend(chunk);
        }

        /// Whether all that has been pushed has been read.
        fn is_empty(&self) -> bool {
            self.0.borrow().bytes.is_empty()
        }

        pub fn end(&self) {
            self.0.borrow_mut().has_ended = true;
        }
    }

    impl Read for Feed {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let fed = &mut *self.0.borrow_mut();
            match fed.bytes.is_empty() && !fed.has_ended {
                true => Err(ErrorKind::WouldBlock.into()),
                false => fed.bytes.read(room),
            }
        }
    }

    impl AsyncRead for Feed {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            room: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            match self.read(room.initialize_unfilled()) {
                Ok(len) => room.advance(len),
                Err(_) => return Poll::Pending,
            }
            Poll::Ready(Ok(()))
        }
    }

    impl Stream for Feed {
        type Item = io::Result<Bytes>;

        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            let fed = &mut *self.0.borrow_mut();
            match fed.bytes.is_empty() {
                true if fed.has_ended => Poll::Ready(None),
                true => Poll::Pending,
                false => Poll::Ready(Some(Ok(fed.bytes.drain(..).collect()))),
            }
        }
    }

    pub(super) fn start(form: Form, settings: &LineSettings) -> Box<dyn Lines> {
        let feed = Feed::default();
        let chunks = || Utf8Stream::new(feed.clone());
        let chunks = || chunks().with_options(settings.options).with_error_mode(settings.mode);
        let reader = || Utf8Reader::new(feed.clone()).with_options(settings.options);
        let reader = || reader().with_error_mode(settings.mode);
        let blocking = || utf8_codec::io::Utf8Reader::new(feed.clone());
        let blocking = || blocking().with_options(settings.options).with_error_mode(settings.mode);
        match form {
            Form::Chunks => by_feed(&feed, settings, chunks().lines(), |lines| {
                settled(lines.next().now_or_never().flatten())
            }),
            Form::BorrowedChunks => by_feed(&feed, settings, chunks().lines(), |lines| {
                settled(lines.next_line().now_or_never().flatten())
            }),
            Form::Reader => {
                by_feed(&feed, settings, reader().with_capacity(7).into_lines(), |lines| {
                    settled(lines.next().now_or_never().flatten())
                })
            }
            Form::BorrowedReader => by_feed(&feed, settings, reader().into_lines(), |lines| {
                settled(lines.next_line().now_or_never().flatten())
            }),
            Form::Blocking => {
                by_feed(&feed, settings, blocking().into_lines(), |lines| settled(lines.next()))
            }
            Form::BorrowedBlocking => {
                by_feed(&feed, settings, blocking().with_capacity(7).into_lines(), |lines| {
                    settled(lines.next_line())
                })
            }
            Form::Codec | Form::Decoder => panic!("{form:?} has no source"),
        }
    }

    fn settled<L: Into<Line>>(item: Option<Result<L, StreamError<io::Error>>>) -> Option<Item> {
        match item? {
            Ok(line) => Some(Ok(line.into())),
            Err(StreamError::Line(error)) => Some(Err(error)),
            Err(StreamError::Inner(error)) if error.kind() == ErrorKind::WouldBlock => None,
            Err(error) => panic!("{error:?}"),
        }
    }

    fn by_feed<S: Clone + 'static>(
        feed: &Feed,
        settings: &LineSettings,
        lines: Utf8Lines<S>,
        next: fn(&mut Utf8Lines<S>) -> Option<Item>,
    ) -> Box<dyn Lines> {
        let lines = lines.with_delimiter(settings.delimiter.clone());
        let lines = lines.with_max_length(settings.limit).with_long_lines(settings.long_lines);
        Box::new(ByFeed { feed: feed.clone(), lines, next })
    }

    struct ByFeed<S> {
        feed: Feed,
        lines: Utf8Lines<S>,
        /// The next line that is ready.
        next: fn(&mut Utf8Lines<S>) -> Option<Item>,
    }

    impl<S: Clone> Lines for ByFeed<S> {
        fn push(&mut self, chunk: &[u8]) -> Vec<Item> {
            self.feed.push(chunk);
            let mut items = Vec::new();
            loop {
                // It is pending at the end of its turn too: once more, in case it has been that of the last read.
                for _ in 0..2 {
                    items.extend(std::iter::from_fn(|| (self.next)(&mut self.lines)));
                }
                if self.feed.is_empty() {
                    return items;
                }
            }
        }

        fn finish(&mut self) -> Vec<Item> {
            self.feed.end();
            self.push(b"")
        }

        fn change(&mut self, delimiter: &Delimiter, limit: usize) {
            let lines = self.lines.clone().with_delimiter(delimiter.clone());
            self.lines = lines.with_max_length(limit);
        }

        fn rest(&self) -> &[u8] {
            self.lines.rest()
        }

        fn decoder(&self) -> &Utf8Decoder {
            self.lines.decoder()
        }
    }
}
