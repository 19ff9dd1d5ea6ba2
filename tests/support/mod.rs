//! What the integration tests share: the vectors, the reference model's answers for every prefix of
//! an input, and each public object behind one interface.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

#[cfg(feature = "http-body")]
mod body;
pub mod reference;
#[cfg(feature = "stream")]
mod streams;

use std::collections::BTreeSet;
#[cfg(feature = "stream")]
use std::convert::Infallible;
use std::fs;

use bytes::{Bytes, BytesMut};
#[cfg(feature = "stream")]
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
#[cfg(feature = "stream")]
use futures::{FutureExt, StreamExt, stream::FusedStream};
use reference::{Bom, Config, Controls, Delimiter, Event, Kind, LineItem, Mode, Start};
use serde_json::Value;
use tokio_util::codec::Decoder;
use utf8_codec::codec::{
    self, CharCodec, CodecError, LineEnd, LineErrorKind, Utf8Chunk, Utf8ChunksCodec, Utf8Codec,
    Utf8LinesCodec,
};
#[cfg(feature = "stream")]
use utf8_codec::stream::{StreamError, Utf8Stream};
use utf8_codec::{
    BomPolicy, ErrorMode, Status, Strictness, Utf8Decoder, Utf8Error, Utf8ErrorKind, Utf8Options,
    Utf8Validator,
};

pub const PLAIN: Config = Config {
    start: Start::Beginning(Bom::Keep),
    refuse_noncharacters: false,
    refuse_nul: false,
    controls: Controls::Allowed,
};

pub const MODES: [(Mode, ErrorMode); 6] = [
    (Mode::Fatal, ErrorMode::Fatal),
    (Mode::Replacement, ErrorMode::Replacement),
    (Mode::Skip, ErrorMode::Skip),
    (Mode::Escape, ErrorMode::Escape),
    (Mode::Latin1, ErrorMode::Latin1),
    (Mode::Windows1252, ErrorMode::Windows1252),
];

/// The smallest part of a stream's outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    Char(char),
    Error(reference::Error),
}

/// What the model says of every prefix of an input.
pub struct Expected {
    /// What the first `k` bytes determine, for each `k`.
    pub prefixes: Vec<Vec<Atom>>,
    pub held: Vec<usize>,
    /// What all bytes and the end determine.
    pub ended: Vec<Atom>,
    pub bom_seen: bool,
    pub skipped: usize,
}

impl Expected {
    pub fn new(bytes: &[u8], config: Config) -> Self {
        let decoded = |k: usize| reference::decode_prefix(&bytes[..k], config, false);
        let prefixes: Vec<_> = (0..=bytes.len()).map(decoded).collect();
        let ended = reference::decode_prefix(bytes, config, true);
        Self {
            held: prefixes.iter().map(|decoded| decoded.held).collect(),
            prefixes: prefixes.iter().map(|decoded| atoms(&decoded.events)).collect(),
            ended: atoms(&ended.events),
            bom_seen: ended.bom_seen,
            skipped: ended.skipped,
        }
    }

    /// The text of the first `k` bytes, or of the ended stream, repaired.
    pub fn text(&self, mode: Mode, at: Option<usize>) -> String {
        let atoms = at.map_or(&self.ended, |k| &self.prefixes[k]);
        atoms
            .iter()
            .map(|atom| match atom {
                Atom::Char(c) => c.to_string(),
                Atom::Error(error) => reference::repair(mode, error).unwrap_or_default(),
            })
            .collect()
    }
}

pub fn atoms(events: &[Event]) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for event in events {
        match event {
            Event::Text(text) => atoms.extend(text.chars().map(Atom::Char)),
            Event::Error(error) => atoms.push(Atom::Error(undated(error.clone()))),
        }
    }
    atoms
}

/// An error without the time of its decision, which the steps show.
pub fn undated(error: reference::Error) -> reference::Error {
    reference::Error { decided_by: None, ..error }
}

pub fn model_error(error: &Utf8Error) -> reference::Error {
    let kind = match error.kind() {
        Utf8ErrorKind::UnexpectedContinuation => Kind::UnexpectedContinuation,
        Utf8ErrorKind::Overlong => Kind::Overlong,
        Utf8ErrorKind::Surrogate => Kind::Surrogate,
        Utf8ErrorKind::TooLarge => Kind::TooLarge,
        Utf8ErrorKind::InvalidByte => Kind::InvalidByte,
        Utf8ErrorKind::Truncated => Kind::Truncated,
        Utf8ErrorKind::Incomplete => Kind::Incomplete,
        Utf8ErrorKind::ForbiddenBom => Kind::ForbiddenBom,
        Utf8ErrorKind::MissingBom => Kind::MissingBom,
        Utf8ErrorKind::Noncharacter => Kind::Noncharacter,
        Utf8ErrorKind::Forbidden => Kind::Forbidden,
        other => panic!("the model knows no {other:?}"),
    };
    let expected_len = (kind != Kind::Incomplete).then_some(error.bytes().len());
    assert_eq!(error.error_len(), expected_len, "{error:?}");
    reference::Error {
        offset: error.valid_up_to(),
        bytes: error.bytes().to_vec(),
        kind,
        next: error.next_byte(),
        decided_by: None,
    }
}

pub fn options(config: Config) -> Utf8Options {
    let mut strictness = Strictness::new();
    if config.refuse_noncharacters {
        strictness = strictness.refuse_noncharacters();
    }
    if config.refuse_nul {
        strictness = strictness.refuse_nul();
    }
    strictness = match config.controls {
        Controls::Allowed => strictness,
        Controls::RefusedExceptWhitespace => strictness.refuse_controls_except_whitespace(),
        Controls::Refused => strictness.refuse_controls(),
    };
    let options = Utf8Options::new().with_strictness(strictness);
    match config.start {
        Start::MidStream => options.with_mid_stream_start(),
        Start::Beginning(bom) => options.with_bom(match bom {
            Bom::Keep => BomPolicy::Keep,
            Bom::Strip => BomPolicy::Strip,
            Bom::Require => BomPolicy::Require,
            Bom::Forbid => BomPolicy::Forbid,
        }),
    }
}

/// An object under test, made to tell what came out of it.
pub trait Subject {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom>;
    fn finish(&mut self) -> Vec<Atom>;
    /// Bytes kept back, where the object can tell.
    fn held(&self) -> usize;
    fn bom_seen(&self) -> bool;
    fn skipped(&self) -> usize;
}

/// Every object that reports errors, by name.
pub fn reporters(config: Config) -> Vec<(&'static str, Box<dyn Subject>)> {
    let options = options(config);
    let decoder = Utf8Decoder::with_options(options);
    #[allow(unused_mut, reason = "it grows with the features")]
    let mut subjects: Vec<(&'static str, Box<dyn Subject>)> = vec![
        ("Utf8Decoder::push", Box::new(Pushed(decoder.clone()))),
        ("Utf8Decoder::push_bytes", Box::new(PushedBytes(decoder.clone()))),
        ("Utf8Decoder::push_to_string", Box::new(ToString(decoder.clone(), ErrorMode::Fatal))),
        ("Utf8Decoder::push_to_slice", Box::new(ToSlice(decoder, ErrorMode::Fatal, 4))),
        ("Utf8Codec", Called::boxed(Utf8Codec::new().with_options(options))),
        ("Utf8ChunksCodec", Called::boxed(Utf8ChunksCodec::new().with_options(options))),
        ("CharCodec", Called::boxed(CharCodec::new().with_options(options))),
    ];
    #[cfg(feature = "stream")]
    subjects.extend([
        ("Utf8Stream", Polled::boxed(options, ErrorMode::Fatal)),
        ("CharStream", streams::Chars::boxed(options, ErrorMode::Fatal)),
        ("Utf8Reader", streams::Read::boxed(options, ErrorMode::Fatal, 8192)),
        ("Utf8Reader, 4 bytes", streams::Read::boxed(options, ErrorMode::Fatal, 4)),
    ]);
    #[cfg(feature = "http-body")]
    subjects.push(("Utf8Body", body::Framed::boxed(options, ErrorMode::Fatal)));
    subjects
}

/// Every object that repairs, by name.
pub fn repairers(config: Config, mode: ErrorMode) -> Vec<(&'static str, Box<dyn Subject>)> {
    let options = options(config);
    let decoder = Utf8Decoder::with_options(options);
    let codec = Utf8Codec::new().with_options(options).with_error_mode(mode);
    let chars = CharCodec::new().with_options(options).with_error_mode(mode);
    #[allow(unused_mut, reason = "it grows with the features")]
    let mut subjects: Vec<(&'static str, Box<dyn Subject>)> = vec![
        ("Utf8Decoder::push_to_string", Box::new(ToString(decoder.clone(), mode))),
        ("Utf8Decoder::push_to_slice", Box::new(ToSlice(decoder, mode, 16))),
        ("Utf8Codec", Called::boxed(codec)),
        ("CharCodec", Called::boxed(chars)),
    ];
    #[cfg(feature = "stream")]
    subjects.extend([
        ("Utf8Stream", Polled::boxed(options, mode)),
        ("CharStream", streams::Chars::boxed(options, mode)),
        ("Utf8Reader", streams::Read::boxed(options, mode, 8192)),
    ]);
    #[cfg(feature = "http-body")]
    subjects.push(("Utf8Body", body::Framed::boxed(options, mode)));
    subjects
}

struct Pushed(Utf8Decoder);

impl Subject for Pushed {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        self.0.push(chunk).flat_map(pieces).collect()
    }

    fn finish(&mut self) -> Vec<Atom> {
        finished(&mut self.0)
    }

    fn held(&self) -> usize {
        self.0.incomplete().len()
    }

    fn bom_seen(&self) -> bool {
        self.0.bom_seen()
    }

    fn skipped(&self) -> usize {
        self.0.skipped()
    }
}

fn pieces<T: AsRef<str>>(piece: Result<T, Utf8Error>) -> Vec<Atom> {
    match piece {
        Ok(text) => {
            assert!(!text.as_ref().is_empty());
            text.as_ref().chars().map(Atom::Char).collect()
        }
        Err(error) => vec![Atom::Error(model_error(&error))],
    }
}

fn finished(decoder: &mut Utf8Decoder) -> Vec<Atom> {
    let mut out = Vec::new();
    while let Err(error) = decoder.finish() {
        out.push(Atom::Error(model_error(&error)));
    }
    assert_eq!(decoder.finish(), Ok(()), "a further call is harmless");
    out
}

struct PushedBytes(Utf8Decoder);

impl Subject for PushedBytes {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        self.0.push_bytes(Bytes::copy_from_slice(chunk)).flat_map(pieces).collect()
    }

    fn finish(&mut self) -> Vec<Atom> {
        finished(&mut self.0)
    }

    fn held(&self) -> usize {
        self.0.incomplete().len()
    }

    fn bom_seen(&self) -> bool {
        self.0.bom_seen()
    }

    fn skipped(&self) -> usize {
        self.0.skipped()
    }
}

struct ToString(Utf8Decoder, ErrorMode);

impl Subject for ToString {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let mut out = Vec::new();
        let mut input = chunk;
        loop {
            let mut text = String::from("kept");
            let progress = self.0.push_to_string(input, self.1, &mut text);
            assert_eq!(progress.written, text.len() - 4);
            out.extend(text["kept".len()..].chars().map(Atom::Char));
            input = &input[progress.read + progress.held..];
            match progress.status {
                Status::Done => break,
                Status::IllFormed(error) => out.push(Atom::Error(model_error(&error))),
                other => panic!("{other:?} from a destination without bounds"),
            }
        }
        assert!(input.is_empty());
        out
    }

    fn finish(&mut self) -> Vec<Atom> {
        let mut text = String::new();
        let mut out = Vec::new();
        while let Err(error) = self.0.finish_to_string(self.1, &mut text) {
            out.push(Atom::Error(model_error(&error)));
        }
        out.extend(text.chars().map(Atom::Char));
        out
    }

    fn held(&self) -> usize {
        self.0.incomplete().len()
    }

    fn bom_seen(&self) -> bool {
        self.0.bom_seen()
    }

    fn skipped(&self) -> usize {
        self.0.skipped()
    }
}

/// With a buffer of so many bytes.
struct ToSlice(Utf8Decoder, ErrorMode, usize);

impl Subject for ToSlice {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let mut out = Vec::new();
        let mut input = chunk;
        loop {
            let mut buffer = vec![0xFF; self.2];
            let progress = self.0.push_to_slice(input, self.1, &mut buffer);
            out.extend(chars(&buffer[..progress.written]));
            assert!(buffer[progress.written..].iter().all(|&byte| byte == 0xFF), "untouched");
            input = &input[progress.read + progress.held..];
            match progress.status {
                Status::Done => break,
                Status::Full => assert!(progress.read + progress.written > 0, "no progress"),
                Status::IllFormed(error) => out.push(Atom::Error(model_error(&error))),
                Status::TooSmall { needed } => panic!("{needed} bytes needed"),
            }
        }
        assert!(input.is_empty());
        out
    }

    fn finish(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        loop {
            let mut buffer = vec![0; self.2];
            let progress = self.0.finish_to_slice(self.1, &mut buffer);
            out.extend(chars(&buffer[..progress.written]));
            match progress.status {
                Status::Done => return out,
                Status::Full => {}
                Status::IllFormed(error) => out.push(Atom::Error(model_error(&error))),
                Status::TooSmall { needed } => panic!("{needed} bytes needed"),
            }
        }
    }

    fn held(&self) -> usize {
        self.0.incomplete().len()
    }

    fn bom_seen(&self) -> bool {
        self.0.bom_seen()
    }

    fn skipped(&self) -> usize {
        self.0.skipped()
    }
}

fn chars(bytes: &[u8]) -> impl Iterator<Item = Atom> + '_ {
    str::from_utf8(bytes).expect("whole characters are written").chars().map(Atom::Char)
}

/// A codec, called the way `FramedRead` would if it went on after errors.
struct Called<C> {
    codec: C,
    buffer: BytesMut,
}

impl<C: Tell + 'static> Called<C> {
    fn boxed(codec: C) -> Box<dyn Subject> {
        Box::new(Self { codec, buffer: BytesMut::new() })
    }
}

/// What a codec's items and errors are in the model's terms.
pub trait Tell: Decoder {
    fn item(item: Self::Item) -> Vec<Atom>;
    fn error(error: Self::Error) -> Atom;
    fn inner(&self) -> &Utf8Decoder;
}

impl<C: Tell> Subject for Called<C> {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        self.buffer.extend_from_slice(chunk);
        let mut out = Vec::new();
        loop {
            match self.codec.decode(&mut self.buffer) {
                Ok(Some(item)) => out.extend(C::item(item)),
                Ok(None) => return out,
                Err(error) => out.push(C::error(error)),
            }
        }
    }

    fn finish(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        loop {
            match self.codec.decode_eof(&mut self.buffer) {
                Ok(Some(item)) => out.extend(C::item(item)),
                Ok(None) => break,
                Err(error) => out.push(C::error(error)),
            }
        }
        assert!(self.buffer.is_empty(), "everything is accounted for at the end");
        assert!(matches!(self.codec.decode_eof(&mut self.buffer), Ok(None)));
        out
    }

    fn held(&self) -> usize {
        self.buffer.len()
    }

    fn bom_seen(&self) -> bool {
        self.codec.inner().bom_seen()
    }

    fn skipped(&self) -> usize {
        self.codec.inner().skipped()
    }
}

fn codec_error(error: CodecError) -> Atom {
    match error {
        CodecError::Utf8(error) => Atom::Error(model_error(&error)),
        other => panic!("{other}"),
    }
}

impl Tell for Utf8Codec {
    fn item(item: Self::Item) -> Vec<Atom> {
        assert!(!item.is_empty(), "items are never empty");
        item.chars().map(Atom::Char).collect()
    }

    fn error(error: CodecError) -> Atom {
        codec_error(error)
    }

    fn inner(&self) -> &Utf8Decoder {
        self.decoder()
    }
}

impl Tell for Utf8ChunksCodec {
    fn item(item: Utf8Chunk) -> Vec<Atom> {
        match item {
            Utf8Chunk::Text(text) => {
                assert!(!text.is_empty(), "items are never empty");
                text.chars().map(Atom::Char).collect()
            }
            Utf8Chunk::IllFormed(error) => vec![Atom::Error(model_error(&error))],
        }
    }

    fn error(error: std::io::Error) -> Atom {
        panic!("{error}")
    }

    fn inner(&self) -> &Utf8Decoder {
        self.decoder()
    }
}

impl Tell for CharCodec {
    fn item(item: char) -> Vec<Atom> {
        vec![Atom::Char(item)]
    }

    fn error(error: CodecError) -> Atom {
        codec_error(error)
    }

    fn inner(&self) -> &Utf8Decoder {
        self.decoder()
    }
}

/// A stream over a channel, polled after each chunk for as long as it is ready.
#[cfg(feature = "stream")]
struct Polled {
    /// `None` once the stream is to end.
    sender: Option<UnboundedSender<Result<Bytes, Infallible>>>,
    stream: Utf8Stream<UnboundedReceiver<Result<Bytes, Infallible>>>,
    mode: ErrorMode,
}

#[cfg(feature = "stream")]
impl Polled {
    fn boxed(options: Utf8Options, mode: ErrorMode) -> Box<dyn Subject> {
        let (sender, receiver) = mpsc::unbounded();
        let stream = Utf8Stream::new(receiver).with_options(options).with_error_mode(mode);
        Box::new(Self { sender: Some(sender), stream, mode })
    }

    /// What comes out before the stream is pending, or has ended.
    fn ready(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        let mut items = 0;
        while let Some(Some(item)) = self.stream.next().now_or_never() {
            match item {
                Ok(text) => {
                    assert!(!text.is_empty(), "items are never empty");
                    out.extend(text.chars().map(Atom::Char));
                }
                Err(StreamError::Utf8(error)) => out.push(Atom::Error(model_error(&error))),
                Err(error) => panic!("{error}"),
            }
            items += 1;
        }
        assert!(items <= 1 || self.mode == ErrorMode::Fatal, "one item for a chunk");
        out
    }
}

#[cfg(feature = "stream")]
impl Subject for Polled {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let sender = self.sender.as_ref().expect("not ended");
        sender.unbounded_send(Ok(Bytes::copy_from_slice(chunk))).expect("open");
        let out = self.ready();
        assert!(self.stream.rest().is_empty() && !self.stream.is_terminated());
        out
    }

    fn finish(&mut self) -> Vec<Atom> {
        self.sender = None;
        let out = self.ready();
        assert!(self.stream.is_terminated());
        assert_eq!(self.stream.next().now_or_never(), Some(None), "and so it stays");
        out
    }

    fn held(&self) -> usize {
        self.stream.decoder().incomplete().len()
    }

    fn bom_seen(&self) -> bool {
        self.stream.decoder().bom_seen()
    }

    fn skipped(&self) -> usize {
        self.stream.decoder().skipped()
    }
}

/// A validator over `chunks`: its errors and the number of bytes it held at last.
pub fn validate(chunks: &[&[u8]], config: Config) -> (Vec<reference::Error>, usize) {
    let mut validator = Utf8Validator::with_options(options(config));
    let mut errors = Vec::new();
    for chunk in chunks {
        let before = validator.position();
        while let Err(error) = validator.push(&chunk[(validator.position() - before) as usize..]) {
            errors.push(model_error(&error));
        }
    }
    let held = validator.incomplete().len();
    assert_eq!(validator.is_complete(), held == 0);
    while let Err(error) = validator.finish() {
        errors.push(model_error(&error));
    }
    (errors, held)
}

/// Holds `subject` to `expected` over `bytes` cut at `cuts`, which may repeat (an empty chunk).
pub fn check(
    name: &str,
    mut subject: Box<dyn Subject>,
    bytes: &[u8],
    cuts: &[usize],
    expected: &Expected,
) {
    let context = || format!("{name}: {:02x?} cut at {cuts:?}", bytes);
    let mut out = Vec::new();
    for (from, to) in chunks(bytes.len(), cuts) {
        out.extend(subject.push(&bytes[from..to]));
        assert_eq!(out, expected.prefixes[to], "{}, up to {to}", context());
        assert_eq!(subject.held(), expected.held[to], "{}, held at {to}", context());
    }
    out.extend(subject.finish());
    assert_eq!(out, expected.ended, "{}, at the end", context());
    assert_eq!(subject.bom_seen(), expected.bom_seen, "{}", context());
    assert_eq!(subject.skipped(), expected.skipped, "{}", context());
}

/// As [`check`], of the outcome alone.
pub fn check_ends(
    name: &str,
    mut subject: Box<dyn Subject>,
    bytes: &[u8],
    cuts: &[usize],
    expected: &Expected,
) {
    let mut out = Vec::new();
    for (from, to) in chunks(bytes.len(), cuts) {
        out.extend(subject.push(&bytes[from..to]));
    }
    out.extend(subject.finish());
    assert_eq!(out, expected.ended, "{name}: {bytes:02x?} cut at {cuts:?}");
}

/// Holds `subject`, which repairs in `mode`, to `expected` in the same way.
pub fn check_repaired(
    name: &str,
    mut subject: Box<dyn Subject>,
    bytes: &[u8],
    cuts: &[usize],
    expected: &Expected,
    mode: Mode,
) {
    let context = || format!("{name}, {mode:?}: {:02x?} cut at {cuts:?}", bytes);
    let mut out = String::new();
    for (from, to) in chunks(bytes.len(), cuts) {
        out.extend(subject.push(&bytes[from..to]).iter().map(char_of));
        assert_eq!(out, expected.text(mode, Some(to)), "{}, up to {to}", context());
    }
    out.extend(subject.finish().iter().map(char_of));
    assert_eq!(out, expected.text(mode, None), "{}, at the end", context());
}

fn char_of(atom: &Atom) -> char {
    match atom {
        Atom::Char(c) => *c,
        Atom::Error(error) => panic!("{error:?} from a repairing mode"),
    }
}

/// The ranges between `cuts`, in order.
pub fn chunks(len: usize, cuts: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(len));
    starts.zip(ends).collect::<Vec<_>>().into_iter()
}

/// A line codec over `bytes` cut at `cuts`: the items that were out after each chunk and at the end.
pub fn line_items(mut codec: Utf8LinesCodec, bytes: &[u8], cuts: &[usize]) -> Vec<Vec<LineItem>> {
    let mut buffer = BytesMut::new();
    let mut steps = Vec::new();
    for (from, to) in chunks(bytes.len(), cuts) {
        buffer.extend_from_slice(&bytes[from..to]);
        let mut items = Vec::new();
        while let Some(item) = codec.decode(&mut buffer).unwrap() {
            items.push(line_item(item));
        }
        steps.push(items);
    }
    let mut items = Vec::new();
    while let Some(item) = codec.decode_eof(&mut buffer).unwrap() {
        items.push(line_item(item));
    }
    assert!(buffer.is_empty(), "everything is accounted for at the end");
    steps.push(items);
    steps
}

pub fn line_item(item: Result<codec::Line, codec::LineError>) -> LineItem {
    match item {
        Ok(line) => LineItem::Line {
            text: line.text.to_string(),
            number: line.number,
            offset: line.offset,
            terminated: line.end == LineEnd::Delimiter,
        },
        Err(error) => match error.kind {
            LineErrorKind::Utf8(cause) => LineItem::Utf8 {
                number: error.number,
                offset: error.offset,
                error: model_error(&cause),
            },
            LineErrorKind::TooLong { .. } => {
                LineItem::TooLong { number: error.number, offset: error.offset }
            }
            other => panic!("{other:?}"),
        },
    }
}

pub fn undated_item(item: LineItem) -> LineItem {
    match item {
        LineItem::Utf8 { number, offset, error } => {
            LineItem::Utf8 { number, offset, error: undated(error) }
        }
        other => other,
    }
}

pub fn delimiter(delimiter: &Delimiter) -> codec::Delimiter {
    match delimiter {
        Delimiter::Lf => codec::Delimiter::lf(),
        Delimiter::Any => codec::Delimiter::any_newline(),
        Delimiter::Nul => codec::Delimiter::nul(),
        Delimiter::Str(text) => codec::Delimiter::text(text).expect("not empty"),
    }
}

/// Every case of the vectors.
pub fn cases() -> Vec<Value> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let lines = files.iter().map(|path| fs::read_to_string(path).unwrap());
    lines.flat_map(|text| text.lines().map(parse).collect::<Vec<_>>()).collect()
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

pub fn unhex(hex: &str) -> Vec<u8> {
    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// Every byte string that the vectors decode as UTF-8, with each way of starting and each
/// strictness it is decoded with.
pub fn inputs() -> Vec<(Vec<u8>, Config)> {
    let mut seen = BTreeSet::new();
    let mut inputs = Vec::new();
    for case in cases() {
        let decodes = case["op"] == "decode" || case["op"] == "websocket";
        if !decodes || case["dialect"] != "utf-8" {
            continue;
        }
        let chunks = case["chunks"].as_array().unwrap();
        let bytes: Vec<u8> = chunks.iter().flat_map(|hex| unhex(hex.as_str().unwrap())).collect();
        let config = config(&case);
        if seen.insert((bytes.clone(), format!("{config:?}"))) {
            inputs.push((bytes, config));
        }
    }
    inputs
}

pub fn config(case: &Value) -> Config {
    let strict: Vec<&str> = case["strict"]
        .as_array()
        .map(|names| names.iter().map(|name| name.as_str().unwrap()).collect())
        .unwrap_or_default();
    Config {
        start: match (case["start"].as_str(), case["bom"].as_str()) {
            (Some("mid"), _) => Start::MidStream,
            (_, Some("strip")) => Start::Beginning(Bom::Strip),
            (_, Some("require")) => Start::Beginning(Bom::Require),
            (_, Some("forbid")) => Start::Beginning(Bom::Forbid),
            _ => Start::Beginning(Bom::Keep),
        },
        refuse_noncharacters: strict.contains(&"noncharacters"),
        refuse_nul: strict.contains(&"nul"),
        controls: match () {
            _ if strict.contains(&"controls") => Controls::Refused,
            _ if strict.contains(&"controls-except-whitespace") => {
                Controls::RefusedExceptWhitespace
            }
            _ => Controls::Allowed,
        },
    }
}
