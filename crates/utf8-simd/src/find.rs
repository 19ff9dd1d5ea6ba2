//! Which bytes of a slice are one of two, found 64 bytes at a time?

use crate::simd::Level;

/// Finds one of two bytes, one match after another.
///
/// It tests 64 bytes at once, up to eight times, and remembers the matches in them. A search that starts again after each match
/// costs more than the distance to the next, if that is short: the lines of a text, the fields of a record.
///
/// # Examples
///
/// ```
/// use utf8_simd::ByteFinder;
///
/// let text = b"one\ntwo\r\n";
/// let mut ends = ByteFinder::new(b'\r', b'\n');
/// let found = [ends.next(text), ends.next(text), ends.next(text), ends.next(text)];
/// assert_eq!(found, [Some(3), Some(7), Some(8), None]);
/// ```
#[derive(Clone, Debug)]
pub struct ByteFinder {
    needles: [u8; 2],
    /// The matches in the current block that have not been returned.
    mask: u64,
    /// The index of the first byte after the current block.
    end: usize,
    /// The matches in the current block and in blocks after it.
    masks: [u64; MASKS],
    /// The number of masks after that of the current block.
    left: u8,
}

const BLOCK: usize = 64;
/// The blocks that are tested at once.
const MASKS: usize = 8;

impl ByteFinder {
    /// Finds `a` and `b`, which may be the same, from index 0 on.
    #[inline]
    pub const fn new(a: u8, b: u8) -> Self {
        Self { needles: [a, b], mask: 0, end: 0, masks: [0; MASKS], left: 0 }
    }

    /// Returns the index of the next match in `bytes`, the same in every call.
    #[inline(always)]
    pub fn next(&mut self, bytes: &[u8]) -> Option<usize> {
        while self.mask == 0 {
            if self.left == 0 && !self.test(bytes) {
                return None;
            }
            self.mask = self.masks.get(MASKS - usize::from(self.left)).copied().unwrap_or_default();
            self.left -= 1;
            self.end += BLOCK;
        }
        let at = self.end - BLOCK + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        Some(at)
    }

    /// Tests the next blocks. Returns whether there is one.
    #[inline(never)]
    fn test(&mut self, bytes: &[u8]) -> bool {
        let level = Level::detect();
        let rest = bytes.get(self.end..).unwrap_or_default();
        let (blocks, end) = rest.as_chunks::<BLOCK>();
        let blocks = &blocks[..blocks.len().min(MASKS)];
        self.left = blocks.len() as u8; // at most `MASKS`
        let masks = &mut self.masks[MASKS - blocks.len()..];
        if !blocks.is_empty() {
            level.byte_masks(blocks, self.needles, masks);
        } else if !end.is_empty() {
            let mut block = [0; BLOCK];
            block.iter_mut().zip(end).for_each(|(place, byte)| *place = *byte);
            let mut mask = [0];
            level.byte_masks(&[block], self.needles, &mut mask);
            self.masks[MASKS - 1] = mask[0] & ((1 << end.len()) - 1);
            self.left = 1;
        }
        self.left > 0
    }
}
