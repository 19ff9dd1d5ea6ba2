use std::io;

use bytes::{Buf, BytesMut};
use bytestring::ByteString;
use tokio_util::codec::{Decoder, Encoder};

use crate::bom::Opening;
use crate::codec::delimiter::{Delimiter, End};
use crate::codec::line::{EncodeLineError, Line, LineError, LineErrorKind};
use crate::codec::repair::decode_repaired;
use crate::decoder::Utf8Decoder;
use crate::encoder::Utf8Encoder;
use crate::error::Utf8Error;
use crate::fallback::{Fallback, FallbackReport, LineFallback};
use crate::mode::ErrorMode;
use crate::options::Utf8Options;
use crate::scanner::{Scanner, Step};
use crate::tally::Tally;
use crate::text::take_text;

/// Bytes to lines, each with its number and place.
///
/// Validation goes along as bytes arrive. In [`ErrorMode::Fatal`], the default, a line's first
/// trouble is delivered as one [`LineError`] by the call that brings the byte which decides it; the
/// rest of that line is passed over, unvalidated and uncounted, and the next line comes as if
/// nothing had been. The other modes repair what is ill-formed and keep every line, but for those
/// that are too long. An error is an item, so that a `FramedRead` goes on behind it at once.
///
/// A repaired line can be four times as long as its bytes. The limit on a line is 65,536 bytes ([`DEFAULT_MAX_LENGTH`](Self::DEFAULT_MAX_LENGTH)) if not set
/// otherwise. It counts the bytes that came, without the signature and the delimiter; bytes that may
/// still begin the delimiter are counted once that is decided. Of two troubles the one decided by
/// the earlier byte is reported; where it is the same byte, the line is too long.
///
/// A line that is not finished stays in the read buffer: the limit, the delimiter, and what was
/// read in one go are the most it holds. Characters that a
/// [`Strictness`](crate::Strictness) refuses are allowed in delimiters. Settings are for before the
/// first byte, or before [`reset`](Self::reset). See [the module](crate::codec) for closing a `Framed`.
///
/// # Errors
///
/// Only those of the reader; lines that are refused are items.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use tokio_util::codec::FramedRead;
/// use utf8_codec::codec::Utf8LinesCodec;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let log = &b"GET /caf\xC3\xA9\nGET /caf\xE9\nGET /tea\n"[..];
/// let mut lines = FramedRead::with_capacity(log, Utf8LinesCodec::new(), 1);
/// let mut seen = Vec::new();
/// while let Some(line) = lines.next().await {
///     seen.push(match line? {
///         Ok(line) => line.to_string(),
///         Err(error) => error.to_string(),
///     });
/// }
/// assert_eq!(seen, ["GET /café", "line 2, from byte 11 on, is not acceptable utf-8", "GET /tea"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Utf8LinesCodec {
    decoder: Utf8Decoder,
    mode: ErrorMode,
    delimiter: Delimiter,
    limit: usize,
    fallback: Option<Box<LineFallback>>,
    encoder: Utf8Encoder,
    /// The number of the line that `state` speaks of.
    number: u64,
    state: State,
}

/// Where in a line the front of the read buffer is.
#[derive(Clone, Copy, Debug)]
enum State {
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
struct OpenLine {
    /// The machine as it was at the line's first byte.
    start: Scanner,
    /// Bytes known not to belong to the delimiter.
    decided: usize,
    /// Bytes that have been validated; errors among them have been repaired and counted.
    checked: usize,
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

impl Utf8LinesCodec {
    /// The limit on the length of a line if none is set, in bytes: 64 KiB.
    pub const DEFAULT_MAX_LENGTH: usize = 64 * 1024;

    /// Creates a codec with the default options: lines ended by LF or CR LF, of 64 KiB at the most,
    /// in [`ErrorMode::Fatal`], writing no signature.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut buffer = BytesMut::from("first\r\nsecond");
    /// let line = Utf8LinesCodec::new().decode(&mut buffer).unwrap().unwrap().unwrap();
    /// assert_eq!(line.text, "first");
    /// ```
    pub fn new() -> Self {
        Self {
            decoder: Utf8Decoder::new(),
            mode: ErrorMode::Fatal,
            delimiter: Delimiter::lf(),
            limit: Self::DEFAULT_MAX_LENGTH,
            fallback: None,
            encoder: Utf8Encoder::new(),
            number: 1,
            state: State::Start { after_cr: false },
        }
    }

    /// Sets how streams begin and what they may contain.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::{Strictness, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_strictness(Strictness::new().refuse_controls());
    /// let mut codec = Utf8LinesCodec::new().with_options(options);
    /// let mut buffer = BytesMut::from("plain\nbell\x07\n");
    /// assert!(codec.decode(&mut buffer).unwrap().unwrap().is_ok());
    /// assert!(codec.decode(&mut buffer).unwrap().unwrap().is_err());
    /// ```
    #[must_use]
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { decoder: Utf8Decoder::with_options(options), ..self }
    }

    /// Goes on where a decoder, which holds nothing, has come to: the next line begins there.
    #[cfg(feature = "stream")]
    pub(crate) fn with_decoder(self, decoder: Utf8Decoder) -> Self {
        Self { decoder, ..self }
    }

    /// Sets what becomes of ill-formed parts.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new().with_error_mode(ErrorMode::Windows1252);
    /// let mut buffer = BytesMut::from(&b"na\xEFve\n"[..]);
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap().text, "naïve");
    /// ```
    #[must_use]
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Sets what ends a line.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::{Delimiter, Utf8LinesCodec};
    ///
    /// let mut codec = Utf8LinesCodec::new().with_delimiter(Delimiter::nul());
    /// let mut buffer = BytesMut::from("one\ntwo\0");
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap().text, "one\ntwo");
    /// ```
    #[must_use]
    pub fn with_delimiter(self, delimiter: Delimiter) -> Self {
        Self { delimiter, ..self }
    }

    /// Sets the limit on the length of a line, in bytes as they come, without signature and
    /// delimiter.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new().with_max_length(4);
    /// let mut buffer = BytesMut::from("four\r\nfive!\n");
    /// assert!(codec.decode(&mut buffer).unwrap().unwrap().is_ok());
    /// assert!(codec.decode(&mut buffer).unwrap().unwrap().is_err());
    /// ```
    #[must_use]
    pub fn with_max_length(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Reads what is not UTF-8 in a legacy encoding; the error mode is for what the options refuse.
    /// What is encoded is UTF-8.
    ///
    /// With [`Fallback::line`] a line is UTF-8 or legacy as a whole, the rule of IRC. The lines are
    /// those of this codec, with its delimiter and its limit. A delimiter is found by its bytes: in
    /// legacy encodings of several bytes only CR, LF and NUL are never part of a character.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::fallback::{Fallback, LegacyEncoding};
    ///
    /// let irc = Fallback::line(LegacyEncoding::windows_1252());
    /// let mut codec = Utf8LinesCodec::new().with_fallback(irc);
    /// let mut buffer = BytesMut::from(&b"caf\xC3\xA9\r\n5 \x80 \xC3\xA9\r\n"[..]);
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "café");
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "5 € Ã©");
    /// ```
    #[must_use]
    pub fn with_fallback(self, fallback: Fallback) -> Self {
        Self { fallback: Some(Box::new(LineFallback::new(fallback))), ..self }
    }

    /// Sets the encoder: whether a signature is written.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Encoder;
    /// use utf8_codec::Utf8Encoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new().with_encoder(Utf8Encoder::with_bom());
    /// let mut buffer = BytesMut::new();
    /// codec.encode("text", &mut buffer).unwrap();
    /// assert_eq!(buffer, b"\xEF\xBB\xBFtext\n"[..]);
    /// ```
    #[must_use]
    pub fn with_encoder(self, encoder: Utf8Encoder) -> Self {
        Self { encoder, ..self }
    }

    /// Starts new streams, both ways, with the same settings: line 1, offset 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new();
    /// codec.decode(&mut BytesMut::from("line\n")).unwrap();
    /// codec.reset();
    /// let line = codec.decode(&mut BytesMut::from("line\n")).unwrap().unwrap().unwrap();
    /// assert_eq!(line.number, 1);
    /// ```
    pub fn reset(&mut self) {
        self.decoder.reset();
        if let Some(fallback) = &mut self.fallback {
            fallback.reset();
        }
        self.encoder.reset();
        self.number = 1;
        self.state = State::Start { after_cr: false };
    }

    /// Returns the decoder within, which knows whether a signature was removed and how many bytes
    /// were skipped. Its position is how far the read buffer has been looked at.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let mut codec = Utf8LinesCodec::new().with_options(options);
    /// codec.decode(&mut BytesMut::from("\u{FEFF}line\n")).unwrap();
    /// assert!(codec.decoder().bom_seen());
    /// ```
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.decoder
    }

    /// Returns how many errors have been found in the lines: see [`Utf8Decoder::error_count`].
    ///
    /// In [`ErrorMode::Fatal`] that is one for each line refused for its bytes; a line that is too
    /// long counts for nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new().with_error_mode(ErrorMode::Skip);
    /// codec.decode(&mut BytesMut::from(&b"\xFF.\xFF\n"[..])).unwrap();
    /// assert_eq!(codec.error_count(), 2);
    /// ```
    pub fn error_count(&self) -> u64 {
        self.decoder.error_count()
    }

    /// Returns the first of these errors, repaired or not.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new();
    /// codec.decode(&mut BytesMut::from(&b"ab\xFF\n"[..])).unwrap();
    /// assert_eq!(codec.first_error().unwrap().valid_up_to(), 2);
    /// ```
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.decoder.first_error()
    }

    /// Returns what the fallback, if there is one, has done in the lines. Delimiters do not count.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::fallback::{Fallback, LegacyEncoding};
    ///
    /// let irc = Fallback::line(LegacyEncoding::windows_1252());
    /// let mut codec = Utf8LinesCodec::new().with_fallback(irc);
    /// codec.decode(&mut BytesMut::from(&b"caf\xE9\r\n"[..])).unwrap();
    /// assert_eq!((codec.fallback_report().runs, codec.fallback_report().bytes), (1, 1));
    /// ```
    pub fn fallback_report(&self) -> FallbackReport {
        self.fallback.as_ref().map(|fallback| fallback.report()).unwrap_or_default()
    }

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
            let ascii = delimiter.last_byte().map_or("", |end| scanner.peek_ascii(end, bytes));
            let End::Found { content, next } = delimiter.find(bytes, ascii.len()) else {
                return "";
            };
            let text = match ascii.get(..content) {
                _ if content > self.limit => None,
                None => scanner.peek_whole(&bytes[..content]),
                ascii => ascii,
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
        let line = Line { text, number: self.number, offset, terminated: true };
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
            let line = self.line(line, text, true);
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
            Ok(text) => Ok(self.line(line, text, content < next)),
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
    fn line(&self, line: OpenLine, text: ByteString, terminated: bool) -> Line {
        Line { text, number: self.number, offset: line.start.position(), terminated }
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

    /// Opens the line that begins at the front of the buffer.
    fn open_line(&mut self) {
        let legacy = self.has_turned().then_some(0);
        let start = self.decoder.scanner;
        self.state = State::Line(OpenLine { start, decided: 0, checked: 0, legacy });
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

impl Default for Utf8LinesCodec {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder for Utf8LinesCodec {
    type Item = Result<Line, LineError>;
    type Error = io::Error;

    #[inline]
    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        Ok(match self.take_usual(src) {
            Some(line) => Some(Ok(line)),
            None => self.advance(src, Behind::More),
        })
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
        let missing = self.decoder.finish_behind(&[]);
        if let (Some(error), ErrorMode::Fatal) = (missing, self.mode) {
            let start = self.decoder.scanner;
            let line = OpenLine { start, decided: 0, checked: 0, legacy: None };
            let error = self.line_error(line, LineErrorKind::Utf8(error));
            self.number += 1;
            return Ok(Some(Err(error)));
        }
        Ok(None)
    }
}

impl<T: AsRef<str>> Encoder<T> for Utf8LinesCodec {
    type Error = EncodeLineError;

    /// Writes `text` and the delimiter. Text that would be read back as other lines is refused: it
    /// contains the delimiter, or it ends in bytes that would become part of it. The limit is the
    /// reader's; a U+FEFF in front of the first line is a signature to those who strip it.
    fn encode(&mut self, text: T, dst: &mut BytesMut) -> Result<(), EncodeLineError> {
        let text = text.as_ref();
        if let Some(at) = self.delimiter.find_in_text(text) {
            return Err(EncodeLineError::EmbeddedDelimiter { at });
        }
        let delimiter = self.delimiter.as_str();
        dst.reserve(text.len() + delimiter.len());
        for bytes in self.encoder.push(text) {
            dst.extend_from_slice(bytes);
        }
        dst.extend_from_slice(delimiter.as_bytes());
        Ok(())
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
    let mut item = decode_repaired(&mut scanner, &mut Tally::default(), bytes, mode)?;
    while let Step::Error(error) = look(&mut scanner, bytes, behind) {
        bytes.advance(error.bytes().len());
        item.repair(mode, error)?;
    }
    Ok(item.into_text())
}
