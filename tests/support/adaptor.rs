//! What the adaptors that turn a reader into text have in common: [`Adaptor`].

use std::io;
use std::pin::Pin;

use bytes::Bytes;
use futures::StreamExt;
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::io::{AsyncRead, AsyncReadExt};
use utf8_codec::lines::LineEnd;
use utf8_codec::payload::http::{BodyError, Utf8Body};
use utf8_codec::stream::{
    CharStream, LinesError, ReaderChunks, StreamError, Utf8ByteReader, Utf8Lines, Utf8Reader,
    Utf8Stream,
};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Error, Utf8Options};

pub(crate) type Source = Pin<Box<dyn AsyncRead + Send>>;

/// An adaptor over a reader.
pub(crate) trait Adaptor: Sized {
    /// How many methods take text.
    const METHODS: usize;

    /// With the options set before the error mode.
    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self;

    /// With the error mode set before the options.
    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self;

    fn over(source: Source) -> Self {
        Self::with_options_first(source, Utf8Options::new(), ErrorMode::Fatal)
    }

    fn decoder(&self) -> &Utf8Decoder;

    /// Appends to `seen` what comes next by one of the methods, an error as `<...>`. Returns whether
    /// there was anything.
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

impl Adaptor for Utf8Stream<ReaderChunks<Source>> {
    const METHODS: usize = 1;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::from_reader(source).with_options(options).with_error_mode(mode)
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::from_reader(source).with_error_mode(mode).with_options(options)
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

impl Adaptor for CharStream<ReaderChunks<Source>> {
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

impl Adaptor for Utf8Reader<Source> {
    const METHODS: usize = 4;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::new(source).with_options(options).with_error_mode(mode)
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Self::new(source).with_error_mode(mode).with_options(options)
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

impl Adaptor for Utf8ByteReader<Source> {
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
    const METHODS: usize = 1;

    fn with_options_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Reader::with_options_first(source, options, mode).into_lines()
    }

    fn with_mode_first(source: Source, options: Utf8Options, mode: ErrorMode) -> Self {
        Utf8Reader::with_mode_first(source, options, mode).into_lines()
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.decoder()
    }

    async fn take(&mut self, _: usize, seen: &mut String) -> bool {
        match self.next().await {
            None => return false,
            Some(Ok(line)) => {
                *seen += &line;
                seen.extend((line.end == LineEnd::Delimiter).then_some('\n'));
            }
            Some(Err(LinesError::Inner(error))) => *seen += &format!("<{error}>"),
            Some(Err(_)) => *seen += "<line>",
        }
        true
    }
}

/// A body of the chunks of a reader.
pub(crate) type Chunks = StreamBody<
    futures::stream::Map<ReaderChunks<Source>, fn(io::Result<Bytes>) -> io::Result<Frame<Bytes>>>,
>;

fn body(source: Source) -> Utf8Body<Chunks> {
    let frame: fn(io::Result<Bytes>) -> io::Result<Frame<Bytes>> = |chunk| chunk.map(Frame::data);
    Utf8Body::new(StreamBody::new(ReaderChunks::new(source).map(frame)))
}

impl Adaptor for Utf8Body<Chunks> {
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
