use crate::core::error::Utf8Error;
use crate::core::scanner::{Scanner, Step};

/// The carry: the first bytes of one sequence whose rest has not arrived.
///
/// Holds up to three bytes between calls in UTF-8, where they are a proper prefix of some well-formed
/// sequence, and five in its dialects. Nothing else in the crate keeps bytes of a cut
/// character.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incomplete<const N: usize = 4> {
    /// The bytes that are held, zeros, and how many are held. (Written and read as one word: a load
    /// from several stores would wait for them.)
    ///
    /// Invariant: the last is `N - 1` at most.
    held: [u8; N],
}

impl<const N: usize> Incomplete<N> {
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

/// The carry of the dialects: a word, for up to five bytes.
impl Incomplete<8> {
    /// Keeps `tail`, at most five bytes, in place of what was held.
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

    /// Joins up to three bytes that are held and the first of `input`, where it has four and more.
    /// Says how many are held, too.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn join(&self, input: &[u8]) -> Option<([u8; 4], usize)> {
        let held @ 1..=3 = self.len() else { return None };
        let bytes = u64::from_le_bytes(self.held) as u32;
        let next = u32::from_le_bytes(*input.first_chunk()?);
        Some(((bytes | next << (8 * held)).to_le_bytes(), held))
    }
}

impl Incomplete {
    /// Keeps `tail`, at most three bytes, in place of what was held.
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

    /// Joins what is held and the first bytes of `input`, where it has four and more, to the four
    /// bytes that a sequence has at the most. Says how many are held, too.
    #[inline]
    pub(crate) fn join(&self, input: &[u8]) -> Option<([u8; 4], usize)> {
        debug_assert!(!self.is_empty());
        let bytes = u32::from_le_bytes(self.held) & 0x00FF_FFFF;
        let next = u32::from_le_bytes(*input.first_chunk()?);
        let joined = bytes | next << (8 * self.len() % 32);
        Some((joined.to_le_bytes(), self.len()))
    }

    /// Completes the sequence that is held with the first bytes of `input`, which is not empty.
    ///
    /// Returns how many bytes of `input` went into it, and what came of it.
    pub(crate) fn resume(&mut self, scanner: &mut Scanner, input: &[u8]) -> (usize, Resumed) {
        debug_assert!(!self.is_empty() && !input.is_empty());
        let held = self.len();
        let wanted = match self.held[0] {
            ..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0.. => 4,
        };
        let taken = input.len().min(wanted - held);
        let mut joined = [0; 4];
        joined[..held].copy_from_slice(self.as_bytes());
        joined[held..held + taken].copy_from_slice(&input[..taken]);
        let joined = &joined[..held + taken];
        if let Some(c) = scanner.take_char(joined) {
            self.clear();
            return (taken, Resumed::Char(c));
        }
        match scanner.step(joined) {
            Step::Hold => {
                self.hold(joined);
                (taken, Resumed::Nothing)
            }
            Step::Silent(_) => {
                self.clear();
                (taken, Resumed::Nothing)
            }
            Step::Text(text) => {
                self.clear();
                (taken, text.chars().next().map_or(Resumed::Nothing, Resumed::Char))
            }
            Step::Error(error) => match error.bytes().len().checked_sub(held) {
                Some(consumed) => {
                    self.clear();
                    (consumed, Resumed::Error(error))
                }
                // A missing signature has no bytes: what is held is still to be decoded.
                None => (0, Resumed::Error(error)),
            },
        }
    }

    /// Ends the stream behind what is held; see [`Scanner::finish`].
    pub(crate) fn finish(&mut self, scanner: &mut Scanner) -> Option<Utf8Error> {
        let error = scanner.finish(self.as_bytes())?;
        if !error.bytes().is_empty() {
            self.clear();
        }
        Some(error)
    }
}

/// What came of a sequence that was held.
#[derive(Debug)]
pub(crate) enum Resumed {
    /// Nothing to hand on: it was a signature, or its rest has still not arrived.
    Nothing,
    /// The character whose bytes were cut.
    Char(char),
    /// An error.
    Error(Utf8Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it everything would be as right, and slower.
    #[test]
    fn what_is_held_is_joined_with_the_bytes_behind_it() {
        for sequence in [[0xF0, 0x9F, 0x98, 0x80], [0xE2, 0x82, 0xAC, b'5'], [0xC3, 0xBF, 1, 2]] {
            for held in 1..=3 {
                let (tail, behind) = sequence.split_at(held);
                let input = [behind, &[0xFF; 4]].concat();
                let mut carry = Incomplete::<4>::new();
                carry.hold(tail);
                assert_eq!((carry.as_bytes(), carry.len()), (tail, held));
                assert_eq!(carry.join(&input), Some((sequence, held)));
                assert_eq!(carry.join(&input[..3]), None);
                assert_eq!(carry.join(b""), None);
                carry.clear();
                assert!(carry.is_empty());
            }
        }
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn what_a_dialect_holds_is_joined_where_it_may_be_one_sequence() {
        let sequence = [0xED, 0xA0, 0xBD, 0xED, 0xB8];
        for held in 0..=5 {
            let (tail, behind) = sequence.split_at(held);
            let input = [behind, &[0xFF; 4]].concat();
            let mut carry = Incomplete::<8>::new();
            carry.hold(tail);
            assert_eq!((carry.as_bytes(), carry.len()), (tail, held));
            let joined = matches!(held, 1..=3).then_some(([0xED, 0xA0, 0xBD, 0xED], held));
            assert_eq!(carry.join(&input), joined);
            assert_eq!(carry.join(&input[..3]), None);
        }
    }
}
