//! Code shared by the integration tests: the vectors, the reference model's answers for every prefix of
//! an input, and one interface for all public types.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

#[cfg(feature = "stream")]
pub mod blocking;
#[cfg(feature = "http-body")]
pub mod body;
pub mod lines;
pub mod reference;
#[cfg(feature = "stream")]
pub mod streams;
pub mod subjects;

use std::collections::BTreeSet;
use std::ops::Range;

use lines::{Item, LineSettings, line_steps};
pub(crate) use reference::cases;
use reference::{
    Bom, Config, Controls, Decoded, Delimiter, Event, Kind, Limit, LineItem, Mode, Start,
};
use serde_json::Value;
use subjects::{Reported, Subject, Validating};
use utf8_codec::lines::{LineError, LongLines};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Error, Utf8ErrorKind, Utf8Options};

pub const PLAIN: Config = Config {
    start: Start::Beginning(Bom::Keep),
    reject_noncharacters: false,
    reject_nul: false,
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

/// The smallest element of a stream's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Atom {
    Char(char),
    /// On the heap, so that a character is small: long texts have millions.
    Error(Box<reference::Error>),
}

impl From<&Utf8Error> for Atom {
    fn from(error: &Utf8Error) -> Self {
        Self::Error(Box::new(model_error(error)))
    }
}

/// The model's answer for every prefix of an input.
pub struct Expected {
    /// What the first `k` bytes determine, for each `k`.
    pub prefixes: Vec<Vec<Atom>>,
    pub held: Vec<usize>,
    /// What all bytes and the end determine.
    pub ended: Vec<Atom>,
    end: Decoded,
    config: Config,
    errors: Errors,
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
            errors: errors_in(&ended),
            end: ended,
            config,
        }
    }

    /// Compares what `subject` reports besides its output after `len` bytes.
    fn check_rest(&self, subject: &mut dyn Subject, len: usize, mode: Mode) {
        assert_eq!(subject.start(), (self.end.bom_seen, self.end.skipped));
        if let Some(position) = subject.position() {
            assert_eq!(position, len as u64);
        }
        if let Some(errors) = subject.errors() {
            assert_eq!(errors, self.errors);
        }
        let reported = subject.places();
        if !reported.is_empty() {
            check_places(&reported, &places(&self.end, mode, self.config), 0, 0);
        }
    }

    /// The texts of all prefixes and of the ended stream, repaired.
    pub fn repaired(&self, mode: Mode) -> Repaired<'_> {
        let text = |atoms: &Vec<Atom>| self.text(mode, atoms);
        let prefixes = self.prefixes.iter().map(text).collect();
        Repaired { expected: self, mode, prefixes, ended: text(&self.ended) }
    }

    /// The text of `atoms`, repaired.
    pub fn text(&self, mode: Mode, atoms: &[Atom]) -> String {
        let mut text = String::new();
        for atom in atoms {
            match atom {
                Atom::Char(c) => text.push(*c),
                Atom::Error(error) => text.extend(reference::repair(mode, error, self.config)),
            }
        }
        text
    }
}

/// What an object that repairs in one mode yields for every prefix of an input.
pub struct Repaired<'a> {
    expected: &'a Expected,
    mode: Mode,
    prefixes: Vec<String>,
    ended: String,
}

pub fn atoms(events: &[Event]) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for event in events {
        match event {
            Event::Text(text) => atoms.extend(text.chars().map(Atom::Char)),
            Event::Error(error) => atoms.push(Atom::Error(Box::new(undated(error.clone())))),
        }
    }
    atoms
}

/// The number of errors, and the first.
pub fn errors_in(decoded: &Decoded) -> Errors {
    let errors = atoms(&decoded.events).into_iter().filter_map(|atom| match atom {
        Atom::Char(_) => None,
        Atom::Error(error) => Some(*error),
    });
    Errors::of(errors)
}

/// What an object counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    pub count: u64,
    /// How many of them are well-formed.
    pub rejected: u64,
    pub first: Option<reference::Error>,
}

const REJECTIONS: [Kind; 4] =
    [Kind::ForbiddenBom, Kind::MissingBom, Kind::Noncharacter, Kind::Forbidden];

impl Errors {
    pub(crate) fn of(errors: impl IntoIterator<Item = reference::Error>) -> Self {
        let mut counted = Self::default();
        for error in errors {
            counted.count += 1;
            counted.rejected += u64::from(REJECTIONS.contains(&error.kind));
            counted.first.get_or_insert(error);
        }
        counted
    }
}

/// The range of each character, or of the error that a repaired character replaces in `mode`.
pub fn places(decoded: &Decoded, mode: Mode, config: Config) -> Vec<Range<u64>> {
    let mut at = decoded.skipped as u64 + if decoded.bom_seen { 3 } else { 0 };
    let mut places = Vec::new();
    for event in &decoded.events {
        let from = at;
        match event {
            Event::Text(text) => {
                for c in text.chars() {
                    places.push(at..at + c.len_utf8() as u64);
                    at += c.len_utf8() as u64;
                }
            }
            Event::Error(error) => {
                at += error.bytes.len() as u64;
                let repair = reference::repair(mode, error, config).unwrap_or_default();
                places.extend(repair.chars().map(|_| from..at));
            }
        }
    }
    places
}

/// Compares the offsets that an object reported with the ranges of the characters. Before them there
/// were `chars` others, which end at `start`.
pub fn check_places(reported: &[Reported], places: &[Range<u64>], chars: usize, start: u64) {
    for reported in reported {
        let number = reported.chars - chars;
        let after = places[..number].last().map_or(start, |place| place.end);
        let expected = if reported.is_next { places[number].start } else { after };
        assert_eq!(reported.offset, expected, "{reported:?} of {places:?}");
    }
}

/// An error without the index of its deciding byte, which the steps show.
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
        other => panic!("the model has no {other:?}"),
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
    let mut options = Utf8Options::new();
    if config.reject_noncharacters {
        options = options.reject_noncharacters();
    }
    if config.reject_nul {
        options = options.reject_nul();
    }
    options = match config.controls {
        Controls::Allowed => options,
        Controls::RejectedExceptWhitespace => options.reject_controls_except_whitespace(),
        Controls::Rejected => options.reject_controls(),
    };
    match config.start {
        Start::MidStream => options.with_mid_stream_start(),
        Start::Beginning(bom) => options.with_bom(policy(bom)),
    }
}

pub fn policy(bom: Bom) -> BomPolicy {
    match bom {
        Bom::Keep => BomPolicy::Keep,
        Bom::Strip => BomPolicy::Strip,
        Bom::Require => BomPolicy::Require,
        Bom::Forbid => BomPolicy::Forbid,
    }
}

/// Every type that supports this mode, by name: all that report errors, or in a lossy mode all that
/// repair.
pub fn subjects(
    config: Config,
    mode: ErrorMode,
) -> impl Iterator<Item = (&'static str, Box<dyn Subject>)> {
    let options = options(config);
    subjects::all(mode).into_iter().map(move |(name, make)| (name, make(options, mode)))
}

/// Validates `chunks`. Returns the errors, and the number of bytes held at the end.
pub fn validate(chunks: &[&[u8]], config: Config) -> (Vec<Atom>, usize) {
    let mut validator = Validating::new(options(config));
    let mut errors: Vec<_> = chunks.iter().flat_map(|chunk| validator.push(chunk)).collect();
    let held = validator.held();
    errors.extend(validator.finish());
    (errors, held)
}

/// Compares `subject` with `expected` for `bytes` split at `cuts`. Equal cuts make an empty chunk.
pub fn check(
    name: &str,
    mut subject: Box<dyn Subject>,
    bytes: &[u8],
    cuts: &[usize],
    expected: &Expected,
) {
    let context = || format!("{name}: {:02x?} split at {cuts:?}", bytes);
    let mut out = Vec::new();
    for (from, to) in chunks(bytes.len(), cuts) {
        out.extend(subject.push(&bytes[from..to]));
        assert_eq!(out, expected.prefixes[to], "{}, up to {to}", context());
        assert_eq!(subject.held(), expected.held[to], "{}, held at {to}", context());
    }
    out.extend(subject.finish());
    assert_eq!(out, expected.ended, "{}, at the end", context());
    expected.check_rest(&mut *subject, bytes.len(), Mode::Fatal);
}

/// Like [`check`], but compares only the final output.
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
    assert_eq!(out, expected.ended, "{name}: {bytes:02x?} split at {cuts:?}");
}

/// Like [`check`], for a `subject` that repairs.
pub fn check_repaired(
    name: &str,
    mut subject: Box<dyn Subject>,
    bytes: &[u8],
    cuts: &[usize],
    repaired: &Repaired<'_>,
) {
    let mode = repaired.mode;
    let context = || format!("{name}, {mode:?}: {:02x?} split at {cuts:?}", bytes);
    let mut out = String::new();
    for (from, to) in chunks(bytes.len(), cuts) {
        out.extend(subject.push(&bytes[from..to]).iter().map(char_of));
        assert_eq!(out, repaired.prefixes[to], "{}, up to {to}", context());
    }
    out.extend(subject.finish().iter().map(char_of));
    assert_eq!(out, repaired.ended, "{}, at the end", context());
    repaired.expected.check_rest(&mut *subject, bytes.len(), mode);
}

fn char_of(atom: &Atom) -> char {
    match atom {
        Atom::Char(c) => *c,
        Atom::Error(error) => panic!("{error:?} in a lossy mode"),
    }
}

/// The ranges between `cuts`, in order.
pub fn chunks(len: usize, cuts: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(len));
    starts.zip(ends).collect::<Vec<_>>().into_iter()
}

/// The settings for what the model takes.
pub fn line_settings(
    config: Config,
    mode: ErrorMode,
    model_delimiter: &Delimiter,
    limit: impl Into<Limit>,
) -> LineSettings {
    let (options, delimiter, limit) = (options(config), delimiter(model_delimiter), limit.into());
    let long_lines = match limit {
        Limit::Reject(_) => LongLines::Reject,
        Limit::Cut(_) => LongLines::Cut,
    };
    LineSettings { options, mode, delimiter, limit: limit.len(), long_lines, fallback: None }
}

/// The items after each chunk of `bytes` split at `cuts` and at the end, which are the same in every form.
pub fn line_items(settings: &LineSettings, bytes: &[u8], cuts: &[usize]) -> Vec<Vec<LineItem>> {
    let chunks = chunks(bytes.len(), cuts).map(|(from, to)| &bytes[from..to]);
    let steps = line_steps(settings, chunks).into_iter();
    steps.map(|items| items.into_iter().map(line_item).collect()).collect()
}

pub fn line_item(item: Item) -> LineItem {
    match item {
        Ok(line) if line.is_cut() => {
            LineItem::Cut { text: line.text.to_string(), number: line.number, offset: line.offset }
        }
        Ok(line) => LineItem::Line {
            text: line.text.to_string(),
            number: line.number,
            offset: line.offset,
            terminated: line.is_terminated(),
        },
        Err(error) => {
            let (number, offset) = (error.number(), error.offset());
            match error {
                LineError::Utf8 { error, .. } => {
                    LineItem::Utf8 { number, offset, error: model_error(&error) }
                }
                LineError::TooLong { .. } => LineItem::TooLong { number, offset },
                LineError::BareLf { lf_offset: at, .. } => {
                    LineItem::Bare { number, offset, byte: b'\n', at }
                }
                LineError::BareCr { cr_offset: at, .. } => {
                    LineItem::Bare { number, offset, byte: b'\r', at }
                }
                other => panic!("{other:?}"),
            }
        }
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

pub fn delimiter(delimiter: &Delimiter) -> utf8_codec::lines::Delimiter {
    match delimiter {
        Delimiter::Lf => utf8_codec::lines::Delimiter::lf(),
        Delimiter::Crlf => utf8_codec::lines::Delimiter::crlf(),
        Delimiter::CrlfOrLf => utf8_codec::lines::Delimiter::crlf_or_lf(),
        Delimiter::Any => utf8_codec::lines::Delimiter::any_newline(),
        Delimiter::Nul => utf8_codec::lines::Delimiter::nul(),
        Delimiter::OneOf(chars) => utf8_codec::lines::Delimiter::one_of(chars).expect("ASCII"),
        Delimiter::Str(text) => utf8_codec::lines::Delimiter::text(text).expect("not empty"),
    }
}

pub fn unhex(hex: &str) -> Vec<u8> {
    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// Every byte string that the vectors decode as UTF-8, with each way of starting and each strictness of
/// its cases.
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
        reject_noncharacters: strict.contains(&"noncharacters"),
        reject_nul: strict.contains(&"nul"),
        controls: match () {
            _ if strict.contains(&"controls") => Controls::Rejected,
            _ if strict.contains(&"controls-except-whitespace") => {
                Controls::RejectedExceptWhitespace
            }
            _ => Controls::Allowed,
        },
    }
}
