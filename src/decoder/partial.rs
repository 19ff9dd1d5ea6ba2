//! The bytes of a split character that are kept between two chunks.

use utf8_simd::text::first_char;
use utf8_simd::{Sequence, head, sequence, sequence_len, tail};

use crate::decoder::{Scanner, Step, Utf8Error};

/// The first bytes of one sequence whose rest has not arrived.
///
/// In UTF-8 it holds at most three bytes, a proper prefix of some well-formed sequence. In a dialect it holds
/// at most five.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partial<const N: usize = 4> {
    /// The held bytes, zeros, and the number of held bytes. Written and read as one word: see
    /// [store forwarding](crate::decoder#store-forwarding), scenario `stream`, rows `decode/*/64`.
    ///
    /// Invariant: the last byte is at most `N - 1`.
    held: [u8; N],
}

impl<const N: usize> Partial<N> {
    pub(crate) const fn new() -> Self {
        Self { held: [0; N] }
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.held[N - 1] as usize
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.held[..self.len().min(N)]
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }
}

/// That of the dialects: one word, for at most five bytes.
impl Partial<8> {
    /// Holds `tail`, at most five bytes, and drops what was held before.
    #[inline]
    pub(crate) fn hold(&mut self, tail: &[u8]) {
        debug_assert!(tail.len() <= 5);
        self.held = match *tail {
            [] => [0; 8],
            [a] => [a, 0, 0, 0, 0, 0, 0, 1],
            [a, b] => [a, b, 0, 0, 0, 0, 0, 2],
            [a, b, c] => [a, b, c, 0, 0, 0, 0, 3],
            [a, b, c, d] => [a, b, c, d, 0, 0, 0, 4],
            [a, b, c, d, e, ..] => [a, b, c, d, e, 0, 0, 5],
        };
    }

    /// Joins one to three held bytes with the first bytes of `input`, which has at least four. Returns the
    /// joined bytes and the number of held bytes, or `None` if either has another length.
    #[inline]
    pub(crate) fn join(&self, input: &[u8]) -> Option<([u8; 4], usize)> {
        let held @ 1..=3 = self.len() else { return None };
        let bytes = u64::from_le_bytes(self.held) as u32;
        let next = u32::from_le_bytes(*input.first_chunk()?);
        Some(((bytes | next << (8 * held)).to_le_bytes(), held))
    }
}

impl Partial {
    /// Returns a word whose last bytes, in little-endian order, are the held ones, after zeros.
    #[inline]
    pub(crate) const fn before(&self) -> u32 {
        let held = u32::from_le_bytes(self.held) as u64 & 0x00FF_FFFF;
        (held << (8 * (4 - self.len()))) as u32
    }

    /// Holds the last `len` bytes of `chunk`, 0 to 3. Without a branch: rows `verdict/*/64`.
    #[inline]
    pub(crate) fn hold_last(&mut self, chunk: &[u8], len: usize) {
        debug_assert!(len <= 3);
        let Some(last) = chunk.last_chunk() else {
            return self.hold(tail(chunk, chunk.len().saturating_sub(len)));
        };
        let word = u64::from(u32::from_le_bytes(*last));
        self.held = ((word >> (8 * (4 - len))) as u32 | (len as u32) << 24).to_le_bytes();
    }

    /// Holds `tail`, at most three bytes, and drops what was held before.
    #[inline]
    pub(crate) fn hold(&mut self, tail: &[u8]) {
        debug_assert!(tail.len() <= 3);
        self.held = match *tail {
            [] => [0; 4],
            [a] => [a, 0, 0, 1],
            [a, b] => [a, b, 0, 2],
            [a, b, c, ..] => [a, b, c, 3],
        };
    }

    /// Completes the held sequence with the first bytes of `input`: the fast path for a scanner that
    /// [is on the fast path](Scanner::is_on_fast_path).
    ///
    /// Returns the sequence, padded with the bytes after it, and the number of bytes that it takes from
    /// `input`. Returns `None`, and changes nothing, if `input` has fewer than four bytes or does not complete a
    /// well-formed sequence. Then [`resume`](Self::resume) decides.
    #[inline]
    pub(crate) fn complete(
        &mut self,
        scanner: &mut Scanner,
        input: &[u8],
    ) -> Option<([u8; 4], usize)> {
        debug_assert!(scanner.is_on_fast_path());
        let (joined, held) = self.join(input)?;
        let len = sequence_len(joined);
        if len == 0 {
            return None;
        }
        self.clear();
        scanner.skip(len);
        Some((joined, len - held))
    }

    /// Joins the held bytes with the first bytes of `input` into four, the length of the longest sequence.
    /// Returns them and the number of held bytes, or `None` if `input` has fewer than four bytes.
    #[inline]
    fn join(&self, input: &[u8]) -> Option<([u8; 4], usize)> {
        debug_assert!(!self.is_empty());
        let bytes = u32::from_le_bytes(self.held) & 0x00FF_FFFF;
        let next = u32::from_le_bytes(*input.first_chunk()?);
        let joined = bytes | next << (8 * self.len() % 32);
        Some((joined.to_le_bytes(), self.len()))
    }

    /// Continues the held sequence with the first bytes of `input`. Neither is empty.
    ///
    /// Returns the number of bytes consumed from `input`, and what the sequence is: the character that was split, a BOM,
    /// an error, or still incomplete.
    pub(crate) fn resume(&mut self, scanner: &mut Scanner, input: &[u8]) -> (usize, Step<char>) {
        debug_assert!(!self.is_empty() && !input.is_empty());
        let held = self.len();
        let wanted = match self.held[0] {
            ..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0.. => 4,
        };
        let taken = input.len().min(wanted - held);
        // In a register: bytes that are stored one by one would be read as a word.
        let first = u32::from_le_bytes(self.held) & 0x00FF_FFFF;
        let bytes = input[..taken].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let joined = (first | bytes << (8 * held % 32)).to_le_bytes();
        let len = held + taken;
        if scanner.asks_for_utf8_only() {
            if let Some(text) = first_char(&joined).filter(|text| text.len() == len)
                && let Some(c) = text.chars().next()
            {
                self.clear();
                scanner.skip(len);
                return (taken, Step::Text(c));
            }
            if sequence(head(&joined, len)) == Sequence::Incomplete {
                self.hold(head(&joined, len));
                return (taken, Step::NeedMore);
            }
        }
        let joined = head(&joined, len);
        match scanner.step(joined) {
            Step::NeedMore => {
                self.hold(joined);
                (taken, Step::NeedMore)
            }
            Step::Skip(len) => {
                self.clear();
                (taken, Step::Skip(len))
            }
            Step::Text(text) => {
                self.clear();
                (taken, text.chars().next().map_or(Step::NeedMore, Step::Text))
            }
            Step::Error(error) => match error.bytes().len().checked_sub(held) {
                Some(consumed) => {
                    self.clear();
                    (consumed, Step::Error(error))
                }
                // `MissingBom` has no bytes, so the held bytes are decoded next.
                None => (0, Step::Error(error)),
            },
        }
    }

    /// Completes the held sequence with the front of `input`, and removes the bytes it takes. Returns its character or an
    /// error, or `None` if it is still incomplete or was a BOM.
    pub(crate) fn take(
        &mut self,
        scanner: &mut Scanner,
        input: &mut &[u8],
    ) -> Option<Result<char, Utf8Error>> {
        while !self.is_empty() && !input.is_empty() {
            let (used, step) = self.resume(scanner, input);
            *input = tail(input, used);
            match step {
                Step::Text(c) => return Some(Ok(c)),
                Step::Error(error) => return Some(Err(error)),
                Step::Skip(_) | Step::NeedMore => {}
            }
        }
        None
    }

    /// Ends the stream after the held bytes; see [`Scanner::finish`].
    pub(crate) fn finish(&mut self, scanner: &mut Scanner) -> Option<Utf8Error> {
        let error = scanner.finish(self.as_bytes())?;
        if !error.bytes().is_empty() {
            self.clear();
        }
        Some(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Utf8Options;

    /// Only speed depends on this.
    #[test]
    fn held_bytes_are_joined_with_the_next_bytes() {
        for sequence in [[0xF0, 0x9F, 0x98, 0x80], [0xE2, 0x82, 0xAC, b'5'], [0xC3, 0xBF, 1, 2]] {
            for held in 1..=3 {
                let (tail, rest) = sequence.split_at(held);
                let input = [rest, &[0xFF; 4]].concat();
                let mut partial = Partial::<4>::new();
                partial.hold(tail);
                assert_eq!((partial.as_bytes(), partial.len()), (tail, held));
                assert_eq!(partial.join(&input), Some((sequence, held)));
                assert_eq!(partial.join(&input[..3]), None);
                assert_eq!(partial.join(b""), None);
                partial.clear();
                assert!(partial.is_empty());
            }
        }
    }

    #[test]
    fn a_split_character_is_completed_on_the_fast_path() {
        let mut scanner = Scanner::new(Utf8Options::new());
        let mut partial = Partial::<4>::new();
        partial.hold(b"\xE2\x82");
        assert_eq!(partial.complete(&mut scanner, b"\xAC12"), None);
        assert_eq!(partial.complete(&mut scanner, b"\x41123"), None);
        assert_eq!((partial.len(), scanner.position()), (2, 0));
        let expected = (*b"\xE2\x82\xAC1", 1);
        assert_eq!(partial.complete(&mut scanner, b"\xAC123"), Some(expected));
        assert_eq!((partial.len(), scanner.position()), (0, 3));
    }

    #[test]
    fn up_to_three_bytes_held_by_a_dialect_are_joined() {
        let sequence = [0xED, 0xA0, 0xBD, 0xED, 0xB8];
        for held in 0..=5 {
            let (tail, rest) = sequence.split_at(held);
            let input = [rest, &[0xFF; 4]].concat();
            let mut partial = Partial::<8>::new();
            partial.hold(tail);
            assert_eq!((partial.as_bytes(), partial.len()), (tail, held));
            let joined = matches!(held, 1..=3).then_some(([0xED, 0xA0, 0xBD, 0xED], held));
            assert_eq!(partial.join(&input), joined);
            assert_eq!(partial.join(&input[..3]), None);
        }
    }
}
