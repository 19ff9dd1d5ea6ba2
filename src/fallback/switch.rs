//! Which bytes of a stream are UTF-8, and which are in the legacy encoding?

use alloc::string::String;

use crate::decoder::error::Utf8Error;
use crate::decoder::step::AtEnd;
use crate::decoder::text::Level;
use crate::decoder::utf8_decoder::Utf8Decoder;
use crate::decoder::{scanner::Scanner, step::Step};
use crate::fallback::legacy::{Decoded, LegacyEncoding};

/// What is decoded in a legacy encoding if a stream is not UTF-8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fallback {
    pub(super) encoding: LegacyEncoding,
    pub(super) extent: Extent,
}

/// How much of the stream an ill-formed sequence affects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    /// The sequence, and the ill-formed sequences adjacent to it.
    Part,
    /// The line. At most `limit` bytes of it are held until it is decided.
    Line { limit: usize },
    /// Everything after it.
    Rest,
    /// Everything, unless the stream begins with a BOM. Ill-formed sequences affect nothing.
    WithoutBom,
}

/// The state of a stream with a fallback between two bytes.
///
/// Like the [`Scanner`], which it uses, it holds no bytes. After [`Found::NeedMore`], the caller passes the same
/// bytes again, together with the bytes after them.
///
/// ```text
///            ill-formed                            LF (line)
///   Utf8 ─────────────────► Legacy (line, rest) ─────────────► Utf8
///    │ ▲                      ▲
///    │ │ LF, end              │ ill-formed
///    │ └──── Whole ◄──── Open ┘      a line, from its first byte that is not ASCII
///    │                    │ limit
///    └─ LF ◄──── Long ◄───┘          its ill-formed parts are legacy
/// ```
///
/// If the BOM decides, the start is `Start`: a BOM leads to `Utf8` permanently, anything else to `Legacy`.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    fallback: Fallback,
    reading: Reading,
    uses: Uses,
    /// The errors before this offset have been counted. A run of errors may be passed again.
    counted: u64,
    /// The offset at which the last run of ill-formed parts ended, or may continue.
    run_end: u64,
}

/// Counts the input that has been decoded in the legacy encoding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Uses {
    /// The offset of the first byte.
    pub(crate) first: Option<u64>,
    /// The number of lines, or of runs of ill-formed parts.
    pub(crate) runs: u64,
    /// The number of bytes.
    pub(super) bytes: u64,
    /// The number of U+FFFD written.
    pub(super) replaced: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// Before the first byte of a stream whose BOM decides.
    Start,
    /// In UTF-8. With [`Extent::Line`], only ASCII precedes the position in this line.
    Utf8,
    /// A line that began with ASCII and continues here with other text, of which `checked` bytes
    /// are known to be UTF-8. `ahead` is the scanner after them.
    ///
    /// This only saves work: the text is decoded again.
    Open { ahead: Scanner, checked: usize },
    /// A line of UTF-8 of which this many bytes are left.
    Whole { left: usize },
    /// A line that is UTF-8 up to the limit.
    Long,
    /// In the legacy encoding, to the end of the line or of the stream.
    Legacy,
}

/// The beginning of the input.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// UTF-8, not empty.
    Text(&'a str),
    /// This many bytes in the legacy encoding, or partly in it. Their text has been appended.
    Legacy(usize),
    /// This many bytes that yield nothing: a removed BOM, or the rest of a character at a mid-stream start.
    Skip(usize),
    /// An error that the options define.
    Error(Utf8Error),
    /// More bytes are needed to decide. At the end of the stream, no bytes are left.
    NeedMore,
}

impl Switch {
    pub(crate) const fn new(fallback: Fallback) -> Self {
        let uses = Uses { first: None, runs: 0, bytes: 0, replaced: 0 };
        let reading = match fallback.extent {
            Extent::WithoutBom => Reading::Start,
            Extent::Part | Extent::Line { .. } | Extent::Rest => Reading::Utf8,
        };
        Self { fallback, reading, uses, counted: 0, run_end: 0 }
    }

    /// Continues with another fallback.
    #[cfg(feature = "codec")]
    pub(super) const fn continuing(self, fallback: Fallback, reading: Reading) -> Self {
        Self { fallback, reading, ..self }
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.fallback);
    }

    pub(crate) const fn fallback(&self) -> Fallback {
        self.fallback
    }

    /// Sets the limit of a line. Has no effect on other fallbacks.
    pub(super) const fn set_max_length(&mut self, limit: usize) {
        if let Extent::Line { .. } = self.fallback.extent {
            self.fallback.extent = Extent::Line { limit };
        }
    }

    pub(crate) const fn uses(&self) -> Uses {
        self.uses
    }

    /// Classifies the beginning of `input`, the bytes at the position of `decoder`, and moves past
    /// it. Appends the text of [`Found::Legacy`] to `legacy`.
    pub(crate) fn step<'a>(
        &mut self,
        decoder: &mut Utf8Decoder,
        input: &'a [u8],
        at_end: AtEnd,
        legacy: &mut String,
    ) -> Found<'a> {
        let mut at = Cursor { decoder, input, at_end };
        loop {
            let found = match (self.reading, self.fallback.extent) {
                (Reading::Legacy, _) => Some(self.step_legacy(&mut at, legacy)),
                (Reading::Start, _) => self.step_start(&mut at),
                (Reading::Utf8, Extent::WithoutBom) => {
                    let step = at.step();
                    Some(at.pass_on(step))
                }
                (Reading::Utf8, Extent::Rest) => self.step_until_ill_formed(&mut at),
                (Reading::Utf8, Extent::Part) => Some(self.step_many_parts(&mut at, legacy)),
                (Reading::Long, _) => Some(self.step_long(&mut at, legacy)),
                (Reading::Utf8, Extent::Line { limit }) => self.step_line_start(&mut at, limit),
                (Reading::Open { ahead, checked }, Extent::Line { limit }) => {
                    self.step_open(&mut at, ahead, checked, limit)
                }
                (Reading::Whole { left }, _) => self.step_whole(&mut at, left),
                (Reading::Open { .. }, Extent::Part | Extent::Rest | Extent::WithoutBom) => {
                    self.reading = Reading::Utf8;
                    None
                }
            };
            if let Some(found) = found {
                return found;
            }
        }
    }

    /// Ends the stream. A new line begins after it.
    pub(crate) fn finish(&mut self) {
        if matches!(self.fallback.extent, Extent::Part | Extent::Line { .. }) {
            self.reading = Reading::Utf8;
        }
    }

    /// Looks for the BOM that decides.
    fn step_start<'a>(&mut self, at: &mut Cursor<'_, 'a>) -> Option<Found<'a>> {
        at.decoder.scanner_mut().expect_bom();
        let before = at.decoder.scanner();
        if !before.start().is_over() {
            match at.step() {
                Step::Skip(len) => {
                    self.reading = Reading::Utf8;
                    return Some(Found::Skip(len));
                }
                Step::NeedMore => return Some(Found::NeedMore),
                Step::Text(_) | Step::Error(_) => at.decoder.continue_from(before),
            }
        }
        if before.bom_seen() {
            self.reading = Reading::Utf8;
        } else if at.input.is_empty() {
            return Some(Found::NeedMore);
        } else {
            at.decoder.scanner_mut().close_start();
            self.begin(at.decoder.position());
            self.reading = Reading::Legacy;
        }
        None
    }

    /// Decodes UTF-8 up to the first ill-formed byte. From there, everything is legacy.
    fn step_until_ill_formed<'a>(&mut self, at: &mut Cursor<'_, 'a>) -> Option<Found<'a>> {
        let before = at.decoder.scanner();
        match at.step() {
            Step::Error(error) if error.kind().is_ill_formed() => {
                at.decoder.continue_from(before);
                self.turn(at, error);
                None
            }
            step => Some(at.pass_on(step)),
        }
    }

    /// Like [`step_parts`](Self::step_parts). If errors are dense, it decodes UTF-8 and many runs at once.
    fn step_many_parts<'a>(&mut self, at: &mut Cursor<'_, 'a>, legacy: &mut String) -> Found<'a> {
        let start = at.decoder.position();
        let input = &at.input[..at.input.len().min(MANY)];
        let many = self.fallback.encoding.single_byte().and_then(|bytes| {
            // Errors that have been counted are decoded one by one.
            let is_next = self.uses.first.is_some() && start >= self.counted;
            is_next.then(|| at.decoder.decode_parts(input, bytes, start == self.run_end, legacy))?
        });
        match many {
            Some(parts) if parts.read > 0 => {
                self.uses.runs += parts.runs;
                self.uses.bytes += parts.bytes;
                self.run_end = parts.run_end.map_or(self.run_end, |end| start + end as u64);
                self.counted = at.decoder.position();
                Found::Legacy(parts.read)
            }
            _ => self.step_parts(at, legacy),
        }
    }

    /// Decodes UTF-8 and runs of ill-formed parts.
    fn step_parts<'a>(&mut self, at: &mut Cursor<'_, 'a>, legacy: &mut String) -> Found<'a> {
        let before = at.decoder.scanner();
        match at.step() {
            Step::Error(error) if error.kind().is_ill_formed() => {
                at.decoder.continue_from(before);
                self.step_run(at, legacy)
            }
            step => at.pass_on(step),
        }
    }

    /// Decodes the ill-formed parts at the beginning of the input.
    fn step_run<'a>(&mut self, at: &mut Cursor<'_, 'a>, legacy: &mut String) -> Found<'a> {
        let start = at.decoder.position();
        let most = most_at_once(&at.decoder.scanner());
        let mut len = 0;
        let at_end = loop {
            if len >= most {
                break AtEnd::No;
            }
            let mut ahead = Cursor { input: &at.input[len..], ..at.reborrow() };
            match ahead.step() {
                Step::Error(error) if error.kind().is_ill_formed() => {
                    len += error.bytes().len();
                    if error.valid_up_to() >= self.counted {
                        self.counted = at.decoder.position();
                        at.decoder.note(error);
                    }
                }
                Step::NeedMore => break at.at_end,
                Step::Text(_) | Step::Skip(_) | Step::Error(_) => break AtEnd::Yes,
            }
        };
        if start != self.run_end || self.uses.first.is_none() {
            self.begin(start);
        }
        at.decoder.scanner_mut().seek(start);
        let (parts, fallback) = (&at.input[..len], self.fallback);
        let decoded = fallback.decode(at.decoder.scanner_mut(), parts, at_end, legacy);
        self.run_end = at.decoder.position();
        self.found(at, decoded)
    }

    /// Like [`step_parts`](Self::step_parts), up to the end of the line.
    fn step_long<'a>(&mut self, at: &mut Cursor<'_, 'a>, legacy: &mut String) -> Found<'a> {
        let found = self.step_parts(at, legacy);
        let line_end = match found {
            Found::Text(text) => text.find('\n'),
            Found::Error(error) if error.bytes() == b"\n" => Some(0),
            _ => None,
        };
        let Some(lf) = line_end else { return found };
        self.reading = Reading::Utf8;
        match found {
            Found::Text(text) => at.give_back(text, lf + 1),
            found => found,
        }
    }

    /// Decodes the ASCII at the start of a line, or whole lines of UTF-8.
    fn step_line_start<'a>(&mut self, at: &mut Cursor<'_, 'a>, limit: usize) -> Option<Found<'a>> {
        let before = at.decoder.scanner();
        match at.step() {
            Step::Text(text) => {
                let settled = settled_len(text);
                if settled > 0 {
                    return Some(at.give_back(text, settled));
                }
                if text.len() < limit {
                    let ahead = at.decoder.scanner();
                    at.decoder.continue_from(before);
                    self.reading = Reading::Open { ahead, checked: text.len() };
                    return None;
                }
            }
            Step::Error(error) if error.kind().is_ill_formed() => {
                at.decoder.continue_from(before);
                self.turn(at, error);
                return None;
            }
            // A rejected non-ASCII character may be a different one in the legacy encoding.
            Step::Error(error) if error.kind().is_about_bom() => {
                return Some(at.pass_on(Step::Error(error)));
            }
            Step::Error(error) if !error.bytes().is_ascii() => {}
            step => return Some(at.pass_on(step)),
        }
        at.decoder.continue_from(before);
        self.reading = Reading::Open { ahead: before, checked: 0 };
        None
    }

    /// Checks a line that is held until it is decided.
    fn step_open<'a>(
        &mut self,
        at: &mut Cursor<'_, 'a>,
        ahead: Scanner,
        checked: usize,
        limit: usize,
    ) -> Option<Found<'a>> {
        let (mut ahead, mut checked) = (ahead, checked);
        if checked > at.input.len() {
            // The caller passed other bytes than before.
            self.reading = Reading::Utf8;
            return None;
        }
        self.reading = loop {
            let (len, line_end) = match step(&mut ahead, &at.input[checked..], at.at_end) {
                Step::Text(text) => (text.len(), text.find('\n')),
                Step::Error(error) if error.kind().is_ill_formed() => {
                    self.turn(at, error);
                    return None;
                }
                Step::Error(error) => (error.bytes().len(), (error.bytes() == b"\n").then_some(0)),
                Step::Skip(len) => (len, None),
                Step::NeedMore if at.at_end == AtEnd::Yes => {
                    break Reading::Whole { left: checked };
                }
                Step::NeedMore => {
                    self.reading = Reading::Open { ahead, checked };
                    return Some(Found::NeedMore);
                }
            };
            match line_end {
                Some(lf) => break Reading::Whole { left: checked + lf + 1 },
                None if checked + len >= limit => break Reading::Long,
                None => checked += len,
            }
        };
        None
    }

    /// Decodes a line that is UTF-8.
    fn step_whole<'a>(&mut self, at: &mut Cursor<'_, 'a>, left: usize) -> Option<Found<'a>> {
        let (line, _) = at.input.split_at_checked(left).unwrap_or((at.input, &[]));
        let found = match at.decoder.step(line) {
            Step::Text(text) => Found::Text(text),
            Step::Skip(len) => Found::Skip(len),
            Step::Error(error) => Found::Error(error),
            Step::NeedMore => Found::NeedMore,
        };
        let taken = match &found {
            Found::Text(text) => text.len(),
            Found::Skip(len) => *len,
            Found::Error(error) => error.bytes().len(),
            Found::Legacy(_) | Found::NeedMore => left,
        };
        self.reading = match left - taken.min(left) {
            0 => Reading::Utf8,
            left => Reading::Whole { left },
        };
        (!matches!(found, Found::NeedMore)).then_some(found)
    }

    /// Decodes bytes in the legacy encoding.
    fn step_legacy<'a>(&mut self, at: &mut Cursor<'_, 'a>, legacy: &mut String) -> Found<'a> {
        let line_end = matches!(self.fallback.extent, Extent::Line { .. }).then_some(b'\n');
        if !at.decoder.scanner().start().is_over() {
            // A CR has ended a line before.
            match at.decoder.scanner_mut().open(at.input) {
                Some(Step::Skip(len)) => return Found::Skip(len),
                Some(Step::NeedMore) => return Found::NeedMore,
                None | Some(Step::Text(_) | Step::Error(_)) => {}
            }
        }
        let (input, at_end, fallback) = (at.input, at.at_end, self.fallback);
        let decoded = fallback.step(at.decoder.scanner_mut(), input, line_end, at_end, legacy);
        let taken = match &decoded {
            Ok(decoded) => decoded.read,
            Err(error) => error.bytes().len(),
        };
        if line_end.is_some() && input[..taken].last().copied() == line_end {
            self.reading = Reading::Utf8;
        }
        self.found(at, decoded)
    }

    fn found<'a>(
        &mut self,
        at: &mut Cursor<'_, 'a>,
        decoded: Result<Decoded, Utf8Error>,
    ) -> Found<'a> {
        match decoded {
            Ok(Decoded { read: 0, .. }) => Found::NeedMore,
            Ok(decoded) => {
                self.count(decoded);
                Found::Legacy(decoded.read)
            }
            Err(error) => Found::Error(at.decoder.note(error)),
        }
    }

    /// Falls back at the position of the decoder because of `error`.
    fn turn(&mut self, at: &mut Cursor<'_, '_>, error: Utf8Error) {
        at.decoder.note(error);
        at.decoder.scanner_mut().close_start();
        self.begin(at.decoder.position());
        self.reading = Reading::Legacy;
    }

    /// Records that the bytes from `position` are legacy.
    pub(super) fn begin(&mut self, position: u64) {
        self.uses.first.get_or_insert(position);
        self.uses.runs += 1;
    }

    /// Counts bytes that have been decoded in the legacy encoding.
    pub(super) fn count(&mut self, decoded: Decoded) {
        self.uses.bytes += decoded.read as u64;
        self.uses.replaced += decoded.replaced;
    }
}

impl Fallback {
    /// Decodes the beginning of `input` in the legacy encoding, at most up to and including the first `line_end`. Moves
    /// past it, and appends the text. Returns the error of a rejected character at the front.
    pub(super) fn step(
        self,
        scanner: &mut Scanner,
        input: &[u8],
        line_end: Option<u8>,
        at_end: AtEnd,
        text: &mut String,
    ) -> Result<Decoded, Utf8Error> {
        let start = scanner.position();
        let window = &input[..input.len().min(most_at_once(scanner))];
        let taken = match scanner.step_legacy(window, line_end) {
            Step::Skip(len) => &window[..len],
            Step::Error(error) => return Err(error),
            Step::Text(_) | Step::NeedMore => b"",
        };
        let ends_line = line_end.is_some() && taken.last().copied() == line_end;
        let at_end = match taken.len() {
            len if ends_line || len < window.len() => AtEnd::Yes,
            len if len < input.len() => AtEnd::No,
            _ => at_end,
        };
        scanner.seek(start);
        self.decode(scanner, taken, at_end, text)
    }

    /// Like [`step`](Self::step), for bytes without rejected ASCII.
    fn decode(
        self,
        scanner: &mut Scanner,
        bytes: &[u8],
        at_end: AtEnd,
        text: &mut String,
    ) -> Result<Decoded, Utf8Error> {
        let (start, strictness) = (scanner.position(), scanner.options().strictness());
        let decoded = self.encoding.decode(bytes, at_end, strictness, text);
        match decoded {
            Decoded { read: 0, rejected: Some((len, kind)), .. } => {
                scanner.skip(len);
                Err(Utf8Error::new(start, kind, &bytes[..len], None))
            }
            _ => {
                scanner.skip(decoded.read);
                Ok(decoded)
            }
        }
    }
}

/// Returns the most bytes that are decoded at once in the legacy encoding. If characters can be rejected, it is few,
/// because those after a rejected one are decoded again.
fn most_at_once(scanner: &Scanner) -> usize {
    if scanner.options().strictness().is_off() { usize::MAX } else { 32 }
}

/// The most bytes of UTF-8 and ill-formed parts that are decoded at once, to a copy.
const MANY: usize = 16 * 1024;

/// Classifies the beginning of `input` as UTF-8, given what follows it.
fn step<'a>(scanner: &mut Scanner, input: &'a [u8], at_end: AtEnd) -> Step<&'a str> {
    let step = scanner.step(input);
    if !matches!(step, Step::NeedMore) || at_end == AtEnd::No {
        return step;
    }
    scanner.finish(input).map_or(Step::NeedMore, Step::Error)
}

/// The input, and the decoder at its position.
struct Cursor<'p, 'a> {
    decoder: &'p mut Utf8Decoder,
    input: &'a [u8],
    at_end: AtEnd,
}

impl<'a> Cursor<'_, 'a> {
    fn reborrow(&mut self) -> Cursor<'_, 'a> {
        let Self { decoder, input, at_end } = self;
        Cursor { decoder, input, at_end: *at_end }
    }

    /// Classifies the beginning of the input as UTF-8, given what follows it.
    #[inline]
    fn step(&mut self) -> Step<&'a str> {
        if let Some((text, _)) = self.decoder.step_fast_path(self.input)
            && !text.is_empty()
        {
            return Step::Text(text);
        }
        step(self.decoder.scanner_mut(), self.input, self.at_end)
    }

    fn pass_on(&mut self, step: Step<&'a str>) -> Found<'a> {
        match step {
            Step::Text(text) => Found::Text(text),
            Step::Skip(len) => Found::Skip(len),
            Step::Error(error) => Found::Error(self.decoder.note(error)),
            Step::NeedMore => Found::NeedMore,
        }
    }

    /// Returns the first `len` bytes of the last step's text, which are whole characters. The
    /// decoder moves back to their end.
    fn give_back(&mut self, text: &'a str, len: usize) -> Found<'a> {
        self.decoder.scanner_mut().unread(text.len() - len);
        Found::Text(&text[..len])
    }
}

/// Returns the length of the complete lines in `text`, plus the ASCII at the start of the next one.
fn settled_len(text: &str) -> usize {
    /// The text before an error is seldom longer than this (rows `fallback-line/windows-1252`).
    const SHORT: usize = 64;
    if text.len() <= SHORT && text.is_ascii() {
        return text.len();
    }
    let line = text.rfind('\n').map_or(0, |lf| lf + 1);
    let ascii = Level::detect().find_outside(&text.as_bytes()[line..], 0..=0x7F);
    ascii.map_or(text.len(), |ascii| line + ascii)
}
