//! A slow model of a fallback: what the text of a whole input is, written plainly; and what each
//! object makes of it.

#![allow(dead_code, reason = "each test binary uses its own part")]

#[cfg(feature = "stream")]
use std::convert::Infallible;

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
use utf8_codec::codec::{self, CodecError, LineEnd, Utf8Codec, Utf8LinesCodec};
use utf8_codec::fallback::{Fallback, FallbackDecoder, FallbackReport, LegacyEncoding};
#[cfg(feature = "stream")]
use utf8_codec::stream::{FallbackStream, StreamError, Utf8Stream};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Part,
    Line(usize),
    Rest,
}

pub(crate) const EXTENTS: [Extent; 6] = [
    Extent::Part,
    Extent::Line(usize::MAX),
    Extent::Line(0),
    Extent::Line(1),
    Extent::Line(5),
    Extent::Rest,
];

impl Extent {
    pub(crate) fn fallback(self, encoding: LegacyEncoding) -> Fallback {
        match self {
            Self::Part => Fallback::part(encoding),
            Self::Line(limit) => Fallback::line(encoding).with_max_length(limit),
            Self::Rest => Fallback::rest(encoding),
        }
    }
}

/// Text, and how often and how much of it was legacy, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub text: String,
    pub runs: u64,
    pub bytes: u64,
    pub first: Option<u64>,
}

impl Outcome {
    pub(crate) fn new(text: String, report: FallbackReport) -> Self {
        Self { text, runs: report.runs, bytes: report.bytes, first: report.first }
    }

    fn legacy(&mut self, at: usize, bytes: &[u8], read: impl Fn(&[u8]) -> String) {
        self.text += &read(bytes);
        self.runs += 1;
        self.bytes += bytes.len() as u64;
        self.first.get_or_insert(at as u64);
    }
}

pub(crate) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

pub(crate) fn model(
    bytes: &[u8],
    extent: Extent,
    read: impl Fn(&[u8]) -> String + Copy,
) -> Outcome {
    let mut outcome = Outcome::default();
    match extent {
        Extent::Part => parts(&mut outcome, 0, bytes, read),
        Extent::Rest => {
            let (text, rest) = bytes.split_at(valid_len(bytes));
            outcome.text += str::from_utf8(text).unwrap();
            if !rest.is_empty() {
                outcome.legacy(text.len(), rest, read);
            }
        }
        Extent::Line(limit) => {
            let mut at = 0;
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                let ascii_len = line.iter().take_while(|byte| byte.is_ascii()).count();
                let (ascii, other) = line.split_at(ascii_len);
                outcome.text += str::from_utf8(ascii).unwrap();
                let valid = valid_len(other);
                if valid == other.len() {
                    outcome.text += str::from_utf8(other).unwrap();
                } else if valid == 0 || valid < limit {
                    outcome.legacy(at + ascii_len, other, read);
                } else {
                    parts(&mut outcome, at + ascii_len, other, read);
                }
                at += line.len();
            }
        }
    }
    outcome
}

fn parts(outcome: &mut Outcome, at: usize, bytes: &[u8], read: impl Fn(&[u8]) -> String) {
    let mut at = at;
    let mut run = Vec::new();
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() && !run.is_empty() {
            outcome.legacy(at - run.len(), &run, &read);
            run.clear();
        }
        outcome.text += chunk.valid();
        run.extend_from_slice(chunk.invalid());
        at += chunk.valid().len() + chunk.invalid().len();
    }
    if !run.is_empty() {
        outcome.legacy(at - run.len(), &run, &read);
    }
}

fn valid_len(bytes: &[u8]) -> usize {
    str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len)
}

/// The lines that a codec must tell of, if it has no limit.
#[cfg(feature = "codec")]
pub(crate) fn model_lines(
    bytes: &[u8],
    extent: Extent,
    read: impl Fn(&[u8]) -> String + Copy,
) -> Vec<String> {
    let (mut told, mut at, mut turned) = (Vec::new(), 0, false);
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let content = match line {
            [content @ .., b'\r', b'\n'] | [content @ .., b'\n'] | content => content,
        };
        let text = if turned { read(content) } else { model(content, extent, read).text };
        // The model leaves ASCII in front of a legacy line to UTF-8: it is the same.
        turned |= extent == Extent::Rest && str::from_utf8(content).is_err();
        let end = if line.ends_with(b"\n") { LineEnd::Delimiter } else { LineEnd::Stream };
        told.push(format!("{} {at} {end:?} {text}", index + 1));
        at += line.len();
    }
    told
}

// ---- the objects --------------------------------------------------------------------------------

/// What a decoder makes of `chunks`; an error is told in its place.
pub(crate) fn decode<'a>(
    decoder: &mut FallbackDecoder,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    let (mut text, mut fed) = (String::new(), decoder.position());
    for chunk in chunks {
        fed += chunk.len() as u64;
        let mut result = decoder.push(chunk, &mut text);
        while let Err(error) = result {
            text += &format!("<{error}>");
            result = decoder.push(b"", &mut text);
        }
        assert_eq!(decoder.position(), fed);
    }
    while let Err(error) = decoder.finish(&mut text) {
        text += &format!("<{error}>");
    }
    assert_eq!((decoder.position(), decoder.held()), (fed, &b""[..]));
    Outcome::new(text, decoder.report())
}

/// The same of a codec.
#[cfg(feature = "codec")]
pub(crate) fn run<'a>(
    codec: &mut Utf8Codec,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    let (mut buffer, mut text, mut fed) = (BytesMut::new(), String::new(), 0);
    let mut tell = |item: Result<Option<ByteString>, CodecError>| {
        match item {
            Ok(None) => return false,
            Ok(Some(piece)) => {
                assert!(!piece.is_empty(), "items are never empty");
                text += &piece;
            }
            Err(CodecError::Utf8(error)) => text += &format!("<{error}>"),
            Err(error) => panic!("{error}"),
        }
        true
    };
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        fed += chunk.len() as u64;
        while tell(codec.decode(&mut buffer)) {}
        assert_eq!(codec.decoder().position() + buffer.len() as u64, fed, "nothing is kept within");
    }
    while tell(codec.decode_eof(&mut buffer)) {}
    assert!(buffer.is_empty(), "everything is accounted for at the end");
    Outcome::new(text, codec.fallback_report())
}

/// The lines' texts and errors, each with its number and offset.
#[cfg(feature = "codec")]
pub(crate) fn lines<'a>(
    codec: &mut Utf8LinesCodec,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<String>, Outcome) {
    let (mut buffer, mut told) = (BytesMut::new(), Vec::new());
    let mut tell = |item| {
        told.push(match item {
            Ok(line) => {
                let codec::Line { text, number, offset, end, .. } = line;
                format!("{number} {offset} {end:?} {text}")
            }
            Err(error) => {
                let error: codec::LineError = error;
                format!("{error}: {:?}", error.kind)
            }
        });
    };
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        while let Some(item) = codec.decode(&mut buffer).unwrap() {
            tell(item);
        }
    }
    while let Some(item) = codec.decode_eof(&mut buffer).unwrap() {
        tell(item);
    }
    assert!(buffer.is_empty(), "everything is accounted for at the end");
    let outcome = Outcome::new(String::new(), codec.fallback_report());
    (told, outcome)
}

/// What a stream of `chunks`, made by `make`, gives. (To the end: it gives way to others after so many
/// chunks that bring nothing.)
#[cfg(feature = "stream")]
pub(crate) fn stream<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    make: impl FnOnce(Utf8Stream<Chunks>) -> FallbackStream<Chunks>,
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
            Err(StreamError::Utf8(error)) => text += &format!("<{error}>"),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(texts.is_terminated());
    Outcome::new(text, texts.report())
}

#[cfg(feature = "stream")]
pub(crate) type Chunks = stream::Iter<std::vec::IntoIter<Result<Bytes, Infallible>>>;
