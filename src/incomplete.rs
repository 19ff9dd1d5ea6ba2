use crate::error::Utf8Error;
use crate::scanner::{Scanner, Step};

/// The carry: the first bytes of one sequence whose rest has not arrived.
///
/// Holds up to three bytes between calls, all of them a proper prefix of some well-formed sequence.
/// Nothing else in the crate keeps bytes of a cut character.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Incomplete {
    bytes: [u8; 3],
    /// Invariant: at most 3.
    len: u8,
}

impl Incomplete {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; 3], len: 0 }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Keeps `tail`, at most three bytes, in place of what was held.
    pub(crate) fn hold(&mut self, tail: &[u8]) {
        debug_assert!(tail.len() <= 3);
        self.bytes[..tail.len()].copy_from_slice(tail);
        self.len = tail.len() as u8;
    }

    /// Completes the sequence that is held with the first bytes of `input`, which is not empty.
    ///
    /// Returns how many bytes of `input` went into it, and what came of it.
    pub(crate) fn resume(&mut self, scanner: &mut Scanner, input: &[u8]) -> (usize, Resumed) {
        debug_assert!(!self.is_empty() && !input.is_empty());
        let held = usize::from(self.len);
        let wanted = match self.bytes[0] {
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
