//! The reference automaton. `tests/proof.rs` uses it too.

/// The reference automaton: what may follow?
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) enum State {
    /// A character, or the end.
    Boundary,
    One,
    Two,
    Three,
    AfterE0,
    AfterEd,
    AfterF0,
    AfterF4,
}

impl State {
    pub(crate) fn next(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Boundary, 0x00..=0x7F) => Self::Boundary,
            (Self::Boundary, 0xC2..=0xDF) => Self::One,
            (Self::Boundary, 0xE0) => Self::AfterE0,
            (Self::Boundary, 0xE1..=0xEC | 0xEE..=0xEF) => Self::Two,
            (Self::Boundary, 0xED) => Self::AfterEd,
            (Self::Boundary, 0xF0) => Self::AfterF0,
            (Self::Boundary, 0xF1..=0xF3) => Self::Three,
            (Self::Boundary, 0xF4) => Self::AfterF4,
            (Self::One, 0x80..=0xBF) => Self::Boundary,
            (Self::Two, 0x80..=0xBF) => Self::One,
            (Self::Three, 0x80..=0xBF) => Self::Two,
            (Self::AfterE0, 0xA0..=0xBF) => Self::One,
            (Self::AfterEd, 0x80..=0x9F) => Self::One,
            (Self::AfterF0, 0x90..=0xBF) => Self::Two,
            (Self::AfterF4, 0x80..=0x8F) => Self::Two,
            _ => return None,
        })
    }
}

/// Whether a byte starts no sequence and continues none.
pub(crate) fn is_never(byte: u8) -> bool {
    matches!(byte, 0xC0..=0xC1 | 0xF5..)
}
