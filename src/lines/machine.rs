//! The line machine: removes lines from the front of a read buffer. It does no I/O; all adaptors share it.
//!
//! The caller passes the same buffer repeatedly, each time with more bytes at its end. The machine removes
//! each line as soon as its delimiter has arrived, and rejects a line as soon as it cannot become valid. The
//! bytes of an incomplete line stay in the buffer. The machine remembers how far it has searched and validated
//! them, so the cost does not depend on the number of reads.
//!
//! ```text
//!          first byte               delimiter, or end of the stream
//!  Start ────────────► Line(..) ──────────────────────────────────► Start   Ok(Line)
//!                         │
//!                         │ invalid, too long, or the source failed
//!                         ▼
//!                      Rejected ──────────────────────────────────► Start
//! ```

use bytes::{Buf, BytesMut};
use bytestring::ByteString;

use crate::decoder::error::Utf8Error;
use crate::decoder::mode::ErrorMode;
#[cfg(feature = "codec")]
use crate::decoder::options::Utf8Options;
use crate::decoder::scanner::Scanner;
use crate::decoder::step::{AtEnd, Step};
use crate::decoder::text::{Level, all_text, split_line, take_text_with};
use crate::decoder::utf8_decoder::Utf8Decoder;
use crate::fallback::FallbackState;
use crate::lines::delimiter::{Delimiter, End, Searched};
use crate::lines::{Line, LineEnd, LineError};

/// The limit on the length of a line if none is set, in bytes.
pub(crate) const DEFAULT_MAX_LENGTH: usize = 64 * 1024;

/// Decodes bytes to lines.
#[derive(Clone, Debug)]
pub(crate) struct LineMachine {
    /// Holds no bytes: they stay in the read buffer.
    decoder: Utf8Decoder,
    mode: ErrorMode,
    delimiter: Delimiter,
    max_length: usize,
    /// Decodes lines that are not UTF-8. Without it, all lines are UTF-8.
    fallback: Option<Box<FallbackState>>,
    /// The number of the line at the front of the read buffer.
    number: u64,
    state: LineState,
}

/// The state of the line at the front of the read buffer.
#[derive(Clone, Copy, Debug)]
enum LineState {
    /// The machine has seen none of its bytes.
    Start,
    /// The machine has seen some of its bytes. All of them are in the buffer.
    Line(OpenLine),
    /// The line has been rejected. The buffer begins with bytes that can be the beginning of its delimiter.
    Rejected(Searched),
}

/// What is known about the line at the front of the read buffer.
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
    first_error_offset: u64,
    encoding: LineEncoding,
}

/// The encoding of a line, as far as its bytes determine it.
#[derive(Clone, Copy, Debug)]
enum LineEncoding {
    /// UTF-8, or, if an ill-formed part follows, legacy. Up to this index at least, it is a forbidden BOM or ASCII, the
    /// same in both.
    Undecided {
        ascii: usize,
    },
    /// Like `Undecided`. From this index on, the first that is not ASCII, rejected characters have not been counted: in the
    /// legacy encoding the bytes may be other characters.
    Deferred {
        from: usize,
    },
    Utf8,
    /// UTF-8 up to this index. The bytes from there are ill-formed parts, whose legacy characters have not been checked.
    Parts {
        from: usize,
    },
    /// Legacy from this index on.
    Legacy {
        from: usize,
    },
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
    /// The end of the stream.
    End,
}

impl LineAction {
    /// Whether the line ends here.
    pub(crate) const fn is_end(self) -> bool {
        matches!(self, Self::Delimiter(_) | Self::End)
    }
}

/// Settings, and the getters of the adaptors.
impl LineMachine {
    pub(crate) fn new() -> Self {
        Self {
            decoder: Utf8Decoder::new(),
            mode: ErrorMode::Fatal,
            delimiter: Delimiter::lf(),
            max_length: DEFAULT_MAX_LENGTH,
            fallback: None,
            number: 1,
            state: LineState::Start,
        }
    }

    /// Starts a new stream with these options: line 1, offset 0.
    #[cfg(feature = "codec")]
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
        self.max_length = max_length;
    }

    /// Starts a new stream with the same settings.
    #[cfg(feature = "codec")]
    pub(crate) fn reset(&mut self) {
        self.decoder.reset();
        self.restart();
    }

    #[cfg(feature = "codec")]
    fn restart(&mut self) {
        if let Some(fallback) = &mut self.fallback {
            fallback.reset();
        }
        self.number = 1;
        self.state = LineState::Start;
    }

    pub(crate) fn decoder(&self) -> &Utf8Decoder {
        &self.decoder
    }

    #[cfg(feature = "codec")]
    pub(crate) fn delimiter(&self) -> &Delimiter {
        &self.delimiter
    }

    #[cfg(feature = "codec")]
    pub(crate) fn fallback(&self) -> Option<&FallbackState> {
        self.fallback.as_deref()
    }

    #[cfg(feature = "codec")]
    pub(crate) fn set_fallback(&mut self, fallback: FallbackState) {
        self.fallback = Some(Box::new(fallback));
    }

    /// Returns the decoder, moved back to the front of the read buffer, the mode and the fallback.
    pub(crate) fn into_parts(self) -> (Utf8Decoder, ErrorMode, Option<Box<FallbackState>>) {
        let Self { mut decoder, mode, state, fallback, .. } = self;
        if let LineState::Line(line) = state {
            decoder.continue_from(line.start);
            decoder.forget(line.errors);
        }
        (decoder, mode, fallback)
    }
}

/// Lines.
impl LineMachine {
    /// Removes the next line from `src` and returns it, or the error that rejects it. Returns `None` if more
    /// bytes are needed.
    #[inline]
    pub(crate) fn next_line(&mut self, src: &mut BytesMut) -> Option<Result<Line, LineError>> {
        // In two steps: see `crate::decoder`, "Store forwarding"; scenario `framed`.
        if let Some(line) = self.take_usual(src) {
            return Some(Ok(line));
        }
        self.advance(src, LineAction::More)
    }

    /// Like [`next_line`](Self::next_line), for the end of the stream: the end of `src` ends the last line.
    /// Call it until `None`; `src` is then empty.
    pub(crate) fn finish_line(&mut self, src: &mut BytesMut) -> Option<Result<Line, LineError>> {
        if let Some(item) = self.advance(src, LineAction::More) {
            return Some(item);
        }
        if matches!(self.state, LineState::Line(_)) && !src.is_empty() {
            return self.advance(src, LineAction::End);
        }
        if matches!(self.state, LineState::Rejected(_)) {
            self.end_line(src, src.len());
        }
        self.state = LineState::Start;
        let missing = self.decoder.finish_after(&[]);
        if let (Some(error), ErrorMode::Fatal) = (missing, self.mode) {
            let error = self.not_utf8(self.decoder.scanner(), error);
            self.number += 1;
            return Some(Err(error));
        }
        None
    }

    /// Rejects the line at the front of `src`, because the source failed and bytes of the line may be missing.
    /// Call it after [`next_line`](Self::next_line) has returned `None`.
    #[cfg(feature = "stream")]
    pub(crate) fn reject_line(&mut self, src: &mut BytesMut) {
        let start = match self.state {
            LineState::Line(line) => line.start,
            LineState::Start | LineState::Rejected(_) => self.decoder.scanner(),
        };
        self.reject(start, src, src.len());
    }

    /// The fast path of [`advance`](Self::advance), for a complete and valid line that is not too long, if the
    /// scanner is on the fast path.
    // Always inlined, because several adaptors call it: rows `lines` and `read-lines`.
    #[inline(always)]
    fn take_usual(&mut self, src: &mut BytesMut) -> Option<Line> {
        if self.fallback.as_ref().is_some_and(|it| it.is_legacy() || it.awaits_bom()) {
            return None;
        }
        let (scanner, delimiter) = (self.decoder.scanner(), &self.delimiter);
        if !matches!(self.state, LineState::Start) || !scanner.is_on_fast_path() {
            return None;
        }
        let (text, line_end) = take_text_with(src, |bytes| {
            let front =
                delimiter.last_byte().map_or("", |end| split_line(Level::detect(), end, bytes));
            let End::Found { content, next } = delimiter.find(bytes, Searched::at(front.len()))
            else {
                return ("", None);
            };
            let text = match front.get(..content) {
                _ if content > self.max_length => None,
                _ if delimiter.find_bare(&bytes[..content]).is_some() => None,
                None => all_text(&bytes[..content]),
                text => text,
            };
            (text.unwrap_or_default(), text.map(|_| next))
        });
        let next = line_end?;
        let offset = scanner.position();
        self.decoder.scanner_mut().skip(next);
        let delimiter_len = next - text.len();
        if delimiter.takes_lf_after(src[delimiter_len - 1]) {
            self.decoder.scanner_mut().expect_lf();
        }
        src.advance(delimiter_len);
        let line = Line {
            text,
            number: self.number,
            offset,
            end: LineEnd::Delimiter,
            error_count: 0,
            first_error_offset: None,
        };
        self.number += 1;
        Some(line)
    }

    /// Continues at the front of `src`. Returns `None` if more bytes are needed.
    fn advance(&mut self, src: &mut BytesMut, next: LineAction) -> Option<Result<Line, LineError>> {
        loop {
            match self.state {
                LineState::Start if src.is_empty() => return None,
                LineState::Start => self.open_line(),
                LineState::Line(line) => {
                    let start = self.decoder.scanner().start();
                    match start.peek(src) {
                        Step::Skip(len) => self.skip_opening(line, src, len),
                        Step::NeedMore if start.may_skip() && matches!(next, LineAction::More) => {
                            return None;
                        }
                        opening => return self.search(line, opening, src, next),
                    }
                }
                LineState::Rejected(searched) => {
                    match self.delimiter.find(src, searched.within(src)) {
                        End::Found { next, .. } => self.end_line(src, next),
                        End::Open { content } => {
                            self.pass(src, content);
                            self.state =
                                LineState::Rejected(Searched { decided: 0, seen: src.len() });
                            return None;
                        }
                    }
                }
            }
        }
    }

    /// Skips `len` bytes, such as a BOM, and begins `line` after them.
    fn skip_opening(&mut self, mut line: OpenLine, src: &mut BytesMut, len: usize) {
        self.decoder.step(&src[..len]);
        src.advance(len);
        self.decide(&mut line);
        self.open_line();
    }

    /// Examines the new bytes of `line`, which begins at the front of `src`.
    fn search(
        &mut self,
        mut line: OpenLine,
        opening: Step<()>,
        src: &mut BytesMut,
        next: LineAction,
    ) -> Option<Result<Line, LineError>> {
        self.decide(&mut line);
        if let Step::Error(error) = opening {
            // A forbidden BOM is content, even if the delimiter contains it.
            line.searched = line.searched.beyond(error.bytes().len());
        }
        if src.len() < line.searched.seen.max(line.checked) {
            // The caller has changed the buffer: begin the line again.
            line = OpenLine { searched: Searched::NOTHING, checked: 0, ..line };
            self.decoder.continue_from(line.start);
        }
        let end = match next {
            LineAction::End => End::Open { content: src.len() },
            _ => self.delimiter.find(src, line.searched),
        };
        let content = end.content();
        if content > self.max_length {
            return Some(Err(self.reject_too_long(line, src, content)));
        }
        let has_bare = self.delimiter.find_bare(&src[line.checked.min(content)..content]).is_some();
        if let End::Found { next, .. } = end
            && !has_bare
            && let Some(text) = self.take_clean(&mut line, src, content)
        {
            let line = self.line(line, text, LineEnd::Delimiter);
            self.end_line(src, next - content);
            return Some(Ok(line));
        }
        let after = match (end, src.get(content)) {
            (End::Found { .. }, Some(&byte)) => LineAction::Delimiter(byte),
            (_, Some(&byte)) => LineAction::Byte(byte),
            (_, None) => next,
        };
        let len = match (end, next) {
            (End::Found { next, .. }, _) => Some(next),
            (End::Open { .. }, LineAction::End) => Some(src.len()),
            (End::Open { .. }, _) => None,
        };
        if let Some(len) = len
            && !has_bare
            && self.is_repaired_at_once(&line, content)
        {
            return Some(self.take_repaired(line, src, content, len, after));
        }
        if let Some(error) = self.check(&mut line, src, content, after) {
            self.reject(line.start, src, line.checked);
            return Some(Err(error));
        }
        if let Some(len) = len {
            return Some(self.take_checked(line, src, content, len, after));
        }
        line.searched = Searched { decided: content, seen: src.len() };
        self.state = LineState::Line(line);
        None
    }

    /// If a BOM decides the encoding, decides it at the start of `line`, the first.
    fn decide(&mut self, line: &mut OpenLine) {
        let Some(fallback) = self.fallback.as_mut().filter(|it| it.awaits_bom()) else { return };
        fallback.decide(&mut self.decoder);
        if fallback.is_legacy() {
            line.start = self.decoder.scanner();
            line.encoding = LineEncoding::Legacy { from: 0 };
        }
    }

    /// Whether the errors of `line` can be counted while they are repaired: none has been counted, and the mode
    /// repairs each of them.
    fn is_repaired_at_once(&self, line: &OpenLine, content: usize) -> bool {
        line.errors == 0 && content > 0 && self.mode != ErrorMode::Fatal && !self.falls_back()
    }

    /// Whether ill-formed parts fall back to a legacy encoding.
    fn falls_back(&self) -> bool {
        self.fallback.as_ref().is_some_and(|it| !it.is_declared_utf8())
    }

    /// Looks for a rejected character in bytes in the legacy encoding, and steps over those before it.
    fn step_legacy(
        &self,
        scanner: &mut Scanner,
        bytes: &[u8],
        next: LineAction,
    ) -> Step<&'static str> {
        let at_end = if next.is_end() { AtEnd::Yes } else { AtEnd::No };
        let fallback = self.fallback.as_ref();
        fallback.map_or(Step::NeedMore, |it| it.step_rejected(scanner, bytes, at_end))
    }

    /// Removes the `content` bytes of `line` from `src` and returns them, if all are text. Otherwise notes how
    /// many are.
    fn take_clean(
        &mut self,
        line: &mut OpenLine,
        src: &mut BytesMut,
        content: usize,
    ) -> Option<ByteString> {
        let is_legacy = matches!(line.encoding, LineEncoding::Legacy { .. });
        if line.errors > 0 || !line.start.start().is_over() || is_legacy {
            return None;
        }
        let mut scanner = line.start;
        let (text, clean) = take_text_with(src, |bytes| match scanner.step(&bytes[..content]) {
            Step::Text(text) if text.len() == content => (text, content),
            Step::Text(text) => ("", text.len()),
            _ => ("", 0),
        });
        if clean > line.checked {
            line.checked = clean;
            self.decoder.continue_from(scanner);
        }
        (text.len() == content).then(|| {
            self.decoder.continue_from(scanner);
            text
        })
    }

    /// Validates the bytes of `bytes[..until]` that have not been validated, and counts the errors. Returns the
    /// error that rejects the line, if there is one.
    fn check(
        &mut self,
        line: &mut OpenLine,
        bytes: &[u8],
        until: usize,
        next: LineAction,
    ) -> Option<LineError> {
        let new = bytes.get(line.checked..until).unwrap_or_default();
        let bare = self.delimiter.find_bare(new).map(|at| line.checked + at);
        let (until, next) = bare.map_or((until, next), |at| (at, LineAction::Byte(bytes[at])));
        loop {
            let mut scanner = self.decoder.scanner();
            let step = match bytes.get(line.checked..until).unwrap_or_default() {
                // Bytes that can begin a delimiter show that there is no BOM. After other bytes the start is over:
                // `None`.
                [] => scanner.open(bytes),
                new if matches!(line.encoding, LineEncoding::Legacy { .. }) => {
                    Some(self.step_legacy(&mut scanner, new, next))
                }
                new => Some(step(&mut scanner, new, next)),
            };
            self.decoder.continue_from(scanner);
            if let LineEncoding::Parts { from } = line.encoding
                && !matches!(step, Some(Step::Error(error)) if error.kind().is_ill_formed())
            {
                let is_last = matches!(step, None | Some(Step::NeedMore));
                let next = if is_last { next } else { LineAction::End };
                if let Some(error) = self.check_parts(line, bytes, from, next) {
                    return Some(error);
                }
            }
            match step {
                Some(Step::Text(text)) => line.checked += text.len(),
                Some(Step::Skip(len)) => line.checked += len,
                Some(Step::Error(error)) => {
                    if let Some(error) = self.check_error(line, bytes, error) {
                        return Some(error);
                    }
                }
                None | Some(Step::NeedMore) => match line.encoding {
                    LineEncoding::Deferred { from } if next.is_end() => {
                        line.encoding = LineEncoding::Utf8;
                        self.check_again(line, from);
                    }
                    _ => return Some(self.bare(line, bytes, bare?)),
                },
            }
        }
    }

    /// Checks the error after the bytes of `line` that have been validated. Returns the error that rejects the line, if
    /// there is one.
    fn check_error(
        &mut self,
        line: &mut OpenLine,
        bytes: &[u8],
        error: Utf8Error,
    ) -> Option<LineError> {
        let (at, kind) = (line.checked, error.kind());
        line.checked += error.bytes().len();
        if let LineEncoding::Undecided { ascii } = line.encoding {
            let known = bytes[..line.checked].iter().skip(ascii);
            let is_known = |byte: &&u8| kind.is_about_bom() || byte.is_ascii();
            let ascii = ascii + known.take_while(is_known).count();
            line.encoding = match ascii < line.checked {
                true => LineEncoding::Deferred { from: ascii },
                false => LineEncoding::Undecided { ascii },
            };
        }
        let is_legacy = self.falls_back() && kind.is_ill_formed();
        let from = match line.encoding {
            LineEncoding::Deferred { from } if is_legacy => Some(from),
            LineEncoding::Deferred { .. } => return None,
            _ if !is_legacy => return self.report(line, error),
            _ => {
                let at_error = error.valid_up_to();
                let fallback = self.fallback.as_mut();
                fallback.is_some_and(|it| it.falls_back_from(at_error)).then_some(at)
            }
        };
        self.count(line, error);
        if let Some(from) = from {
            line.encoding = LineEncoding::Legacy { from };
            self.decoder.scanner_mut().close_start();
            self.check_again(line, from);
        } else if let LineEncoding::Utf8 = line.encoding {
            line.encoding = LineEncoding::Parts { from: at };
        }
        None
    }

    /// Checks the legacy characters of the ill-formed parts of `line` that begin at `from` and end at its last validated
    /// byte.
    fn check_parts(
        &mut self,
        line: &mut OpenLine,
        bytes: &[u8],
        from: usize,
        next: LineAction,
    ) -> Option<LineError> {
        let (mut scanner, mut from) = (self.decoder.scanner(), from);
        line.encoding = LineEncoding::Utf8;
        while from < line.checked {
            scanner.seek(line.start.position() + from as u64);
            match self.step_legacy(&mut scanner, &bytes[from..line.checked], next) {
                Step::Skip(len) => from += len,
                Step::Error(error) => {
                    from += error.bytes().len();
                    if let Some(error) = self.report(line, error) {
                        return Some(error);
                    }
                }
                Step::Text(_) | Step::NeedMore => {
                    line.encoding = LineEncoding::Parts { from };
                    break;
                }
            }
        }
        None
    }

    /// Continues to check `line` at its byte `from`.
    fn check_again(&mut self, line: &mut OpenLine, from: usize) {
        line.checked = from;
        self.decoder.scanner_mut().seek(line.start.position() + from as u64);
    }

    /// Counts an error, and returns it if it rejects the line.
    fn report(&mut self, line: &mut OpenLine, error: Utf8Error) -> Option<LineError> {
        self.count(line, error);
        (self.mode == ErrorMode::Fatal).then(|| self.not_utf8(line.start, error))
    }

    fn count(&mut self, line: &mut OpenLine, error: Utf8Error) {
        self.decoder.note(error);
        if line.errors == 0 {
            line.first_error_offset = error.valid_up_to();
        }
        line.errors += 1;
    }

    /// Removes a line of `len` bytes from `src`. The first `content` are text, and their errors are counted.
    fn take_checked(
        &mut self,
        line: OpenLine,
        src: &mut BytesMut,
        content: usize,
        len: usize,
        next: LineAction,
    ) -> Result<Line, LineError> {
        let mut bytes = src.split_to(content);
        let text = match &mut self.fallback {
            Some(fallback) if !fallback.is_declared_utf8() => {
                let legacy = match line.encoding {
                    LineEncoding::Legacy { from } => Some(from),
                    _ => None,
                };
                fallback.decode_line(line.start, &bytes, legacy, self.mode).map(ByteString::from)
            }
            _ => repair(self.mode, &mut Utf8Decoder::at(line.start), &mut bytes, next),
        };
        self.end_repaired(line, src, text, content, len)
    }

    /// Like [`take_checked`](Self::take_checked), and counts the errors.
    fn take_repaired(
        &mut self,
        mut line: OpenLine,
        src: &mut BytesMut,
        content: usize,
        len: usize,
        next: LineAction,
    ) -> Result<Line, LineError> {
        let mut bytes = src.split_to(content);
        let mut decoder = Utf8Decoder::at(line.start);
        let text = repair(self.mode, &mut decoder, &mut bytes, next);
        let first = decoder.first_error();
        line.errors = decoder.error_count();
        line.first_error_offset = first.map_or(0, |error| error.valid_up_to());
        self.decoder.continue_from(decoder.scanner());
        self.decoder.add_errors(line.errors, first);
        self.end_repaired(line, src, text, content, len)
    }

    /// Ends a line of `len` bytes. The first `content` have been removed from `src`.
    fn end_repaired(
        &mut self,
        line: OpenLine,
        src: &mut BytesMut,
        text: Result<ByteString, Utf8Error>,
        content: usize,
        len: usize,
    ) -> Result<Line, LineError> {
        let item = match text {
            Ok(text) => {
                let end = if content < len { LineEnd::Delimiter } else { LineEnd::Stream };
                Ok(self.line(line, text, end))
            }
            Err(error) => Err(self.not_utf8(line.start, error)),
        };
        self.end_line(src, len - content);
        self.decoder.scanner_mut().seek(line.start.position() + len as u64);
        item
    }

    /// Rejects a line with `content` bytes before the delimiter, more than the limit.
    fn reject_too_long(
        &mut self,
        mut line: OpenLine,
        src: &mut BytesMut,
        content: usize,
    ) -> LineError {
        let decided = line.searched.decided;
        // The index of the byte that decides that the line is too long, or the last one if the end decides.
        let by = if self.max_length < decided {
            decided - 1
        } else {
            self.delimiter.decided_by(src, decided, self.max_length)
        };
        // An error that an earlier byte decides is reported instead.
        let known = &src[..by];
        let until = self.delimiter.find(known, Searched::at(decided.min(by))).content();
        let after = known.get(until).map_or(LineAction::More, |&byte| LineAction::Byte(byte));
        let (error, len) = match self.check(&mut line, known, until, after) {
            Some(error) => (error, line.checked),
            None => {
                let (number, offset) = (self.number, line.start.position());
                (LineError::TooLong { number, offset, max_length: self.max_length }, content)
            }
        };
        self.reject(line.start, src, len);
        error
    }

    /// Rejects the line at the front of `src`, and drops its first `len` bytes.
    fn reject(&mut self, start: Scanner, src: &mut BytesMut, len: usize) {
        self.decoder.scanner_mut().close_start();
        self.decoder.scanner_mut().seek(start.position());
        self.pass(src, len);
        self.state = LineState::Rejected(Searched::NOTHING);
    }

    fn line(&self, line: OpenLine, text: ByteString, end: LineEnd) -> Line {
        Line {
            text,
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

    /// Opens the line that begins at the front of the buffer.
    fn open_line(&mut self) {
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
        self.state = LineState::Line(OpenLine {
            start,
            searched: Searched::NOTHING,
            checked: 0,
            errors: 0,
            first_error_offset: 0,
            encoding,
        });
    }

    /// Ends the line, and drops `len` bytes of `src`. The last of them is the last of its delimiter.
    fn end_line(&mut self, src: &mut BytesMut, len: usize) {
        let last = len.checked_sub(1).map(|at| src[at]);
        self.pass(src, len);
        self.number += 1;
        if last.is_some_and(|last| self.delimiter.takes_lf_after(last)) {
            self.decoder.scanner_mut().expect_lf();
        }
        self.state = LineState::Start;
    }

    /// Drops bytes without decoding them.
    fn pass(&mut self, src: &mut BytesMut, len: usize) {
        self.decoder.scanner_mut().skip(len);
        src.advance(len);
    }
}

/// Returns what `bytes` begin with, given what follows them.
fn step<'a>(scanner: &mut Scanner, bytes: &'a [u8], next: LineAction) -> Step<&'a str> {
    let step = scanner.step(bytes);
    if !matches!(step, Step::NeedMore) {
        return step;
    }
    let broken = match next {
        LineAction::More => None,
        _ if bytes.is_empty() => None,
        LineAction::End => scanner.finish(bytes),
        LineAction::Delimiter(byte) | LineAction::Byte(byte) => scanner.break_off(bytes, byte),
    };
    broken.map_or(Step::NeedMore, Step::Error)
}

/// Decodes and repairs the bytes of a line, at which `decoder` is, and counts the errors.
fn repair(
    mode: ErrorMode,
    decoder: &mut Utf8Decoder,
    bytes: &mut BytesMut,
    next: LineAction,
) -> Result<ByteString, Utf8Error> {
    let mut item = decoder.take_repaired(bytes, mode)?;
    let mut scanner = decoder.scanner();
    while let Step::Error(error) = step(&mut scanner, bytes, next) {
        bytes.advance(error.bytes().len());
        item.repair(decoder.repair(mode, &error), decoder.note(error))?;
    }
    decoder.continue_from(scanner);
    Ok(item.into_text())
}
