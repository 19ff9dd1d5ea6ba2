//! The error of validation, in std's shape.

use core::fmt;

use crate::simd::Validated;

/// Where an input stops being well-formed UTF-8: the counterpart of [`core::str::Utf8Error`].
///
/// # Examples
///
/// ```
/// let error = utf8_simd::from_utf8(b"caf\xE9 noir").unwrap_err();
/// assert_eq!((error.valid_up_to(), error.error_len()), (3, Some(1)));
/// assert_eq!(error.to_string(), "invalid UTF-8 at byte 3: ill-formed sequence of 1 byte");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf8Error {
    valid_up_to: usize,
    error_len: Option<u8>,
}

impl Utf8Error {
    /// Returns the index of the ill-formed or incomplete sequence: the bytes before it are well-formed.
    #[inline]
    pub const fn valid_up_to(&self) -> usize {
        self.valid_up_to
    }

    /// Returns the length of the ill-formed maximal subpart (Unicode 3.9), 1 to 3 bytes, or `None` if the input ends
    /// inside a sequence, which further bytes may complete.
    #[inline]
    pub const fn error_len(&self) -> Option<usize> {
        match self.error_len {
            Some(len) => Some(len as usize),
            None => None,
        }
    }
}

impl From<Validated> for Utf8Error {
    #[inline]
    fn from(found: Validated) -> Self {
        let error_len = found.error_len.get().map(|len| len as u8);
        Self { valid_up_to: found.valid_up_to, error_len }
    }
}

impl fmt::Display for Utf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid UTF-8 at byte {}: ", self.valid_up_to)?;
        match self.error_len {
            None => f.write_str("unexpected end inside a character"),
            Some(1) => f.write_str("ill-formed sequence of 1 byte"),
            Some(len) => write!(f, "ill-formed sequence of {len} bytes"),
        }
    }
}

impl core::error::Error for Utf8Error {}
