//! The line machine: takes lines off the front of a read buffer. No IO, shared by all adaptors.
//!
//! A machine is shown a buffer, again and again, with more bytes at its end each time. It removes
//! each line from the front as soon as its delimiter has arrived, and rejects a line as soon as it
//! cannot become a good one. Bytes of an unfinished line stay in the buffer; the machine remembers how
//! far it has looked, so that no byte is looked at once per read.
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

use crate::core::bom::Opening;
use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
#[cfg(feature = "codec")]
use crate::core::options::Utf8Options;
use crate::core::scanner::{Scanner, Step};
use crate::core::text::take_text;
use crate::lines::delimiter::{Delimiter, End, Looked};
use crate::lines::line::{Line, LineEnd, LineError, LineErrorKind};

/// The limit on the length of a line if none is set, in bytes.
pub(crate) const DEFAULT_MAX_LENGTH: usize = 64 * 1024;

/// Bytes to lines.
#[derive(Clone, Debug)]
pub(crate) struct LineMachine<L> {
    /// Holds no bytes: the read buffer does.
    decoder: Utf8Decoder,
    mode: ErrorMode,
    delimiter: Delimiter,
    max_length: usize,
    legacy: L,
    /// The number of the line at the front of the read buffer.
    number: u64,
    state: State,
}

/// Reads lines that are not UTF-8 in a legacy encoding.
pub(crate) trait LegacyLines {
    /// Whether there is a fallback at all.
    fn is_some(&self) -> bool;

    /// Whether everything from here on is in the legacy encoding.
    fn has_turned(&self) -> bool;

    /// Takes note that the line at `position` is ill-formed at its byte `at`. Returns from which of its
    /// bytes on the line is in the legacy encoding, if more of it is than what is ill-formed.
    fn turn(&mut self, position: u64, at: usize) -> Option<usize>;

    /// Makes a line's text of its bytes, whose errors have been counted. From `legacy` on they are in
    /// the legacy encoding.
    fn text(
        &mut self,
        mode: ErrorMode,
        scanner: Scanner,
        legacy: Option<usize>,
        bytes: &[u8],
    ) -> Result<ByteString, Utf8Error>;

    /// Starts a new stream.
    #[cfg(feature = "codec")]
    fn reset(&mut self);
}

/// Lines are UTF-8.
#[cfg(feature = "stream")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoLegacy;

/// Where in a line the front of the read buffer is.
#[derive(Clone, Copy, Debug)]
enum State {
    /// At its start; the machine has seen no byte of it. The delimiter before it may be a CR, to
    /// which an LF would belong.
    Start { after_cr: bool },
    /// At its start; the machine has seen some of its bytes.
    Line(OpenLine),
    /// In the middle of a line that has been rejected. The buffer begins with what may be the
    /// beginning of its delimiter.
    Rejected(Looked),
}

/// What is known of the line at the front of the read buffer.
///
/// The counts only save work: text is never taken on their word, so a caller that changes the buffer
/// between two calls gets other lines, and nothing worse.
#[derive(Clone, Copy, Debug)]
struct OpenLine {
    /// The scanner as it was at the line's first byte.
    start: Scanner,
    /// How far its end has been looked for.
    looked: Looked,
    /// Bytes that have been validated; errors among them have been repaired and counted.
    checked: usize,
    /// How many errors there are among them.
    errors: u64,
    /// From which byte on it is in a legacy encoding, if it is.
    legacy: Option<usize>,
}

/// What comes after the bytes that are looked at.
#[derive(Clone, Copy)]
enum Next {
    /// A byte that begins a delimiter, or may begin it, and so continues no sequence.
    Byte(u8),
    /// Bytes that have not arrived.
    More,
    /// The end of the stream.
    End,
}

/// Settings, and what the skins show.
impl<L: LegacyLines> LineMachine<L> {
    pub(crate) fn new(legacy: L) -> Self {
        Self {
            decoder: Utf8Decoder::new(),
            mode: ErrorMode::Fatal,
            delimiter: Delimiter::lf(),
            max_length: DEFAULT_MAX_LENGTH,
            legacy,
            number: 1,
            state: State::Start { after_cr: false },
        }
    }

    /// Starts a new stream with these options: line 1, offset 0.
    #[cfg(feature = "codec")]
    pub(crate) fn set_options(&mut self, options: Utf8Options) {
        self.decoder = Utf8Decoder::new().with_options(options);
        self.restart();
    }

    /// Continues where a decoder, which holds nothing, has come to: the next line begins there.
    #[cfg(feature = "stream")]
    pub(crate) fn set_decoder(&mut self, decoder: Utf8Decoder) {
        self.decoder = decoder;
    }

    pub(crate) fn set_error_mode(&mut self, mode: ErrorMode) {
        self.mode = mode;
    }

    pub(crate) fn set_delimiter(&mut self, delimiter: Delimiter) {
        self.delimiter = delimiter;
        // What was known of the end was known of another delimiter.
        match &mut self.state {
            State::Line(line) => line.looked = Looked::NOTHING,
            State::Rejected(looked) => *looked = Looked::NOTHING,
            State::Start { .. } => {}
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
        self.legacy.reset();
        self.number = 1;
        self.state = State::Start { after_cr: false };
    }

    pub(crate) fn decoder(&self) -> &Utf8Decoder {
        &self.decoder
    }

    #[cfg(feature = "codec")]
    pub(crate) fn delimiter(&self) -> &Delimiter {
        &self.delimiter
    }

    #[cfg(feature = "codec")]
    pub(crate) fn legacy(&self) -> &L {
        &self.legacy
    }

    #[cfg(feature = "codec")]
    pub(crate) fn set_legacy(&mut self, legacy: L) {
        self.legacy = legacy;
    }

    /// The decoder as it was at the front of the read buffer, and the mode.
    #[cfg(feature = "stream")]
    pub(crate) fn into_decoder(self) -> (Utf8Decoder, ErrorMode) {
        let Self { mut decoder, mode, state, .. } = self;
        if let State::Line(line) = state {
            decoder.continue_from(line.start);
            decoder.forget(line.errors);
        }
        (decoder, mode)
    }
}

/// Lines.
impl<L: LegacyLines> LineMachine<L> {
    /// Takes the next line, or the error that rejects it, off the front of `src`. `None` where more
    /// bytes are needed.
    #[inline]
    pub(crate) fn next_line(&mut self, src: &mut BytesMut) -> Option<Result<Line, LineError>> {
        // In two steps: see `crate::core`, "Store forwarding"; scenario `framed`.
        if let Some(line) = self.take_usual(src) {
            return Some(Ok(line));
        }
        self.advance(src, Next::More)
    }

    /// As [`next_line`](Self::next_line) where nothing comes after `src`; then `src` ends the last
    /// line. Called until `None`, which leaves `src` empty.
    pub(crate) fn finish_line(&mut self, src: &mut BytesMut) -> Option<Result<Line, LineError>> {
        if let Some(item) = self.advance(src, Next::More) {
            return Some(item);
        }
        if matches!(self.state, State::Line(_)) && !src.is_empty() {
            return self.advance(src, Next::End);
        }
        if matches!(self.state, State::Rejected(_)) {
            self.end_line(src, src.len());
        }
        self.state = State::Start { after_cr: false };
        let missing = self.decoder.finish_after(&[]);
        if let (Some(error), ErrorMode::Fatal) = (missing, self.mode) {
            let error = self.line_error(self.decoder.scanner(), LineErrorKind::Utf8(error));
            self.number += 1;
            return Some(Err(error));
        }
        None
    }

    /// Rejects the line at the front of `src`, of which bytes may be missing: the source has failed
    /// there. To be called after [`next_line`](Self::next_line) has returned `None`.
    #[cfg(feature = "stream")]
    pub(crate) fn reject_line(&mut self, src: &mut BytesMut) {
        let start = match self.state {
            State::Line(line) => line.start,
            State::Start { .. } | State::Rejected(_) => self.decoder.scanner(),
        };
        self.reject(start, src, src.len());
    }

    /// Takes the usual line off `src`: all there, short enough, nothing in it that is not text, and
    /// nothing else asked. It returns and leaves what [`advance`](Self::advance) would, sooner.
    #[inline]
    fn take_usual(&mut self, src: &mut BytesMut) -> Option<Line> {
        if self.legacy.has_turned() {
            return None;
        }
        let (scanner, delimiter) = (self.decoder.scanner(), &self.delimiter);
        if !matches!(self.state, State::Start { after_cr: false }) || !scanner.is_plain() {
            return None;
        }
        let mut line_end = None;
        let text = take_text(src, |bytes| {
            let front = delimiter.last_byte().map_or("", |end| scanner.peek_text(end, bytes));
            let End::Found { content, next } = delimiter.find(bytes, Looked::at(front.len()))
            else {
                return "";
            };
            let text = match front.get(..content) {
                _ if content > self.max_length => None,
                None => scanner.peek_whole(&bytes[..content]),
                text => text,
            };
            line_end = text.map(|_| next);
            text.unwrap_or_default()
        });
        let next = line_end?;
        let offset = scanner.position();
        self.decoder.skip(next);
        let delimiter_len = next - text.len();
        let after_cr = delimiter.takes_lf_after(src[delimiter_len - 1]);
        self.state = State::Start { after_cr };
        src.advance(delimiter_len);
        let line = Line { text, number: self.number, offset, end: LineEnd::Delimiter };
        self.number += 1;
        Some(line)
    }

    /// Continues at the front of `src`. `None` where more bytes are needed.
    fn advance(&mut self, src: &mut BytesMut, next: Next) -> Option<Result<Line, LineError>> {
        loop {
            match self.state {
                State::Start { .. } if src.is_empty() => return None,
                State::Start { after_cr: true } if src[0] == b'\n' => {
                    self.pass(src, 1);
                    self.state = State::Start { after_cr: false };
                }
                State::Start { .. } => self.open_line(),
                State::Line(mut line) => {
                    let start = self.decoder.scanner().start();
                    match start.peek(src) {
                        Opening::Silent(len) => {
                            self.decoder.step(&src[..len]);
                            src.advance(len);
                            self.open_line();
                        }
                        Opening::Hold if start.may_skip() && matches!(next, Next::More) => {
                            return None;
                        }
                        opening => {
                            if let Opening::Error(error) = opening {
                                // A forbidden BOM is content, whatever the delimiter.
                                line.looked = line.looked.beyond(error.bytes().len());
                            }
                            return self.look(line, src, next);
                        }
                    }
                }
                State::Rejected(looked) => match self.delimiter.find(src, looked.within(src)) {
                    End::Found { next, .. } => self.end_line(src, next),
                    End::Open { content } => {
                        self.pass(src, content);
                        self.state = State::Rejected(Looked { decided: 0, seen: src.len() });
                        return None;
                    }
                },
            }
        }
    }

    /// Looks at what is new in `line`, which begins at the front of `src`.
    fn look(
        &mut self,
        mut line: OpenLine,
        src: &mut BytesMut,
        next: Next,
    ) -> Option<Result<Line, LineError>> {
        if src.len() < line.looked.seen.max(line.checked) {
            // This is not the buffer that was: begin the line again.
            line = OpenLine { looked: Looked::NOTHING, checked: 0, ..line };
            self.decoder.continue_from(line.start);
        }
        let end = match next {
            Next::End => End::Open { content: src.len() },
            _ => self.delimiter.find(src, line.looked),
        };
        let content = end.content();
        if content > self.max_length {
            return Some(Err(self.reject_too_long(line, src, content, next)));
        }
        if let End::Found { next, .. } = end
            && let Some(text) = self.take_clean(&mut line, src, content)
        {
            let line = self.line(line, text, LineEnd::Delimiter);
            self.end_line(src, next - content);
            return Some(Ok(line));
        }
        let after = src.get(content).map_or(next, |&byte| Next::Byte(byte));
        let len = match (end, next) {
            (End::Found { next, .. }, _) => Some(next),
            (End::Open { .. }, Next::End) => Some(src.len()),
            (End::Open { .. }, _) => None,
        };
        if let Some(len) = len
            && self.is_repaired_at_once(&line, content)
        {
            return Some(self.take_repaired(line, src, content, len, after));
        }
        if let Some(error) = self.check(&mut line, src, content, after) {
            let error = self.line_error(line.start, LineErrorKind::Utf8(error));
            self.reject(line.start, src, line.checked);
            return Some(Err(error));
        }
        if let Some(len) = len {
            return Some(self.take_checked(line, src, content, len, after));
        }
        line.looked = Looked { decided: content, seen: src.len() };
        self.state = State::Line(line);
        None
    }

    /// Whether errors of `line` can be counted while they are repaired: none has been counted, and
    /// nothing but a repair can become of them.
    fn is_repaired_at_once(&self, line: &OpenLine, content: usize) -> bool {
        line.errors == 0 && content > 0 && self.mode != ErrorMode::Fatal && !self.legacy.is_some()
    }

    /// Takes the `content` bytes of `line` off `src` if all of them are text. Otherwise notes how many are.
    fn take_clean(
        &mut self,
        line: &mut OpenLine,
        src: &mut BytesMut,
        content: usize,
    ) -> Option<ByteString> {
        if line.errors > 0 || !line.start.start().is_over() || line.legacy.is_some() {
            return None;
        }
        let (mut scanner, mut clean) = (line.start, 0);
        let text = take_text(src, |bytes| match scanner.step(&bytes[..content]) {
            Step::Text(text) => {
                clean = text.len();
                if clean == content { text } else { "" }
            }
            _ => "",
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

    /// Validates `bytes[..until]` from where that has been done on, and counts the errors. Returns the
    /// one that rejects the line, if there is one.
    fn check(
        &mut self,
        line: &mut OpenLine,
        bytes: &[u8],
        until: usize,
        next: Next,
    ) -> Option<Utf8Error> {
        loop {
            let mut scanner = self.decoder.scanner();
            let step = match bytes.get(line.checked..until).unwrap_or_default() {
                // What may be the delimiter shows that there is no BOM before it.
                [] if until == 0 => scanner.open(bytes),
                new if line.legacy.is_some() => Some(scanner.step_legacy(new, None)),
                new => Some(step(&mut scanner, new, next)),
            };
            self.decoder.continue_from(scanner);
            let error = match step {
                None | Some(Step::Hold) => return None,
                Some(Step::Text(text)) => {
                    line.checked += text.len();
                    continue;
                }
                Some(Step::Silent(len)) => {
                    line.checked += len;
                    continue;
                }
                Some(Step::Error(error)) => error,
            };
            let at = line.checked;
            line.checked += error.bytes().len();
            self.decoder.note(error);
            line.errors += 1;
            if self.legacy.is_some() && error.kind().is_ill_formed() {
                line.legacy = self.legacy.turn(line.start.position(), at);
                if line.legacy.is_some() {
                    self.decoder.close_start();
                }
            } else if self.mode == ErrorMode::Fatal {
                return Some(error);
            }
        }
    }

    /// Takes a line off `src`, `content` of its `len` bytes being text, whose errors are counted.
    fn take_checked(
        &mut self,
        line: OpenLine,
        src: &mut BytesMut,
        content: usize,
        len: usize,
        next: Next,
    ) -> Result<Line, LineError> {
        let mut bytes = src.split_to(content);
        let text = if self.legacy.is_some() {
            self.legacy.text(self.mode, line.start, line.legacy, &bytes)
        } else {
            repair(self.mode, &mut Utf8Decoder::at(line.start), &mut bytes, next)
        };
        self.end_repaired(line, src, text, content, len)
    }

    /// Takes a line off `src`, as [`take_checked`](Self::take_checked) does, and counts its errors.
    fn take_repaired(
        &mut self,
        line: OpenLine,
        src: &mut BytesMut,
        content: usize,
        len: usize,
        next: Next,
    ) -> Result<Line, LineError> {
        let mut bytes = src.split_to(content);
        self.decoder.continue_from(line.start);
        let text = repair(self.mode, &mut self.decoder, &mut bytes, next);
        self.end_repaired(line, src, text, content, len)
    }

    /// Ends a line of `len` bytes, of which the first `content` have been taken off `src`.
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
            Err(error) => Err(self.line_error(line.start, LineErrorKind::Utf8(error))),
        };
        self.end_line(src, len - content);
        self.decoder.seek(line.start.position() + len as u64);
        item
    }

    /// Rejects a line of which `content` bytes, more than the limit, do not belong to the delimiter.
    fn reject_too_long(
        &mut self,
        mut line: OpenLine,
        src: &mut BytesMut,
        content: usize,
        next: Next,
    ) -> LineError {
        let decided = line.looked.decided;
        // The index of the byte by which it is known to be too long.
        let by = match next {
            Next::End => src.len(),
            _ if self.max_length < decided => decided - 1,
            _ => self.delimiter.decided_by(src, decided, self.max_length),
        };
        // Only an error that was known before that byte is reported instead.
        let known = &src[..by];
        let until = self.delimiter.find(known, Looked::at(decided.min(by))).content();
        let after = known.get(until).map_or(Next::More, |&byte| Next::Byte(byte));
        let (kind, len) = match self.check(&mut line, known, until, after) {
            Some(error) => (LineErrorKind::Utf8(error), line.checked),
            None => (LineErrorKind::TooLong { max_length: self.max_length }, content),
        };
        let error = self.line_error(line.start, kind);
        self.reject(line.start, src, len);
        error
    }

    /// Rejects the line at the front of `src` and drops `len` bytes of it.
    fn reject(&mut self, start: Scanner, src: &mut BytesMut, len: usize) {
        self.decoder.close_start();
        self.decoder.seek(start.position());
        self.pass(src, len);
        self.state = State::Rejected(Looked::NOTHING);
    }

    fn line(&self, line: OpenLine, text: ByteString, end: LineEnd) -> Line {
        Line { text, number: self.number, offset: line.start.position(), end }
    }

    fn line_error(&self, start: Scanner, kind: LineErrorKind) -> LineError {
        LineError { number: self.number, offset: start.position(), kind }
    }

    /// Opens the line that begins at the front of the buffer.
    fn open_line(&mut self) {
        let legacy = self.legacy.has_turned().then_some(0);
        let start = self.decoder.scanner();
        let looked = Looked::NOTHING;
        self.state = State::Line(OpenLine { start, looked, checked: 0, errors: 0, legacy });
    }

    /// Ends the line, and drops `len` bytes of `src`, of which the last is its delimiter's.
    fn end_line(&mut self, src: &mut BytesMut, len: usize) {
        let last = len.checked_sub(1).map(|at| src[at]);
        self.pass(src, len);
        self.number += 1;
        let after_cr = last.is_some_and(|last| self.delimiter.takes_lf_after(last));
        self.state = State::Start { after_cr };
    }

    /// Drops bytes that are not looked at.
    fn pass(&mut self, src: &mut BytesMut, len: usize) {
        self.decoder.skip(len);
        src.advance(len);
    }
}

/// Returns what `bytes` begin with, in view of what comes after them.
fn step<'a>(scanner: &mut Scanner, bytes: &'a [u8], next: Next) -> Step<'a> {
    let step = scanner.step(bytes);
    if !matches!(step, Step::Hold) {
        return step;
    }
    let broken = match next {
        Next::More => None,
        _ if bytes.is_empty() => None,
        Next::End => scanner.finish(bytes),
        Next::Byte(byte) => scanner.break_off(bytes, byte),
    };
    broken.map_or(Step::Hold, Step::Error)
}

/// Makes a line's text of its bytes, at which `decoder` is, and counts the errors.
fn repair(
    mode: ErrorMode,
    decoder: &mut Utf8Decoder,
    bytes: &mut BytesMut,
    next: Next,
) -> Result<ByteString, Utf8Error> {
    let mut item = decoder.take_repaired(bytes, mode)?;
    let mut scanner = decoder.scanner();
    while let Step::Error(error) = step(&mut scanner, bytes, next) {
        bytes.advance(error.bytes().len());
        item.repair(mode, decoder.note(error))?;
    }
    decoder.continue_from(scanner);
    Ok(item.into_text())
}

#[cfg(feature = "stream")]
impl LegacyLines for NoLegacy {
    fn is_some(&self) -> bool {
        false
    }

    fn has_turned(&self) -> bool {
        false
    }

    fn turn(&mut self, _position: u64, _at: usize) -> Option<usize> {
        None
    }

    fn text(
        &mut self,
        _mode: ErrorMode,
        _scanner: Scanner,
        _legacy: Option<usize>,
        _bytes: &[u8],
    ) -> Result<ByteString, Utf8Error> {
        Ok(ByteString::new())
    }

    #[cfg(feature = "codec")]
    fn reset(&mut self) {}
}
