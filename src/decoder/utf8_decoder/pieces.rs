//! The iterators over the text and the errors of a chunk.

use core::iter::FusedIterator;

use utf8_simd::text::{BlockPart, BlockParts, first_char};
use utf8_simd::{Level, PrefixEnd, tail};

#[cfg(doc)]
use crate::Utf8Decoder;
use crate::decoder::{ErrorDensity, Partial, Scanner, Step, Utf8Error, Utf8Stats};

/// A piece of text that borrows from its chunk. See [`Utf8Decoder::next_piece`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'c> {
    /// A part of the chunk, never empty.
    Text(&'c str),
    /// A character that began in an earlier chunk.
    Char(char),
}

impl<'c> Piece<'c> {
    /// Returns the next piece of `input`, and moves past it.
    #[inline]
    pub(crate) fn take(
        scanner: &mut Scanner,
        partial: &mut Partial,
        input: &mut &'c [u8],
    ) -> Option<Result<Self, Utf8Error>> {
        if let Some(split) = partial.take(scanner, input) {
            return Some(split.map(Self::Char));
        }
        while !input.is_empty() {
            match scanner.step(input) {
                Step::Text(text) => {
                    *input = tail(input, text.len());
                    return Some(Ok(Self::Text(text)));
                }
                Step::Skip(len) => *input = tail(input, len),
                Step::Error(error) => {
                    *input = tail(input, error.bytes().len());
                    return Some(Err(error));
                }
                Step::NeedMore => {
                    partial.hold(input);
                    *input = &[];
                }
            }
        }
        None
    }
}

/// The text and the errors of one chunk, in order. See [`Utf8Decoder::push`].
///
/// # Examples
///
/// ```
/// use utf8_codec::Utf8Decoder;
///
/// let mut decoder = Utf8Decoder::new();
/// let mut pieces = decoder.push(b"ab\xFFcd");
/// assert_eq!(pieces.next(), Some(Ok("ab")));
/// assert!(pieces.next().unwrap().is_err());
/// assert_eq!(pieces.next(), Some(Ok("cd")));
/// assert_eq!(pieces.next(), None);
/// ```
#[derive(Debug)]
#[must_use = "iterators are lazy: bytes are consumed as pieces are taken"]
pub struct Pieces<'d, 'c> {
    scanner: &'d mut Scanner,
    partial: &'d mut Partial,
    /// Memory for a split character; `None` once it is used. A chunk completes at most one such character,
    /// because only the last bytes of the chunk begin another.
    split_char: Option<&'d mut [u8; 4]>,
    stats: &'d mut Utf8Stats,
    /// What is left of the chunk, from `block` on.
    input: &'c [u8],
    /// The parts that `input` begins with. Invariant: `Some` exactly while the scanner is in `ErrorDensity::Batched`; nothing is held
    /// then, and `input` is longer than the block.
    block: Option<BlockParts<'c>>,
    /// The number of texts to return before a block is tried again.
    patience: u8,
}

/// The number of texts to return before the next block is tried, if a block has no error, the input is shorter than a
/// block and three bytes, or the level has no fast method for it. Rows `pieces/*/1-in-1024`.
const RETRY_AFTER: u8 = 24;

impl<'c> Pieces<'_, 'c> {
    /// Returns the bytes of the chunk that have not been consumed.
    ///
    /// If you stop early, push these bytes again to continue. They are empty once the iterator has returned
    /// `None`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut pieces = decoder.push(b"HELO\xFFbinary, perhaps");
    /// assert_eq!(pieces.next(), Some(Ok("HELO")));
    /// let rest = pieces.rest();
    /// assert_eq!(rest, b"\xFFbinary, perhaps");
    ///
    /// assert!(decoder.push(rest).next().unwrap().is_err()); // continues where it stopped
    /// ```
    pub fn rest(&self) -> &'c [u8] {
        tail(self.input, self.block.as_ref().map_or(0, BlockParts::taken))
    }

    /// Continues with `input`. The input before it has been consumed.
    pub(crate) fn show(&mut self, input: &'c [u8]) {
        debug_assert!(self.input.is_empty());
        self.input = input;
    }

    /// Ends the held sequence, if there is one. `next` follows it and continues no sequence.
    pub(crate) fn break_off(&mut self, next: &'c [u8]) -> Option<Utf8Error> {
        if self.partial.is_empty() {
            return None;
        }
        match self.partial.resume(self.scanner, next) {
            (_, Step::Error(error)) => Some(self.stats.note(error)),
            _ => None,
        }
    }

    /// Skips bytes of the stream that are not passed. No bytes are held.
    pub(crate) fn pass(&mut self, bytes: usize) {
        debug_assert!(self.partial.is_empty());
        self.scanner.skip(bytes);
    }
}

impl<'d, 'c: 'd> Iterator for Pieces<'d, 'c> {
    type Item = Result<&'d str, Utf8Error>;

    // Always inlined: in a call, registers are saved and a result goes through memory for each chunk. Rows `decode/*/64`
    // of `benches/scenarios/stream.rs`: a quarter of the time.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let &first = self.input.first()?;
        debug_assert_eq!(self.scanner.is_batched(), self.block.is_some());
        if self.scanner.is_batched() {
            return self.take_part();
        }
        if self.partial.is_empty() {
            if self.scanner.is_on_fast_path() {
                let (text, end) = self.scanner.step_fast_path(self.input);
                self.pass_text(text, end);
                if !text.is_empty() {
                    return Some(Ok(text));
                }
            } else if let Some(error) = self.scanner.take_stray(first) {
                self.input = tail(self.input, 1);
                return Some(Err(self.stats.note_ill_formed(error)));
            }
        }
        self.take_piece()
    }
}

impl<'d, 'c: 'd> Pieces<'d, 'c> {
    #[inline(always)]
    pub(super) fn new(
        scanner: &'d mut Scanner,
        partial: &'d mut Partial,
        split_char: &'d mut [u8; 4],
        stats: &'d mut Utf8Stats,
        input: &'c [u8],
    ) -> Self {
        if scanner.is_batched() {
            // The last caller did not take all parts.
            scanner.set_density(ErrorDensity::Dense);
        }
        let split_char = Some(split_char);
        Self { scanner, partial, split_char, stats, input, block: None, patience: 0 }
    }

    /// Moves past `text`, the front of the input, and holds what is left if more bytes can complete it. No bytes may be held before.
    #[inline(always)]
    fn pass_text(&mut self, text: &str, end: PrefixEnd) {
        self.input = tail(self.input, text.len());
        if matches!(end, PrefixEnd::Incomplete(_)) {
            self.partial.hold(self.input);
            self.input = &[];
        }
    }

    /// Returns the next part of the block, or else what follows it.
    // Out of line, because it saves fewer registers than `take_piece`: rows `pieces/*/1-in-8`.
    #[inline(never)]
    fn take_part(&mut self) -> Option<Result<&'d str, Utf8Error>> {
        match self.block.as_mut().and_then(BlockParts::take) {
            Some(BlockPart::Text(text)) => {
                self.scanner.skip(text.len());
                Some(Ok(text))
            }
            Some(BlockPart::IllFormed(len, word)) => {
                // It is followed: a part starts before the last three bytes of the block, and ends in it.
                let error = Utf8Error::classify_word(self.scanner.position(), word, len, true);
                self.scanner.skip(len);
                self.stats.add(1, || Some(error));
                Some(Err(error))
            }
            None => self.take_piece(),
        }
    }

    /// Returns what follows, if that is not only text from a boundary on. No part of a block is left.
    #[inline(never)]
    fn take_piece(&mut self) -> Option<Result<&'d str, Utf8Error>> {
        if let Some(block) = self.block.take() {
            self.input = tail(self.input, block.taken());
            self.scanner.set_density(ErrorDensity::Dense);
        } else if !self.partial.is_empty() {
            if self.scanner.is_on_fast_path()
                && let Some(text) = self.take_completed()
            {
                return Some(Ok(text));
            }
        } else if let Some(error) = self.scanner.error_here(self.input) {
            self.input = tail(self.input, error.bytes().len());
            return Some(Err(self.stats.note_ill_formed(error)));
        } else if self.patience > 0 && self.scanner.are_errors_dense() {
            let (text, end) = self.scanner.step_dense(self.input);
            if !text.is_empty() {
                self.patience -= 1;
                self.pass_text(text, end);
                return Some(Ok(text));
            }
        }
        self.take_piece_slowly()
    }

    /// Finds the parts of the block that `input` begins with, if errors are dense. Returns whether one of them is
    /// ill-formed.
    fn find_parts(&mut self) -> bool {
        if !self.partial.is_empty() {
            return false;
        }
        if self.patience > 0 {
            self.patience -= 1;
            return false;
        }
        self.block = BlockParts::new(Level::detect(), self.input);
        if self.block.is_none() {
            self.patience = RETRY_AFTER;
        }
        let is_found = self.block.is_some();
        self.scanner.set_density(if is_found {
            ErrorDensity::Batched
        } else {
            ErrorDensity::Dense
        });
        is_found
    }

    /// Returns the split character, if the chunk completes it on the fast path.
    #[inline]
    fn take_completed(&mut self) -> Option<&'d str> {
        let (joined, taken) = self.partial.complete(self.scanner, self.input)?;
        self.input = tail(self.input, taken);
        let split_char = self.split_char.take()?;
        *split_char = joined;
        first_char(split_char)
    }

    #[inline(never)]
    fn take_piece_slowly(&mut self) -> Option<Result<&'d str, Utf8Error>> {
        if self.scanner.are_errors_dense() && self.find_parts() {
            // Not `None`: a new block has an ill-formed part.
            return self.take_part();
        }
        Some(match Piece::take(self.scanner, self.partial, &mut self.input)? {
            Ok(Piece::Text(text)) => Ok(text),
            Ok(Piece::Char(c)) => Ok(c.encode_utf8(self.split_char.take()?)),
            Err(error) => Err(self.stats.note(error)),
        })
    }
}

impl<'d, 'c: 'd> FusedIterator for Pieces<'d, 'c> {}
