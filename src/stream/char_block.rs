//! How are the `char`s of a text yielded at the cost of a slice?

use std::mem;

use bytestring::ByteString;

use crate::core::boundary::floor_char_boundary;
use crate::core::text::{assert_char_boundary, decode_chars};
use crate::stream::piece::Piece;

/// Text that has not been yielded. Its beginning is decoded to `char`s.
#[derive(Clone, Debug)]
pub(super) struct CharBlock {
    piece: Piece,
    /// Decoded `char`s. Those from `next` have not been yielded.
    ///
    /// For most scripts, decoding many at once is faster than `str::chars`, which mispredicts a
    /// branch at each change of the encoded length.
    ahead: Vec<char>,
    next: usize,
    /// A `char`, at most `next`, and where it begins in the piece. Where `next` begins follows from the `char`s
    /// between: to yield one changes `next` and nothing else. (Rows `chars` of `benches/scenarios/reader.rs`.)
    mark: Mark,
    /// Where the last of them ends in the piece.
    ahead_to: usize,
}

/// A decoded `char`, and where it begins.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// An index in the decoded `char`s.
    char: usize,
    /// An index in the piece.
    byte: usize,
}

impl CharBlock {
    /// Creates an empty block at `offset`.
    pub(super) const fn new(offset: u64) -> Self {
        let piece = Piece::Text { text: ByteString::new(), offset };
        Self { piece, ahead: Vec::new(), next: 0, mark: Mark { char: 0, byte: 0 }, ahead_to: 0 }
    }

    /// Replaces the piece, which has been yielded completely.
    pub(super) fn fill(&mut self, piece: Piece) {
        self.piece = piece;
        self.look_ahead_from(0);
    }

    /// Frees all memory of an empty block.
    pub(super) fn shrink(&mut self) {
        debug_assert!(self.as_str().is_empty());
        *self = Self::new(self.offset());
    }

    #[inline]
    pub(super) fn next_char(&mut self) -> Option<char> {
        let next = *self.ahead.get(self.next)?;
        self.next += 1;
        Some(next)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.ahead.get(self.next).copied()
    }

    /// Returns the number of bytes of the piece that have been yielded.
    #[inline]
    fn at(&self) -> usize {
        let yielded = &self.ahead[self.mark.char..self.next];
        self.mark.byte + yielded.iter().map(|&c| len_of(c)).sum::<usize>()
    }

    /// Moves the mark to the next `char`, so that [`at`](Self::at) costs nothing. Returns its offset in the stream.
    #[inline]
    pub(super) fn mark(&mut self) -> u64 {
        self.mark = Mark { char: self.next, byte: self.at() };
        self.piece.offset(self.mark.byte)
    }

    /// Returns and consumes all decoded `char`s.
    pub(super) fn take_chars(&mut self) -> &[char] {
        let from = mem::replace(&mut self.next, self.ahead.len());
        self.mark = Mark { char: self.next, byte: self.ahead_to };
        &self.ahead[from..]
    }

    pub(super) fn as_str(&self) -> &str {
        &self.piece.as_str()[self.at()..]
    }

    /// Returns the offset in the stream of the next `char`.
    pub(super) fn offset(&self) -> u64 {
        self.piece.offset(self.at())
    }

    /// Consumes `len` bytes of the text.
    ///
    /// # Panics
    ///
    /// If `len` is not a character boundary of the text.
    pub(super) fn consume(&mut self, len: usize) {
        assert_char_boundary(self.as_str(), len);
        let mut at = self.at();
        let end = at + len;
        if end < self.ahead_to {
            while at < end
                && let Some(next) = self.next_char()
            {
                at += len_of(next);
            }
            self.mark = Mark { char: self.next, byte: at };
        } else {
            self.look_ahead_from(end);
        }
    }

    /// Decodes the beginning of the remaining text. No decoded `char`s may be left. Returns whether
    /// there is any text.
    pub(super) fn look_ahead(&mut self) -> bool {
        debug_assert_eq!(self.next, self.ahead.len());
        self.look_ahead_from(self.ahead_to)
    }

    /// Like [`look_ahead`](Self::look_ahead), if the remaining text begins `at` bytes into the piece.
    fn look_ahead_from(&mut self, at: usize) -> bool {
        let text = &self.piece.as_str()[at..];
        let some = &text[..floor_char_boundary(text, AHEAD)];
        self.next = 0;
        self.mark = Mark { char: 0, byte: at };
        self.ahead.resize(some.len(), '\0');
        let decoded = decode_chars(some, &mut self.ahead);
        self.ahead.truncate(decoded);
        self.ahead_to = at + some.len();
        decoded > 0
    }
}

/// Like `char::len_utf8`, but without branches.
#[inline]
fn len_of(c: char) -> usize {
    1 + usize::from(c >= '\u{80}') + usize::from(c >= '\u{800}') + usize::from(c >= '\u{10000}')
}

/// The maximum number of bytes of text decoded at once, into at most 8 KiB of `char`s.
const AHEAD: usize = 2048;
