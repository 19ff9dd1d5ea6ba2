//! What a program prints that writes an error and its sources, one line each. The first line is often all that a log has:
//! it names the reason, and the offset if there is one. No part is written twice.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::io;
use std::iter;

use bytes::Bytes;
use utf8_codec::codec::CodecError;
use utf8_codec::decoder::Status;
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError};
use utf8_codec::http::BodyError;
use utf8_codec::lines::LineError;
use utf8_codec::sse::{EventError, EventPart, ResponseError};
use utf8_codec::stream::{EventSourceError, StreamError};
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::websocket::MessageError;
use utf8_codec::{BomPolicy, ErrorMode, Utf8Error};

use crate::messages::{PLAIN, REQUIRE, STRICT, first_error};

/// An error and what is printed.
struct Row {
    /// The name of the type, and of the variant if it is an enum.
    name: &'static str,
    error: Box<dyn Error>,
    /// What the first line names after "byte", "unit" or "offset".
    offset: Option<u64>,
    lines: &'static [&'static str],
}

fn row(
    name: &'static str,
    error: impl Error + 'static,
    offset: impl Into<Option<u64>>,
    lines: &'static [&'static str],
) -> Row {
    Row { name, error: Box::new(error), offset: offset.into(), lines }
}

/// The errors of the core.
fn errors_of_decoders() -> Vec<Row> {
    let dialect = |bytes: &[u8]| {
        let mut decoder = DialectDecoder::new(Dialect::Cesu8);
        decoder.push(bytes).find_map(Result::err).unwrap()
    };
    let mut units = Utf16Decoder::new();
    let progress = units.push_to_string(&[0x61, 0xD83D], ErrorMode::Skip, &mut String::new());
    assert_eq!(progress.status, Status::Done);
    vec![
        row("Utf8Error", invalid(), 2, &["invalid UTF-8 at byte 2: invalid byte (ff)"]),
        row(
            "Utf8Error",
            first_error(PLAIN, b"ok\xE2\x82"),
            2,
            &["invalid UTF-8 at byte 2: unexpected end inside a character (e2 82)"],
        ),
        row("Utf8Error", forbidden(), 2, &["forbidden character (00) at byte 2"]),
        row("Utf8Error", missing_bom(), None, &["missing byte order mark"]),
        row(
            "DialectError",
            dialect(b"ok\xF0"),
            2,
            &["invalid CESU-8 at byte 2: four-byte sequence (f0)"],
        ),
        row(
            "DialectError",
            DialectEncoder::new(Dialect::Cesu8).push_code_point(0x11_0000).unwrap_err(),
            0,
            &["U+110000 at offset 0 cannot be encoded in CESU-8"],
        ),
        row(
            "Utf16Error",
            units.finish().unwrap_err(),
            1,
            &["invalid UTF-16 at unit 1: unexpected end after a high surrogate (d83d)"],
        ),
        row(
            "ParseNameError",
            "remove".parse::<BomPolicy>().unwrap_err(),
            None,
            &["unknown BOM policy, expected one of keep, strip, require, forbid"],
        ),
    ]
}

fn errors_of_codecs() -> Vec<Row> {
    type E = CodecError;
    let dialect = |dialect| {
        let mut decoder = DialectDecoder::new(dialect);
        decoder.push(b"ok\xF8").find_map(Result::err).unwrap()
    };
    vec![
        row(
            "CodecError::Invalid",
            E::from(invalid()),
            2,
            &["invalid UTF-8 at byte 2: invalid byte (ff)"],
        ),
        row(
            "CodecError::Invalid",
            CodecError::<DialectError>::Invalid(dialect(Dialect::Wtf8)),
            2,
            &["invalid WTF-8 at byte 2: invalid byte (f8)"],
        ),
        row(
            "CodecError::EmbeddedDelimiter",
            E::EmbeddedDelimiter { offset: 3 },
            3,
            &["text contains a delimiter, or a bare CR or LF, at byte 3"],
        ),
        row(
            "CodecError::TooLong",
            E::TooLong { length: 65_536, max_length: 65_535 },
            None,
            &["text of 65536 bytes is longer than 65535 bytes"],
        ),
        row("CodecError::Io", E::from(failure()), None, &["the connection failed", "the cable"]),
    ]
}

fn errors_of_lines() -> Vec<Row> {
    let utf8 = |error| LineError::Utf8 { number: 2, offset: 1, error };
    let line_too_long = LineError::TooLong { number: 2, offset: 3, max_length: 64 };
    vec![
        row(
            "LineError::Utf8",
            utf8(invalid()),
            2,
            &["line 2 is not valid UTF-8: invalid byte (ff) at byte 2 of the stream"],
        ),
        row(
            "LineError::Utf8",
            utf8(forbidden()),
            2,
            &["line 2: forbidden character (00) at byte 2 of the stream"],
        ),
        row("LineError::Utf8", utf8(missing_bom()), None, &["line 2: missing byte order mark"]),
        row(
            "LineError::TooLong",
            line_too_long,
            3,
            &["line 2 at byte 3 of the stream is longer than 64 bytes"],
        ),
        row(
            "LineError::BareCr",
            LineError::BareCr { number: 2, offset: 3, cr_offset: 5 },
            5,
            &["line 2 contains a bare CR at byte 5 of the stream"],
        ),
        row(
            "LineError::BareLf",
            LineError::BareLf { number: 2, offset: 3, lf_offset: 5 },
            5,
            &["line 2 contains a bare LF at byte 5 of the stream"],
        ),
    ]
}

fn errors_of_streams() -> Vec<Row> {
    type E = StreamError<io::Error>;
    vec![
        row(
            "StreamError::Utf8",
            E::from(invalid()),
            2,
            &["invalid UTF-8 in the stream at byte 2: invalid byte (ff)"],
        ),
        row(
            "StreamError::Utf8",
            E::from(forbidden()),
            2,
            &["forbidden character (00) in the stream at byte 2"],
        ),
        row(
            "StreamError::Utf8",
            E::from(missing_bom()),
            None,
            &["missing byte order mark in the stream"],
        ),
        row(
            "StreamError::Line",
            E::from(line()),
            2,
            &["line 2 is not valid UTF-8: invalid byte (ff) at byte 2 of the stream"],
        ),
        row(
            "StreamError::Inner",
            E::from(failure()),
            None,
            &["the connection failed", "the cable"],
        ),
        row(
            "StreamError::TooLong",
            E::TooLong { max_length: 64 },
            None,
            &["text is longer than 64 bytes"],
        ),
        row(
            "StreamError::EventTooLong",
            E::EventTooLong { part: EventPart::Content, offset: 7, max_length: 64 },
            7,
            &["event at byte 7 of the stream is longer than 64 bytes"],
        ),
        row(
            "StreamError::EventTooLong",
            E::EventTooLong { part: EventPart::Id, offset: 7, max_length: 64 },
            7,
            &["ID of the event at byte 7 of the stream is longer than 64 bytes"],
        ),
    ]
}

fn errors_of_bodies() -> Vec<Row> {
    type E = BodyError;
    let bytes = Bytes::from_static(b"\x81\xFF");
    let media_type = |name: &str| E::UnsupportedMediaType { media_type: name.to_owned() };
    vec![
        row(
            "BodyError::Utf8",
            E::from(invalid()),
            2,
            &["invalid UTF-8 in the body at byte 2: invalid byte (ff)"],
        ),
        row(
            "BodyError::Utf8",
            E::from(forbidden()),
            2,
            &["forbidden character (00) in the text of the body at byte 2"],
        ),
        row(
            "BodyError::Legacy",
            E::Legacy { encoding: "Shift_JIS", offset: 4, bytes },
            4,
            &["invalid Shift_JIS in the body at byte 4: ill-formed bytes (81 ff)"],
        ),
        row(
            "BodyError::UnsupportedCharset",
            E::UnsupportedCharset { label: "klingon".to_owned() },
            None,
            &["unsupported charset: klingon"],
        ),
        row(
            "BodyError::UnsupportedMediaType",
            media_type("image/png"),
            None,
            &["unsupported media type: image/png"],
        ),
        row("BodyError::UnsupportedMediaType", media_type(""), None, &["missing Content-Type"]),
        row(
            "BodyError::MalformedContentType",
            E::MalformedContentType { offset: 4 },
            4,
            &["malformed Content-Type at byte 4"],
        ),
        row(
            "BodyError::ContradictoryCharsets",
            E::ContradictoryCharsets,
            None,
            &["contradictory media types or charsets in Content-Type"],
        ),
        row(
            "BodyError::UnsupportedContentCoding",
            E::UnsupportedContentCoding { coding: "gzip".to_owned() },
            None,
            &["unsupported content coding: gzip"],
        ),
        row(
            "BodyError::PartialContent",
            E::PartialContent,
            None,
            &["unsupported Content-Range: the body is a part of a text"],
        ),
        row(
            "BodyError::TooLong",
            E::TooLong { max_length: 64 },
            None,
            &["body or its text is longer than 64 bytes"],
        ),
        row(
            "BodyError::EventTooLong",
            E::EventTooLong { part: EventPart::Content, offset: 7, max_length: 64 },
            7,
            &["event at byte 7 of the body is longer than 64 bytes"],
        ),
        row(
            "BodyError::EventTooLong",
            E::EventTooLong { part: EventPart::Id, offset: 7, max_length: 64 },
            7,
            &["ID of the event at byte 7 of the body is longer than 64 bytes"],
        ),
        row(
            "BodyError::Line",
            E::Line(line()),
            2,
            &["line 2 is not valid UTF-8: invalid byte (ff) at byte 2 of the stream"],
        ),
        row(
            "BodyError::Inner",
            E::Inner(failure().into()),
            None,
            &["the connection failed", "the cable"],
        ),
        row("BodyError::Inner", E::Inner("reset".into()), None, &["reset"]),
    ]
}

fn errors_of_messages() -> Vec<Row> {
    type E = MessageError;
    vec![
        row(
            "MessageError::Utf8",
            E::Utf8(invalid()),
            2,
            &["invalid UTF-8 in the text message at byte 2: invalid byte (ff)"],
        ),
        row(
            "MessageError::Reason",
            E::Reason(invalid()),
            2,
            &["invalid UTF-8 in the close reason at byte 2: invalid byte (ff)"],
        ),
        row(
            "MessageError::TooLong",
            E::TooLong { max_length: 9 },
            None,
            &["message is longer than 9 bytes"],
        ),
        row(
            "MessageError::ReservedBits",
            E::ReservedBits,
            None,
            &["a reserved bit of the frame header is set"],
        ),
        row("MessageError::ReservedOpcode", E::ReservedOpcode(0xB), None, &["reserved opcode 0xb"]),
        row(
            "MessageError::FrameLength",
            E::FrameLength,
            None,
            &["frame length is not in its shortest form or exceeds 2^63 - 1 bytes"],
        ),
        row("MessageError::Masked", E::Masked, None, &["masked frame from a server"]),
        row("MessageError::NotMasked", E::NotMasked, None, &["frame from a client is not masked"]),
        row(
            "MessageError::UnexpectedContinuation",
            E::UnexpectedContinuation,
            None,
            &["continuation frame without a message"],
        ),
        row(
            "MessageError::InterruptedMessage",
            E::InterruptedMessage,
            None,
            &["new message before the end of the previous one"],
        ),
        row(
            "MessageError::FragmentedControl",
            E::FragmentedControl,
            None,
            &["control frame is fragmented (FIN is not set)"],
        ),
        row(
            "MessageError::LongControl",
            E::LongControl,
            None,
            &["control frame with more than 125 bytes of payload"],
        ),
        row(
            "MessageError::TruncatedCloseCode",
            E::TruncatedCloseCode,
            None,
            &["close payload has one byte; a close code has two"],
        ),
        row("MessageError::CloseCode", E::CloseCode(1005), None, &["invalid close code 1005"]),
        row(
            "MessageError::NoFrame",
            E::NoFrame,
            None,
            &["payload or end of frame, but no frame was started"],
        ),
        row(
            "MessageError::NestedFrame",
            E::NestedFrame,
            None,
            &["new frame before the end of the previous one"],
        ),
    ]
}

fn errors_of_events() -> Vec<Row> {
    type E = EventError;
    vec![
        row(
            "EventError::TooLong",
            E::TooLong { part: EventPart::Content, offset: 12, max_length: 4 },
            12,
            &["event at byte 12 of the stream is longer than 4 bytes"],
        ),
        row(
            "EventError::TooLong",
            E::TooLong { part: EventPart::Id, offset: 12, max_length: 4 },
            12,
            &["ID of the event at byte 12 of the stream is longer than 4 bytes"],
        ),
        row(
            "EventError::TooLong",
            E::TooLong { part: EventPart::Comment, offset: 12, max_length: 4 },
            12,
            &["comment in the event at byte 12 of the stream is longer than 4 bytes"],
        ),
        row(
            "EventError::Utf8",
            E::Utf8(invalid()),
            2,
            &["invalid UTF-8 in an event at byte 2: invalid byte (ff)"],
        ),
        row(
            "EventSourceError::Connect",
            EventSourceError::<_, Infallible>::Connect(failure()),
            None,
            &["the connection failed", "the cable"],
        ),
        row(
            "EventSourceError::Refused",
            EventSourceError::<Infallible, Infallible>::Refused(ResponseError::Status {
                status: 503,
            }),
            None,
            &["status 503 instead of 200"],
        ),
        row(
            "EventSourceError::Event",
            EventSourceError::<Infallible, _>::Event(StreamError::Inner(failure())),
            None,
            &["the connection failed", "the cable"],
        ),
        row(
            "EventSourceError::GaveUp",
            EventSourceError::<Infallible, Infallible>::GaveUp { failures: 4 },
            None,
            &["4 connections in a row without an event"],
        ),
        row(
            "ResponseError::NoContent",
            ResponseError::NoContent,
            None,
            &["the server has no more events (status 204)"],
        ),
        row(
            "ResponseError::Status",
            ResponseError::Status { status: 503 },
            None,
            &["status 503 instead of 200"],
        ),
        row(
            "ResponseError::MediaType",
            ResponseError::MediaType,
            None,
            &["the media type is not text/event-stream"],
        ),
        row(
            "EventError::InvalidType",
            E::InvalidType { offset: 3 },
            3,
            &["event type contains a line ending at byte 3"],
        ),
        row(
            "EventError::InvalidId",
            E::InvalidId { offset: 3 },
            3,
            &["event ID contains a line ending or NUL at byte 3"],
        ),
        row(
            "EventError::InvalidComment",
            E::InvalidComment { offset: 3 },
            3,
            &["comment contains a line ending at byte 3"],
        ),
    ]
}

/// Errors inside others.
fn nested_errors() -> Vec<Row> {
    let body = || BodyError::Inner(failure().into());
    vec![
        row(
            "StreamError::Inner",
            StreamError::Inner(body()),
            None,
            &["the connection failed", "the cable"],
        ),
        row(
            "StreamError::Inner",
            StreamError::Inner(BodyError::from(invalid())),
            2,
            &["invalid UTF-8 in the body at byte 2: invalid byte (ff)"],
        ),
        row(
            "BodyError::Inner",
            BodyError::Inner(StreamError::Inner(body()).into()),
            None,
            &["the connection failed", "the cable"],
        ),
        row(
            "CodecError::Io",
            CodecError::<Utf8Error>::Io(body().into()),
            None,
            &["the connection failed", "the cable"],
        ),
        row(
            "CodecError::Io",
            CodecError::<Utf8Error>::Io(line().into()),
            2,
            &["line 2 is not valid UTF-8: invalid byte (ff) at byte 2 of the stream"],
        ),
    ]
}

fn invalid() -> Utf8Error {
    first_error(PLAIN, b"ok\xFF")
}

fn forbidden() -> Utf8Error {
    first_error(STRICT, b"ok\0")
}

fn missing_bom() -> Utf8Error {
    first_error(REQUIRE, b"a")
}

fn line() -> LineError {
    LineError::Utf8 { number: 2, offset: 1, error: invalid() }
}

/// An error with a source.
#[derive(Debug)]
struct Failure(io::Error);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection failed")
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

fn failure() -> io::Error {
    io::Error::other(Failure(io::Error::other("the cable")))
}

fn all_errors() -> Vec<Row> {
    [
        errors_of_decoders(),
        errors_of_codecs(),
        errors_of_lines(),
        errors_of_streams(),
        errors_of_bodies(),
        errors_of_messages(),
        errors_of_events(),
        nested_errors(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The lines of an error and its sources.
fn chain(error: &dyn Error) -> Vec<String> {
    let errors = iter::successors(Some(error), |&error| error.source());
    errors.map(ToString::to_string).collect()
}

#[test]
fn an_error_printed_with_its_sources_says_each_thing_once() {
    for Row { name, error, lines, .. } in all_errors() {
        let chain = chain(&*error);
        println!("{name}\n    {}", chain.join("\n    "));
        assert_eq!(chain, lines, "{name}");
        let parts: Vec<&str> = chain.iter().flat_map(|line| line.split(": ")).collect();
        for (i, part) in parts.iter().enumerate() {
            let others = parts.iter().enumerate().filter(|(j, _)| *j != i);
            for (_, other) in others {
                assert!(!other.contains(part), "{name} repeats {part:?}: {chain:?}");
            }
        }
        assert!(lines.iter().all(|line| !line.contains('\n') && !line.ends_with('.')), "{name}");
    }
}

#[test]
fn the_first_line_of_an_error_names_its_offset() {
    for Row { name, error, offset, .. } in all_errors() {
        let line = error.to_string();
        let named = ["at byte ", "at unit ", "at offset "].iter().find_map(|unit| {
            let (_, rest) = line.split_once(unit)?;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        });
        assert_eq!(named, offset, "{name}: {line}");
    }
}

/// `tests/surface.txt` lists the public items.
#[test]
fn every_variant_of_every_public_error_is_printed() {
    let surface = include_str!("../surface.txt");
    let types: BTreeSet<&str> = surface
        .lines()
        .filter(|line| line.contains("pub struct ") || line.contains("pub enum "))
        .filter_map(|line| line.split('<').next()?.rsplit("::").next())
        .filter(|name| name.ends_with("Error"))
        .collect();
    assert!(types.len() >= 10, "{types:?}");
    let variants = surface.lines().filter_map(|line| {
        let path = line.strip_prefix("pub utf8_codec::")?.split('(').next()?;
        let [.., name, variant] = path.split("::").collect::<Vec<_>>()[..] else { return None };
        let is_variant = variant.starts_with(char::is_uppercase) && types.contains(name);
        is_variant.then(|| format!("{name}::{variant}"))
    });
    let variants: BTreeSet<String> = variants.collect();
    let enums: BTreeSet<&str> =
        variants.iter().map(|name| name.split_once("::").unwrap().0).collect();
    let structs = types.difference(&enums).map(ToString::to_string);
    let expected: BTreeSet<String> = variants.iter().cloned().chain(structs).collect();

    let rows = all_errors();
    for Row { name, error, .. } in &rows {
        if let Some((_, variant)) = name.split_once("::") {
            assert!(format!("{error:?}").starts_with(variant), "{name}: {error:?}");
        }
    }
    let printed: BTreeSet<String> = rows.iter().map(|row| row.name.to_owned()).collect();
    assert_eq!(printed, expected);
}
