//! What a stream is so far, and what it may become.

use core::fmt;

/// What a stream of bytes is.
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
    /// Bytes below 80 only.
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

/// `ascii`, `utf-8`, `utf-8 with signature`, `utf-16le` and so on.
impl fmt::Display for StreamKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Empty => "empty",
            Self::Ascii => "ascii",
            Self::Utf8 => "utf-8",
            Self::Utf8WithBom => "utf-8 with signature",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Utf32Le => "utf-32le",
            Self::Utf32Be => "utf-32be",
            Self::Legacy => "legacy",
            Self::Binary => "binary",
        })
    }
}

/// What a stream is so far, and what it may become.
///
/// # Examples
///
/// ```
/// use utf8_codec::detect::{Detector, StreamKind};
///
/// let mut detector = Detector::new();
/// let detection = detector.push(b"\xFF\xFE");
/// assert_eq!(detection.kind(), StreamKind::Utf16Le);
/// assert_eq!(detection.may_become(), [StreamKind::Utf32Le]);
/// assert_eq!(detection.to_string(), "utf-16le so far; may become utf-32le");
/// assert!(detector.push(b"h").is_certain());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Detection {
    kind: StreamKind,
    may_become: &'static [StreamKind],
}

impl Detection {
    pub(super) const fn new(kind: StreamKind, may_become: &'static [StreamKind]) -> Self {
        Self { kind, may_become }
    }

    /// Returns what the stream is if it ends here. An incomplete UTF-8 sequence at the end does not
    /// count.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, StreamKind};
    ///
    /// assert_eq!(Detector::new().push(b"abc\xE2\x82").kind(), StreamKind::Ascii);
    /// ```
    #[must_use]
    pub const fn kind(self) -> StreamKind {
        self.kind
    }

    /// Returns whether no further byte can change the result.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::Detector;
    ///
    /// assert!(!Detector::new().push(b"text").is_certain());
    /// assert!(Detector::new().push(b"text\0").is_certain());
    /// ```
    #[must_use]
    pub const fn is_certain(self) -> bool {
        self.may_become.is_empty()
    }

    /// Returns what the stream may become; nothing if the result is certain. The table in
    /// [the module](crate::detect) lists the bytes that change it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, StreamKind};
    ///
    /// let mut detector = Detector::new();
    /// assert_eq!(detector.push(b"caf\xE9.").may_become(), [StreamKind::Binary]);
    /// ```
    #[must_use]
    pub const fn may_become(self) -> &'static [StreamKind] {
        self.may_become
    }
}

/// Displays `utf-8 so far; may become legacy or binary`, or only the kind if it is certain.
impl fmt::Display for Detection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((last, others)) = self.may_become.split_last() else {
            return write!(f, "{}", self.kind);
        };
        write!(f, "{} so far; may become ", self.kind)?;
        for (index, other) in others.iter().enumerate() {
            write!(f, "{}{other}", if index == 0 { "" } else { ", " })?;
        }
        write!(f, "{}{last}", if others.is_empty() { "" } else { " or " })
    }
}
