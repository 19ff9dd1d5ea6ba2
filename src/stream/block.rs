use std::mem;

use bytestring::ByteString;

use crate::core::decoder::destination::floor_char_boundary;
use crate::kernel::Kernel;
use crate::stream::piece::Piece;

/// Text that has not been handed out, the first of it decoded to `char`s.
#[derive(Clone, Debug)]
pub(super) struct Block {
    piece: Piece,
    /// Bytes of the piece that are out.
    at: usize,
    /// The first `char`s of the piece from `at` on are those from `next` on.
    ///
    /// (To decode many at once, and to take them from here, is quicker for most scripts than to take
    /// them from a `str`, where each change of the length is a branch that was not foreseen.)
    ahead: Vec<char>,
    next: usize,
    /// Where in the piece the last of them ends.
    ahead_to: usize,
}

impl Block {
    /// Begins at `offset`, without text.
    pub(super) const fn new(offset: u64) -> Self {
        let piece = Piece::Text { text: ByteString::new(), offset };
        Self { piece, at: 0, ahead: Vec::new(), next: 0, ahead_to: 0 }
    }

    /// Puts a piece in place of what there was, all of which is out.
    pub(super) fn fill(&mut self, piece: Piece) {
        self.piece = piece;
        self.at = 0;
        self.look_ahead();
    }

    /// Gives back all memory, where nothing is left.
    pub(super) fn shrink(&mut self) {
        debug_assert!(self.as_str().is_empty());
        *self = Self::new(self.offset());
    }

    #[inline]
    pub(super) fn next_char(&mut self) -> Option<char> {
        let next = *self.ahead.get(self.next)?;
        self.next += 1;
        self.at += len_of(next);
        Some(next)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.ahead.get(self.next).copied()
    }

    /// Takes the `char`s that are decoded.
    pub(super) fn take_chars(&mut self) -> &[char] {
        let from = mem::replace(&mut self.next, self.ahead.len());
        self.at = self.ahead_to;
        &self.ahead[from..]
    }

    pub(super) fn as_str(&self) -> &str {
        &self.piece.as_str()[self.at..]
    }

    /// The offset in the stream of what is next.
    pub(super) fn offset(&self) -> u64 {
        self.piece.offset(self.at)
    }

    /// Takes `len` bytes of the text.
    ///
    /// # Panics
    ///
    /// If that is not between two characters of it.
    pub(super) fn consume(&mut self, len: usize) {
        let text = self.as_str();
        assert!(text.is_char_boundary(len), "{len} is not a character boundary of {text:?}");
        let end = self.at + len;
        if end < self.ahead_to {
            while self.at < end {
                self.next_char();
            }
        } else {
            self.at = end;
            self.next = self.ahead.len();
            self.look_ahead();
        }
    }

    /// Decodes some of what is left, if there is any and none is decoded. Says whether there is.
    pub(super) fn look_ahead(&mut self) -> bool {
        debug_assert_eq!(self.next, self.ahead.len());
        let text = &self.piece.as_str()[self.at..];
        let some = &text[..floor_char_boundary(text, AHEAD)];
        self.next = 0;
        self.ahead.resize(some.len(), '\0');
        let kernel = Kernel::detect();
        let decoded = if kernel.decodes_many() || some.is_ascii() {
            kernel.decode_chars(some, &mut self.ahead).1
        } else {
            // One after another, as the kernel would; quicker, as there is room for all of them.
            let chars = self.ahead.iter_mut().zip(some.chars());
            chars.map(|(place, c)| *place = c).count()
        };
        self.ahead.truncate(decoded);
        self.ahead_to = self.at + some.len();
        decoded > 0
    }
}

/// As `len_utf8`, without the branches that the compiler makes of that.
#[inline]
fn len_of(c: char) -> usize {
    1 + usize::from(c >= '\u{80}') + usize::from(c >= '\u{800}') + usize::from(c >= '\u{10000}')
}

/// So many bytes of text are decoded at once, at the most: 8 KiB of `char`s.
const AHEAD: usize = 2048;
