//! The result of validation.

/// The length of the well-formed prefix, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validated {
    /// The bytes before this index are well-formed.
    pub valid_up_to: usize,
    /// The length of the ill-formed maximal subpart at this index, if there is one.
    pub error_len: ErrorLen,
}

/// The length of an ill-formed maximal subpart. An enumeration without fields, so that [`Validated`] fits
/// into two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ErrorLen {
    /// No error: the input ended, possibly inside a sequence (1 to 3 bytes of it).
    None = 0,
    /// One byte.
    One = 1,
    /// Two bytes.
    Two = 2,
    /// Three bytes.
    Three = 3,
}

impl ErrorLen {
    /// Returns the length in bytes, or `None` without an error.
    #[inline]
    pub const fn get(self) -> Option<usize> {
        // (A `match` becomes a jump table in every caller: 0.5 to 1 ns for short messages.)
        match self as usize {
            0 => None,
            len => Some(len),
        }
    }
}
