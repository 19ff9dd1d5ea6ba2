//! The line at the front: in which encoding is it, is it valid, and what is its text?

use crate::decoder::{AtEnd, ErrorMode, Scanner, Step, Utf8Decoder, Utf8Error};
use crate::lines::machine::{LineAction, LineMachine, LineStep, OpenLine};
use crate::lines::{LineEnd, LineError, LongLines, delimiter::Searched};

/// The encoding of a line, as far as its bytes determine it.
#[derive(Clone, Copy, Debug)]
pub(super) enum LineEncoding {
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

impl LineMachine {
    /// If a BOM decides the encoding, decides it at the start of `line`, the first.
    #[inline]
    pub(super) fn decide(&mut self, line: &mut OpenLine) {
        let Some(fallback) = self.fallback.as_mut().filter(|it| it.awaits_bom()) else { return };
        fallback.decide(&mut self.decoder);
        if fallback.is_legacy() {
            line.start = self.decoder.scanner();
            line.encoding = LineEncoding::Legacy { from: 0 };
        }
    }

    /// Whether the errors of `line` can be counted while they are repaired: none has been counted, and the mode
    /// repairs each of them.
    pub(super) fn is_repaired_at_once(&self, line: &OpenLine, content: usize) -> bool {
        line.errors == 0 && content > 0 && self.mode != ErrorMode::Fatal && !self.falls_back()
    }

    /// Whether ill-formed parts fall back to a legacy encoding.
    pub(super) fn falls_back(&self) -> bool {
        self.fallback.as_ref().is_some_and(|it| !it.is_declared_utf8())
    }

    /// Looks for a rejected character in bytes in the legacy encoding, and steps over those before it.
    fn step_legacy(
        &self,
        scanner: &mut Scanner,
        bytes: &[u8],
        next: LineAction,
    ) -> Step<&'static str> {
        let at_end = if next.is_end() { next.at_end() } else { AtEnd::No };
        let fallback = self.fallback.as_ref();
        fallback.map_or(Step::NeedMore, |it| it.step_rejected(scanner, bytes, at_end))
    }

    /// Returns `content`, the bytes of `line`, if all are text. Otherwise notes how many are.
    #[inline]
    pub(super) fn take_clean<'b>(
        &mut self,
        line: &mut OpenLine,
        content: &'b [u8],
    ) -> Option<&'b str> {
        let is_legacy = matches!(line.encoding, LineEncoding::Legacy { .. });
        if line.errors > 0 || !line.start.start().is_over() || is_legacy {
            return None;
        }
        let mut scanner = line.start;
        let text = match scanner.step(content) {
            Step::Text(text) => text,
            _ => "",
        };
        if text.len() > line.checked {
            line.checked = text.len();
            self.decoder.continue_from(scanner);
        }
        (text.len() == content.len()).then(|| {
            self.decoder.continue_from(scanner);
            text
        })
    }

    /// Validates the bytes of `bytes[..until]` that have not been validated, and counts the errors. Returns the
    /// error that rejects the line, if there is one.
    pub(super) fn check(
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
            if let LineEncoding::Parts { from } = line.encoding {
                let next = match step {
                    None | Some(Step::NeedMore) => next,
                    Some(Step::Error(error)) if error.kind().is_ill_formed() => LineAction::More,
                    _ => LineAction::End,
                };
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
        line.rejected += u64::from(error.is_rejection());
    }

    /// Takes a line of `len` bytes. The first `content` are text, before `next`. Counts their errors, unless
    /// [`check`](Self::check) has.
    pub(super) fn take_repaired<'b>(
        &mut self,
        mut line: OpenLine,
        bytes: &[u8],
        content: usize,
        (len, end): (usize, LineEnd),
        next: LineAction,
    ) -> LineStep<'b> {
        self.repaired.clear();
        let text = match &mut self.fallback {
            Some(fallback) if !fallback.is_declared_utf8() => {
                let legacy = match line.encoding {
                    LineEncoding::Legacy { from } => Some(from),
                    _ => None,
                };
                let (mode, text) = (self.mode, &mut self.repaired);
                // The limit ends ill-formed parts. What has not been checked begins a character that the limit splits.
                let (content, at_end) = match (next, legacy) {
                    (LineAction::Cut(_), None) => (content.min(line.checked), AtEnd::Other),
                    _ => (content, next.at_end()),
                };
                let at = (line.start, at_end);
                fallback.decode_line(at, &bytes[..content], legacy, mode, text)
            }
            _ => {
                let mut decoder = Utf8Decoder::at(line.start);
                let text = self.repair(&mut decoder, &bytes[..content], next);
                if line.errors == 0 && content > 0 {
                    let first = decoder.first_error();
                    line.errors = decoder.error_count();
                    line.first_error_offset = first.map_or(0, |error| error.valid_up_to());
                    self.decoder.continue_after(&decoder);
                }
                text
            }
        };
        let item = match text {
            Ok(()) => Ok((None, self.info(line, end))),
            Err(error) => Err(self.not_utf8(line.start, error)),
        };
        if end == LineEnd::Limit {
            self.reject(line.start, len);
        } else {
            self.end_line(bytes, len);
            self.decoder.scanner_mut().seek(line.start.position() + len as u64);
        }
        (len, Some(item))
    }

    /// Decodes and repairs the bytes of a line, at which `decoder` is, and counts the errors.
    fn repair(
        &mut self,
        decoder: &mut Utf8Decoder,
        bytes: &[u8],
        next: LineAction,
    ) -> Result<(), Utf8Error> {
        let text = &mut self.repaired;
        let read = decoder.decode_lossy(bytes, self.mode, text).map_err(|(_, error)| error)?;
        let mut tail = &bytes[read..];
        let mut scanner = decoder.scanner();
        while let Step::Error(error) = step(&mut scanner, tail, next) {
            tail = &tail[error.bytes().len()..];
            decoder.note(error);
            text.push_str(&decoder.repair(self.mode, &error).ok_or(error)?);
        }
        decoder.continue_from(scanner);
        Ok(())
    }

    /// Rejects or cuts a line with `content` bytes before the delimiter, more than the limit. The rest is left: text that follows
    /// begins with the first character beyond the limit.
    pub(super) fn take_too_long<'b>(
        &mut self,
        mut line: OpenLine,
        bytes: &'b [u8],
        content: usize,
        next: LineAction,
    ) -> LineStep<'b> {
        let decided = line.searched.decided;
        // The index of the byte that decides that the line is too long, or the last one if the end decides.
        let by = if self.max_length < decided {
            decided - 1
        } else {
            self.delimiter.decided_by(bytes, decided, self.max_length)
        };
        // An error that an earlier byte decides is reported instead.
        let known = &bytes[..by];
        let until = self.delimiter.find(known, Searched::at(decided.min(by))).content();
        let after = known.get(until).map_or(LineAction::More, |&byte| LineAction::Byte(byte));
        let mut error = self.check(&mut line, known, until, after);
        if error.is_none() && self.long_lines == LongLines::Cut {
            let rest = LineAction::Cut(bytes[self.max_length]);
            // The next byte shows that the bytes that can begin a delimiter are content. It can also show that a BOM is missing.
            // So does the end of the stream, for which a NUL is appended.
            if self.decoder.scanner().start().may_skip() {
                let ends = bytes.len() < 3 && content == bytes.len() && next.is_end();
                let opening = if ends { &[bytes, b"\0"].concat() } else { bytes };
                error = self.check(&mut line, opening, 0, LineAction::More);
            }
            if error.is_none() && self.max_length > 0 {
                error = self.check(&mut line, bytes, self.max_length, rest);
            }
            if error.is_none() {
                return self.cut(line, bytes, rest);
            }
        }
        let (number, offset) = (self.number, line.start.position());
        let too_long = LineError::TooLong { number, offset, max_length: self.max_length };
        self.reject(line.start, line.checked);
        (line.checked, Some(Err(error.unwrap_or(too_long))))
    }

    /// Takes the characters of `line` up to the limit, whose errors are counted.
    fn cut<'b>(&mut self, mut line: OpenLine, bytes: &'b [u8], rest: LineAction) -> LineStep<'b> {
        let len = line.checked.min(self.max_length);
        if let Some(text) = self.take_clean(&mut line, &bytes[..len]) {
            self.reject(line.start, len);
            return (len, Some(Ok((Some(text), self.info(line, LineEnd::Limit)))));
        }
        self.take_repaired(line, bytes, self.max_length, (len, LineEnd::Limit), rest)
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
        LineAction::Cut(byte) => {
            let mut ahead = *scanner;
            let error = ahead.break_off(bytes, byte);
            let error = error.filter(|error| error.bytes().len() <= bytes.len());
            if error.is_some() {
                *scanner = ahead;
            }
            error
        }
        LineAction::End => scanner.finish(bytes),
        LineAction::Delimiter(byte) | LineAction::Byte(byte) => scanner.break_off(bytes, byte),
    };
    broken.map_or(Step::NeedMore, Step::Error)
}
