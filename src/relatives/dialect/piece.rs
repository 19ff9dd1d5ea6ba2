//! A piece of a stream in a dialect: text, or a code point.

use crate::dialect::CodePoint;

/// A piece of a stream in a [dialect](crate::dialect): text, or one code point.
///
/// The decoder lends text as `&str`; the codec's items own it.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{CodePoint, DialectPiece};
///
/// let pieces = [DialectPiece::Text("né"), DialectPiece::CodePoint(CodePoint::MAX)];
/// let values: Vec<_> =
///     pieces.iter().flat_map(DialectPiece::code_points).map(u32::from).collect();
/// assert_eq!(values, [0x6E, 0xE9, 0x7FFF_FFFF]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DialectPiece<T> {
    /// Text, never empty when decoded.
    Text(T),
    /// A code point. The decoder yields one that the dialect writes in another way than UTF-8, or whose
    /// bytes were cut; the codec one that is not a Unicode scalar value.
    CodePoint(CodePoint),
}

impl<T: AsRef<str>> DialectPiece<T> {
    /// Returns the text, or `None` for a code point.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{CodePoint, DialectPiece};
    ///
    /// assert_eq!(DialectPiece::Text("né").as_str(), Some("né"));
    /// let escaped = CodePoint::new(0xDCE9).unwrap();
    /// assert_eq!(DialectPiece::<String>::CodePoint(escaped).as_str(), None);
    /// ```
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_ref()),
            Self::CodePoint(_) => None,
        }
    }

    /// Returns the code points of this piece, one by one.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{CodePoint, DialectPiece};
    ///
    /// assert!(DialectPiece::Text("né").code_points().eq(['n', 'é'].map(CodePoint::from)));
    /// ```
    pub fn code_points(&self) -> impl Iterator<Item = CodePoint> {
        let (text, code_point) = match self {
            Self::Text(text) => (text.as_ref(), None),
            Self::CodePoint(code_point) => ("", Some(*code_point)),
        };
        text.chars().map(CodePoint::from).chain(code_point)
    }
}

impl<'a, T: From<&'a str>> From<&'a str> for DialectPiece<T> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}
