//! A slow model of the output of the decoders and the lines codec, and the vectors.
//!
//! The model keeps no state between chunks. Each answer is computed from all bytes received so far:
//! "what do the first `k` bytes determine?". The output for one chunk is the difference between two
//! such answers. [`std::str::from_utf8`] decides what is well-formed; tables of byte ranges only name
//! the errors.

use std::ops::Range;

use serde_json::Value;

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bom {
    Keep,
    Strip,
    Require,
    Forbid,
}

/// Where in the stream the first byte is. A start in the middle excludes BOM handling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Beginning(Bom),
    MidStream,
}

/// U+0001..001F and U+007F..009F.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controls {
    Allowed,
    /// As `Controls`, but HT, LF and CR pass.
    RejectedExceptWhitespace,
    Rejected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) start: Start,
    pub(crate) reject_noncharacters: bool,
    pub(crate) reject_nul: bool,
    pub(crate) controls: Controls,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    UnexpectedContinuation,
    Overlong,
    Surrogate,
    TooLarge,
    InvalidByte,
    Truncated,
    Incomplete,
    ForbiddenBom,
    MissingBom,
    Noncharacter,
    Forbidden,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    /// Counts from the first byte of the stream, as all offsets here.
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) kind: Kind,
    /// The byte that broke the sequence, if any; it starts the next sequence.
    pub(crate) next: Option<u8>,
    /// The index of the byte that decides the error; `None` if the end of the stream does.
    pub(crate) decided_by: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// All text up to the next error.
    Text(String),
    Error(Error),
}

/// Everything a prefix of a stream determines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) events: Vec<Event>,
    /// The number of undecided bytes at the end.
    pub(crate) held: usize,
    /// Whether a BOM was stripped.
    pub(crate) bom_seen: bool,
    /// Continuation bytes skipped at a mid-stream start.
    pub(crate) skipped: usize,
}

/// The output of one chunk, or of the end of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) events: Vec<Event>,
    pub(crate) held: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Fatal,
    Replacement,
    Skip,
    Escape,
    Latin1,
    Windows1252,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// LF with an optional CR before it.
    Lf,
    /// CR LF; a CR or LF elsewhere rejects the line.
    Crlf,
    /// As `Lf`; a CR elsewhere rejects the line.
    CrlfOrLf,
    /// CR, LF or CR LF.
    Any,
    Nul,
    /// Each of these, which are ASCII.
    #[allow(dead_code, reason = "no vector has a set")]
    OneOf(&'static str),
    /// Not empty.
    Str(String),
}

/// The limit on the length of a line, in bytes, and what happens to a longer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Reject(usize),
    #[allow(dead_code, reason = "no vector cuts a line")]
    Cut(usize),
}

impl Limit {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Reject(len) | Self::Cut(len) => len,
        }
    }
}

impl From<usize> for Limit {
    fn from(len: usize) -> Self {
        Self::Reject(len)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineItem {
    Line {
        text: String,
        number: u64,
        offset: u64,
        terminated: bool,
    },
    Cut {
        text: String,
        number: u64,
        offset: u64,
    },
    Utf8 {
        number: u64,
        offset: u64,
        error: Error,
    },
    TooLong {
        number: u64,
        offset: u64,
    },
    /// A CR or LF, `byte`, that ends no line.
    Bare {
        number: u64,
        offset: u64,
        byte: u8,
        at: u64,
    },
}

/// What `bytes`, a prefix of the stream or, if `ended`, all of it, determine.
pub(crate) fn decode_prefix(bytes: &[u8], config: Config, ended: bool) -> Decoded {
    let opening = opening(bytes, config.start, ended);
    let units = units(bytes, config, ended);
    Decoded {
        events: merged(&units),
        held: bytes.len() - decided_bytes(bytes, config, ended),
        bom_seen: opening.as_ref().is_some_and(|opening| opening.bom_seen),
        skipped: opening.map_or(0, |opening| opening.skipped),
    }
}

/// One step per chunk, then one for the end.
pub(crate) fn decode(chunks: &[Vec<u8>], config: Config) -> Vec<Step> {
    let mut before = Vec::new();
    let mut steps = Vec::new();
    for (bytes, ended) in prefixes(chunks) {
        let after = units(&bytes, config, ended);
        assert!(after.starts_with(&before), "more bytes changed what fewer had determined");
        let held = bytes.len() - decided_bytes(&bytes, config, ended);
        steps.push(Step { events: merged(&after[before.len()..]), held });
        before = after;
    }
    steps
}

/// The repair of an error; `None` in `Fatal` mode.
pub(crate) fn repair(mode: Mode, error: &Error, config: Config) -> Option<String> {
    let is_utf8 = matches!(error.kind, Kind::Noncharacter | Kind::Forbidden | Kind::ForbiddenBom);
    let each = |character: fn(u8) -> char| {
        let accepted = |byte: &u8| {
            let character = character(*byte);
            rejected(character, config).map_or(character, |_| '\u{FFFD}')
        };
        error.bytes.iter().map(accepted).collect()
    };
    Some(match mode {
        Mode::Fatal => return None,
        _ if error.kind == Kind::MissingBom => String::new(),
        Mode::Skip => String::new(),
        Mode::Escape => error.bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect(),
        Mode::Replacement => "\u{FFFD}".to_owned(),
        // Repaired byte for byte, a rejected character could reappear.
        Mode::Latin1 | Mode::Windows1252 if is_utf8 => "\u{FFFD}".to_owned(),
        Mode::Latin1 => each(char::from),
        Mode::Windows1252 => each(windows_1252),
    })
}

/// The text of `events` with every error repaired; in `Fatal` mode errors are left out.
pub(crate) fn repaired(mode: Mode, events: &[Event], config: Config) -> String {
    let text = |event: &Event| match event {
        Event::Text(text) => text.clone(),
        Event::Error(error) => repair(mode, error, config).unwrap_or_default(),
    };
    events.iter().map(text).collect()
}

/// One list of items per chunk, then one for the end.
pub(crate) fn lines(
    chunks: &[Vec<u8>],
    config: Config,
    mode: Mode,
    delimiter: &Delimiter,
    limit: impl Into<Limit>,
) -> Vec<Vec<LineItem>> {
    let limit = limit.into();
    let mut before = Vec::new();
    let mut steps = Vec::new();
    for (bytes, ended) in prefixes(chunks) {
        let after = lines_prefix(&bytes, config, mode, delimiter, limit, ended);
        assert!(after.starts_with(&before), "more bytes changed what fewer had determined");
        steps.push(after[before.len()..].to_vec());
        before = after;
    }
    steps
}

/// The line items that `bytes`, a prefix of the stream, determine.
pub(crate) fn lines_prefix(
    bytes: &[u8],
    config: Config,
    mode: Mode,
    delimiter: &Delimiter,
    limit: impl Into<Limit>,
    ended: bool,
) -> Vec<LineItem> {
    lines_and_errors(bytes, config, mode, delimiter, limit, ended).0
}

/// The line items, and the errors in these lines and in the unfinished one.
pub(crate) fn lines_and_errors(
    bytes: &[u8],
    config: Config,
    mode: Mode,
    delimiter: &Delimiter,
    limit: impl Into<Limit>,
    ended: bool,
) -> (Vec<LineItem>, Vec<Error>) {
    let limit = limit.into();
    let units = units(bytes, config, ended);
    let (mut items, mut found) = (Vec::new(), Vec::new());
    for span in spans(bytes, config, delimiter, ended) {
        // The errors of this line, each with the index of its deciding byte; the length of the stream
        // stands for the end.
        let (number, offset) = (span.number, span.start as u64);
        let known = |at| known_by(bytes, &span, at, config, delimiter);
        let content = &bytes[span.start..span.end];
        let end = span.start + limit.len();
        let too_long = (content.len() > limit.len()).then(|| {
            let item = match limit {
                Limit::Reject(_) => LineItem::TooLong { number, offset },
                Limit::Cut(_) => LineItem::Cut { text: String::new(), number, offset },
            };
            (known(end), item)
        });
        let is_bare = |byte: &u8| match delimiter {
            Delimiter::Crlf => matches!(byte, b'\r' | b'\n'),
            Delimiter::CrlfOrLf => *byte == b'\r',
            Delimiter::Lf
            | Delimiter::Any
            | Delimiter::Nul
            | Delimiter::OneOf(_)
            | Delimiter::Str(_) => false,
        };
        let bare = content.iter().position(is_bare).map(|at| {
            let (byte, at) = (content[at], span.start + at);
            (known(at), LineItem::Bare { number, offset, byte, at: at as u64 })
        });
        // Whether this byte remains when the line is cut.
        let remains = |at: usize| matches!(limit, Limit::Cut(_)) && at < end;
        let bare = bare.map(|(by, item)| match item {
            LineItem::Bare { at, .. } if remains(at as usize) => (by, 0, item),
            item => (by, 2, item),
        });
        let rejection = [too_long.map(|(by, item)| (by, 1, item)), bare].into_iter().flatten();
        let rejection = rejection.min_by_key(|(by, order, _)| (*by, *order));
        let rejection = rejection.map(|(by, _, item)| (by, item));
        let mut errors = Vec::new();
        let mut texts = Vec::new();
        for unit in units.iter().filter(|unit| span.holds(unit)) {
            match &unit.what {
                Ok(character) => texts.push((unit, character.to_string(), None)),
                Err(error) => {
                    let mut error = error.clone();
                    if matches!(error.kind, Kind::Noncharacter | Kind::Forbidden) {
                        // Its last byte is not enough: it must be known not to be part of a delimiter.
                        let known = known_by(bytes, &span, unit.at, config, delimiter);
                        let index = error.decided_by.map_or(known as u64, |i| i.max(known as u64));
                        error.decided_by = Some(index).filter(|i| *i < bytes.len() as u64);
                    }
                    let text = repair(mode, &error, config).unwrap_or_default();
                    texts.push((unit, text, Some(error.clone())));
                    errors.push(error);
                }
            }
        }
        let index = |error: &Error| error.decided_by.unwrap_or(bytes.len() as u64);
        // Errors after the one that rejects a line are ignored. The byte that decides a bare CR or LF can decide an error
        // before it.
        let is_in_time = |error: &Error| match &rejection {
            None => true,
            Some((by, LineItem::Bare { at, .. }))
                if error.offset + error.bytes.len() as u64 <= *at =>
            {
                index(error) <= *by as u64
            }
            // What remains of a cut line is content, even if the same byte shows that and that the line is too long.
            Some((_, LineItem::Cut { .. })) => {
                error.offset + error.bytes.len() as u64 <= end as u64
            }
            Some((by, _)) => index(error) < *by as u64,
        };
        let text = |until: usize| -> String {
            let remaining = texts.iter().filter(|(unit, _, error)| {
                unit.at + unit.len <= until && error.as_ref().is_none_or(is_in_time)
            });
            remaining.map(|(_, text, _)| &text[..]).collect()
        };
        let mut in_time = errors.clone();
        in_time.retain(is_in_time);
        let first = errors.into_iter().min_by_key(index).filter(|_| mode == Mode::Fatal);
        match &first {
            Some(first) => found.extend(in_time.contains(first).then(|| first.clone())),
            None => found.extend(in_time),
        }

        match (rejection.clone(), first) {
            (Some(_), Some(error)) if is_in_time(&error) => {
                items.push(LineItem::Utf8 { number, offset, error });
            }
            (Some((_, LineItem::Cut { .. })), _) => {
                items.push(LineItem::Cut { text: text(end), number, offset });
            }
            (Some((_, item)), _) => items.push(item),
            (None, Some(error)) => items.push(LineItem::Utf8 { number, offset, error }),
            (None, None) => {
                let terminated = span.terminated;
                if terminated || ended && span.start < span.end {
                    let text = text(span.end);
                    items.push(LineItem::Line { text, number, offset, terminated });
                }
            }
        }
    }
    (items, found)
}

// ---- prefixes -------------------------------------------------------------------------------

/// The stream after each chunk, and once more at its end.
fn prefixes(chunks: &[Vec<u8>]) -> Vec<(Vec<u8>, bool)> {
    let after = |n: usize| chunks[..n].concat();
    let mut all: Vec<_> = (1..=chunks.len()).map(|n| (after(n), false)).collect();
    all.push((chunks.concat(), true));
    all
}

// ---- sequences ------------------------------------------------------------------------------

/// A character or an error, with its range.
#[derive(Clone, Debug, PartialEq)]
struct Unit {
    at: usize,
    len: usize,
    what: Result<char, Error>,
}

/// All characters and errors that `bytes` determine.
fn units(bytes: &[u8], config: Config, ended: bool) -> Vec<Unit> {
    let Some(opening) = opening(bytes, config.start, ended) else { return Vec::new() };
    let mut units = Vec::new();
    if let Some(error) = opening.error {
        units.push(Unit { at: 0, len: error.bytes.len(), what: Err(error) });
    }
    let mut at = opening.sequences;
    while let Some((len, what)) = sequence(&bytes[at..], ended) {
        let error = |kind, next: Option<u8>, decided_by| {
            let bytes = bytes[at..at + len].to_vec();
            Error { offset: at as u64, bytes, kind, next, decided_by }
        };
        let last = at + len - 1;
        let what = match what {
            Ok(character) => match rejected(character, config) {
                Some(kind) => Err(error(kind, None, Some(last as u64))),
                None => Ok(character),
            },
            Err((Kind::Incomplete, _)) => Err(error(Kind::Incomplete, None, None)),
            Err((kind, None)) => Err(error(kind, None, Some(last as u64))),
            Err((kind, next)) => Err(error(kind, next, Some(last as u64 + 1))),
        };
        units.push(Unit { at, len, what });
        at += len;
    }
    units
}

/// The length of the longest prefix that does not depend on later bytes.
fn decided_bytes(bytes: &[u8], config: Config, ended: bool) -> usize {
    let start = opening(bytes, config.start, ended).map_or(0, |opening| opening.sequences);
    units(bytes, config, ended).last().map_or(start, |unit| start.max(unit.at + unit.len))
}

/// A length; and a character, or the kind of an error and the byte that broke the sequence.
type Sequence = (usize, Result<char, (Kind, Option<u8>)>);

/// The first character or maximal subpart of `tail`. `None` if `tail` is empty or can still become a
/// character.
fn sequence(tail: &[u8], ended: bool) -> Option<Sequence> {
    let first = *tail.first()?;
    for len in 1..=tail.len().min(4) {
        if let Ok(text) = str::from_utf8(&tail[..len]) {
            return Some((len, Ok(text.chars().next()?)));
        }
    }
    let good = (1..=tail.len()).take_while(|len| begins_a_character(&tail[..*len])).count();
    if good == 0 {
        let kind = match first {
            0xC0 | 0xC1 => Kind::Overlong,
            0xF5..=0xF7 => Kind::TooLarge,
            0xF8..=0xFF => Kind::InvalidByte,
            _ => Kind::UnexpectedContinuation,
        };
        return Some((1, Err((kind, None))));
    }
    let Some(&next) = tail.get(good) else {
        return ended.then_some((good, Err((Kind::Incomplete, None))));
    };
    let kind = match tail[..=good] {
        [0xE0 | 0xF0, 0x80..=0xBF] => Kind::Overlong,
        [0xED, 0x80..=0xBF] => Kind::Surrogate,
        [0xF4, 0x80..=0xBF] => Kind::TooLarge,
        _ => Kind::Truncated,
    };
    Some((good, Err((kind, Some(next)))))
}

/// Whether `part` is a proper prefix of the encoding of some character: completing it with the lowest
/// or with the highest continuation bytes then gives one.
fn begins_a_character(part: &[u8]) -> bool {
    (part.len() + 1..=4).any(|len| {
        [0x80, 0xBF].into_iter().any(|fill| {
            let mut whole = part.to_vec();
            whole.resize(len, fill);
            str::from_utf8(&whole).is_ok_and(|text| text.chars().count() == 1)
        })
    })
}

pub(crate) fn rejected(character: char, config: Config) -> Option<Kind> {
    let value = u32::from(character);
    let noncharacter = (0xFDD0..=0xFDEF).contains(&value) || value & 0xFFFE == 0xFFFE;
    let control = character.is_control() && value != 0;
    let whitespace = matches!(character, '\t' | '\n' | '\r');
    let forbidden = match config.controls {
        Controls::Allowed => false,
        Controls::RejectedExceptWhitespace => control && !whitespace,
        Controls::Rejected => control,
    };
    if config.reject_noncharacters && noncharacter {
        Some(Kind::Noncharacter)
    } else if forbidden || config.reject_nul && value == 0 {
        Some(Kind::Forbidden)
    } else {
        None
    }
}

fn merged(units: &[Unit]) -> Vec<Event> {
    let mut events = Vec::new();
    for unit in units {
        match (&unit.what, events.last_mut()) {
            (Ok(character), Some(Event::Text(text))) => text.push(*character),
            (Ok(character), _) => events.push(Event::Text(character.to_string())),
            (Err(error), _) => events.push(Event::Error(error.clone())),
        }
    }
    events
}

fn windows_1252(byte: u8) -> char {
    const FROM_80: [u16; 32] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
    ];
    match byte {
        0x80..=0x9F => char::from_u32(FROM_80[usize::from(byte - 0x80)].into()).unwrap(),
        _ => char::from(byte),
    }
}

// ---- the start of the stream ----------------------------------------------------------------

/// The start of the stream.
#[derive(Default)]
struct Opening {
    /// Where the first line starts: after a BOM and skipped bytes.
    line: usize,
    /// Where ordinary sequences start: also after a forbidden BOM.
    sequences: usize,
    bom_seen: bool,
    skipped: usize,
    error: Option<Error>,
}

/// `None` if `bytes` can still become a BOM to strip.
fn opening(bytes: &[u8], start: Start, ended: bool) -> Option<Opening> {
    let whole = bytes.starts_with(&BOM);
    let possible = !ended && !whole && BOM.starts_with(bytes);
    let error = |kind, bytes: &[u8], decided_by: Option<usize>| {
        let decided_by = decided_by.map(|index| index as u64);
        Some(Error { offset: 0, bytes: bytes.to_vec(), kind, next: None, decided_by })
    };
    let plain = Opening::default();
    match start {
        Start::MidStream => {
            let continuations = bytes.iter().take_while(|byte| (0x80..=0xBF).contains(*byte));
            let skipped = continuations.take(3).count();
            Some(Opening { line: skipped, sequences: skipped, skipped, ..plain })
        }
        Start::Beginning(Bom::Strip | Bom::Require) if whole => {
            Some(Opening { line: 3, sequences: 3, bom_seen: true, ..plain })
        }
        Start::Beginning(Bom::Strip | Bom::Require) if possible => None,
        Start::Beginning(Bom::Require) => {
            let other = bytes.iter().zip(&BOM).position(|(byte, expected)| byte != expected);
            Some(Opening { error: error(Kind::MissingBom, &[], other), ..plain })
        }
        Start::Beginning(Bom::Forbid) if whole => {
            let error = error(Kind::ForbiddenBom, &BOM, Some(2));
            Some(Opening { sequences: 3, error, ..plain })
        }
        Start::Beginning(Bom::Keep | Bom::Strip | Bom::Forbid) => Some(plain),
    }
}

// ---- lines ----------------------------------------------------------------------------------

/// The content of one line, as far as it is certain.
struct Span {
    number: u64,
    start: usize,
    end: usize,
    terminated: bool,
}

impl Span {
    /// A missing BOM has no bytes. It belongs to the first line, even if that is empty.
    fn holds(&self, unit: &Unit) -> bool {
        (self.start..self.end).contains(&unit.at) || unit.len == 0 && self.number == 1
    }
}

/// All lines that have started. The last one has no delimiter yet and can be empty.
fn spans(bytes: &[u8], config: Config, delimiter: &Delimiter, ended: bool) -> Vec<Span> {
    let Some(opening) = opening(bytes, config.start, ended) else { return Vec::new() };
    let mut spans = Vec::new();
    let (mut number, mut start) = (1, opening.line);
    while let Some(found) = find(bytes, start.max(opening.sequences), delimiter) {
        spans.push(Span { number, start, end: found.start, terminated: true });
        number += 1;
        start = found.end;
    }
    let end = if ended { bytes.len() } else { content_end(bytes, start, config, delimiter) };
    spans.push(Span { number, start, end, terminated: false });
    spans
}

/// The end of the content of the line at `start`, as far as `bytes` determine it.
fn content_end(bytes: &[u8], start: usize, config: Config, delimiter: &Delimiter) -> usize {
    let Some(opening) = opening(bytes, config.start, false) else { return start };
    let from = start.max(opening.sequences);
    match find(bytes, from, delimiter) {
        Some(found) => found.start,
        None => bytes.len() - undecided(&bytes[from..], delimiter),
    }
}

/// The index of the byte that shows byte `at` to be content of the line `span`, which contains it; the
/// length of the stream if only the end shows it.
fn known_by(bytes: &[u8], span: &Span, at: usize, config: Config, delimiter: &Delimiter) -> usize {
    let known = |index: &usize| content_end(&bytes[..=*index], span.start, config, delimiter) > at;
    (at..bytes.len()).find(known).unwrap_or(bytes.len())
}

/// The first delimiter at or after `from`.
fn find(bytes: &[u8], from: usize, delimiter: &Delimiter) -> Option<Range<usize>> {
    let tail = &bytes[from..];
    let found = match delimiter {
        Delimiter::Crlf => {
            let at = tail.windows(2).position(|part| part == b"\r\n")?;
            at..at + 2
        }
        Delimiter::Lf | Delimiter::CrlfOrLf => {
            let lf = tail.iter().position(|byte| *byte == b'\n')?;
            let cr = usize::from(tail[..lf].ends_with(b"\r"));
            lf - cr..lf + 1
        }
        Delimiter::Any => {
            let at = tail.iter().position(|byte| matches!(byte, b'\r' | b'\n'))?;
            let lf = usize::from(tail[at..].starts_with(b"\r\n"));
            at..at + 1 + lf
        }
        Delimiter::Nul => {
            let at = tail.iter().position(|byte| *byte == 0)?;
            at..at + 1
        }
        Delimiter::OneOf(chars) => {
            let at = tail.iter().position(|byte| chars.as_bytes().contains(byte))?;
            at..at + 1
        }
        Delimiter::Str(string) => {
            let at = tail.windows(string.len()).position(|part| part == string.as_bytes())?;
            at..at + string.len()
        }
    };
    Some(from + found.start..from + found.end)
}

/// How many bytes at the end of `line`, which contains no delimiter, can start one.
fn undecided(line: &[u8], delimiter: &Delimiter) -> usize {
    match delimiter {
        Delimiter::Lf | Delimiter::Crlf | Delimiter::CrlfOrLf => usize::from(line.ends_with(b"\r")),
        Delimiter::Any | Delimiter::Nul | Delimiter::OneOf(_) => 0,
        Delimiter::Str(string) => {
            let prefix = |len: &usize| line.ends_with(&string.as_bytes()[..*len]);
            (1..string.len()).rev().find(prefix).unwrap_or(0)
        }
    }
}

// ---- the vectors --------------------------------------------------------------------------------

/// Declares `FILES`: the names of the files in `tests/vectors`, one JSON case per line, and their texts. They are
/// compiled in, so that no test needs to find them.
macro_rules! files {
    ($($name:literal,)*) => {
        pub(crate) const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../vectors/", $name))),)*];
    };
}

files! {
    "dialects.jsonl",
    "encode.jsonl",
    "lines.jsonl",
    "utf8.jsonl",
    "websocket.jsonl",
}

/// Every case.
pub(crate) fn cases() -> Vec<Value> {
    let lines = FILES.iter().flat_map(|(name, text)| text.lines().map(move |line| (name, line)));
    lines
        .map(|(name, line)| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"))
        })
        .collect()
}
