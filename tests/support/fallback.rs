//! A slow model of a fallback, which decodes a whole input; and the public types with a fallback.

#![allow(dead_code, reason = "each test binary uses its own part")]

#[cfg(feature = "stream")]
use std::convert::Infallible;
use std::ops::Range;

#[cfg(feature = "stream")]
use bytes::Bytes;
#[cfg(feature = "codec")]
use bytes::BytesMut;
#[cfg(feature = "codec")]
use bytestring::ByteString;
#[cfg(feature = "stream")]
use futures::executor::block_on;
#[cfg(feature = "stream")]
use futures::stream::{self, FusedStream, StreamExt};
#[cfg(feature = "codec")]
use tokio_util::codec::Decoder;
#[cfg(feature = "codec")]
use utf8_codec::codec::{CodecError, Utf8Codec, Utf8LinesCodec};
use utf8_codec::decoder::Status;
use utf8_codec::fallback::{FallbackDecoder, FallbackUses, LegacyEncoding};
#[cfg(feature = "stream")]
use utf8_codec::stream::{StreamError, Utf8Stream};
use utf8_codec::{ErrorMode, Utf8Error};

use super::reference::{self, Bom, Config, Controls, Error, Event, Kind, Mode, Start};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Part,
    Line(usize),
    Rest,
    WithoutBom,
}

pub(crate) const EXTENTS: [Extent; 7] = [
    Extent::Part,
    Extent::Line(usize::MAX),
    Extent::Line(0),
    Extent::Line(1),
    Extent::Line(5),
    Extent::Rest,
    Extent::WithoutBom,
];

impl Extent {
    /// A decoder with this extent.
    pub(crate) fn decoder(self, encoding: LegacyEncoding) -> FallbackDecoder {
        match self {
            Self::Part => FallbackDecoder::part(encoding),
            Self::Line(limit) => FallbackDecoder::line(encoding).with_max_length(limit),
            Self::Rest => FallbackDecoder::rest(encoding),
            Self::WithoutBom => FallbackDecoder::without_bom(encoding),
        }
    }
}

/// Text; and how often, how much of it, and from which offset it was legacy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub text: String,
    pub runs: u64,
    /// `None` for the text of a codec: codecs do not count bytes. It is then not compared.
    pub bytes: Option<u64>,
    pub first: Option<u64>,
    /// The runs of bytes that the model has decoded as legacy, each with an LF unless the stream ends after it. They are not compared.
    pub legacy: Vec<Vec<u8>>,
}

impl Outcome {
    pub(crate) fn new(text: String, decoder: &FallbackDecoder) -> Self {
        let FallbackUses { first, runs, bytes, .. } = decoder.fallback_uses();
        Self { text, runs, bytes: Some(bytes), first, legacy: Vec::new() }
    }
}

impl PartialEq for Outcome {
    fn eq(&self, other: &Self) -> bool {
        let same_bytes = self.bytes.zip(other.bytes).is_none_or(|(one, two)| one == two);
        same_bytes && (&self.text, self.runs, self.first) == (&other.text, other.runs, other.first)
    }
}

pub(crate) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// The expected outcome with the default options.
pub(crate) fn model(
    bytes: &[u8],
    extent: Extent,
    read: impl Fn(&[u8]) -> String + Copy,
) -> Outcome {
    let plain = Config {
        start: Start::Beginning(Bom::Keep),
        reject_noncharacters: false,
        reject_nul: false,
        controls: Controls::Allowed,
    };
    model_of(bytes, extent, (plain, Mode::Fatal), read)
}

/// The expected outcome. Rejected characters are repaired in the text, or else reported.
pub(crate) fn model_of(
    bytes: &[u8],
    extent: Extent,
    (config, mode): (Config, Mode),
    read: impl Fn(&[u8]) -> String + Copy,
) -> Outcome {
    let declares_utf8 = bytes.starts_with(b"\xEF\xBB\xBF");
    let config = match extent {
        Extent::WithoutBom => Config { start: Start::Beginning(Bom::Strip), ..config },
        _ => config,
    };
    let mut units = units(bytes, config);
    let mut model = Model {
        bytes,
        config,
        mode,
        read,
        outcome: Outcome { bytes: Some(0), ..Outcome::default() },
    };
    match extent {
        Extent::Part => model.parts(&units),
        Extent::WithoutBom if declares_utf8 => model.utf8(&units),
        Extent::WithoutBom if bytes.is_empty() => {}
        Extent::WithoutBom => model.legacy(0, bytes.len()),
        Extent::Rest => match units.iter().position(is_ill_formed) {
            Some(at) => {
                model.parts(&units[..at]);
                model.legacy(units[at].at, bytes.len());
            }
            None => model.parts(&units),
        },
        Extent::Line(limit) => {
            // Errors about a BOM are not part of the line.
            let bom = units.iter().take_while(|unit| is_about_bom(unit)).count();
            model.parts(&units[..bom]);
            units.drain(..bom);
            for line in units.split_inclusive(|unit| bytes.get(unit.at) == Some(&b'\n')) {
                let at = line[0].at;
                let end = line[line.len() - 1].end();
                let ascii_len = bytes[at..end].iter().take_while(|byte| byte.is_ascii()).count();
                let other = at + ascii_len;
                match line.iter().find(|unit| is_ill_formed(unit)).map(|unit| unit.at - other) {
                    Some(valid) if valid == 0 || valid < limit => {
                        let ascii = line.iter().take_while(|unit| unit.at < other).count();
                        model.parts(&line[..ascii]);
                        model.legacy(other, end);
                    }
                    _ => model.parts(line),
                }
            }
        }
    }
    model.outcome
}

/// A character or an error, and its range.
struct Unit {
    at: usize,
    what: Result<char, Error>,
}

impl Unit {
    fn end(&self) -> usize {
        self.at + self.what.as_ref().map_or_else(|error| error.bytes.len(), |c| c.len_utf8())
    }
}

fn units(bytes: &[u8], config: Config) -> Vec<Unit> {
    let decoded = reference::decode_prefix(bytes, config, true);
    let mut at = if decoded.bom_seen { 3 } else { decoded.skipped };
    let mut units = Vec::new();
    let mut put = |what| {
        let unit = Unit { at, what };
        at = unit.end();
        units.push(unit);
    };
    for event in decoded.events {
        match event {
            Event::Text(text) => text.chars().for_each(|c| put(Ok(c))),
            Event::Error(error) => put(Err(error)),
        }
    }
    units
}

fn is_about_bom(unit: &Unit) -> bool {
    matches!(&unit.what, Err(error) if matches!(error.kind, Kind::MissingBom | Kind::ForbiddenBom))
}

/// Whether it triggers the fallback.
fn is_ill_formed(unit: &Unit) -> bool {
    let is_rejected = |error: &Error| matches!(error.kind, Kind::Noncharacter | Kind::Forbidden);
    !is_about_bom(unit) && unit.what.as_ref().is_err_and(|error| !is_rejected(error))
}

struct Model<'a, R> {
    bytes: &'a [u8],
    config: Config,
    mode: Mode,
    read: R,
    outcome: Outcome,
}

impl<R: Fn(&[u8]) -> String> Model<'_, R> {
    /// Decodes as UTF-8, and each run of ill-formed parts as legacy.
    fn parts(&mut self, units: &[Unit]) {
        for units in units.chunk_by(|one, next| is_ill_formed(one) == is_ill_formed(next)) {
            match units {
                [first, ..] if is_ill_formed(first) => {
                    self.legacy(first.at, units[units.len() - 1].end());
                }
                units => self.utf8(units),
            }
        }
    }

    /// Decodes as UTF-8.
    fn utf8(&mut self, units: &[Unit]) {
        for unit in units {
            match &unit.what {
                Ok(c) => self.outcome.text.push(*c),
                Err(error) => self.report(error),
            }
        }
    }

    /// Decodes as legacy, in which characters can still be rejected. Rejected ASCII is never part of a longer character.
    fn legacy(&mut self, from: usize, to: usize) {
        self.outcome.runs += 1;
        self.outcome.first.get_or_insert(from as u64);
        let mut at = from;
        while at < to {
            let rest = &self.bytes[at..to];
            let control =
                rest.iter().position(|&b| b.is_ascii() && self.rejected(b.into()).is_some());
            let run = &rest[..control.unwrap_or(rest.len())];
            let control = control.map(|at| (at..at + 1, self.rejected(rest[at].into())));
            let found = self.first_rejected(run).or(control);
            let run = &run[..found.as_ref().map_or(run.len(), |(range, _)| range.start)];
            if !run.is_empty() {
                let is_last = at + run.len() == self.bytes.len();
                let (text, run_with_next) = match is_last {
                    true => ((self.read)(run), run.to_vec()),
                    false => (followed(&self.read, run), [run, b"\n"].concat()),
                };
                self.outcome.text += &text;
                *self.outcome.bytes.get_or_insert(0) += run.len() as u64;
                self.outcome.legacy.push(run_with_next);
            }
            let Some((range, kind)) = found else { break };
            let (offset, bytes) = ((at + range.start) as u64, rest[range.clone()].to_vec());
            let kind = kind.expect("other errors are repaired");
            self.report(&Error { offset, bytes, kind, next: None, decided_by: None });
            at += range.end;
        }
    }

    fn rejected(&self, c: char) -> Option<Kind> {
        reference::rejected(c, self.config)
    }

    /// The first rejected character of a legacy run: the shortest prefix whose text contains one ends with it.
    fn first_rejected(&self, run: &[u8]) -> Option<(Range<usize>, Option<Kind>)> {
        let rejected =
            |bytes: &[u8]| (self.read)(bytes).chars().find(|&c| self.rejected(c).is_some());
        rejected(run)?;
        let (end, c) = (1..=run.len()).find_map(|end| Some((end, rejected(&run[..end])?)))?;
        let start = (0..end).rev().find(|&start| (self.read)(&run[start..end]) == c.to_string())?;
        Some((start..end, self.rejected(c)))
    }

    fn report(&mut self, error: &Error) {
        let reported = || reported(error.offset, &format!("{:?}", error.kind), &error.bytes);
        let repair = reference::repair(self.mode, error, self.config);
        self.outcome.text += &repair.unwrap_or_else(reported);
    }
}

/// The text of bytes that others follow, which continue no character.
fn followed(read: impl Fn(&[u8]) -> String, bytes: &[u8]) -> String {
    let mut text = read(&[bytes, b"\n"].concat());
    assert_eq!(text.pop(), Some('\n'));
    text
}

fn reported(at: u64, kind: &str, bytes: &[u8]) -> String {
    format!("<{kind} at {at}: {bytes:02x?}>")
}

/// Formats an error, in the position of the text that it replaces.
fn format_error(error: &Utf8Error) -> String {
    reported(error.valid_up_to(), &format!("{:?}", error.kind()), error.bytes())
}

/// The lines that a codec without a limit must yield. If a BOM decides, there is none.
#[cfg(feature = "codec")]
pub(crate) fn model_lines(
    bytes: &[u8],
    extent: Extent,
    read: impl Fn(&[u8]) -> String + Copy,
) -> Vec<String> {
    let (mut reported, mut at, mut turned) = (Vec::new(), 0, extent == Extent::WithoutBom);
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let content = match line {
            [content @ .., b'\r', b'\n'] | [content @ .., b'\n'] | content => content,
        };
        let terminated = line.ends_with(b"\n");
        let read = |bytes: &[u8]| if terminated { followed(read, bytes) } else { read(bytes) };
        let text = if turned { read(content) } else { model(content, extent, read).text };
        // The model leaves ASCII before a legacy line to UTF-8: the result is the same.
        turned |= extent == Extent::Rest && str::from_utf8(content).is_err();
        reported.push(format!("{} {at} {terminated} {text}", index + 1));
        at += line.len();
    }
    reported
}

// ---- the public types ---------------------------------------------------------------------------

/// Pushes all of `chunk`, and passes each error to `report`, with the text before it.
pub(crate) fn push_all(
    decoder: &mut FallbackDecoder,
    chunk: &[u8],
    mode: ErrorMode,
    text: &mut String,
    mut report: impl FnMut(&mut String, Utf8Error),
) {
    let mut rest = chunk;
    loop {
        let before = text.len();
        let progress = decoder.push_to_string(rest, mode, text);
        assert_eq!(progress.written, text.len() - before);
        rest = &rest[progress.read..];
        match progress.status {
            Status::Done => return assert!(rest.is_empty()),
            Status::IllFormed(error) => report(text, error),
            status => panic!("a string has room: {status:?}"),
        }
    }
}

/// Pushes `chunk` with options that reject nothing.
pub(crate) fn push(decoder: &mut FallbackDecoder, chunk: &[u8], text: &mut String) {
    push_all(decoder, chunk, ErrorMode::Fatal, text, |_, error| panic!("{error}"));
}

/// The outcome of a decoder for `chunks`, with errors in order.
pub(crate) fn decode<'a>(
    decoder: &mut FallbackDecoder,
    mode: ErrorMode,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    let (mut text, mut fed) = (String::new(), decoder.position());
    for chunk in chunks {
        fed += chunk.len() as u64;
        push_all(decoder, chunk, mode, &mut text, |text, error| *text += &format_error(&error));
        assert_eq!(decoder.position(), fed);
    }
    while let Err(error) = decoder.finish_to_string(mode, &mut text) {
        text += &format_error(&error);
    }
    assert_eq!((decoder.position(), decoder.incomplete()), (fed, &b""[..]));
    Outcome::new(text, decoder)
}

/// The outcome of a codec.
#[cfg(feature = "codec")]
pub(crate) fn run<'a>(
    codec: &mut Utf8Codec,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    let (mut buffer, mut text, mut fed) = (BytesMut::new(), String::new(), 0);
    let mut report = |item: Result<Option<ByteString>, CodecError>| {
        match item {
            Ok(None) => return false,
            Ok(Some(piece)) => {
                assert!(!piece.is_empty(), "items are never empty");
                text += &piece;
            }
            Err(CodecError::Invalid(error)) => text += &format_error(&error),
            Err(error) => panic!("{error}"),
        }
        true
    };
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        fed += chunk.len() as u64;
        while report(codec.decode(&mut buffer)) {}
        assert_eq!(codec.decoder().position() + buffer.len() as u64, fed, "nothing is held");
    }
    while report(codec.decode_eof(&mut buffer)) {}
    assert!(buffer.is_empty(), "no byte is left over at the end");
    let FallbackUses { runs, first, .. } = codec.fallback_uses();
    Outcome { text, runs, first, ..Outcome::default() }
}

/// The texts and errors of lines, with numbers and offsets, and whether a delimiter ended each line.
#[cfg(feature = "codec")]
pub(crate) fn lines<'a>(
    codec: &mut Utf8LinesCodec,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<String>, Outcome) {
    let (mut buffer, mut reported) = (BytesMut::new(), Vec::new());
    let mut report = |item| {
        reported.push(match item {
            Ok(line) => {
                let line: utf8_codec::lines::Line = line;
                format!("{} {} {} {}", line.number, line.offset, line.is_terminated(), line.text)
            }
            Err(error) => {
                let error: utf8_codec::lines::LineError = error;
                format!("{error}: {error:?}")
            }
        });
    };
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(item) = codec.decode(&mut buffer).unwrap() {
            report(item);
        }
    }
    while let Some(item) = codec.decode_eof(&mut buffer).unwrap() {
        report(item);
    }
    assert!(buffer.is_empty(), "no byte is left over at the end");
    let FallbackUses { runs, first, .. } = codec.fallback_uses();
    let outcome = Outcome { runs, first, ..Outcome::default() };
    (reported, outcome)
}

/// The outcome of the stream that `make` builds over `chunks`. Polls until the end, because the stream
/// yields to other tasks after a number of chunks without output.
#[cfg(feature = "stream")]
pub(crate) fn stream<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    make: impl FnOnce(Utf8Stream<Chunks>) -> Utf8Stream<Chunks, FallbackDecoder>,
) -> Outcome {
    let chunks: Vec<_> =
        chunks.into_iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
    let mut texts = make(Utf8Stream::new(stream::iter(chunks)));
    let mut text = String::new();
    while let Some(item) = block_on(texts.next()) {
        match item {
            Ok(piece) => {
                assert!(!piece.is_empty(), "items are never empty");
                text += &piece;
            }
            Err(StreamError::Utf8(error)) => text += &format_error(&error),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(texts.is_terminated());
    Outcome::new(text, texts.decoder())
}

#[cfg(feature = "stream")]
pub(crate) type Chunks = stream::Iter<std::vec::IntoIter<Result<Bytes, Infallible>>>;
