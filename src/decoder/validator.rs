//! The validator: is a stream well-formed, and where not?

use utf8_simd::{Level, PrefixEnd, tail};

use crate::decoder::{Partial, Piece, Scanner, Utf8Error, Utf8Options};

/// Validates a stream of bytes that arrives in chunks split anywhere. It yields no text.
///
/// Between calls it holds at most three bytes: the beginning of one sequence or of a BOM. An empty chunk
/// changes nothing. After an error, validation continues after the ill-formed part. After
/// [`finish`](Self::finish), offsets keep counting and no BOM is expected until [`reset`](Self::reset).
///
/// # Examples
///
/// ```
/// use utf8_codec::{Utf8ErrorKind, Utf8Validator};
///
/// let mut validator = Utf8Validator::new();
/// assert_eq!(validator.push(b"na\xC3"), Ok(())); // cut inside a character
/// assert_eq!(validator.push(b"\xAFve"), Ok(()));
/// assert_eq!(validator.position(), 6);
/// assert_eq!(validator.finish(), Ok(()));
///
/// validator.reset();
/// validator.push(b"\xC3").unwrap();
/// assert_eq!(validator.finish().unwrap_err().kind(), Utf8ErrorKind::Incomplete);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Utf8Validator {
    scanner: Scanner,
    partial: Partial,
}

impl Utf8Validator {
    /// Creates a validator with the default options.
    pub const fn new() -> Self {
        Self { scanner: Scanner::new(Utf8Options::new()), partial: Partial::new() }
    }

    /// Sets the options, like [`Utf8Decoder::with_options`](crate::Utf8Decoder::with_options).
    pub const fn with_options(self, options: Utf8Options) -> Self {
        Self { scanner: self.scanner.with_options(options), ..self }
    }

    /// Validates the next chunk of the stream.
    ///
    /// It costs one pass over `chunk`. At the end of the stream, call [`finish`](Self::finish).
    ///
    /// To count all errors, use a [`Utf8Decoder`](crate::Utf8Decoder): `decoder.push(chunk).for_each(drop)`,
    /// then `decoder.error_count()` and `decoder.first_error()`.
    ///
    /// # Errors
    ///
    /// Returns the first error, in the call whose chunk contains the byte that makes the input invalid.
    /// [`position`](Self::position) is then the end of the error, and the rest of the chunk has not been
    /// consumed. The example shows how to continue.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Validator;
    ///
    /// let mut validator = Utf8Validator::new();
    /// let chunk = b"one \xFF two \xC0 three";
    /// let mut offsets = Vec::new();
    /// let before = validator.position();
    /// loop {
    ///     let seen = (validator.position() - before) as usize;
    ///     match validator.push(&chunk[seen..]) {
    ///         Ok(()) => break,
    ///         Err(error) => offsets.push(error.valid_up_to()),
    ///     }
    /// }
    /// assert_eq!(offsets, [4, 10]);
    /// ```
    #[inline]
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), Utf8Error> {
        if !self.scanner.is_on_fast_path() {
            return self.push_slowly(chunk);
        }
        if let Some(incomplete) = Level::detect().validate_next(self.partial.before(), chunk) {
            self.scanner.skip(self.partial.len() + chunk.len() - incomplete);
            self.partial.hold_last(chunk, incomplete);
            return Ok(());
        }
        let mut input = chunk;
        if !self.partial.is_empty() {
            let Some((_, taken)) = self.partial.complete(&mut self.scanner, input) else {
                return self.push_slowly(chunk);
            };
            input = tail(input, taken);
        }
        let (text, end) = self.scanner.step_fast_path(input);
        let rest = tail(input, text.len());
        if let PrefixEnd::IllFormed(_) = end {
            return self.push_slowly(rest);
        }
        self.partial.hold_last(chunk, rest.len());
        Ok(())
    }

    #[inline(never)]
    fn push_slowly(&mut self, chunk: &[u8]) -> Result<(), Utf8Error> {
        let mut input = chunk;
        while let Some(piece) = Piece::take(&mut self.scanner, &mut self.partial, &mut input) {
            piece?;
        }
        Ok(())
    }

    /// Ends the stream.
    ///
    /// # Errors
    ///
    /// Those of [`Utf8Decoder::finish`](crate::Utf8Decoder::finish).
    pub fn finish(&mut self) -> Result<(), Utf8Error> {
        self.partial.finish(&mut self.scanner).map_or(Ok(()), Err)
    }

    /// Starts a new stream with the same options, at offset 0. The held bytes are discarded.
    pub const fn reset(&mut self) {
        self.scanner.reset();
        self.partial = Partial::new();
    }

    /// Returns the number of bytes of the stream that have been consumed, held bytes included.
    pub const fn position(&self) -> u64 {
        self.scanner.position() + self.partial.len() as u64
    }

    /// Returns the held bytes: the beginning of a sequence or of a BOM, at most three bytes.
    pub fn incomplete(&self) -> &[u8] {
        self.partial.as_bytes()
    }

    /// Returns whether the bytes so far end between two characters, with nothing held.
    pub const fn is_complete(&self) -> bool {
        self.partial.is_empty()
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
}

impl Default for Utf8Validator {
    fn default() -> Self {
        Self::new()
    }
}
