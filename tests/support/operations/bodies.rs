//! HTTP bodies, in frames; `Content-Type` fields as a peer may send them, and the charsets that they name.

use std::convert::Infallible;

use arbitrary::Arbitrary;
use futures::executor::block_on;
use futures::{FutureExt, stream};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use http_body::Frame;
use http_body_util::{Empty, Full, StreamBody};
use utf8_codec::ErrorMode;
use utf8_codec::http::{BodyError, Utf8Body};

use super::input::{Bytes, Many};
use super::streams::{self, Plan, Settings};
use crate::support::reference::{self, Mode};
use crate::support::{Atom, atoms};

#[derive(Arbitrary, Clone, Debug)]
pub enum BodyPlan {
    Framed(Plan),
    Collected(Collected),
    Limited(Limited),
    #[cfg(feature = "encoding_rs")]
    Legacy {
        encoding: u8,
        frames: Many<Bytes<60>, 12>,
    },
}

#[derive(Arbitrary, Clone, Debug)]
pub struct Collected {
    limit: u8,
    is_repaired: bool,
    frames: Many<Bytes<60>, 12>,
}

#[derive(Arbitrary, Clone, Debug)]
pub struct Limited {
    settings: Settings,
    limit: u8,
    frames: Many<Bytes<60>, 12>,
    ending: Ending,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Ending {
    Plain,
    Trailers,
    Failure,
}

pub fn body(plan: &BodyPlan) {
    match plan {
        BodyPlan::Framed(plan) => streams::body(plan),
        BodyPlan::Collected(plan) => collected(plan),
        BodyPlan::Limited(plan) => limited(plan),
        #[cfg(feature = "encoding_rs")]
        BodyPlan::Legacy { encoding, frames } => legacy(*encoding, frames),
    }
}

type Frames = std::vec::IntoIter<Result<Frame<bytes::Bytes>, Infallible>>;

fn framed(frames: &Many<Bytes<60>, 12>) -> Utf8Body<StreamBody<stream::Iter<Frames>>> {
    let frame = |bytes: &Bytes<60>| Ok(Frame::data(bytes.0.clone().into()));
    let frames: Vec<_> = frames.iter().map(frame).collect();
    Utf8Body::new(StreamBody::new(stream::iter(frames)))
}

fn joined(frames: &Many<Bytes<60>, 12>) -> Vec<u8> {
    frames.iter().flat_map(|frame| frame.0.clone()).collect()
}

/// The output of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Atom(Atom),
    Trailers,
    TooLong(u64),
    Failure,
}

/// Data within the limit is as in the model, then comes the error of the limit, then nothing.
fn limited(plan: &Limited) {
    let bytes = joined(&plan.frames);
    let limit = match plan.limit {
        // Around the length of the body.
        0..128 => (bytes.len() as u64 + u64::from(plan.limit % 5)).saturating_sub(2),
        limit => limit.into(),
    };
    let (config, (of_model, mode)) = (plan.settings.config(), plan.settings.mode());
    let frame = |bytes: &Bytes<60>| Ok(Frame::data(bytes::Bytes::from(bytes.0.clone())));
    let mut frames: Vec<_> = plan.frames.iter().map(frame).collect();
    match plan.ending {
        Ending::Plain => {}
        Ending::Trailers => frames.push(Ok(Frame::trailers(HeaderMap::new()))),
        Ending::Failure => frames.push(Err("out of order")),
    }
    let whole = Utf8Body::new(Full::new(bytes::Bytes::from(bytes.clone()))).with_max_length(limit);
    let rejected = whole.with_options(plan.settings.options()).with_error_mode(mode);
    let rejected = { rejected }.text_frame().now_or_never().expect("the source is ready");
    let is_rejected = matches!(rejected, Some(Err(BodyError::TooLong { .. })));
    assert_eq!(is_rejected, bytes.len() as u64 > limit, "by its size hint: {plan:?}");

    let body = Utf8Body::new(StreamBody::new(stream::iter(frames))).with_max_length(limit);
    let mut body = body.with_options(plan.settings.options()).with_error_mode(mode);
    let mut found = Vec::new();
    while let Some(frame) = body.text_frame().now_or_never().expect("the source is ready") {
        match frame.map(Frame::into_data) {
            Ok(Ok(text)) => found.extend(text.chars().map(|c| Item::Atom(Atom::Char(c)))),
            Ok(Err(_)) => found.push(Item::Trailers),
            Err(BodyError::Utf8(error)) => found.push(Item::Atom(Atom::from(&error))),
            Err(BodyError::TooLong { max_length: limit }) => found.push(Item::TooLong(limit)),
            Err(BodyError::Inner(_)) => found.push(Item::Failure),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(body.text_frame().now_or_never().expect("ready").is_none(), "it stays ended");

    let is_long = bytes.len() as u64 > limit;
    let within = &bytes[..bytes.len().min(limit as usize)];
    let ended = !is_long && !matches!(plan.ending, Ending::Failure);
    let mut expected = Vec::new();
    for atom in atoms(&reference::decode_prefix(within, config, ended).events) {
        match atom {
            Atom::Error(error) if of_model != Mode::Fatal => {
                let repair =
                    reference::repair(of_model, &error, config).expect("the mode is lossy");
                expected.extend(repair.chars().map(|c| Item::Atom(Atom::Char(c))));
            }
            atom => expected.push(Item::Atom(atom)),
        }
    }
    match plan.ending {
        _ if is_long => expected.push(Item::TooLong(limit)),
        Ending::Plain => {}
        Ending::Trailers => expected.push(Item::Trailers),
        Ending::Failure => expected.push(Item::Failure),
    }
    assert_eq!(found, expected, "{plan:?}");
}

/// Collected text is what std makes of the whole, up to a limit.
fn collected(plan: &Collected) {
    let (bytes, limit) = (joined(&plan.frames), usize::from(plan.limit));
    let mode = if plan.is_repaired { ErrorMode::Replacement } else { ErrorMode::Fatal };
    let body = framed(&plan.frames).with_error_mode(mode);
    let found = block_on(body.collect_text(limit));
    if plan.is_repaired {
        let text = String::from_utf8_lossy(&bytes);
        match found {
            Ok(found) => assert!(found == text && text.len() <= limit, "{plan:?}"),
            Err(BodyError::TooLong { .. }) => assert!(text.len() > limit, "{plan:?}"),
            Err(error) => panic!("{error}: {plan:?}"),
        }
        return;
    }
    let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    match found {
        Ok(found) => assert!(found.as_bytes() == bytes && found.len() <= limit, "{plan:?}"),
        // Text is counted before an error that follows it.
        Err(BodyError::TooLong { .. }) => assert!(valid.len() > limit, "{plan:?}"),
        Err(error) => {
            assert_eq!(error.offset(), Some(valid.len() as u64), "{plan:?}");
            assert!(valid.len() <= limit && valid.len() < bytes.len(), "{plan:?}");
        }
    }
}

/// Text and errors in another encoding are those of encoding_rs on the whole input.
#[cfg(feature = "encoding_rs")]
fn legacy(encoding: u8, frames: &Many<Bytes<60>, 12>) {
    use crate::encodings::{LABELS, whole};

    let label = LABELS[usize::from(encoding) % LABELS.len()];
    let bytes = joined(frames);
    if label.starts_with("utf-16") && matches!(bytes[..], [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
        return; // The BOM decides the encoding there.
    }
    let mut body = framed(frames).with_charset(label).unwrap();
    let mut words = Vec::new();
    while let Some(frame) = body.text_frame().now_or_never().expect("the source is ready") {
        match frame {
            Ok(frame) => {
                let text = frame.into_data().expect("there are no trailers");
                words.extend(text.chars().map(String::from));
            }
            Err(BodyError::Legacy { offset, bytes, .. }) => {
                words.push(format!("{offset} {:02x?}", &*bytes));
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(words, whole(label, &bytes), "{label}, {frames:?}");
}

// ---- fields -------------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct Headers {
    fields: Many<Many<Part>, 4>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Part {
    Known(u8),
    Byte(u8),
    /// A well-formed parameter.
    Charset {
        label: u8,
        is_quoted: bool,
    },
}

const PARTS: [&[u8]; 24] = [
    b"text/html",
    b"a/b",
    b"/",
    b";",
    b"; ",
    b" ",
    b"\t",
    b"=",
    b"charset",
    b"CharSet=",
    b"charset=\"",
    b"\"",
    b"\\",
    b"\\\"",
    b"utf-8",
    b"UTF\\-8",
    b"latin1",
    b"klingon",
    b"q=1",
    b",",
    b"\x7F",
    b"\xE9",
    b"\r\n",
    b"",
];

const LABELS: [&str; 10] = [
    "utf-8",
    "UTF8",
    "Unicode-1-1-UTF-8",
    "x-unicode20utf8",
    "latin1",
    "windows-1252",
    "shift_jis",
    "utf-16",
    "iso-2022-kr",
    "klingon",
];

impl Part {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Known(number) => PARTS[usize::from(number) % PARTS.len()].to_vec(),
            Self::Byte(byte) => vec![byte],
            Self::Charset { label, is_quoted } => {
                let label = LABELS[usize::from(label) % LABELS.len()];
                let quote = if is_quoted { "\"" } else { "" };
                format!(";charset={quote}{label}{quote}").into_bytes()
            }
        }
    }
}

/// The charset of one field and of several is that of a state table and the Encoding Standard.
pub fn content_type(plan: &Headers) {
    let mut headers = HeaderMap::new();
    let mut expected = Ok(None);
    for (number, parts) in plan.fields.iter().enumerate() {
        // Most fields start well-formed.
        let kind: &[u8] = if number % 2 == 0 { b"text/plain" } else { b"" };
        let mut field = kind.to_vec();
        parts.iter().for_each(|part| field.extend(part.bytes()));
        let found = named(&field);
        let context = || field.escape_ascii().to_string();
        let body = Utf8Body::from_content_type(&field, Empty::<&[u8]>::new());
        let expected_here = found.map(|name| name.unwrap_or("UTF-8"));
        assert_eq!(reported(body), expected_here, "{}", context());
        if let Ok(value) = HeaderValue::from_bytes(&field) {
            headers.append(CONTENT_TYPE, value);
            expected = agreed(expected, found);
        }
    }
    let expected = expected.map(|name| name.flatten().unwrap_or("UTF-8"));
    let body = Utf8Body::from_headers(&headers, Empty::<&[u8]>::new());
    assert_eq!(reported(body), expected, "{headers:?}");
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Unsupported,
    Malformed(usize),
    Contradictory,
}

type Name = Result<Option<&'static str>, Problem>;

fn reported<B>(body: Result<Utf8Body<B>, BodyError>) -> Result<&'static str, Problem> {
    let status = body.as_ref().err().map(BodyError::status);
    let (problem, expected) = match body {
        Ok(body) => return Ok(body.charset()),
        Err(BodyError::UnsupportedCharset { label }) => {
            assert!(label.is_ascii() && label.len() <= 40, "{label:?}");
            (Problem::Unsupported, 415)
        }
        Err(BodyError::MalformedContentType { offset: at }) => (Problem::Malformed(at), 400),
        Err(BodyError::ContradictoryCharsets) => (Problem::Contradictory, 400),
        Err(other) => panic!("{other}"),
    };
    assert_eq!(status.map(|status| status.as_u16()), Some(expected));
    Err(problem)
}

/// The first value, if the next one is the same.
fn agreed<T: PartialEq>(
    first: Result<Option<T>, Problem>,
    next: Result<T, Problem>,
) -> Result<Option<T>, Problem> {
    match (first?, next?) {
        (Some(first), next) if first != next => Err(Problem::Contradictory),
        (_, next) => Ok(Some(next)),
    }
}

/// The position of a byte in a field (RFC 9110, sections 5.6 and 8.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    Type,
    Slash,
    Subtype,
    /// After the subtype or after a value.
    Between,
    Semicolon,
    Name,
    Equals,
    Value,
    Quoted,
    Escaped,
    Unquoted,
}

impl Place {
    /// The position of the next byte; `None` if the byte is invalid here.
    fn next(self, byte: u8) -> Option<Self> {
        let is_token = byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let is_text = byte == b'\t' || byte >= b' ' && byte != 0x7F;
        Some(match (self, byte) {
            (Self::Start, b' ' | b'\t') => Self::Start,
            (Self::Start | Self::Type, _) if is_token => Self::Type,
            (Self::Type, b'/') => Self::Slash,
            (Self::Slash | Self::Subtype, _) if is_token => Self::Subtype,
            (Self::Subtype | Self::Value | Self::Unquoted | Self::Between, b' ' | b'\t') => {
                Self::Between
            }
            (Self::Subtype | Self::Value | Self::Unquoted | Self::Between, b';') => Self::Semicolon,
            (Self::Semicolon, b' ' | b'\t' | b';') => Self::Semicolon,
            (Self::Semicolon | Self::Name, _) if is_token => Self::Name,
            (Self::Name, b'=') => Self::Equals,
            (Self::Equals, b'"') => Self::Quoted,
            (Self::Equals | Self::Value, _) if is_token => Self::Value,
            (Self::Quoted, b'"') => Self::Unquoted,
            (Self::Quoted, b'\\') => Self::Escaped,
            (Self::Quoted | Self::Escaped, _) if is_text => Self::Quoted,
            _ => return None,
        })
    }

    fn may_be_last(self) -> bool {
        use Place::{Between, Semicolon, Subtype, Unquoted, Value};
        matches!(self, Subtype | Between | Semicolon | Value | Unquoted)
    }
}

/// The charset that a field names.
fn named(field: &[u8]) -> Name {
    let (mut place, mut charset) = (Place::Start, Ok(None));
    let (mut name, mut value) = (Vec::new(), Vec::new());
    for (at, byte) in field.iter().copied().map(Some).chain([None]).enumerate() {
        let next = byte.and_then(|byte| place.next(byte));
        // A byte that cannot be part of a value ends it.
        let has_ended = match place {
            Place::Value => next != Some(Place::Value),
            Place::Quoted => next == Some(Place::Unquoted),
            _ => false,
        };
        if has_ended && name.eq_ignore_ascii_case(b"charset") {
            charset = Ok(agreed(charset, known(&value))?);
        }
        match next {
            None if byte.is_none() && place.may_be_last() => break,
            None => return Err(Problem::Malformed(at)),
            Some(Place::Semicolon) => name.clear(),
            Some(Place::Equals) => value.clear(),
            Some(Place::Name) => name.extend(byte),
            Some(Place::Value) => value.extend(byte),
            Some(Place::Quoted) if place != Place::Equals => value.extend(byte),
            Some(_) => {}
        }
        place = next.expect("not at the end");
    }
    charset
}

#[cfg(feature = "encoding_rs")]
fn known(label: &[u8]) -> Result<&'static str, Problem> {
    let encoding = encoding_rs::Encoding::for_label_no_replacement(label);
    encoding.map(encoding_rs::Encoding::name).ok_or(Problem::Unsupported)
}

/// UTF-8 only: the Encoding Standard, section 4.2.
#[cfg(not(feature = "encoding_rs"))]
fn known(label: &[u8]) -> Result<&'static str, Problem> {
    let labels =
        "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8".split(' ');
    let label = label.trim_ascii().to_ascii_lowercase();
    let is_known = { labels }.any(|known| known.as_bytes() == label);
    is_known.then_some("UTF-8").ok_or(Problem::Unsupported)
}
