//! Which code point could not be encoded, and where is it?

use core::fmt;

use crate::dialect::Dialect;

/// A code point that has no form in a [`Dialect`], or is rejected by the options.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectEncoder};
///
/// let mut encoder = DialectEncoder::new(Dialect::Utf8b);
/// encoder.push_code_point('A'.into()).unwrap();
/// let error = encoder.push_code_point(0xD800).unwrap_err();
/// assert_eq!((error.offset(), error.code_point()), (1, 0xD800));
/// assert_eq!(error.to_string(), "U+D800 at index 1 cannot be encoded in UTF-8B");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DialectEncodeError {
    pub(super) offset: u64,
    pub(super) code_point: u32,
    pub(super) dialect: Dialect,
}

impl DialectEncodeError {
    /// Returns the number of code points or UTF-16 units before it. Text that was pushed as `str`
    /// is not counted.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// assert_eq!(DialectEncoder::new(Dialect::Cesu8).push_unit(0xDC00).unwrap_err().offset(), 0);
    /// ```
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the code point.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let error = DialectEncoder::new(Dialect::Cesu8).push_unit(0xDC00).unwrap_err();
    /// assert_eq!(error.code_point(), 0xDC00);
    /// ```
    pub const fn code_point(&self) -> u32 {
        self.code_point
    }

    /// Returns the dialect.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let error = DialectEncoder::new(Dialect::Cesu8).push_unit(0xDC00).unwrap_err();
    /// assert_eq!(error.dialect(), Dialect::Cesu8);
    /// ```
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }
}

impl fmt::Display for DialectEncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, code_point, dialect } = self;
        write!(f, "U+{code_point:04X} at index {offset} cannot be encoded in {dialect}")
    }
}

impl core::error::Error for DialectEncodeError {}

/// The kind is [`InvalidInput`](std::io::ErrorKind::InvalidInput).
#[cfg(feature = "std")]
impl From<DialectEncodeError> for std::io::Error {
    fn from(error: DialectEncodeError) -> Self {
        Self::new(std::io::ErrorKind::InvalidInput, error)
    }
}
