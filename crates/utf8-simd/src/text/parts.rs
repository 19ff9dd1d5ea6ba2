//! The parts of a block: which text or ill-formed sequence is next, and what replaces it?

use crate::simd::{BLOCK_ERRORS_LEN, BlockErrors, Level, table};

/// A block of 64 bytes whose ill-formed parts a level has found at once, and the index of its next part.
///
/// Each part then costs a few operations on masks, and one branch: is text before it? (A mispredicted branch costs as
/// much as all else: rows `pieces/*/1-in-8` of `benches/scenarios/damaged.rs`.)
#[derive(Clone, Copy, Debug)]
pub struct BlockParts<'a> {
    /// The block and the three bytes after it, so that four bytes can be read from every index. Invariant: the masks are
    /// those that a level returned for the block, `starts` without the first ill-formed parts, which have been taken. The
    /// bytes before and between the ill-formed parts are whole characters.
    bytes: &'a [u8; BLOCK_ERRORS_LEN + 3],
    starts: u64,
    two_or_three: u64,
    three: u64,
    /// The index of the next part. Invariant: 0, or the end of the part before it; not after the first of `starts`.
    at: usize,
}

/// A part of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockPart<'a> {
    /// Text up to an ill-formed part.
    Text(&'a str),
    /// An ill-formed part: its length, and the four bytes that begin with it.
    IllFormed(usize, u32),
}

impl<'a> BlockParts<'a> {
    /// Returns the parts of the block at the start of `input`, which does not begin inside a sequence. Returns `None` if
    /// no part is ill-formed, if `input` is shorter than a block and three bytes, or if `level` has no fast method
    /// for it.
    #[inline]
    pub fn new(level: Level, input: &'a [u8]) -> Option<Self> {
        let bytes = input.first_chunk()?;
        let block = bytes.first_chunk()?;
        let BlockErrors { starts, two_or_three, three, .. } = level.block_errors(block)?;
        (starts != 0).then_some(Self { bytes, starts, two_or_three, three, at: 0 })
    }

    /// Returns the number of bytes in the parts that have been taken.
    #[inline]
    pub const fn taken(&self) -> usize {
        self.at
    }

    /// Returns the next part and moves past it, as long as an ill-formed one is left. Text after the last one may
    /// continue after the block.
    #[inline(always)]
    pub fn take(&mut self) -> Option<BlockPart<'a>> {
        let starts = self.starts;
        if starts == 0 {
            return None;
        }
        let (at, start) = (self.at, starts.trailing_zeros() as usize);
        debug_assert!(at <= start);
        if at < start {
            self.at = start;
            let text = &self.bytes[at..start];
            // SAFETY: by the invariants, the text begins with the block or after an ill-formed part, and ends where the
            // next one starts: it is whole characters.
            return Some(BlockPart::Text(unsafe { core::str::from_utf8_unchecked(text) }));
        }
        let len = 1 + (self.two_or_three >> start & 1) + (self.three >> start & 1);
        self.starts = starts & (starts - 1);
        self.at = start + len as usize;
        // There are four bytes: `start` is at most 63.
        let word = u32::from_le_bytes(*self.bytes[start..].first_chunk()?);
        Some(BlockPart::IllFormed(len as usize, word))
    }
}

/// Well-formed text of at most four bytes.
#[derive(Clone, Copy, Debug)]
pub struct ShortText {
    /// Invariant: the first `len` bytes, at most 4, are well-formed UTF-8; the others are zero.
    bytes: [u8; 4],
    len: u8,
}

impl ShortText {
    /// U+FFFD.
    pub const REPLACEMENT: Self = Self::from_char(char::REPLACEMENT_CHARACTER);

    /// Returns the text of a character.
    pub const fn from_char(c: char) -> Self {
        let mut bytes = [0; 4];
        let len = c.encode_utf8(&mut bytes).len() as u8;
        Self { bytes, len }
    }

    /// Returns the character that `byte` encodes in ISO 8859-1.
    #[inline]
    pub fn from_latin1(byte: u8) -> Self {
        Self { bytes: LATIN1[usize::from(byte)], len: 1 + (byte >> 7) }
    }

    /// `\xHH`
    #[inline]
    pub fn escape(byte: u8) -> Self {
        Self { bytes: ESCAPES[usize::from(byte)], len: 4 }
    }

    /// Returns the bytes, and the length of the text.
    #[inline]
    pub const fn bytes(self) -> ([u8; 4], usize) {
        (self.bytes, self.len as usize)
    }
}

/// `\xHH` for each byte.
static ESCAPES: [[u8; 4]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    table!(256, |byte| [b'\\', b'x', DIGITS[byte >> 4], DIGITS[byte & 0xF]])
};

/// Each byte in ISO 8859-1, as UTF-8. The table is faster than the arithmetic: row `as-latin1/ff/all` of
/// `benches/scenarios/damaged.rs`.
static LATIN1: [[u8; 4]; 256] = table!(256, |i| {
    let byte = i as u8;
    if byte < 0x80 { [byte, 0, 0, 0] } else { [0xC0 | byte >> 6, 0x80 | byte & 0x3F, 0, 0] }
});
