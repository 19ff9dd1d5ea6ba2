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
pub enum ErrorLen {
    /// No error: the input ended, possibly inside a sequence (1 to 3 bytes of it).
    None,
    /// One byte.
    One,
    /// Two bytes.
    Two,
    /// Three bytes.
    Three,
}

impl ErrorLen {
    /// Returns the length in bytes, or `None` without an error.
    #[inline]
    pub const fn get(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::One => Some(1),
            Self::Two => Some(2),
            Self::Three => Some(3),
        }
    }
}
