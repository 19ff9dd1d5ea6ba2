//! How are chunks of bytes in a dialect decoded?

use core::iter::FusedIterator;

use crate::decoder::{AtEnd, BomPolicy, ErrorMode, ErrorStats, Partial, Step};
use crate::dialect::error::DialectError;
use crate::dialect::grammar::{ErrorSpan, Options, Unpaired, Values};
use crate::dialect::scanner::DialectScanner;
use crate::dialect::{Dialect, DialectPiece};

/// Decodes a stream of bytes in a [`Dialect`] to code points or text, chunk by chunk, and reports
/// ill-formed parts. A chunk can end anywhere.
///
/// [`push`](Self::push) yields, in the order of the stream, text for bytes that are the same in
/// UTF-8, code points for sequences that differ, and errors.
///
/// Between calls the decoder holds at most five bytes, the beginning of one sequence or of a pair.
/// `push(b"")` yields nothing and changes nothing. [`finish`](Self::finish) decodes the held bytes.
/// After an error and after `finish`, decoding continues and offsets keep counting;
/// [`reset`](Self::reset) starts a new stream. U+FEFF is text, unless the [BOM policy] removes,
/// requires or forbids it at the start.
///
/// [BOM policy]: Self::with_bom
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectPiece};
///
/// // U+1F600 in CESU-8: a pair of surrogates of three bytes each, split in the middle.
/// let mut decoder = DialectDecoder::new(Dialect::Cesu8);
/// let mut text = String::new();
/// for chunk in [&b"smile: \xED\xA0\xBD\xED"[..], b"", b"\xB8\x80!"] {
///     for piece in decoder.push(chunk) {
///         match piece.unwrap() {
///             DialectPiece::Text(piece) => text.push_str(piece),
///             DialectPiece::CodePoint(code_point) => text.push(char::from_u32(code_point).unwrap()),
///         }
///     }
/// }
/// assert_eq!(decoder.finish(), Ok(None));
/// assert_eq!(text, "smile: 😀!");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct DialectDecoder {
    pub(super) scanner: DialectScanner,
    pub(super) partial: Partial<8>,
    pub(super) stats: ErrorStats<DialectError>,
}

impl DialectDecoder {
    /// Creates a decoder for a dialect as its specification defines it.
    pub const fn new(dialect: Dialect) -> Self {
        Self {
            scanner: DialectScanner::new(dialect, Options::DEFAULT),
            partial: Partial::new(),
            stats: ErrorStats::new(),
        }
    }

    /// Accepts unpaired surrogates in [`Cesu8`](Dialect::Cesu8) and
    /// [`ModifiedUtf8`](Dialect::ModifiedUtf8), like Java and ICU. Has no effect on other dialects.
    /// Call it before the first push.
    ///
    /// They are ill-formed by default, as TR26 specifies. Strings in Java can contain them.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectPiece};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Cesu8).with_unpaired_surrogates();
    /// let half = DialectPiece::CodePoint(0xDC00);
    /// assert_eq!(decoder.push(b"\xED\xB0\x80").next(), Some(Ok(half)));
    /// ```
    pub const fn with_unpaired_surrogates(self) -> Self {
        let options = self.scanner.options();
        self.with(Options { unpaired: Unpaired::Accepted, ..options })
    }

    /// Rejects values above U+10FFFF in [`Rfc2279`](Dialect::Rfc2279), like RFC 3629. Has no effect
    /// on other dialects, which have no such values. Call it before the first push.
    ///
    /// A rejected sequence is one error, [`TooLarge`](crate::Utf8ErrorKind::TooLarge).
    /// If it is repaired, it covers all four to six bytes. If it is reported, it covers those
    /// before the first byte that RFC 3629 does not allow there.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    /// use utf8_codec::{ErrorMode, Utf8ErrorKind};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Rfc2279).with_rfc3629_limit();
    /// let (bytes, mut text) = (b"\xFC\x84\x80\x80\x80\x80", String::new());
    /// let _done = decoder.push_to_string(bytes, ErrorMode::Replacement, &mut text);
    /// assert_eq!(text, "\u{FFFD}");
    /// let error = decoder.first_error().unwrap();
    /// assert_eq!((error.kind(), error.error_len()), (Utf8ErrorKind::TooLarge, Some(6)));
    /// # }
    /// ```
    pub const fn with_rfc3629_limit(self) -> Self {
        let options = self.scanner.options();
        self.with(Options { values: Values::Unicode, ..options })
    }

    /// Reports a complete sequence with a forbidden value as a single error that covers all of its bytes, as the
    /// repairing methods do. Call it before the first push.
    ///
    /// By default the error is reported at the byte that makes the sequence invalid, and covers the bytes before
    /// it; see [the module](crate::dialect#errors). Use this to repair the errors that
    /// [`push`](Self::push) reports.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let error_len = |mut decoder: DialectDecoder| {
    ///     let error = decoder.push(b"\xED\xB0\x80").next().unwrap().unwrap_err();
    ///     error.error_len()
    /// };
    /// assert_eq!(error_len(DialectDecoder::new(Dialect::Cesu8)), Some(1));
    /// assert_eq!(error_len(DialectDecoder::new(Dialect::Cesu8).with_whole_errors()), Some(3));
    /// ```
    pub const fn with_whole_errors(self) -> Self {
        let options = self.scanner.options();
        self.with(Options { reported: ErrorSpan::Whole, ..options })
    }

    /// Sets the BOM policy, [`BomPolicy::Keep`] by default. Call it before the first push.
    pub const fn with_bom(self, policy: BomPolicy) -> Self {
        let options = self.scanner.options();
        self.with(Options { bom: policy, ..options })
    }

    const fn with(self, options: Options) -> Self {
        let scanner = self.scanner.with_options(options);
        Self { scanner, partial: Partial::new(), stats: ErrorStats::new() }
    }

    /// Decodes the next chunk of the stream into text, code points and errors, in order.
    ///
    /// The iterator is lazy: bytes it has not reached are not consumed. If you stop early, push the
    /// bytes from [`position`](Self::position) again to continue. Once exhausted, the iterator has
    /// yielded everything that the bytes so far determine. It makes one pass over `chunk` (two for
    /// CESU-8 and Modified UTF-8) and copies nothing. At the end of the stream, call
    /// [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// Each ill-formed part is an `Err`, reported at the byte that makes it invalid. Decoding continues
    /// after it. [`Utf8b`](Dialect::Utf8b) has no errors but those of the [BOM policy](Self::with_bom).
    pub fn push<'d, 'c>(&'d mut self, chunk: &'c [u8]) -> DialectPieces<'d, 'c> {
        self.pieces(chunk, ErrorMode::Fatal)
    }

    /// Ends the stream and decodes the held bytes.
    ///
    /// Usually they are one error, [`Incomplete`]. If surrogates are accepted, the first half of a
    /// pair is a code point. Call it until it returns `Ok(None)`. Further calls return `Ok(None)`
    /// again.
    ///
    /// [`Incomplete`]: crate::Utf8ErrorKind::Incomplete
    ///
    /// # Errors
    ///
    /// Each ill-formed part is an `Err`, as in [`push`](Self::push), one per call.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Cesu8);
    /// assert_eq!(decoder.push(b"\xED\xA0\x80\xED").count(), 0);
    /// let message = "invalid CESU-8 at byte 0: unexpected end inside a character (ed a0 80 ed)";
    /// assert_eq!(decoder.finish().unwrap_err().to_string(), message);
    /// assert_eq!(decoder.finish(), Ok(None));
    /// ```
    pub fn finish(&mut self) -> Result<Option<u32>, DialectError> {
        self.end(ErrorMode::Fatal)
    }

    /// Starts a new stream with the same settings: offset 0, nothing held, no error counted.
    pub fn reset(&mut self) {
        self.scanner.reset();
        self.partial.clear();
        self.stats = ErrorStats::new();
    }

    /// Returns the dialect.
    pub const fn dialect(&self) -> Dialect {
        self.scanner.dialect()
    }

    /// Returns the number of bytes of the stream consumed, including held bytes.
    pub fn position(&self) -> u64 {
        self.scanner.position() + self.partial.len() as u64
    }

    /// Returns the held bytes, at most five: the beginning of a sequence or of a pair.
    pub fn incomplete(&self) -> &[u8] {
        self.partial.as_bytes()
    }

    /// Returns whether a BOM was removed from the start of this stream; see
    /// [`with_bom`](Self::with_bom).
    pub const fn bom_seen(&self) -> bool {
        self.scanner.bom_seen()
    }

    /// Returns the number of errors in this stream so far. Ill-formed parts count, and code points
    /// that are not scalar values if they were decoded to text.
    pub const fn error_count(&self) -> u64 {
        self.stats.count()
    }

    /// Returns the first error of this stream.
    pub const fn first_error(&self) -> Option<DialectError> {
        self.stats.first()
    }

    /// Like [`push`](Self::push), with the spans of the errors in this mode.
    pub(super) fn pieces<'d, 'c>(
        &'d mut self,
        chunk: &'c [u8],
        mode: ErrorMode,
    ) -> DialectPieces<'d, 'c> {
        let span = self.scanner.span(mode);
        DialectPieces { decoder: self, input: chunk, span }
    }

    /// Like [`finish`](Self::finish), with the spans of the errors in this mode.
    pub(super) fn end(&mut self, mode: ErrorMode) -> Result<Option<u32>, DialectError> {
        let span = self.scanner.span(mode);
        if self.partial.is_empty() {
            self.scanner.end();
        }
        if let Some(missing) = self.scanner.end_start() {
            return Err(self.stats.note(missing));
        }
        while !self.partial.is_empty() {
            let (_, resumed) = self.resume(&[], AtEnd::Yes, span);
            if let Some(found) = resumed {
                return found.map(Some);
            }
        }
        Ok(None)
    }

    /// Like [`resume`](Self::resume), for a character that is the same as in UTF-8: appends it to
    /// `text`. If it is not one, returns `None` and changes nothing.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(super) fn resume_text(
        &mut self,
        input: &[u8],
        text: &mut alloc::string::String,
    ) -> Option<usize> {
        let (joined, held) = self.partial.join(input)?;
        if !self.scanner.is_under_way() {
            return None;
        }
        let c = self.scanner.take_char(&joined, held)?;
        text.push_str(c);
        self.partial.clear();
        Some(c.len() - held)
    }

    /// Continues the held sequence with the first bytes of `input`, which is empty only at the end.
    ///
    /// Returns how many bytes of `input` it consumed, and the result, if any.
    pub(super) fn resume(
        &mut self,
        input: &[u8],
        at_end: AtEnd,
        span: ErrorSpan,
    ) -> (usize, Option<Result<u32, DialectError>>) {
        let held = self.partial.len();
        let mut joined = [0; 6];
        let taken = input.len().min(joined.len() - held);
        joined[..held].copy_from_slice(self.partial.as_bytes());
        joined[held..held + taken].copy_from_slice(&input[..taken]);
        let joined = &joined[..held + taken];
        let (len, found) = match self.scanner.step_sequence(joined, at_end, span) {
            Step::Text((DialectPiece::CodePoint(code_point), len)) => (len, Ok(code_point)),
            Step::Error(error) => (error.bytes().len(), Err(self.stats.note(error))),
            Step::Skip(len) => {
                self.partial.clear();
                return (len - held, None);
            }
            Step::NeedMore | Step::Text(_) => {
                self.partial.hold(joined);
                return (taken, None);
            }
        };
        // The result may cover fewer bytes than were held, for example an unpaired surrogate.
        let rest = self.partial;
        self.partial.hold(rest.as_bytes().get(len..).unwrap_or_default());
        if at_end == AtEnd::Yes && self.partial.is_empty() {
            self.scanner.end();
        }
        (len.saturating_sub(held), Some(found))
    }
}

/// The text, the code points and the errors of one chunk, in order; see [`DialectDecoder::push`].
#[derive(Debug)]
#[must_use = "iterators are lazy: bytes are consumed as pieces are taken"]
pub struct DialectPieces<'d, 'c> {
    decoder: &'d mut DialectDecoder,
    input: &'c [u8],
    span: ErrorSpan,
}

/// For codecs, which leave the undecoded bytes in the buffer of `Framed`.
impl DialectDecoder {
    /// Returns a copy of the scanner.
    pub(crate) const fn scanner(&self) -> DialectScanner {
        self.scanner
    }

    /// Returns the scanner, for callers that move it themselves.
    pub(crate) const fn scanner_mut(&mut self) -> &mut DialectScanner {
        &mut self.scanner
    }

    /// Continues from `scanner`, a copy that was taken earlier or has looked ahead.
    pub(crate) const fn continue_from(&mut self, scanner: DialectScanner) {
        self.scanner = scanner;
    }

    /// Returns the scanner and the count of errors, for callers that move the one and add to the other.
    pub(crate) const fn scanner_and_stats(
        &mut self,
    ) -> (&mut DialectScanner, &mut ErrorStats<DialectError>) {
        (&mut self.scanner, &mut self.stats)
    }

    /// Counts an error that the scanner or a copy of it has found, and returns it.
    pub(crate) fn note(&mut self, error: DialectError) -> DialectError {
        self.stats.note(error)
    }
}

impl<'c> Iterator for DialectPieces<'_, 'c> {
    type Item = Result<DialectPiece<&'c str>, DialectError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { decoder, input, span } = self;
        while !input.is_empty() {
            if !decoder.partial.is_empty() {
                let (used, resumed) = decoder.resume(input, AtEnd::No, *span);
                *input = &input[used..];
                match resumed {
                    Some(found) => return Some(found.map(DialectPiece::CodePoint)),
                    None => continue,
                }
            }
            match decoder.scanner.step(input, AtEnd::No, *span) {
                Step::Text((piece, len)) => {
                    *input = &input[len..];
                    return Some(Ok(piece));
                }
                Step::Skip(len) => *input = &input[len..],
                Step::Error(error) => {
                    *input = &input[error.bytes().len()..];
                    return Some(Err(decoder.stats.note(error)));
                }
                Step::NeedMore => {
                    decoder.partial.hold(input);
                    *input = &[];
                }
            }
        }
        None
    }
}

impl FusedIterator for DialectPieces<'_, '_> {}
