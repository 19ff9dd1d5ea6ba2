use crate::core::carry::Carry;
use crate::core::mode::ErrorMode;
use crate::core::tally::Tally;
use crate::dialect::error::DialectError;
use crate::dialect::grammar::Behind;
use crate::dialect::pieces::DialectPieces;
use crate::dialect::scanner::{DialectScanner, DialectStep};
use crate::dialect::{CodePoint, Dialect, DialectOptions};

/// Turns a stream of bytes in a [`Dialect`], in chunks cut anywhere, into code points or text, and
/// reports what is ill-formed.
///
/// [`push`](Self::push) gives text where the bytes are those of UTF-8, code points where the dialect
/// writes another thing, and errors, in the order of the stream.
///
/// Between calls it holds at most five bytes, the beginning of one sequence or of a pair.
/// `push(b"")` yields nothing and changes nothing. [`finish`](Self::finish) says what an incomplete
/// tail comes to. After an error, and after `finish`, decoding goes on with offsets that go on;
/// [`reset`](Self::reset) starts a new stream. U+FEFF is text wherever it stands, unless
/// [the options](DialectOptions::with_bom) say otherwise of the first.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectPiece};
///
/// // U+1F600 in CESU-8: a pair of surrogates of three bytes each, cut in the middle.
/// let mut decoder = DialectDecoder::new(Dialect::Cesu8);
/// let mut text = String::new();
/// for chunk in [&b"smile: \xED\xA0\xBD\xED"[..], b"", b"\xB8\x80!"] {
///     for piece in decoder.push(chunk) {
///         match piece.unwrap() {
///             DialectPiece::Text(piece) => text.push_str(piece),
///             DialectPiece::CodePoint(code_point) => text.push(code_point.to_char().unwrap()),
///         }
///     }
/// }
/// assert_eq!(decoder.finish().count(), 0);
/// assert_eq!(text, "smile: 😀!");
/// ```
#[derive(Clone, Debug)]
pub struct DialectDecoder {
    pub(crate) scanner: DialectScanner,
    carry: Carry<8>,
    mode: ErrorMode,
    pub(crate) tally: Tally<DialectError>,
}

impl DialectDecoder {
    /// Creates a decoder for a dialect as its specification has it, in [`ErrorMode::Fatal`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectPiece};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Wtf8);
    /// let text = DialectPiece::Text("žluťoučký");
    /// assert_eq!(decoder.push("žluťoučký".as_bytes()).next(), Some(Ok(text)));
    /// ```
    pub fn new(dialect: Dialect) -> Self {
        Self::with_options(DialectOptions::new(dialect))
    }

    /// Creates a decoder.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectOptions};
    ///
    /// let options = DialectOptions::new(Dialect::Rfc2279).with_rfc3629_limit();
    /// let mut decoder = DialectDecoder::with_options(options);
    /// assert!(decoder.push(b"\xF4\x90\x80\x80").next().unwrap().is_err());
    /// ```
    pub fn with_options(options: DialectOptions) -> Self {
        let mode = ErrorMode::Fatal;
        Self {
            scanner: DialectScanner::new(options, mode),
            carry: Carry::new(),
            mode,
            tally: Tally::default(),
        }
    }

    /// Sets what becomes of errors, and with that how far one of them reaches: see
    /// [the module](crate::dialect#errors). For before the first byte, as it starts a new stream.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder =
    ///     DialectDecoder::new(Dialect::Wtf8).with_error_mode(ErrorMode::Replacement);
    /// let mut text = String::new();
    /// decoder.push_to_string(b"file \xED\xA0\xBD\xFF", &mut text).unwrap();
    /// assert_eq!(text, "file \u{FFFD}\u{FFFD}");
    /// # }
    /// ```
    #[must_use]
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        let scanner = DialectScanner::new(self.scanner.options(), mode);
        Self { scanner, mode, ..Self::with_options(self.scanner.options()) }
    }

    /// Decodes the next chunk of the stream: text, code points and errors, in order.
    ///
    /// It reports errors in every mode. The iterator does the work as it is asked; what it has not
    /// reached has not been consumed ([`DialectPieces::rest`]). Run to its end, everything that the
    /// bytes so far determine has come out. Costs one pass over `chunk` (two, for CESU-8 and
    /// Modified UTF-8), and copies nothing. At the end of the stream, call [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// Each ill-formed part is an `Err` in its place. Decoding goes on behind it.
    /// [`Utf8b`](Dialect::Utf8b) has none.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{CodePoint, Dialect, DialectDecoder, DialectPiece};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Utf8b);
    /// let escaped = |value| Some(Ok(DialectPiece::CodePoint(CodePoint::new(value).unwrap())));
    /// let mut pieces = decoder.push(b"caf\xE9\xFF");
    /// assert_eq!(pieces.next(), Some(Ok(DialectPiece::Text("caf"))));
    /// assert_eq!(pieces.next(), escaped(0xDCE9));
    /// assert_eq!(pieces.next(), escaped(0xDCFF));
    /// assert_eq!(pieces.next(), None);
    /// ```
    pub fn push<'d, 'c>(&'d mut self, chunk: &'c [u8]) -> DialectPieces<'d, 'c> {
        DialectPieces::new(self, chunk, Behind::More)
    }

    /// Ends the stream: says what the bytes held come to.
    ///
    /// Usually one error, [`Incomplete`](crate::dialect::DialectErrorKind::Incomplete). Half a pair
    /// may be a code point, and in a lossy mode `ED A0 80 ED` is two errors in CESU-8: the iterator
    /// has to be run to its end. A second call is harmless and yields nothing.
    ///
    /// # Errors
    ///
    /// Each ill-formed part is an `Err`, as in [`push`](Self::push).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Cesu8).with_error_mode(ErrorMode::Replacement);
    /// assert_eq!(decoder.push(b"\xED\xA0\x80\xED").count(), 0);
    /// let errors: Vec<_> = decoder.finish().map(|piece| piece.unwrap_err().to_string()).collect();
    /// assert_eq!(errors[0], "ill-formed cesu-8 at byte 0: unpaired surrogate (ed a0 80)");
    /// assert_eq!(errors[1], "ill-formed cesu-8 at byte 3: incomplete (ed, then the end)");
    /// assert_eq!(decoder.finish().count(), 0);
    /// ```
    pub fn finish(&mut self) -> DialectPieces<'_, 'static> {
        if self.carry.is_empty() {
            self.scanner.end();
        }
        DialectPieces::new(self, &[], Behind::End)
    }

    /// Starts a new stream with the same settings: offset 0, nothing held, no error counted.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectPiece};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Rfc2279);
    /// assert_eq!(decoder.push(b"half a \xFC\x84").count(), 1);
    /// decoder.reset();
    /// assert_eq!(decoder.position(), 0);
    /// assert_eq!(decoder.push(b"new").next(), Some(Ok(DialectPiece::Text("new"))));
    /// ```
    pub fn reset(&mut self) {
        self.scanner = DialectScanner::new(self.scanner.options(), self.mode);
        self.carry.clear();
        self.tally = Tally::default();
    }

    /// Returns the dialect, and what of it is let through.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let decoder = DialectDecoder::new(Dialect::Cesu8);
    /// assert_eq!(decoder.options().dialect(), Dialect::Cesu8);
    /// ```
    pub fn options(&self) -> DialectOptions {
        self.scanner.options()
    }

    /// Returns what becomes of errors.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// assert_eq!(DialectDecoder::new(Dialect::Cesu8).error_mode(), ErrorMode::Fatal);
    /// ```
    pub fn error_mode(&self) -> ErrorMode {
        self.mode
    }

    /// Returns how many bytes of the stream have been consumed, those held included.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Cesu8);
    /// assert_eq!(decoder.push(b"abc\xED\xA0\x80").count(), 1);
    /// assert_eq!(decoder.position(), 6);
    /// ```
    pub fn position(&self) -> u64 {
        self.scanner.position() + self.carry.as_bytes().len() as u64
    }

    /// Returns the bytes that are held: the beginning of a sequence or of a pair, at most five
    /// bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
    /// assert_eq!(decoder.push(b"abc\xED\xA0\x80\xED").count(), 1);
    /// assert_eq!(decoder.incomplete(), b"\xED\xA0\x80\xED");
    /// ```
    pub fn incomplete(&self) -> &[u8] {
        self.carry.as_bytes()
    }

    /// Whether a signature was removed from the start of this stream: see
    /// [`DialectOptions::with_bom`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Cesu8);
    /// assert_eq!(decoder.push("\u{FEFF}".as_bytes()).count(), 1);
    /// assert!(!decoder.bom_seen()); // it is text
    /// ```
    pub fn bom_seen(&self) -> bool {
        self.scanner.bom_seen()
    }

    /// Returns how many errors this stream has had so far: ill-formed parts and, where text was
    /// asked for, code points that are none.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Wtf8);
    /// decoder.push(b"\xFF\xC0\x80").for_each(drop);
    /// assert_eq!(decoder.error_count(), 3);
    /// ```
    pub fn error_count(&self) -> u64 {
        self.tally.count()
    }

    /// Returns the first error of this stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
    /// decoder.push(b"ab\0cd\0").for_each(drop);
    /// assert_eq!(decoder.first_error().unwrap().valid_up_to(), 2);
    /// ```
    pub fn first_error(&self) -> Option<DialectError> {
        self.tally.first()
    }

    /// As [`resume`](Self::resume), for a character that is written as in UTF-8, appended to `text`;
    /// `None` if it is not that, and nothing has been done.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(super) fn resume_text(
        &mut self,
        input: &[u8],
        text: &mut alloc::string::String,
    ) -> Option<usize> {
        let (joined, held) = self.carry.join(input)?;
        if !self.scanner.is_under_way() {
            return None;
        }
        let c = self.scanner.take_char(&joined, held)?;
        text.push_str(c);
        self.carry.clear();
        Some(c.len() - held)
    }

    /// Reads on in what is held with the first bytes of `input`, which is empty only at the end.
    ///
    /// Returns how many bytes of `input` went into it, and what came of it, if anything.
    pub(super) fn resume(
        &mut self,
        input: &[u8],
        behind: Behind,
    ) -> (usize, Option<Result<CodePoint, DialectError>>) {
        let held = self.carry.as_bytes().len();
        let mut joined = [0; 6];
        let taken = input.len().min(joined.len() - held);
        joined[..held].copy_from_slice(self.carry.as_bytes());
        joined[held..held + taken].copy_from_slice(&input[..taken]);
        let joined = &joined[..held + taken];
        let (len, found) = match self.scanner.step_sequence(joined, behind) {
            DialectStep::CodePoint(code_point, len) => (len, Ok(code_point)),
            DialectStep::Error(error) => (error.bytes().len(), Err(self.tally.note(error))),
            DialectStep::Silent(len) => {
                self.carry.clear();
                return (len - held, None);
            }
            DialectStep::Hold | DialectStep::Text(_) => {
                self.carry.hold(joined);
                return (taken, None);
            }
        };
        // What was decided may be less than what was held: half a pair that finds no partner.
        let rest = self.carry;
        self.carry.hold(rest.as_bytes().get(len..).unwrap_or_default());
        if behind == Behind::End && self.carry.is_empty() {
            self.scanner.end();
        }
        (len.saturating_sub(held), Some(found))
    }

    /// Holds `tail`, which the last step answered with [`DialectStep::Hold`].
    pub(super) fn hold(&mut self, tail: &[u8]) {
        self.carry.hold(tail);
    }
}
