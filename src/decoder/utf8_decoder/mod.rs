//! The incremental decoder, and the types that its methods return.

pub(crate) mod buffer;
#[cfg(feature = "alloc")]
pub(crate) mod lossy;
#[cfg(feature = "std")]
pub(crate) mod masked;
#[cfg(feature = "std")]
pub(crate) mod owned;
pub(crate) mod pieces;

use utf8_simd::PrefixEnd;

use crate::decoder::{
    ErrorDensity, ErrorMode, Partial, Piece, Pieces, Repair, Scanner, Step, Utf8Error, Utf8Options,
    Utf8Stats,
};

/// Decodes a stream of bytes that arrives in chunks split anywhere. It yields text and reports each error.
///
/// [`push`](Self::push) yields text and errors in the order of the stream. Text borrows from the chunk,
/// except a character split across chunks, which borrows from the decoder. The methods that write into a
/// buffer repair errors instead, with the [`ErrorMode`](crate::ErrorMode) that you pass.
///
/// Between calls the decoder holds at most three bytes: the beginning of one sequence or of a BOM.
/// An empty chunk changes nothing. [`finish`](Self::finish) turns an incomplete tail into one error.
/// After an error, and after `finish`, decoding continues and offsets keep counting; a BOM is expected
/// again only after [`reset`](Self::reset).
///
/// # Examples
///
/// ```
/// use utf8_codec::Utf8Decoder;
///
/// let mut decoder = Utf8Decoder::new();
/// let mut text = String::new();
/// for chunk in [&b"Gr\xC3"[..], b"", b"\xBC\xC3", b"\x9Fe \xF0\x9F\x91", b"\x8B"] {
///     for piece in decoder.push(chunk) {
///         text.push_str(piece.unwrap());
///     }
/// }
/// decoder.finish().unwrap();
/// assert_eq!(text, "Grüße 👋");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Utf8Decoder {
    scanner: Scanner,
    partial: Partial,
    /// The split character that the last piece borrows.
    split_char: [u8; 4],
    stats: Utf8Stats,
}

impl Utf8Decoder {
    /// Creates a decoder with the default options.
    pub const fn new() -> Self {
        Self {
            scanner: Scanner::new(Utf8Options::new()),
            partial: Partial::new(),
            split_char: [0; 4],
            stats: Utf8Stats::new(),
        }
    }

    /// Sets the options. Call it before the first push.
    ///
    /// Once the first character of the stream has been decoded, it continues with the same offsets. The rejected characters apply to
    /// the bytes that have not been decoded. The other options apply after the next [`reset`](Self::reset).
    pub const fn with_options(self, options: Utf8Options) -> Self {
        Self { scanner: self.scanner.with_options(options), ..self }
    }

    /// Decodes the next chunk of the stream. Yields text and errors in order.
    ///
    /// The iterator is lazy: bytes it has not reached are not consumed ([`Pieces::rest`]). Once exhausted, it
    /// has yielded everything that the bytes so far determine. It costs one pass over `chunk`, two if
    /// [the options](Utf8Options#rejected-characters) reject characters, and copies only a split
    /// character. At the end of the stream, call [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// The iterator yields an `Err` for each ill-formed part, and continues after it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut seen = Vec::new();
    /// for piece in decoder.push(b"good\xFFmore\xE2\x82") {
    ///     match piece {
    ///         Ok(text) => seen.push(text.to_owned()),
    ///         Err(error) => seen.push(error.to_string()),
    ///     }
    /// }
    /// assert_eq!(seen, ["good", "invalid UTF-8 at byte 4: invalid byte (ff)", "more"]);
    /// assert_eq!(decoder.push(b"\xAC").next(), Some(Ok("€")));
    /// ```
    pub fn push<'d, 'c: 'd>(&'d mut self, chunk: &'c [u8]) -> Pieces<'d, 'c> {
        let Self { scanner, partial, split_char, stats } = self;
        Pieces::new(scanner, partial, split_char, stats, chunk)
    }

    /// Decodes the next piece of `input`, and removes it there. Returns `None` once `input` is empty and has no other piece.
    ///
    /// Unlike the pieces of [`push`](Self::push), a piece borrows from the chunk alone, not from the decoder: a parser can
    /// return it, and keep the decoder. The texts, the errors and what they cost are otherwise the same, except that
    /// dense errors are found one at a time.
    ///
    /// # Errors
    ///
    /// For each ill-formed part. The next call continues after it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Decoder;
    /// use utf8_codec::decoder::Piece;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut input = &b"Gr\xC3"[..];
    /// assert_eq!(decoder.next_piece(&mut input), Some(Ok(Piece::Text("Gr"))));
    /// assert_eq!(decoder.next_piece(&mut input), None);
    /// input = b"\xBC\xC3\x9Fe";
    /// assert_eq!(decoder.next_piece(&mut input), Some(Ok(Piece::Char('ü'))));
    /// assert_eq!(decoder.next_piece(&mut input), Some(Ok(Piece::Text("ße"))));
    /// ```
    pub fn next_piece<'c>(&mut self, input: &mut &'c [u8]) -> Option<Result<Piece<'c>, Utf8Error>> {
        let Self { scanner, partial, stats, .. } = self;
        if scanner.is_batched() {
            scanner.set_density(ErrorDensity::Dense);
        }
        let piece = Piece::take(scanner, partial, input)?;
        Some(piece.map_err(|error| stats.note(error)))
    }

    /// Ends the stream.
    ///
    /// Further calls are harmless and return `Ok` once every error has been reported. Two errors are
    /// possible only if the stream ends inside a required BOM: `MissingBom`, then `Incomplete`. With
    /// [`BomPolicy::Require`](crate::BomPolicy::Require), call it until `Ok`.
    ///
    /// # Errors
    ///
    /// [`Incomplete`](crate::Utf8ErrorKind::Incomplete) if the stream ends inside a sequence.
    /// [`MissingBom`](crate::Utf8ErrorKind::MissingBom) if it ends before a required BOM is
    /// complete.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// assert_eq!(decoder.push(b"\xE2\x82").count(), 0);
    /// let error = decoder.finish().unwrap_err();
    /// let message = "invalid UTF-8 at byte 0: unexpected end inside a character (e2 82)";
    /// assert_eq!(error.to_string(), message);
    /// assert_eq!(decoder.finish(), Ok(()));
    /// ```
    pub fn finish(&mut self) -> Result<(), Utf8Error> {
        match self.partial.finish(&mut self.scanner) {
            Some(error) => Err(self.stats.note(error)),
            None => Ok(()),
        }
    }

    /// Starts a new stream with the same options, at offset 0. The held bytes and the error count are
    /// discarded.
    pub const fn reset(&mut self) {
        self.scanner.reset();
        self.partial = Partial::new();
        self.stats = Utf8Stats::new();
    }

    /// Returns the number of bytes of the stream that have been consumed, held bytes included.
    pub const fn position(&self) -> u64 {
        self.scanner.position() + self.partial.len() as u64
    }

    /// Returns the held bytes: the beginning of a sequence or of a BOM, at most three bytes.
    pub fn incomplete(&self) -> &[u8] {
        self.partial.as_bytes()
    }

    /// Returns whether a BOM was removed from the start of this stream.
    ///
    /// It is always `false` with [`BomPolicy::Keep`](crate::BomPolicy::Keep) and
    /// [`BomPolicy::Forbid`](crate::BomPolicy::Forbid).
    pub const fn bom_seen(&self) -> bool {
        self.scanner.bom_seen()
    }

    /// Returns the number of continuation bytes skipped at a mid-stream start, at most three.
    pub const fn skipped(&self) -> usize {
        self.scanner.start().skipped()
    }

    /// Returns the number of errors in this stream so far: ill-formed parts, and characters that the options
    /// reject.
    pub const fn error_count(&self) -> u64 {
        self.stats.count()
    }

    /// Returns how many of the [errors](Self::error_count) are not ill-formed UTF-8: characters that the options reject, and
    /// a BOM that is forbidden or missing.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{Utf8Decoder, Utf8Options};
    ///
    /// let mut decoder = Utf8Decoder::new().with_options(Utf8Options::new().reject_nul());
    /// decoder.push(b"caf\xE9 \0 \0").for_each(drop);
    /// assert_eq!((decoder.error_count(), decoder.rejected_count()), (3, 2));
    /// ```
    pub const fn rejected_count(&self) -> u64 {
        self.stats.rejected()
    }

    /// Returns the first error of this stream, if there was one.
    pub const fn first_error(&self) -> Option<Utf8Error> {
        self.stats.first()
    }

    /// Continues the held sequence with the first bytes of `input`. See [`Partial::resume`].
    pub(crate) fn resume(&mut self, input: &[u8]) -> (usize, Step<char>) {
        let (used, step) = self.partial.resume(&mut self.scanner, input);
        if let Step::Error(error) = step {
            self.stats.note(error);
        }
        (used, step)
    }

    /// Holds `tail`, for which the last step returned [`Step::NeedMore`].
    pub(crate) fn hold(&mut self, tail: &[u8]) {
        self.partial.hold(tail);
    }

    // What follows is for callers that keep the undecoded bytes in a buffer of their own, so that the decoder holds nothing.
    // They pass the bytes at `position` to `step`, and call `finish_after` at the end. To look ahead or go back, they step a
    // copy of the `scanner`, and pass it to `continue_from`.

    /// Returns a decoder that continues from `scanner`, with an error count of 0.
    pub(crate) const fn at(scanner: Scanner) -> Self {
        Self { scanner, ..Self::new() }
    }

    /// Classifies the start of `input`, the bytes at [`position`](Self::position).
    #[inline]
    pub(crate) fn step<'i>(&mut self, input: &'i [u8]) -> Step<&'i str> {
        debug_assert!(self.partial.is_empty());
        let step = self.scanner.step(input);
        if let Step::Error(error) = step {
            self.stats.note(error);
        }
        step
    }

    /// The fast path of [`Scanner::step`]. Returns the text that `input` begins with, which can be empty,
    /// and what follows it, or `None` if the scanner is not on the fast path.
    #[inline(always)]
    pub(crate) fn step_fast_path<'i>(&mut self, input: &'i [u8]) -> Option<(&'i str, PrefixEnd)> {
        self.scanner.is_on_fast_path().then(|| self.scanner.step_fast_path(input))
    }

    /// Returns the scanner, to move it. The caller [notes](Self::note) the errors that count.
    // In place: a copy would be read in wider parts than it was written in. See `crate::decoder`, "Store forwarding"; rows
    // `fallback-line/windows-1252` of `benches/scenarios/fallback.rs`.
    #[inline(always)]
    pub(crate) const fn scanner_mut(&mut self) -> &mut Scanner {
        &mut self.scanner
    }

    /// Ends the stream after `tail`, which the caller keeps. See [`Scanner::finish`].
    pub(crate) fn finish_after(&mut self, tail: &[u8]) -> Option<Utf8Error> {
        self.scanner.finish(tail).map(|error| self.stats.note(error))
    }

    /// Returns the text that replaces `error`, or `None` in [`ErrorMode::Fatal`].
    #[inline]
    pub(crate) fn repair(&self, mode: ErrorMode, error: &Utf8Error) -> Option<Repair> {
        mode.repair(error, self.scanner.options())
    }

    /// Returns a copy of the scanner.
    #[inline]
    pub(crate) const fn scanner(&self) -> Scanner {
        self.scanner
    }

    /// Continues from `scanner`, a copy that was taken earlier or has looked ahead.
    #[inline]
    pub(crate) const fn continue_from(&mut self, scanner: Scanner) {
        self.scanner = scanner;
    }

    /// Counts an error that the scanner or a copy of it has found, and returns it.
    #[inline]
    pub(crate) fn note(&mut self, error: Utf8Error) -> Utf8Error {
        self.stats.note(error)
    }

    /// Adds the errors of `other`, which has decoded bytes of this stream, and continues at its position.
    pub(crate) fn continue_after(&mut self, other: &Self) {
        self.scanner = other.scanner;
        self.stats.extend(&other.stats);
    }

    /// Subtracts the last `errors` from the count, `rejected` of which are rejections: their bytes are decoded again.
    pub(crate) fn forget(&mut self, errors: u64, rejected: u64) {
        self.stats.forget(errors, rejected);
    }

    /// Moves the held bytes to such a caller.
    pub(crate) const fn take_held(&mut self) -> Partial {
        core::mem::replace(&mut self.partial, Partial::new())
    }
}

impl Default for Utf8Decoder {
    fn default() -> Self {
        Self::new()
    }
}
