//! A piece of a stream in a dialect: text, or a code point.

/// A piece of a stream in a [dialect](crate::dialect): text, or one code point.
///
/// The decoder yields text as `&str`. The codec's items own it.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::DialectPiece;
///
/// let pieces = [DialectPiece::Text("né"), DialectPiece::CodePoint(0x7FFF_FFFF)];
/// let values: Vec<_> = pieces.iter().flat_map(DialectPiece::code_points).collect();
/// assert_eq!(values, [0x6E, 0xE9, 0x7FFF_FFFF]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DialectPiece<T> {
    /// Text, never empty when decoded.
    Text(T),
    /// A code point: a Unicode scalar value, a surrogate, or in RFC 2279 a value of up to 31 bits.
    /// The decoder yields one if the dialect writes it differently from UTF-8, or if its bytes were
    /// split across chunks. The codec yields one only if it is not a Unicode scalar value.
    CodePoint(u32),
}

impl<T: AsRef<str>> DialectPiece<T> {
    /// Returns the text, or `None` for a code point.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::DialectPiece;
    ///
    /// assert_eq!(DialectPiece::Text("né").as_str(), Some("né"));
    /// let escaped = 0xDCE9;
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
    /// use utf8_codec::dialect::DialectPiece;
    ///
    /// assert!(DialectPiece::Text("né").code_points().eq(['n', 'é'].map(u32::from)));
    /// ```
    pub fn code_points(&self) -> impl Iterator<Item = u32> {
        let (text, code_point) = match self {
            Self::Text(text) => (text.as_ref(), None),
            Self::CodePoint(code_point) => ("", Some(*code_point)),
        };
        text.chars().map(u32::from).chain(code_point)
    }
}

impl<'a, T: From<&'a str>> From<&'a str> for DialectPiece<T> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}
