//! The objects of the crate that decode, each as a [`Subject`]. A new one needs an impl and a row of [`VIAS`].

use std::convert::Infallible;
use std::iter;

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::{FutureExt, Stream, StreamExt};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio_util::codec::Decoder;

use utf8_codec::codec::{CharCodec, CodecError, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};

use utf8_codec::decoder::{Progress, Status};
use utf8_codec::lines::{Delimiter, Line, LineError};
use utf8_codec::stream::{CharStream, StreamError, Utf8Lines, Utf8Reader, Utf8Stream};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Error, Utf8Options, Utf8Validator};

/// The objects that cases of decoding can run through.
pub(crate) const VIAS: [Via; 16] = [
    via("validator", Gives::Verdict, |options, _| Box::new(Validating::new(options))),
    via("decoder", Gives::Everything, |o, m| decoding(o, m, push, finish)),
    via("decoder-bytes", Gives::Everything, |o, m| decoding(o, m, push_bytes, finish)),
    via("decoder-string", Gives::Tally, |o, m| decoding(o, m, to_string, finish_to_string)),
    via("decoder-slice-1", Gives::Tally, |o, m| decoding(o, m, to_slice::<1>, end_slice::<1>)),
    via("decoder-slice-3", Gives::Tally, |o, m| decoding(o, m, to_slice::<3>, end_slice::<3>)),
    via("decoder-slice-4", Gives::Tally, |o, m| decoding(o, m, to_slice::<4>, end_slice::<4>)),
    via("decoder-slice-5", Gives::Tally, |o, m| decoding(o, m, to_slice::<5>, end_slice::<5>)),
    via("decoder-slice-8", Gives::Tally, |o, m| decoding(o, m, to_slice::<8>, end_slice::<8>)),
    via("decoder-slice-16", Gives::Tally, |o, m| decoding(o, m, to_slice::<16>, end_slice::<16>)),
    via("codec", Gives::Tally, |options, mode| {
        let codec = Utf8Codec::new().with_options(options).with_error_mode(mode);
        framed(codec, (mode, options), Utf8Codec::decoder, Utf8Codec::reset)
    }),
    via("chunks", Gives::Everything, |options, mode| {
        let codec = Utf8ChunksCodec::new().with_options(options);
        framed(codec, (mode, options), Utf8ChunksCodec::decoder, Utf8ChunksCodec::reset)
    }),
    via("char-codec", Gives::Tally, |options, mode| {
        let codec = CharCodec::new().with_options(options).with_error_mode(mode);
        framed(codec, (mode, options), CharCodec::decoder, CharCodec::reset)
    }),
    via("stream", Gives::Tally, |options, mode| Box::new(Streaming::<Texts>::new(options, mode))),
    via("chars", Gives::Tally, |options, mode| Box::new(Streaming::<Chars>::new(options, mode))),
    via("reader", Gives::Tally, |options, mode| Box::new(Reading::new(options, mode))),
];

/// An object, by name.
pub(crate) struct Via {
    pub(crate) name: &'static str,
    pub(crate) gives: Gives,
    pub(crate) new: fn(Utf8Options, ErrorMode) -> Box<dyn Subject>,
}

/// What an object reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    /// Every error, no text.
    Verdict,
    /// Text and every error.
    Everything,
    /// Text, the number of repaired errors, and the first of them.
    Tally,
}

/// An object that decodes one stream after another.
pub(crate) trait Subject {
    /// Returns what the next chunk yields.
    fn push(&mut self, chunk: &[u8]) -> Vec<Piece>;

    /// Returns what the end of the stream yields.
    fn finish(&mut self) -> Vec<Piece>;

    /// Starts a new stream.
    fn reset(&mut self);

    /// Returns what the object reports about its stream.
    fn facts(&self) -> Facts;
}

/// A part of the output: text, repairs included, or an error.
pub(crate) enum Piece {
    Text(String),
    Error(Utf8Error),
}

pub(crate) struct Facts {
    pub(crate) held: usize,
    pub(crate) bom_seen: bool,
    pub(crate) skipped: usize,
    pub(crate) error_count: u64,
    pub(crate) first_error: Option<Utf8Error>,
}

const fn via(
    name: &'static str,
    gives: Gives,
    new: fn(Utf8Options, ErrorMode) -> Box<dyn Subject>,
) -> Via {
    Via { name, gives, new }
}

struct Validating {
    validator: Utf8Validator,
    /// The errors of the stream so far.
    errors: Vec<Utf8Error>,
}

impl Validating {
    fn new(options: Utf8Options) -> Self {
        Self { validator: Utf8Validator::new().with_options(options), errors: Vec::new() }
    }

    fn note(&mut self, error: Utf8Error) -> Piece {
        self.errors.push(error);
        Piece::Error(error)
    }
}

impl Subject for Validating {
    fn push(&mut self, chunk: &[u8]) -> Vec<Piece> {
        let before = self.validator.position();
        let mut pieces = Vec::new();
        let mut rest = chunk;
        while let Err(error) = self.validator.push(rest) {
            rest = &chunk[(self.validator.position() - before) as usize..];
            pieces.push(self.note(error));
        }
        pieces
    }

    fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Err(error) = self.validator.finish() {
            pieces.push(self.note(error));
        }
        pieces
    }

    fn reset(&mut self) {
        self.validator.reset();
        self.errors.clear();
    }

    fn facts(&self) -> Facts {
        Facts {
            held: self.validator.incomplete().len(),
            bom_seen: self.validator.bom_seen(),
            skipped: self.validator.skipped(),
            error_count: self.errors.len() as u64,
            first_error: self.errors.first().copied(),
        }
    }
}

/// How errors are repaired.
type Repairs = (ErrorMode, Utf8Options);

/// A decoder, and the methods to call.
struct Decoding {
    decoder: Utf8Decoder,
    repairs: Repairs,
    push: fn(&mut Utf8Decoder, Repairs, &[u8]) -> Vec<Piece>,
    finish: fn(&mut Utf8Decoder, Repairs) -> Vec<Piece>,
}

fn decoding(
    options: Utf8Options,
    mode: ErrorMode,
    push: fn(&mut Utf8Decoder, Repairs, &[u8]) -> Vec<Piece>,
    finish: fn(&mut Utf8Decoder, Repairs) -> Vec<Piece>,
) -> Box<dyn Subject> {
    let decoder = Utf8Decoder::new().with_options(options);
    Box::new(Decoding { decoder, repairs: (mode, options), push, finish })
}

impl Subject for Decoding {
    fn push(&mut self, chunk: &[u8]) -> Vec<Piece> {
        (self.push)(&mut self.decoder, self.repairs, chunk)
    }

    fn finish(&mut self) -> Vec<Piece> {
        (self.finish)(&mut self.decoder, self.repairs)
    }

    fn reset(&mut self) {
        self.decoder.reset();
    }

    fn facts(&self) -> Facts {
        Facts::from(&self.decoder)
    }
}

fn push(decoder: &mut Utf8Decoder, repairs: Repairs, chunk: &[u8]) -> Vec<Piece> {
    decoder.push(chunk).flat_map(|piece| repaired(piece, repairs)).collect()
}

fn push_bytes(decoder: &mut Utf8Decoder, repairs: Repairs, chunk: &[u8]) -> Vec<Piece> {
    let pieces = decoder.push_bytes(Bytes::copy_from_slice(chunk));
    pieces.flat_map(|piece| repaired(piece, repairs)).collect()
}

fn finish(decoder: &mut Utf8Decoder, repairs: Repairs) -> Vec<Piece> {
    let errors = iter::from_fn(|| decoder.finish().err());
    errors.flat_map(|error| repaired(Err::<&str, _>(error), repairs)).collect()
}

fn to_string(decoder: &mut Utf8Decoder, (mode, _): Repairs, mut chunk: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    loop {
        let mut text = String::new();
        let progress = decoder.push_to_string(chunk, mode, &mut text);
        assert_eq!(progress.written, text.len());
        pieces.push(Piece::Text(text));
        chunk = &chunk[progress.read..];
        match progress.status {
            Status::Done => return pieces,
            Status::IllFormed(error) => pieces.push(Piece::Error(error)),
            status => panic!("a string has room, {status:?}"),
        }
    }
}

fn finish_to_string(decoder: &mut Utf8Decoder, (mode, _): Repairs) -> Vec<Piece> {
    let mut pieces = Vec::new();
    loop {
        let mut text = String::new();
        let ended = decoder.finish_to_string(mode, &mut text);
        pieces.push(Piece::Text(text));
        match ended {
            Ok(()) => return pieces,
            Err(error) => pieces.push(Piece::Error(error)),
        }
    }
}

fn to_slice<const N: usize>(
    decoder: &mut Utf8Decoder,
    (mode, _): Repairs,
    mut chunk: &[u8],
) -> Vec<Piece> {
    until_done::<N>(|buffer| {
        let progress = decoder.push_to_slice(chunk, mode, buffer);
        chunk = &chunk[progress.read..];
        progress
    })
}

fn end_slice<const N: usize>(decoder: &mut Utf8Decoder, (mode, _): Repairs) -> Vec<Piece> {
    until_done::<N>(|buffer| decoder.finish_to_slice(mode, buffer))
}

/// Calls again as [`Status`] asks, with a buffer of `N` bytes, or more for a repair that needs more.
fn until_done<const N: usize>(mut call: impl FnMut(&mut [u8]) -> Progress) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut buffer = [0; 16];
    let mut room = N;
    loop {
        let progress = call(&mut buffer[..room]);
        let text = str::from_utf8(&buffer[..progress.written]).expect("characters come whole");
        pieces.push(Piece::Text(text.to_owned()));
        room = match progress.status {
            Status::Done => return pieces,
            Status::Full | Status::IllFormed(_) => N,
            Status::TooSmall { needed } => needed,
            status => unreachable!("{status:?}"),
        };
        if let Status::IllFormed(error) = progress.status {
            pieces.push(Piece::Error(error));
        }
    }
}

/// A codec, called as `FramedRead` calls it: on one buffer, after each chunk until it returns `None`.
struct Framed<C> {
    codec: C,
    buffer: BytesMut,
    /// For errors that are items.
    repairs: Repairs,
    decoder: fn(&C) -> &Utf8Decoder,
    reset: fn(&mut C),
}

fn framed<C>(
    codec: C,
    repairs: Repairs,
    decoder: fn(&C) -> &Utf8Decoder,
    reset: fn(&mut C),
) -> Box<dyn Subject>
where
    Framed<C>: Subject + 'static,
{
    Box::new(Framed { codec, buffer: BytesMut::new(), repairs, decoder, reset })
}

impl<C> Subject for Framed<C>
where
    C: Decoder<Item: Item, Error: Into<CodecError>>,
{
    fn push(&mut self, chunk: &[u8]) -> Vec<Piece> {
        self.buffer.extend_from_slice(chunk);
        let items = iter::from_fn(|| self.codec.decode(&mut self.buffer).transpose());
        items.flat_map(|item| pieces(item, self.repairs)).collect()
    }

    fn finish(&mut self) -> Vec<Piece> {
        let items = iter::from_fn(|| self.codec.decode_eof(&mut self.buffer).transpose());
        items.flat_map(|item| pieces(item, self.repairs)).collect()
    }

    fn reset(&mut self) {
        (self.reset)(&mut self.codec);
        self.buffer.clear();
    }

    fn facts(&self) -> Facts {
        Facts { held: self.buffer.len(), ..Facts::from((self.decoder)(&self.codec)) }
    }
}

/// A stream over a channel, polled after each chunk for as long as it is ready.
struct Streaming<T> {
    sender: UnboundedSender<Result<Bytes, Infallible>>,
    stream: T,
    options: Utf8Options,
    mode: ErrorMode,
}

/// The adaptors to poll it through.
trait Taken {
    fn over(texts: Texts) -> Self;
    fn ready(&mut self) -> Vec<Piece>;
    fn decoder(&self) -> &Utf8Decoder;
}

type Chunks = UnboundedReceiver<Result<Bytes, Infallible>>;
type Texts = Utf8Stream<Chunks>;
type Chars = CharStream<Chunks, Infallible>;

impl<T: Taken> Streaming<T> {
    fn new(options: Utf8Options, mode: ErrorMode) -> Self {
        let (sender, receiver) = mpsc::unbounded();
        let texts = Utf8Stream::new(receiver).with_options(options).with_error_mode(mode);
        Self { sender, stream: T::over(texts), options, mode }
    }
}

impl<T: Taken> Subject for Streaming<T> {
    fn push(&mut self, chunk: &[u8]) -> Vec<Piece> {
        self.sender.unbounded_send(Ok(Bytes::copy_from_slice(chunk))).expect("the stream is here");
        self.stream.ready()
    }

    fn finish(&mut self) -> Vec<Piece> {
        self.sender.close_channel();
        self.stream.ready()
    }

    fn reset(&mut self) {
        *self = Self::new(self.options, self.mode);
    }

    fn facts(&self) -> Facts {
        Facts::from(self.stream.decoder())
    }
}

impl Taken for Texts {
    fn over(texts: Texts) -> Self {
        texts
    }

    fn ready(&mut self) -> Vec<Piece> {
        let items = iter::from_fn(|| self.next().now_or_never().flatten());
        let piece = |item| match item {
            Ok(text) => Piece::Text(String::from(text)),
            Err(StreamError::Utf8(error)) => Piece::Error(error),
            Err(error) => panic!("a channel does not fail: {error}"),
        };
        items.map(piece).collect()
    }

    fn decoder(&self) -> &Utf8Decoder {
        Utf8Stream::decoder(self)
    }
}

/// `char` by `char`, every other one together with those that follow it.
impl Taken for Chars {
    fn over(texts: Texts) -> Self {
        texts.chars()
    }

    fn ready(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Some(Some(next)) = self.next().now_or_never() {
            pieces.push(match next {
                Ok(c) => Piece::Text(c.into()),
                Err(StreamError::Utf8(error)) => Piece::Error(error),
                Err(error) => panic!("a channel does not fail: {error}"),
            });
            if !self.as_str().is_empty() {
                let block = self.next_block().now_or_never().flatten();
                let block = block.expect("there is text").expect("before any error");
                pieces.push(Piece::Text(block.iter().collect()));
            }
        }
        pieces
    }

    fn decoder(&self) -> &Utf8Decoder {
        self.get_ref().decoder()
    }
}

/// A reader over a pipe, read after each chunk for as long as it is ready.
struct Reading {
    /// `None` once the stream has ended.
    pipe: Option<DuplexStream>,
    reader: Utf8Reader<DuplexStream>,
    options: Utf8Options,
    mode: ErrorMode,
}

impl Reading {
    fn new(options: Utf8Options, mode: ErrorMode) -> Self {
        let (pipe, socket) = tokio::io::duplex(1 << 20);
        let reader = Utf8Reader::new(socket).with_options(options).with_error_mode(mode);
        Self { pipe: Some(pipe), reader, options, mode }
    }

    fn ready(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Some(next) = self.reader.next_str().now_or_never() {
            pieces.push(match next {
                Ok(Some(text)) => Piece::Text(text.to_owned()),
                Ok(None) => break,
                Err(StreamError::Utf8(error)) => Piece::Error(error),
                Err(error) => panic!("a pipe does not fail: {error}"),
            });
        }
        pieces
    }
}

impl Subject for Reading {
    fn push(&mut self, chunk: &[u8]) -> Vec<Piece> {
        let pipe = self.pipe.as_mut().expect("not ended");
        let written = pipe.write_all(chunk).now_or_never();
        written.expect("there is room").expect("the reader is here");
        self.ready()
    }

    fn finish(&mut self) -> Vec<Piece> {
        self.pipe = None;
        self.ready()
    }

    fn reset(&mut self) {
        *self = Self::new(self.options, self.mode);
    }

    fn facts(&self) -> Facts {
        Facts { held: self.reader.rest().len(), ..Facts::from(self.reader.decoder()) }
    }
}

/// The settings of a decoder of lines.
pub(crate) struct LineSettings {
    pub(crate) options: Utf8Options,
    pub(crate) mode: ErrorMode,
    pub(crate) delimiter: Delimiter,
    pub(crate) limit: usize,
}

/// A decoder of lines.
pub(crate) trait LineSubject {
    /// Returns what the next chunk yields.
    fn push(&mut self, chunk: &[u8]) -> Vec<Result<Line, LineError>>;

    /// Returns what the end of the stream yields.
    fn finish(&mut self) -> Vec<Result<Line, LineError>>;
}

/// The decoder of lines for `via`.
pub(crate) fn lines(via: &Via, settings: LineSettings) -> Box<dyn LineSubject> {
    let LineSettings { options, mode, delimiter, limit } = settings;
    match via.name {
        "stream" => {
            let (sender, receiver) = mpsc::unbounded::<Result<Bytes, Infallible>>();
            let stream = Utf8Stream::new(receiver).with_options(options).with_error_mode(mode);
            let lines = stream.lines().with_delimiter(delimiter).with_max_length(limit);
            let push = move |chunk: Option<&[u8]>| match chunk {
                Some(chunk) => sender.unbounded_send(Ok(Bytes::copy_from_slice(chunk))).is_ok(),
                None => {
                    sender.close_channel();
                    true
                }
            };
            Box::new(LinesOver { lines, push: Box::new(push) })
        }
        "reader" => {
            let (pipe, socket) = tokio::io::duplex(1 << 20);
            let reader = Utf8Reader::new(socket).with_options(options).with_error_mode(mode);
            let lines = reader.into_lines().with_delimiter(delimiter).with_max_length(limit);
            let mut pipe = Some(pipe);
            let push = move |chunk: Option<&[u8]>| match (chunk, &mut pipe) {
                (Some(chunk), Some(pipe)) => pipe.write_all(chunk).now_or_never().is_some(),
                _ => pipe.take().is_some(),
            };
            Box::new(LinesOver { lines, push: Box::new(push) })
        }
        _ => {
            let codec = Utf8LinesCodec::new()
                .with_options(options)
                .with_error_mode(mode)
                .with_delimiter(delimiter)
                .with_max_length(limit);
            Box::new(LinesCodec { codec, buffer: BytesMut::new() })
        }
    }
}

struct LinesCodec {
    codec: Utf8LinesCodec,
    buffer: BytesMut,
}

impl LineSubject for LinesCodec {
    fn push(&mut self, chunk: &[u8]) -> Vec<Result<Line, LineError>> {
        self.buffer.extend_from_slice(chunk);
        let items = iter::from_fn(|| self.codec.decode(&mut self.buffer).transpose());
        items.map(|item| item.expect("nothing is read")).collect()
    }

    fn finish(&mut self) -> Vec<Result<Line, LineError>> {
        let items = iter::from_fn(|| self.codec.decode_eof(&mut self.buffer).transpose());
        items.map(|item| item.expect("nothing is read")).collect()
    }
}

/// A stream of lines, polled after each chunk for as long as it is ready.
struct LinesOver<S> {
    lines: Utf8Lines<S>,
    push: Push,
}

/// Pushes a chunk, or the end. Returns whether that was possible.
type Push = Box<dyn FnMut(Option<&[u8]>) -> bool>;

impl<S, E> LinesOver<S>
where
    Utf8Lines<S>: Stream<Item = Result<Line, StreamError<E>>> + Unpin,
    E: std::fmt::Debug,
{
    fn ready(&mut self, chunk: Option<&[u8]>) -> Vec<Result<Line, LineError>> {
        assert!((self.push)(chunk), "the lines are open");
        let items = iter::from_fn(|| self.lines.next().now_or_never().flatten());
        let line_error = |error| match error {
            StreamError::Line(error) => error,
            error => panic!("the source fails: {error:?}"),
        };
        items.map(|item| item.map_err(line_error)).collect()
    }
}

impl<S, E> LineSubject for LinesOver<S>
where
    Utf8Lines<S>: Stream<Item = Result<Line, StreamError<E>>> + Unpin,
    E: std::fmt::Debug,
{
    fn push(&mut self, chunk: &[u8]) -> Vec<Result<Line, LineError>> {
        self.ready(Some(chunk))
    }

    fn finish(&mut self) -> Vec<Result<Line, LineError>> {
        self.ready(None)
    }
}

/// The item of a codec.
trait Item {
    fn content(self) -> Result<String, Utf8Error>;
}

impl Item for ByteString {
    fn content(self) -> Result<String, Utf8Error> {
        Ok(self.into())
    }
}

impl Item for char {
    fn content(self) -> Result<String, Utf8Error> {
        Ok(self.into())
    }
}

impl Item for Result<ByteString, Utf8Error> {
    fn content(self) -> Result<String, Utf8Error> {
        self.map(String::from)
    }
}

fn pieces<I: Item, E: Into<CodecError>>(item: Result<I, E>, repairs: Repairs) -> Vec<Piece> {
    match item.map_err(Into::into) {
        Ok(item) => repaired(item.content(), repairs),
        Err(CodecError::Invalid(error)) => vec![Piece::Error(error)],
        Err(error) => panic!("nothing is read: {error}"),
    }
}

/// A piece, or an error followed by its repair.
fn repaired(
    piece: Result<impl Into<String> + AsRef<str>, Utf8Error>,
    (mode, options): Repairs,
) -> Vec<Piece> {
    match piece {
        Ok(text) => vec![Piece::Text(text.into())],
        Err(error) => {
            let repair = mode.repair(&error, options).map(|repair| Piece::Text(repair.to_string()));
            iter::once(Piece::Error(error)).chain(repair).collect()
        }
    }
}

impl From<&Utf8Decoder> for Facts {
    fn from(decoder: &Utf8Decoder) -> Self {
        Self {
            held: decoder.incomplete().len(),
            bom_seen: decoder.bom_seen(),
            skipped: decoder.skipped(),
            error_count: decoder.error_count(),
            first_error: decoder.first_error(),
        }
    }
}
