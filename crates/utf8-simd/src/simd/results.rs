//! The results of validation: how far an input is well-formed, and all ill-formed parts of a block.

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
        // A `match` becomes a jump table in every caller: 0.5 to 1 ns for short messages.
        match self as usize {
            0 => None,
            len => Some(len),
        }
    }
}

/// The number of bytes whose ill-formed parts [`BlockErrors`] describes.
pub const BLOCK_ERRORS_LEN: usize = 64;

/// The ill-formed parts of a block that start before its last three bytes, and therefore end in it. Bit `i` of
/// a mask represents byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockErrors {
    /// The start of each ill-formed part: a maximal subpart, or a byte that cannot start a sequence.
    pub starts: u64,
    /// The starts of the parts of two or three bytes.
    pub two_or_three: u64,
    /// The starts of the parts of three bytes.
    pub three: u64,
    /// The index after the last sequence or part, ill-formed or not: 61 to 64.
    pub end: usize,
}

/// What [`Level::decode_damaged_utf16`](crate::simd::Level::decode_damaged_utf16) has decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairedPrefix {
    /// The number of bytes read.
    pub read: usize,
    /// The number of units written.
    pub written: usize,
    /// The number of ill-formed parts in the bytes read.
    pub errors: usize,
}
