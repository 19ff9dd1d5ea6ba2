//! Which bytes of a stream are UTF-8, and which are in the legacy encoding?

use alloc::string::String;

use crate::decoder::{AtEnd, ErrorMode, Scanner, Step, Utf8Decoder, Utf8Error};
use crate::fallback::cursor::{Cursor, FallbackText, append_step, settled_len};
use crate::fallback::legacy::{Decoded, LegacyEncoding, most_at_once};

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
/// Like the [`Scanner`], which it uses, it holds no bytes.
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
pub(crate) struct FallbackState {
    encoding: LegacyEncoding,
    extent: Extent,
    reading: Reading,
    uses: FallbackUses,
    /// The errors before this offset have been counted. A run of errors may be passed again.
    counted: u64,
    /// The offset at which the last run of ill-formed parts ended, or may continue.
    run_end: u64,
}

/// What a fallback has decoded in the legacy encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FallbackUses {
    /// The offset in the stream of the first byte, or `None` if everything so far is UTF-8. ASCII at the start of a line does
    /// not count, as it is the same in both encodings.
    pub first: Option<u64>,
    /// The number of lines, or of runs of ill-formed parts; at most 1 for [`rest`](crate::fallback::FallbackDecoder::rest).
    pub runs: u64,
    /// The number of bytes. In a codec of lines, delimiters do not count.
    pub bytes: u64,
    /// The number of U+FFFD written for bytes that are not characters in the legacy encoding either.
    pub replaced: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// Before the first byte of a stream whose BOM decides.
    Start,
    /// As `Start`, but after the end of an empty stream: no BOM is expected.
    Begun,
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

impl FallbackState {
    pub(super) const fn new(encoding: LegacyEncoding, extent: Extent) -> Self {
        let uses = FallbackUses { first: None, runs: 0, bytes: 0, replaced: 0 };
        let reading = match extent {
            Extent::WithoutBom => Reading::Start,
            Extent::Part | Extent::Line { .. } | Extent::Rest => Reading::Utf8,
        };
        Self { encoding, extent, reading, uses, counted: 0, run_end: 0 }
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.encoding, self.extent);
    }

    /// Sets the limit of a line. Has no effect on other fallbacks.
    pub(super) const fn set_max_length(&mut self, limit: usize) {
        if let Extent::Line { .. } = self.extent {
            self.extent = Extent::Line { limit };
        }
    }

    pub(crate) const fn uses(&self) -> FallbackUses {
        self.uses
    }

    /// Decodes the beginning of `input`, the bytes at the position of `decoder`, and appends its text, with errors repaired.
    /// Returns the number of bytes consumed, or `None` if more are needed.
    ///
    /// # Errors
    ///
    /// The error that `mode` does not repair. Its own bytes are consumed.
    #[inline]
    pub(super) fn append(
        &mut self,
        decoder: &mut Utf8Decoder,
        input: &[u8],
        at_end: AtEnd,
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<Option<usize>, Utf8Error> {
        let step = self.step(decoder, input, at_end, text);
        append_step(step, decoder, mode, text)
    }

    /// Classifies the beginning of `input`, the bytes at the position of `decoder`, and moves past
    /// it. Appends the text of [`FallbackText::Legacy`] to `legacy`.
    pub(crate) fn step<'a>(
        &mut self,
        decoder: &mut Utf8Decoder,
        input: &'a [u8],
        at_end: AtEnd,
        legacy: &mut String,
    ) -> Step<FallbackText<'a>> {
        let mut at = Cursor { decoder, input, at_end, legacy };
        loop {
            let step = match (self.reading, self.extent) {
                (Reading::Legacy, _) => Some(self.step_legacy(&mut at)),
                (Reading::Start, _) => self.step_start(&mut at),
                (Reading::Begun, _) if at.input.is_empty() => Some(Step::NeedMore),
                (Reading::Begun, _) => {
                    self.begin_legacy(at.decoder);
                    None
                }
                (Reading::Utf8, Extent::WithoutBom) => Some(at.step_utf8()),
                (Reading::Utf8, Extent::Rest) => self.step_until_ill_formed(&mut at),
                (Reading::Utf8, Extent::Part) => Some(self.step_many_parts(&mut at)),
                (Reading::Long, _) => Some(self.step_long(&mut at)),
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
            if let Some(step) = step {
                return step;
            }
        }
    }

    /// Ends the stream. A new line begins after it, and no BOM is expected.
    pub(crate) fn finish(&mut self) {
        self.reading = match (self.extent, self.reading) {
            (Extent::Part | Extent::Line { .. }, _) => Reading::Utf8,
            (_, Reading::Start) => Reading::Begun,
            (_, reading) => reading,
        };
    }

    /// Looks for the BOM that decides.
    fn step_start<'a>(&mut self, at: &mut Cursor<'_, 'a>) -> Option<Step<FallbackText<'a>>> {
        at.decoder.scanner_mut().expect_bom();
        let before = at.decoder.scanner();
        if !before.start().is_over() {
            match at.step() {
                Step::Skip(len) => {
                    // Otherwise it is the LF of a line end, before a stream that continues after lines.
                    if at.decoder.bom_seen() {
                        self.reading = Reading::Utf8;
                    }
                    return Some(Step::Skip(len));
                }
                Step::NeedMore if !at.decoder.scanner().start().is_over() => {
                    return Some(Step::NeedMore);
                }
                Step::Text(_) | Step::Error(_) | Step::NeedMore => at.decoder.continue_from(before),
            }
        }
        if at.input.is_empty() && !before.bom_seen() {
            return Some(Step::NeedMore);
        }
        self.decide(at.decoder);
        None
    }

    /// Decides the encoding of a stream, at its first byte after a BOM: UTF-8 if there was a BOM, legacy otherwise.
    pub(crate) fn decide(&mut self, decoder: &mut Utf8Decoder) {
        match decoder.bom_seen() {
            true => self.reading = Reading::Utf8,
            false => self.begin_legacy(decoder),
        }
    }

    /// Decodes UTF-8 up to the first ill-formed byte. From there, everything is legacy.
    fn step_until_ill_formed<'a>(
        &mut self,
        at: &mut Cursor<'_, 'a>,
    ) -> Option<Step<FallbackText<'a>>> {
        match at.step_well_formed() {
            Ok(step) => Some(at.pass_on(step)),
            Err(error) => self.switch_to_legacy(at, error),
        }
    }

    /// Like [`step_parts`](Self::step_parts). If errors are near, it decodes UTF-8 and many runs at once.
    fn step_many_parts<'a>(&mut self, at: &mut Cursor<'_, 'a>) -> Step<FallbackText<'a>> {
        let start = at.decoder.position();
        let input = &at.input[..at.input.len().min(MANY)];
        let many = self.encoding.single_byte().and_then(|bytes| {
            // Errors that have been counted are decoded one by one.
            let is_next = self.uses.first.is_some() && start >= self.counted;
            is_next
                .then(|| at.decoder.decode_parts(input, bytes, start == self.run_end, at.legacy))?
        });
        match many {
            Some(parts) if parts.read > 0 => {
                self.uses.runs += parts.runs;
                self.uses.bytes += parts.bytes;
                self.run_end = parts.run_end.map_or(self.run_end, |end| start + end as u64);
                self.counted = at.decoder.position();
                Step::Text(FallbackText::Legacy(parts.read))
            }
            _ => self.step_parts(at),
        }
    }

    /// Decodes UTF-8 and runs of ill-formed parts.
    #[inline]
    fn step_parts<'a>(&mut self, at: &mut Cursor<'_, 'a>) -> Step<FallbackText<'a>> {
        match at.step_well_formed() {
            Ok(step) => at.pass_on(step),
            Err(_) => self.step_run(at),
        }
    }

    /// Decodes the ill-formed parts at the beginning of the input.
    fn step_run<'a>(&mut self, at: &mut Cursor<'_, 'a>) -> Step<FallbackText<'a>> {
        let start = at.decoder.position();
        let most = most_at_once(&at.decoder.scanner());
        let mut len = 0;
        let at_end = loop {
            if len >= most {
                break AtEnd::No;
            }
            match at.step_from(len) {
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
        let (parts, encoding) = (&at.input[..len], self.encoding);
        let step = encoding.decode_at(at.decoder.scanner_mut(), parts, at_end, at.legacy);
        self.run_end = at.decoder.position();
        self.count_step(at, step)
    }

    /// Like [`step_parts`](Self::step_parts), up to the end of the line.
    fn step_long<'a>(&mut self, at: &mut Cursor<'_, 'a>) -> Step<FallbackText<'a>> {
        let step = self.step_parts(at);
        match step {
            Step::Text(FallbackText::Utf8(text)) => match text.find('\n') {
                Some(lf) => {
                    self.reading = Reading::Utf8;
                    at.give_back(text, lf + 1)
                }
                None => step,
            },
            Step::Error(error) if error.bytes() == b"\n" => {
                self.reading = Reading::Utf8;
                step
            }
            _ => step,
        }
    }

    /// Decodes the ASCII at the start of a line, or whole lines of UTF-8.
    fn step_line_start<'a>(
        &mut self,
        at: &mut Cursor<'_, 'a>,
        limit: usize,
    ) -> Option<Step<FallbackText<'a>>> {
        let before = at.decoder.scanner();
        let step = match at.step_well_formed() {
            Ok(step) => step,
            Err(error) => return self.switch_to_legacy(at, error),
        };
        let (ahead, checked) = match step {
            Step::Text(text) => match settled_len(text) {
                0 if text.len() < limit => (at.decoder.scanner(), text.len()),
                0 => (before, 0),
                settled => return Some(at.give_back(text, settled)),
            },
            // A rejected non-ASCII character may be a different one in the legacy encoding.
            Step::Error(error) if !error.kind().is_about_bom() && !error.bytes().is_ascii() => {
                (before, 0)
            }
            step => return Some(at.pass_on(step)),
        };
        at.decoder.continue_from(before);
        self.reading = Reading::Open { ahead, checked };
        None
    }

    /// Checks a line that is held until it is decided.
    fn step_open<'a>(
        &mut self,
        at: &mut Cursor<'_, 'a>,
        ahead: Scanner,
        checked: usize,
        limit: usize,
    ) -> Option<Step<FallbackText<'a>>> {
        let (mut ahead, mut checked) = (ahead, checked);
        if checked > at.input.len() {
            // The caller passed other bytes than before.
            self.reading = Reading::Utf8;
            return None;
        }
        self.reading = loop {
            let (len, line_end) = match ahead.step_at(&at.input[checked..], at.at_end) {
                Step::Text(text) => (text.len(), text.find('\n')),
                Step::Error(error) if error.kind().is_ill_formed() => {
                    return self.switch_to_legacy(at, error);
                }
                Step::Error(error) => (error.bytes().len(), (error.bytes() == b"\n").then_some(0)),
                Step::Skip(len) => (len, None),
                Step::NeedMore if at.at_end == AtEnd::Yes => {
                    break Reading::Whole { left: checked };
                }
                Step::NeedMore => {
                    self.reading = Reading::Open { ahead, checked };
                    return Some(Step::NeedMore);
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
    fn step_whole<'a>(
        &mut self,
        at: &mut Cursor<'_, 'a>,
        left: usize,
    ) -> Option<Step<FallbackText<'a>>> {
        let (line, _) = at.input.split_at_checked(left).unwrap_or((at.input, &[]));
        let step = at.decoder.scanner_mut().step(line);
        let taken = match &step {
            Step::Text(text) => text.len(),
            Step::Skip(len) => *len,
            Step::Error(error) => error.bytes().len(),
            Step::NeedMore => left,
        };
        self.reading = match left - taken.min(left) {
            0 => Reading::Utf8,
            left => Reading::Whole { left },
        };
        (!matches!(step, Step::NeedMore)).then(|| at.pass_on(step))
    }

    /// Decodes bytes in the legacy encoding.
    fn step_legacy<'a>(&mut self, at: &mut Cursor<'_, 'a>) -> Step<FallbackText<'a>> {
        let line_end = matches!(self.extent, Extent::Line { .. }).then_some(b'\n');
        if !at.decoder.scanner().start().is_over() {
            // A CR has ended a line before.
            match at.decoder.scanner_mut().open(at.input) {
                Some(Step::Skip(len)) => return Step::Skip(len),
                Some(Step::NeedMore) => return Step::NeedMore,
                None | Some(Step::Text(_) | Step::Error(_)) => {}
            }
        }
        let (input, at_end, encoding) = (at.input, at.at_end, self.encoding);
        let step = encoding.step(at.decoder.scanner_mut(), input, line_end, at_end, at.legacy);
        let taken = match &step {
            Step::Text(decoded) => decoded.read,
            Step::Error(error) => error.bytes().len(),
            Step::Skip(_) | Step::NeedMore => 0,
        };
        if line_end.is_some() && input[..taken].last().copied() == line_end {
            self.reading = Reading::Utf8;
        }
        self.count_step(at, step)
    }

    /// Counts the bytes or the error of a step in the legacy encoding.
    #[inline(always)]
    fn count_step<'a>(
        &mut self,
        at: &mut Cursor<'_, 'a>,
        step: Step<Decoded>,
    ) -> Step<FallbackText<'a>> {
        match step {
            Step::Text(decoded) => {
                self.uses.bytes += decoded.read as u64;
                self.uses.replaced += decoded.replaced;
                Step::Text(FallbackText::Legacy(decoded.read))
            }
            Step::Error(error) => Step::Error(at.decoder.note(error)),
            Step::Skip(len) => Step::Skip(len),
            Step::NeedMore => Step::NeedMore,
        }
    }

    /// Falls back at the position of the decoder because of `error`. Returns no step: the next one decodes legacy bytes.
    fn switch_to_legacy<T>(&mut self, at: &mut Cursor<'_, '_>, error: Utf8Error) -> Option<T> {
        at.decoder.note(error);
        self.begin_legacy(at.decoder);
        None
    }

    /// Falls back at the position of `decoder`.
    fn begin_legacy(&mut self, decoder: &mut Utf8Decoder) {
        decoder.scanner_mut().close_start();
        self.begin(decoder.position());
        self.reading = Reading::Legacy;
    }

    /// Records that the bytes from `position` are legacy.
    fn begin(&mut self, position: u64) {
        self.uses.first.get_or_insert(position);
        self.uses.runs += 1;
    }
}

/// For callers that split lines themselves, validate their bytes and count their errors.
impl FallbackState {
    /// Returns whether the rest of the stream is in the legacy encoding.
    #[inline]
    pub(crate) fn is_legacy(&self) -> bool {
        matches!(self.reading, Reading::Legacy | Reading::Begun)
    }

    /// Returns whether a BOM decides the encoding, and no byte has arrived.
    #[inline]
    pub(crate) fn awaits_bom(&self) -> bool {
        matches!(self.reading, Reading::Start)
    }

    /// Lets another decode the stream of `decoder`: if it has not begun, it begins as its options say.
    pub(crate) fn release(&self, decoder: &mut Utf8Decoder) {
        if self.awaits_bom() && decoder.position() == 0 {
            decoder.reset(); // a BOM was expected, whatever the policy
        }
    }

    /// Returns whether a BOM has declared the stream to be UTF-8, so that nothing falls back.
    pub(crate) fn is_declared_utf8(&self) -> bool {
        matches!((self.extent, self.reading), (Extent::WithoutBom, Reading::Utf8))
    }

    /// Returns whether a line is either UTF-8 or legacy as a whole.
    pub(crate) fn is_by_line(&self) -> bool {
        matches!(self.extent, Extent::Line { .. })
    }

    /// Records that the stream is ill-formed at `position`. Returns whether everything from there on is legacy.
    pub(crate) fn falls_back_from(&mut self, position: u64) -> bool {
        let is_rest = matches!(self.extent, Extent::Rest);
        if is_rest {
            self.reading = Reading::Legacy;
            self.begin(position);
        }
        is_rest
    }

    /// The bytes from `position` on are decoded again: if everything from there or from a later offset on is legacy, that is not
    /// known any more.
    pub(crate) fn forget_from(&mut self, position: u64) {
        if matches!(self.extent, Extent::Rest) && self.uses.first >= Some(position) {
            self.reset();
        }
    }

    /// Looks for a rejected character in legacy bytes, and steps over those before it.
    pub(crate) fn step_rejected(
        &self,
        scanner: &mut Scanner,
        bytes: &[u8],
        at_end: AtEnd,
    ) -> Step<&'static str> {
        if scanner.options().strictness().is_off() {
            scanner.skip(bytes.len());
            return if bytes.is_empty() { Step::NeedMore } else { Step::Skip(bytes.len()) };
        }
        match self.encoding.step(scanner, bytes, None, at_end, &mut String::new()) {
            Step::Text(decoded) => Step::Skip(decoded.read),
            Step::Error(error) => Step::Error(error),
            Step::Skip(_) | Step::NeedMore => Step::NeedMore,
        }
    }

    /// Appends the text of the bytes of a line, at whose first byte `scanner` is. The bytes from index `legacy` are legacy.
    /// `at_end` determines whether an incomplete character at their end is ill-formed or ignored.
    pub(crate) fn decode_line(
        &mut self,
        (scanner, at_end): (Scanner, AtEnd),
        bytes: &[u8],
        legacy: Option<usize>,
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<(), Utf8Error> {
        if let Some(at) = legacy
            && self.is_by_line()
        {
            self.begin(scanner.position() + at as u64);
        }
        let (mut utf8, mut legacy_bytes) =
            legacy.and_then(|at| bytes.split_at_checked(at)).unwrap_or((bytes, &[]));
        text.reserve(bytes.len());
        // The errors have been counted before, so this decoder is dropped.
        let mut decoder = Utf8Decoder::at(scanner);
        if matches!(self.reading, Reading::Begun) {
            self.begin_legacy(&mut decoder);
        }
        loop {
            let mut at = Cursor { decoder: &mut decoder, input: utf8, at_end, legacy: text };
            let step = self.step_many_parts(&mut at);
            let Some(used) = append_step(step, &decoder, mode, text)? else { break };
            utf8 = &utf8[used..];
        }
        loop {
            let mut at =
                Cursor { decoder: &mut decoder, input: legacy_bytes, at_end, legacy: text };
            let step = self.step_legacy(&mut at);
            let Some(used) = append_step(step, &decoder, mode, text)? else { break };
            legacy_bytes = &legacy_bytes[used..];
        }
        Ok(())
    }
}

/// The most bytes of UTF-8 and ill-formed parts that are decoded at once, to a copy.
const MANY: usize = 16 * 1024;
