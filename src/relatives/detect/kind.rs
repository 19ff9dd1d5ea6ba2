//! What kinds of byte streams are there?

use core::fmt;

/// The kind of a byte stream.
///
/// # Examples
///
/// ```
/// use utf8_codec::detect::{Detector, StreamKind};
///
/// let kind = |bytes: &[u8]| {
///     let mut detector = Detector::new();
///     detector.push(bytes);
///     detector.finish()
/// };
/// assert_eq!(kind(b"cafe"), StreamKind::Ascii);
/// assert_eq!(kind(b"caf\xC3\xA9"), StreamKind::Utf8);
/// assert_eq!(kind(b"caf\xE9"), StreamKind::Legacy);
/// assert_eq!(kind(b"\xFF\xFEc\0a\0f\0\xE9\0"), StreamKind::Utf16Le);
/// assert_eq!(kind(b"\x7FELF\x02\x01"), StreamKind::Binary);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StreamKind {
    /// No bytes.
    Empty,
    /// Only bytes below 80.
    Ascii,
    /// Well-formed UTF-8 with a character above U+007F, without a BOM.
    Utf8,
    /// Well-formed UTF-8 with a BOM.
    Utf8WithBom,
    /// UTF-16 with a BOM, little-endian.
    Utf16Le,
    /// UTF-16 with a BOM, big-endian.
    Utf16Be,
    /// UTF-32 with a BOM, little-endian.
    Utf32Le,
    /// UTF-32 with a BOM, big-endian.
    Utf32Be,
    /// Text in a legacy encoding: not UTF-8, and without control characters of binary data.
    Legacy,
    /// Binary data: it contains control characters that do not occur in text.
    Binary,
}

/// Writes `ASCII`, `UTF-8`, `UTF-8 with BOM`, `UTF-16LE`, `legacy` and so on.
impl fmt::Display for StreamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Empty => "empty",
            Self::Ascii => "ASCII",
            Self::Utf8 => "UTF-8",
            Self::Utf8WithBom => "UTF-8 with BOM",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Utf32Le => "UTF-32LE",
            Self::Utf32Be => "UTF-32BE",
            Self::Legacy => "legacy",
            Self::Binary => "binary",
        })
    }
}
