//! A code point: a number that need not be a Unicode scalar value.

use core::fmt;

/// A code point: a number of up to 31 bits, which may or may not be a Unicode scalar value.
///
/// A [`char`] is always a scalar value. A code point can also be a surrogate, U+D800 to U+DFFF, or a value
/// above U+10FFFF, which RFC 2279 allows.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::CodePoint;
///
/// assert_eq!(CodePoint::from('é').to_char(), Some('é'));
/// let half = CodePoint::new(0xD83D).unwrap();
/// assert!(half.is_surrogate());
/// assert_eq!(half.to_char(), None);
/// assert_eq!(half.to_string(), "U+D83D");
/// assert_eq!(CodePoint::new(0x8000_0000), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodePoint(u32);

impl CodePoint {
    /// The largest code point, 7FFFFFFF.
    pub const MAX: Self = Self(0x7FFF_FFFF);

    /// Returns the code point of this number, or `None` if it has more than 31 bits.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::CodePoint;
    ///
    /// assert_eq!(CodePoint::new(0x7FFF_FFFF), Some(CodePoint::MAX));
    /// ```
    pub const fn new(value: u32) -> Option<Self> {
        if value <= Self::MAX.0 { Some(Self(value)) } else { None }
    }

    /// Returns the number.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::CodePoint;
    ///
    /// assert_eq!(CodePoint::from('A').to_u32(), 0x41);
    /// ```
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    /// Returns the `char`, or `None` if this is not a Unicode scalar value: a surrogate, or above
    /// U+10FFFF.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::CodePoint;
    ///
    /// assert_eq!(CodePoint::new(0x1F600).unwrap().to_char(), Some('😀'));
    /// assert_eq!(CodePoint::MAX.to_char(), None);
    /// ```
    pub const fn to_char(self) -> Option<char> {
        char::from_u32(self.0)
    }

    /// Returns whether this is a surrogate, U+D800 to U+DFFF.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::CodePoint;
    ///
    /// assert!(CodePoint::new(0xDC80).unwrap().is_surrogate());
    /// assert!(!CodePoint::from('\u{E000}').is_surrogate());
    /// ```
    pub const fn is_surrogate(self) -> bool {
        matches!(self.0, 0xD800..=0xDFFF)
    }

    /// Whether this is the first half of a pair, U+D800 to U+DBFF.
    pub(crate) const fn is_leading_surrogate(self) -> bool {
        matches!(self.0, 0xD800..=0xDBFF)
    }

    /// Whether this is the second half of a pair, U+DC00 to U+DFFF.
    pub(crate) const fn is_trailing_surrogate(self) -> bool {
        matches!(self.0, 0xDC00..=0xDFFF)
    }

    /// Joins a pair of surrogates.
    pub(crate) const fn from_pair(leading: u32, trailing: u32) -> Self {
        Self(0x1_0000 + ((leading & 0x3FF) << 10) + (trailing & 0x3FF))
    }

    /// A number that is known to have at most 31 bits.
    pub(crate) const fn of(value: u32) -> Self {
        debug_assert!(value <= Self::MAX.0);
        Self(value & Self::MAX.0)
    }
}

impl From<char> for CodePoint {
    fn from(c: char) -> Self {
        Self(c.into())
    }
}

impl From<CodePoint> for u32 {
    fn from(code_point: CodePoint) -> Self {
        code_point.0
    }
}

/// Displays it as Unicode does: `U+00E9`, `U+1F600`.
impl fmt::Display for CodePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "U+{:04X}", self.0)
    }
}

impl fmt::Debug for CodePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
