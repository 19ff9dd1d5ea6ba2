//! The line machine: where does the line at the front of some bytes end, and what is its text? It does no I/O and holds no
//! bytes; all adaptors share it.
//!
//! The caller passes the bytes of a line repeatedly, each time with more bytes at their end, until the machine consumes them.
//! It takes a line as soon as its delimiter has arrived, and rejects it as soon as it cannot become valid. It remembers how
//! far it has searched and validated an incomplete line, so the cost does not depend on the number of calls.
//!
//! ```text
//!          first byte               delimiter, or end of the stream
//!  Start ────────────► Line(..) ──────────────────────────────────► Start   Ok(line)
//!                         │
//!                         │ invalid, too long (perhaps cut), or the source failed
//!                         ▼
//!                      Rejected ──────────────────────────────────► Start
//! ```

mod check;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use utf8_simd::text::split_line;
use utf8_simd::{Level, PrefixEnd, head, valid_prefix};

use crate::decoder::{AtEnd, ErrorMode, Scanner, Step, Utf8Decoder, Utf8Error, Utf8Options};
use crate::fallback::FallbackState;
use crate::lines::{
    LineEnd, LineError, LineInfo, LongLines,
    delimiter::{Delimiter, End, Searched},
    machine::check::LineEncoding,
};

/// The limit on the length of a line if none is set, in bytes.
pub(crate) const DEFAULT_MAX_LENGTH: usize = 64 * 1024;

/// The number of bytes that a call consumes, and the line or the error that they are. The text of a line is `None` if it has
/// been repaired: then [`repaired`](LineMachine::repaired) is the text.
pub(crate) type LineStep<'b> = (usize, Option<Result<(Option<&'b str>, LineInfo), LineError>>);

/// Decodes bytes to lines.
#[derive(Clone, Debug)]
pub(crate) struct LineMachine {
    /// Holds no bytes: the caller does.
    decoder: Utf8Decoder,
    mode: ErrorMode,
    delimiter: Delimiter,
    max_length: usize,
    long_lines: LongLines,
    /// Decodes lines that are not UTF-8. Without it, all lines are UTF-8.
    fallback: Option<Box<FallbackState>>,
    /// The number of the line at the front.
    number: u64,
    state: LineState,
    /// The text of the last line that was not the text of its bytes.
    pub(crate) repaired: String,
    /// The last rejected line, if those are kept.
    rejected: Option<Box<RejectedLine>>,
}

/// A rejected line that is kept.
#[derive(Clone, Debug, Default)]
struct RejectedLine {
    bytes: Vec<u8>,
    /// Its error, until the line ends.
    error: Option<LineError>,
}

impl RejectedLine {
    /// Appends `bytes`, as long as there are at most `most`.
    fn keep(&mut self, bytes: &[u8], most: usize) {
        let room = most.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(head(bytes, bytes.len().min(room)));
    }
}

/// The state of the line at the front.
#[derive(Clone, Copy, Debug)]
enum LineState {
    /// The machine has seen none of its bytes.
    Start,
    /// The machine has seen some of its bytes.
    Line(OpenLine),
    /// The line has been rejected or cut. The bytes of it that are not consumed can be the beginning of its delimiter.
    Rejected(Searched),
}

/// What is known about the line at the front.
///
/// The counts only save work. No text relies on them: if a caller changes the buffer between two calls, the
/// lines differ, but they are still well-formed.
#[derive(Clone, Copy, Debug)]
struct OpenLine {
    /// The scanner before the first byte of the line.
    start: Scanner,
    /// How far the line has been searched for its end.
    searched: Searched,
    /// The number of bytes that have been validated. Their errors have been counted, except those of `encoding`.
    checked: usize,
    /// The number of errors in these bytes, and the offset of the first, if there is one.
    errors: u64,
    /// How many of them are rejections.
    rejected: u64,
    first_error_offset: u64,
    encoding: LineEncoding,
}

/// What follows the bytes that are examined.
#[derive(Clone, Copy)]
pub(crate) enum LineAction {
    /// A delimiter that begins with this byte. It continues no sequence.
    Delimiter(u8),
    /// A byte that can begin a delimiter, or is a bare CR or LF. It continues no sequence.
    Byte(u8),
    /// Bytes that have not arrived.
    More,
    /// The rest of a line that is cut, which begins with this byte. It can continue a sequence, which is then cut.
    Cut(u8),
    /// The end of the stream.
    End,
}

impl LineAction {
    /// Whether the line ends here.
    pub(crate) const fn is_end(self) -> bool {
        matches!(self, Self::Delimiter(_) | Self::End | Self::Cut(_))
    }

    /// Whether an incomplete character before it is ill-formed. One that the limit cuts is not.
    const fn at_end(self) -> AtEnd {
        match self {
            Self::Delimiter(_) | Self::Byte(_) => AtEnd::Other,
            Self::End => AtEnd::Yes,
            Self::More | Self::Cut(_) => AtEnd::No,
        }
    }
}

impl Default for LineMachine {
    fn default() -> Self {
        Self {
            decoder: Utf8Decoder::new(),
            mode: ErrorMode::Fatal,
            delimiter: Delimiter::lf(),
            max_length: DEFAULT_MAX_LENGTH,
            long_lines: LongLines::Reject,
            fallback: None,
            number: 1,
            state: LineState::Start,
            repaired: String::new(),
            rejected: None,
        }
    }
}

/// Settings, and the getters of the adaptors.
impl LineMachine {
    /// Starts a new stream with these options: line 1, offset 0.
    pub(crate) fn set_options(&mut self, options: Utf8Options) {
        self.decoder = Utf8Decoder::new().with_options(options);
        self.restart();
    }

    /// Continues from the position of `decoder`, which holds nothing. The next line begins there.
    pub(crate) fn set_decoder(&mut self, decoder: Utf8Decoder) {
        self.decoder = decoder;
    }

    pub(crate) fn set_error_mode(&mut self, mode: ErrorMode) {
        self.mode = mode;
    }

    pub(crate) fn set_delimiter(&mut self, delimiter: Delimiter) {
        self.delimiter = delimiter;
        // What is known about the end holds for the previous delimiter only.
        match &mut self.state {
            LineState::Line(line) => line.searched = Searched::NOTHING,
            LineState::Rejected(searched) => *searched = Searched::NOTHING,
            LineState::Start => {}
        }
    }

    pub(crate) fn set_max_length(&mut self, max_length: usize) {
        // More than the limit may have been checked.
        self.go_back();
        self.max_length = max_length;
    }

    pub(crate) fn set_long_lines(&mut self, long_lines: LongLines) {
        self.long_lines = long_lines;
    }

    /// Starts a new stream with the same settings.
    pub(crate) fn reset(&mut self) {
        self.decoder.reset();
        self.restart();
    }

    fn restart(&mut self) {
        if let Some(fallback) = &mut self.fallback {
            fallback.reset();
        }
        self.number = 1;
        self.state = LineState::Start;
        if let Some(line) = &mut self.rejected {
            **line = RejectedLine::default();
        }
    }

    /// Keeps rejected lines.
    pub(crate) fn keep_rejected(&mut self) {
        self.rejected.get_or_insert_default();
    }

    /// Returns the bytes of the last rejected line, if they are kept.
    pub(crate) fn rejected(&self) -> &[u8] {
        self.rejected.as_ref().map_or(&[], |line| &line.bytes)
    }

    pub(crate) fn decoder(&self) -> &Utf8Decoder {
        &self.decoder
    }

    #[inline]
    pub(crate) fn delimiter(&self) -> &Delimiter {
        &self.delimiter
    }

    pub(crate) fn fallback(&self) -> Option<&FallbackState> {
        self.fallback.as_deref()
    }

    pub(crate) fn set_fallback(&mut self, fallback: FallbackState) {
        self.fallback = Some(Box::new(fallback));
    }

    /// Counts bytes that precede the next line, of which the machine has consumed none. The line begins after them, without a BOM
    /// or the LF of a line end.
    #[cfg(feature = "codec")]
    pub(crate) fn skip_bytes(&mut self, len: usize) {
        self.go_back();
        if len > 0 {
            self.decoder.scanner_mut().close_start();
            self.decoder.scanner_mut().skip(len);
        }
    }

    /// Forgets what is known of bytes that have not been consumed.
    fn go_back(&mut self) {
        if let LineState::Line(line) = self.state {
            self.decoder.continue_from(line.start);
            self.decoder.forget(line.errors, line.rejected);
            if let Some(fallback) = &mut self.fallback {
                fallback.forget_from(line.start.position());
            }
            self.state = LineState::Start;
        }
    }

    /// Returns the decoder, moved back to the bytes that have not been consumed, the mode and the fallback.
    #[cfg(feature = "std")]
    pub(crate) fn into_parts(mut self) -> (Utf8Decoder, ErrorMode, Option<Box<FallbackState>>) {
        self.go_back();
        let Self { mut decoder, mode, fallback, .. } = self;
        if let Some(fallback) = &fallback {
            fallback.release(&mut decoder);
        }
        (decoder, mode, fallback)
    }
}

/// Lines.
impl LineMachine {
    /// Examines the front of `bytes`: what the last call did not consume, and perhaps more. `next` follows them.
    ///
    /// Returns the number of bytes consumed, and the line or the error that they are. A line begins with the first of these
    /// bytes. If it returns neither and consumes nothing, it needs more bytes; at the end of the stream nothing is left.
    pub(crate) fn step<'b>(&mut self, bytes: &'b [u8], next: LineAction) -> LineStep<'b> {
        if self.rejected.is_some() {
            return self.step_keeping(bytes, next);
        }
        self.step_line(bytes, next)
    }

    /// Like [`step`](Self::step), but keeps the bytes of a rejected line, and returns its error once it has ended.
    fn step_keeping<'b>(&mut self, bytes: &'b [u8], next: LineAction) -> LineStep<'b> {
        let (mut used, most) = (0, self.most_kept());
        loop {
            let (consumed, item) = self.step_line(&bytes[used..], next);
            let taken = &bytes[used..][..consumed];
            used += consumed;
            let Some(line) = &mut self.rejected else { return (used, item) };
            match item {
                Some(Ok(_)) => return (used, item),
                Some(Err(error)) => {
                    line.bytes.clear();
                    line.error = Some(error);
                }
                None if line.error.is_none() => return (used, None),
                None => {}
            }
            // Of a CR LF that a CR ends, the LF can also arrive later.
            let taken = match taken {
                [kept @ .., b'\n']
                    if kept.last().is_some_and(|&it| self.delimiter.takes_lf_after(it)) =>
                {
                    kept
                }
                _ => taken,
            };
            line.keep(taken, most);
            match self.state {
                LineState::Start => return (used, line.error.take().map(Err)),
                _ if consumed == 0 && item.is_none() => return (used, None),
                _ => {}
            }
        }
    }

    /// Returns the most bytes that are kept of a rejected line.
    fn most_kept(&self) -> usize {
        self.max_length.saturating_add(self.delimiter.max_len())
    }

    fn step_line<'b>(&mut self, bytes: &'b [u8], next: LineAction) -> LineStep<'b> {
        let line = match self.state {
            LineState::Start if bytes.is_empty() => return (0, None),
            LineState::Start => self.open_line(),
            LineState::Line(line) => line,
            LineState::Rejected(searched) => return self.pass_rejected(searched, bytes, next),
        };
        let start = self.decoder.scanner().start();
        match start.peek(bytes) {
            Step::Skip(len) => self.skip_opening(line, &bytes[..len]),
            Step::NeedMore if start.may_skip() && matches!(next, LineAction::More) => (0, None),
            _ if bytes.is_empty() => (0, None),
            opening => self.search(line, opening, bytes, next),
        }
    }

    /// Consumes the rest of a rejected line, as far as it has arrived.
    fn pass_rejected<'b>(
        &mut self,
        searched: Searched,
        bytes: &[u8],
        next: LineAction,
    ) -> LineStep<'b> {
        match self.decoder.scanner().start().peek(bytes) {
            Step::NeedMore if matches!(next, LineAction::More) => return (0, None),
            // A forbidden BOM is content, even if the delimiter contains it.
            Step::Error(error) => {
                self.reject(self.decoder.scanner(), error.bytes().len());
                return (error.bytes().len(), None);
            }
            _ => self.decoder.scanner_mut().close_start(),
        }
        match self.delimiter.find(bytes, searched.within(bytes)) {
            End::Found { next, .. } => self.end_line(bytes, next),
            End::Open { .. } if next.is_end() => self.end_line(bytes, bytes.len()),
            End::Open { content } => {
                self.decoder.scanner_mut().skip(content);
                let seen = bytes.len() - content;
                self.state = LineState::Rejected(Searched { decided: 0, seen });
                (content, None)
            }
        }
    }

    /// Ends the stream, of which [`step`](Self::step) has consumed all bytes. Returns the error that only the end decides.
    pub(crate) fn finish(&mut self) -> Option<LineError> {
        self.state = LineState::Start;
        if let Some(fallback) = &mut self.fallback {
            // The BOM that would decide is not one that the policy requires.
            if fallback.awaits_bom() {
                self.decoder.scanner_mut().close_start();
            }
            fallback.finish();
        }
        let error = self.decoder.finish_after(&[])?;
        if self.mode != ErrorMode::Fatal {
            return None;
        }
        let error = self.not_utf8(self.decoder.scanner(), error);
        self.number += 1;
        if let Some(line) = &mut self.rejected {
            line.bytes.clear();
        }
        Some(error)
    }

    /// Keeps `text`, that of a line, unless it is already kept.
    pub(crate) fn keep(&mut self, text: Option<&str>, info: LineInfo) -> LineInfo {
        if let Some(text) = text {
            self.repaired.clear();
            self.repaired.push_str(text);
        }
        info
    }

    /// Returns the most bytes that an incomplete line may have: with as many, it is rejected.
    pub(crate) fn most_incomplete(&self) -> usize {
        self.max_length.saturating_add(self.delimiter.as_str().len() + 1)
    }

    /// Rejects the line at the front, because the source failed and bytes of the line may be missing. `bytes` of it, all
    /// that have arrived and are not consumed, are consumed.
    pub(crate) fn reject_line(&mut self, bytes: &[u8]) {
        let most = self.most_kept();
        if let Some(line) = &mut self.rejected
            && line.error.is_some()
        {
            line.keep(bytes, most);
        }
        let start = match self.state {
            LineState::Line(line) => line.start,
            LineState::Start | LineState::Rejected(_) => self.decoder.scanner(),
        };
        self.decoder.scanner_mut().close_start();
        self.reject(start, bytes.len());
    }

    /// Whether a line begins here of which UTF-8 without errors is text: nothing precedes it, no BOM is expected, and no
    /// legacy encoding.
    #[inline]
    pub(crate) fn is_at_plain_line(&self) -> bool {
        let legacy = self.fallback.as_ref().is_some_and(|it| it.is_legacy() || it.awaits_bom());
        matches!(self.state, LineState::Start)
            && !legacy
            && self.decoder.scanner().start().is_over()
    }

    /// Whether characters of well-formed lines can be rejected.
    pub(crate) fn checks_characters(&self) -> bool {
        let strictness = self.decoder.scanner().options().strictness();
        !strictness.is_off() || self.delimiter.forbids_bare()
    }

    /// Whether a line may contain this text.
    #[inline(never)]
    pub(crate) fn allows(&self, text: &str) -> bool {
        let strictness = self.decoder.scanner().options().strictness();
        self.delimiter.find_bare(text.as_bytes()).is_none()
            && (strictness.is_off() || strictness.find_rejected(text).is_none())
    }

    /// Takes a line of text, of `content` bytes, and `len` with its delimiter, unless it is too long.
    /// [`is_at_plain_line`](Self::is_at_plain_line) is true, and the line [may contain](Self::allows) its text.
    #[inline(always)]
    pub(crate) fn take_text(&mut self, content: usize, len: usize) -> Option<LineInfo> {
        if content > self.max_length {
            return None;
        }
        let offset = self.decoder.scanner().position();
        self.decoder.scanner_mut().skip(len);
        Some(self.next_info(offset))
    }

    /// The fast path of [`step`](Self::step), for a complete and valid line that is not too long, if the scanner is on the
    /// fast path. Returns the text, and the length of its delimiter; call [`next_info`](Self::next_info) then.
    // Always inlined: row `lines`.
    #[inline(always)]
    pub(crate) fn take_usual<'b>(&mut self, bytes: &'b [u8]) -> Option<(&'b str, usize)> {
        let (scanner, delimiter) = (self.decoder.scanner(), &self.delimiter);
        if !self.is_at_plain_line() || !scanner.is_on_fast_path() {
            return None;
        }
        let front = match delimiter.last_bytes() {
            Some(ends @ [end, other]) if end == other => split_line(Level::detect(), ends, bytes),
            _ => "",
        };
        let End::Found { content, next } = delimiter.find(bytes, Searched::at(front.len())) else {
            return None;
        };
        let text = match front.get(..content) {
            _ if content > self.max_length => return None,
            _ if delimiter.find_bare(&bytes[..content]).is_some() => return None,
            None => match valid_prefix(&bytes[..content]) {
                (text, PrefixEnd::Input) => text,
                _ => return None,
            },
            Some(text) => text,
        };
        let expects_lf = delimiter.takes_lf_after(bytes[next - 1]);
        self.decoder.scanner_mut().skip(next);
        if expects_lf {
            self.decoder.scanner_mut().expect_lf();
        }
        Some((text, next - content))
    }

    /// An LF directly after the CR that has ended the last line belongs to that line.
    pub(crate) fn expect_lf(&mut self) {
        self.decoder.scanner_mut().expect_lf();
    }

    /// What is known of a line without errors that begins at `offset`. The next one has the next number.
    #[inline]
    pub(crate) fn next_info(&mut self, offset: u64) -> LineInfo {
        let number = self.number;
        self.number += 1;
        LineInfo { number, offset, ..LineInfo::default() }
    }

    /// Skips `bytes`, such as a BOM, and begins `line` after them.
    fn skip_opening<'b>(&mut self, mut line: OpenLine, bytes: &[u8]) -> LineStep<'b> {
        self.decoder.step(bytes);
        self.decide(&mut line);
        self.open_line();
        (bytes.len(), None)
    }

    /// Examines the new bytes of `line`, which begins with `bytes`.
    fn search<'b>(
        &mut self,
        mut line: OpenLine,
        opening: Step<()>,
        bytes: &'b [u8],
        next: LineAction,
    ) -> LineStep<'b> {
        self.decide(&mut line);
        // A forbidden BOM is content, even if the delimiter contains it.
        let bom = match opening {
            Step::Error(error) => error.bytes().len(),
            _ => 0,
        };
        line.searched = line.searched.beyond(bom);
        if bytes.len() < line.searched.seen.max(line.checked) {
            // The caller has changed the buffer: begin the line again.
            self.go_back();
            return self.step_line(bytes, next);
        }
        let (content, len, end) = match self.delimiter.find(bytes, line.searched) {
            End::Found { content, next } => (content, Some(next), LineEnd::Delimiter),
            End::Open { .. } if next.is_end() => (bytes.len(), Some(bytes.len()), LineEnd::Stream),
            End::Open { content } => (content, None, LineEnd::Stream),
        };
        if content > self.max_length {
            return self.take_too_long(line, bytes, content, next);
        }
        let has_bare =
            self.delimiter.find_bare(&bytes[line.checked.min(content)..content]).is_some();
        if let Some(len) = len
            && !has_bare
            && let Some(text) = self.take_clean(&mut line, &bytes[..content])
        {
            let info = self.info(line, end);
            self.end_line(&bytes[content..], len - content);
            return (len, Some(Ok((Some(text), info))));
        }
        let after = match (len, bytes.get(content)) {
            (Some(_), Some(&byte)) => LineAction::Delimiter(byte),
            (None, Some(&byte)) => LineAction::Byte(byte),
            (_, None) => next,
        };
        let is_repaired_at_once =
            len.is_some() && !has_bare && self.is_repaired_at_once(&line, content);
        if !is_repaired_at_once && let Some(error) = self.check(&mut line, bytes, content, after) {
            self.reject(line.start, line.checked);
            return (line.checked, Some(Err(error)));
        }
        if let Some(len) = len {
            return self.take_repaired(line, bytes, content, (len, end), after);
        }
        line.searched = Searched { decided: content, seen: bytes.len() };
        self.state = LineState::Line(line);
        (0, None)
    }

    /// Rejects the line that begins at `start`, of which `len` bytes are consumed. What is known of the others is forgotten: the
    /// caller can drop them. If none is consumed, a BOM that follows is still forbidden.
    fn reject(&mut self, start: Scanner, len: usize) {
        let scanner = self.decoder.scanner_mut();
        if len > 0 || scanner.start().may_skip() {
            scanner.close_start();
        }
        scanner.seek(start.position() + len as u64);
        self.state = LineState::Rejected(Searched::NOTHING);
    }

    fn info(&self, line: OpenLine, end: LineEnd) -> LineInfo {
        LineInfo {
            text: (),
            number: self.number,
            offset: line.start.position(),
            end,
            error_count: line.errors,
            first_error_offset: (line.errors > 0).then_some(line.first_error_offset),
        }
    }

    /// Returns the error of the bare CR or LF at byte `at` of `line`.
    fn bare(&self, line: &OpenLine, bytes: &[u8], at: usize) -> LineError {
        let (number, offset) = (self.number, line.start.position());
        match bytes[at] {
            b'\n' => LineError::BareLf { number, offset, lf_offset: offset + at as u64 },
            _ => LineError::BareCr { number, offset, cr_offset: offset + at as u64 },
        }
    }

    fn not_utf8(&self, start: Scanner, error: Utf8Error) -> LineError {
        LineError::Utf8 { number: self.number, offset: start.position(), error }
    }

    /// Opens the line that begins at the front of the buffer, and returns it.
    fn open_line(&mut self) -> OpenLine {
        let fallback = self.fallback.as_ref();
        if fallback.is_some_and(|it| it.awaits_bom()) {
            self.decoder.scanner_mut().expect_bom();
        }
        let encoding = match fallback {
            Some(fallback) if fallback.is_legacy() => LineEncoding::Legacy { from: 0 },
            Some(fallback) if fallback.is_by_line() => LineEncoding::Undecided { ascii: 0 },
            _ => LineEncoding::Utf8,
        };
        let start = self.decoder.scanner();
        let line = OpenLine {
            start,
            searched: Searched::NOTHING,
            checked: 0,
            errors: 0,
            rejected: 0,
            first_error_offset: 0,
            encoding,
        };
        self.state = LineState::Line(line);
        line
    }

    /// Ends the line with the first `len` of `bytes`. The last of them is the last of its delimiter.
    fn end_line<'b>(&mut self, bytes: &[u8], len: usize) -> LineStep<'b> {
        self.decoder.scanner_mut().skip(len);
        self.number += 1;
        if let Some(last) = len.checked_sub(1)
            && self.delimiter.takes_lf_after(bytes[last])
        {
            self.decoder.scanner_mut().expect_lf();
        }
        self.state = LineState::Start;
        (len, None)
    }
}
