use std::io;

use bytes::{Buf, BytesMut};
use bytestring::ByteString;
use tokio_util::codec::Decoder;

use crate::codec::lines_codec::Utf8LinesCodec;
use crate::core::bom::Opening;
use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::scanner::{Scanner, Step};
use crate::core::text::take_text;
use crate::lines::delimiter::End;
use crate::lines::line::{Line, LineEnd, LineError, LineErrorKind};

/// Where in a line the front of the read buffer is.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// At its start, no byte of it having been seen. The delimiter before it may be a CR, to which
    /// an LF would belong.
    Start { after_cr: bool },
    /// At its start, some of its bytes having been seen.
    Line(OpenLine),
    /// In the middle of a line that has been refused.
    Refused,
}

/// What has been found out about the bytes of a line at the front of the read buffer.
///
/// Both counts only save work: text is never taken on their word, so a caller that changes the
/// buffer between two calls gets other lines, and nothing worse.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenLine {
    /// The machine as it was at the line's first byte.
    start: Scanner,
    /// Bytes known not to belong to the delimiter.
    decided: usize,
    /// Bytes that have been validated; errors among them have been repaired and counted.
    checked: usize,
    /// How many errors there are among them.
    errors: u64,
    /// From where on it is in a legacy encoding, if it is.
    legacy: Option<usize>,
}

/// What stands behind the bytes that are looked at.
#[derive(Clone, Copy)]
enum Behind {
    /// A byte that begins a delimiter, or may begin it; so it continues no sequence.
    Byte(u8),
    /// Bytes to come.
    More,
    /// The end of the stream.
    End,
}

impl Decoder for Utf8LinesCodec {
    type Item = Result<Line, LineError>;
    type Error = io::Error;

    #[inline]
    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        // (In two steps: one that both results pass through would be a place in memory.)
        if let Some(line) = self.take_usual(src) {
            return Ok(Some(Ok(line)));
        }
        let item = self.advance(src, Behind::More);
        Ok(item)
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        if let Some(item) = self.advance(src, Behind::More) {
            return Ok(Some(item));
        }
        if matches!(self.state, State::Line(_)) && !src.is_empty() {
            return Ok(self.advance(src, Behind::End));
        }
        if matches!(self.state, State::Refused) {
            self.end_line(src, src.len());
        }
        self.state = State::Start { after_cr: false };
        let missing = self.decoder.finish_after(&[]);
        if let (Some(error), ErrorMode::Fatal) = (missing, self.mode) {
            let start = self.decoder.scanner;
            let line = OpenLine { start, decided: 0, checked: 0, errors: 0, legacy: None };
            let error = self.line_error(line, LineErrorKind::Utf8(error));
            self.number += 1;
            return Ok(Some(Err(error)));
        }
        Ok(None)
    }
}

impl Utf8LinesCodec {
    /// Whether this line, and all that come, are in a legacy encoding.
    #[inline]
    fn has_turned(&self) -> bool {
        self.fallback.as_ref().is_some_and(|fallback| fallback.has_turned())
    }

    /// Takes the usual line off `src`: all there, short enough, nothing in it that is not text, and
    /// nothing else asked. What it gives and leaves is what [`advance`](Self::advance) would, sooner.
    #[inline]
    fn take_usual(&mut self, src: &mut BytesMut) -> Option<Line> {
        if self.has_turned() {
            return None;
        }
        let Self { decoder: Utf8Decoder { scanner, .. }, delimiter, .. } = self;
        if !matches!(self.state, State::Start { after_cr: false }) || !scanner.is_plain() {
            return None;
        }
        let mut line_end = None;
        let text = take_text(src, |bytes| {
            let front = delimiter.last_byte().map_or("", |end| scanner.peek_text(end, bytes));
            let End::Found { content, next } = delimiter.find(bytes, front.len()) else {
                return "";
            };
            let text = match front.get(..content) {
                _ if content > self.limit => None,
                None => scanner.peek_whole(&bytes[..content]),
                text => text,
            };
            line_end = text.map(|_| next);
            text.unwrap_or_default()
        });
        let next = line_end?;
        let offset = scanner.position();
        scanner.seek(offset + next as u64);
        let delimiter_len = next - text.len();
        let after_cr = delimiter.takes_lf_after(src[delimiter_len - 1]);
        self.state = State::Start { after_cr };
        src.advance(delimiter_len);
        let line = Line { text, number: self.number, offset, end: LineEnd::Delimiter };
        self.number += 1;
        Some(line)
    }

    /// Goes on at the front of `src`. `None` where more bytes are needed.
    fn advance(&mut self, src: &mut BytesMut, behind: Behind) -> Option<Result<Line, LineError>> {
        loop {
            match self.state {
                State::Start { .. } if src.is_empty() => return None,
                State::Start { after_cr: true } if src[0] == b'\n' => {
                    self.pass(src, 1);
                    self.state = State::Start { after_cr: false };
                }
                State::Start { .. } => self.open_line(),
                State::Line(mut line) => {
                    let start = self.decoder.scanner.start();
                    match start.peek(src) {
                        Opening::Silent(len) => {
                            self.decoder.step(&src[..len]);
                            src.advance(len);
                            self.open_line();
                        }
                        Opening::Hold if start.may_skip() && matches!(behind, Behind::More) => {
                            return None;
                        }
                        opening => {
                            if let Opening::Error(error) = opening {
                                // A signature that is forbidden is content, whatever the delimiter.
                                line.decided = line.decided.max(error.bytes().len());
                            }
                            return self.go_on(line, src, behind);
                        }
                    }
                }
                State::Refused => match self.delimiter.find(src, 0) {
                    End::Found { next, .. } => self.end_line(src, next),
                    End::Open { content } => {
                        self.pass(src, content);
                        return None;
                    }
                },
            }
        }
    }

    /// Looks at what is new in `line`, which begins at the front of `src`.
    fn go_on(
        &mut self,
        mut line: OpenLine,
        src: &mut BytesMut,
        behind: Behind,
    ) -> Option<Result<Line, LineError>> {
        if src.len() < line.decided.max(line.checked) {
            // This is not the buffer that was: begin the line again.
            line = OpenLine { decided: 0, checked: 0, ..line };
            self.decoder.scanner = line.start;
        }
        let end = match behind {
            Behind::End => End::Open { content: src.len() },
            _ => self.delimiter.find(src, line.decided),
        };
        let content = end.content();
        if let End::Found { next, .. } = end
            && content <= self.limit
            && let Some(text) = self.take_clean(line, src, content)
        {
            let line = self.line(line, text, LineEnd::Delimiter);
            self.end_line(src, next - content);
            return Some(Ok(line));
        }

        let too_long_by = (content > self.limit).then(|| match behind {
            Behind::End => src.len(),
            _ if self.limit < line.decided => line.decided - 1,
            _ => self.delimiter.decided_by(src, line.decided, self.limit),
        });
        // Of a line that is too long only what was known before that can be reported.
        let (until, behind) = match too_long_by {
            None => (content, src.get(content).map_or(behind, |&byte| Behind::Byte(byte))),
            Some(by) => {
                let known = self.delimiter.find(&src[..by], line.decided.min(by)).content();
                (known, src[..by].get(known).map_or(Behind::More, |&byte| Behind::Byte(byte)))
            }
        };
        loop {
            let scanner = &mut self.decoder.scanner;
            let step = match src.get(line.checked..until).unwrap_or_default() {
                // What may be the delimiter shows that there is no signature before it.
                [] if until == 0 => scanner.open(&src[..too_long_by.unwrap_or(src.len())]),
                new if line.legacy.is_some() => Some(scanner.step_legacy(new, None)),
                new => Some(look(scanner, new, behind)),
            };
            match step {
                None | Some(Step::Hold) => break,
                Some(Step::Text(text)) => line.checked += text.len(),
                Some(Step::Silent(len)) => line.checked += len,
                Some(Step::Error(error)) => {
                    let at = line.checked;
                    line.checked += error.bytes().len();
                    self.decoder.tally.note(error);
                    line.errors += 1;
                    if let Some(fallback) = &mut self.fallback
                        && error.kind().is_ill_formed()
                    {
                        line.legacy = fallback.turn(line.start.position(), at);
                        if line.legacy.is_some() {
                            self.decoder.scanner.close_start();
                        }
                    } else if self.mode == ErrorMode::Fatal {
                        let kind = LineErrorKind::Utf8(error);
                        return Some(Err(self.refuse(line, src, line.checked, kind)));
                    }
                }
            }
        }
        if too_long_by.is_some() {
            let kind = LineErrorKind::TooLong { limit: self.limit };
            return Some(Err(self.refuse(line, src, content, kind)));
        }

        let next = match (end, behind) {
            (End::Found { next, .. }, _) => next,
            (End::Open { .. }, Behind::End) => src.len(),
            (End::Open { .. }, _) => {
                line.decided = content;
                self.state = State::Line(line);
                return None;
            }
        };
        let mut bytes = src.split_to(content);
        let text = match &mut self.fallback {
            Some(fallback) => fallback.text(self.mode, line.start, line.legacy, &bytes),
            None => repair(self.mode, line.start, &mut bytes, behind),
        };
        let item = match text {
            Ok(text) => {
                let end = if content < next { LineEnd::Delimiter } else { LineEnd::Stream };
                Ok(self.line(line, text, end))
            }
            Err(error) => Err(self.line_error(line, LineErrorKind::Utf8(error))),
        };
        self.end_line(src, next - content);
        self.decoder.scanner.seek(line.start.position() + next as u64);
        Some(item)
    }

    /// Takes the `content` bytes of `line` off `src` if they are text, all of them.
    fn take_clean(
        &mut self,
        line: OpenLine,
        src: &mut BytesMut,
        content: usize,
    ) -> Option<ByteString> {
        if !line.start.start().is_over() || line.legacy.is_some() {
            return None;
        }
        let mut scanner = line.start;
        let text = take_text(src, |bytes| match scanner.step(&bytes[..content]) {
            Step::Text(text) if text.len() == content => text,
            _ => "",
        });
        // What is wrong, if anything, is found, and counted, elsewhere.
        (text.len() == content).then(|| {
            self.decoder.scanner = scanner;
            text
        })
    }

    /// Makes of the line that is open the item it is.
    fn line(&self, line: OpenLine, text: ByteString, end: LineEnd) -> Line {
        Line { text, number: self.number, offset: line.start.position(), end }
    }

    fn line_error(&self, line: OpenLine, kind: LineErrorKind) -> LineError {
        LineError { number: self.number, offset: line.start.position(), kind }
    }

    /// Refuses the line that is open, `len` bytes of which are done with.
    fn refuse(
        &mut self,
        line: OpenLine,
        src: &mut BytesMut,
        len: usize,
        kind: LineErrorKind,
    ) -> LineError {
        self.decoder.scanner.close_start();
        self.decoder.scanner.seek(line.start.position());
        self.pass(src, len);
        self.state = State::Refused;
        self.line_error(line, kind)
    }

    /// The decoder as it was at the front of the read buffer, and the mode.
    #[cfg(feature = "stream")]
    pub(crate) fn into_decoder(self) -> (Utf8Decoder, ErrorMode) {
        let Self { mut decoder, mode, state, .. } = self;
        if let State::Line(line) = state {
            decoder.scanner = line.start;
            decoder.tally.forget(line.errors);
        }
        (decoder, mode)
    }

    /// Opens the line that begins at the front of the buffer.
    fn open_line(&mut self) {
        let legacy = self.has_turned().then_some(0);
        let start = self.decoder.scanner;
        self.state = State::Line(OpenLine { start, decided: 0, checked: 0, errors: 0, legacy });
    }

    /// Ends the line: `len` bytes, of which the last is its delimiter's, are done with.
    fn end_line(&mut self, src: &mut BytesMut, len: usize) {
        let last = len.checked_sub(1).map(|at| src[at]);
        self.pass(src, len);
        self.number += 1;
        let after_cr = last.is_some_and(|last| self.delimiter.takes_lf_after(last));
        self.state = State::Start { after_cr };
    }

    /// Drops bytes that are not looked at.
    fn pass(&mut self, src: &mut BytesMut, len: usize) {
        self.decoder.scanner.seek(self.decoder.scanner.position() + len as u64);
        src.advance(len);
    }
}

/// Says what `bytes` begin with, in view of what stands behind them.
fn look<'a>(scanner: &mut Scanner, bytes: &'a [u8], behind: Behind) -> Step<'a> {
    let step = scanner.step(bytes);
    if !matches!(step, Step::Hold) {
        return step;
    }
    let broken = match behind {
        Behind::More => None,
        _ if bytes.is_empty() => None,
        Behind::End => scanner.finish(bytes),
        Behind::Byte(byte) => scanner.break_off(bytes, byte),
    };
    broken.map_or(Step::Hold, Step::Error)
}

/// Makes a line's text of its bytes, which have been looked at and counted before.
fn repair(
    mode: ErrorMode,
    mut scanner: Scanner,
    bytes: &mut BytesMut,
    behind: Behind,
) -> Result<ByteString, Utf8Error> {
    let mut decoder = Utf8Decoder::at(scanner);
    let mut item = decoder.take_repaired(bytes, mode)?;
    scanner = decoder.scanner();
    while let Step::Error(error) = look(&mut scanner, bytes, behind) {
        bytes.advance(error.bytes().len());
        item.repair(mode, error)?;
    }
    Ok(item.into_text())
}
