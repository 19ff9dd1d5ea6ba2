use core::fmt;

/// What a stream of bytes may be.
///
/// # Examples
///
/// ```
/// use utf8_codec::detect::{Detector, Kind};
///
/// let kind = |bytes: &[u8]| {
///     let mut detector = Detector::new();
///     detector.push(bytes);
///     detector.finish()
/// };
/// assert_eq!(kind(b"cafe"), Kind::Ascii);
/// assert_eq!(kind(b"caf\xC3\xA9"), Kind::Utf8);
/// assert_eq!(kind(b"caf\xE9"), Kind::Legacy);
/// assert_eq!(kind(b"\xFF\xFEc\0a\0f\0\xE9\0"), Kind::Utf16Le);
/// assert_eq!(kind(b"\x7FELF\x02\x01"), Kind::Binary);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// No bytes.
    Empty,
    /// Bytes below 80 only.
    Ascii,
    /// Well-formed UTF-8 with a character above 7F, without a signature.
    Utf8,
    /// Well-formed UTF-8 with a signature.
    Utf8WithBom,
    /// UTF-16, the low byte first, by its signature.
    Utf16Le,
    /// UTF-16, the high byte first, by its signature.
    Utf16Be,
    /// UTF-32, the lowest byte first, by its signature.
    Utf32Le,
    /// UTF-32, the highest byte first, by its signature.
    Utf32Be,
    /// Text that is not UTF-8: some legacy encoding.
    Legacy,
    /// No text: it has control characters that text has not.
    Binary,
}

/// `ascii`, `utf-8`, `utf-8 with signature`, `utf-16le` and so on.
impl fmt::Display for Kind {
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

/// What a stream is so far, and what it may still become.
///
/// # Examples
///
/// ```
/// use utf8_codec::detect::{Detector, Kind};
///
/// let mut detector = Detector::new();
/// let detection = detector.push(b"\xFF\xFE");
/// assert_eq!(detection.kind(), Kind::Utf16Le);
/// assert_eq!(detection.may_become(), [Kind::Utf32Le]);
/// assert_eq!(detection.to_string(), "utf-16le so far; may become utf-32le");
/// assert!(detector.push(b"h").is_certain());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Detection {
    kind: Kind,
    may_become: &'static [Kind],
}

impl Detection {
    pub(super) const fn new(kind: Kind, may_become: &'static [Kind]) -> Self {
        Self { kind, may_become }
    }

    /// Returns what the stream is if it ends here; but an unfinished sequence of UTF-8 is not
    /// counted against it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, Kind};
    ///
    /// assert_eq!(Detector::new().push(b"abc\xE2\x82").kind(), Kind::Ascii);
    /// ```
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.kind
    }

    /// Whether no byte to come can change it.
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

    /// Returns what else it may be when more has come; nothing if it is certain. By which bytes,
    /// says the table in [the module](crate::detect).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::detect::{Detector, Kind};
    ///
    /// let mut detector = Detector::new();
    /// assert_eq!(detector.push(b"caf\xE9.").may_become(), [Kind::Binary]);
    /// ```
    #[must_use]
    pub const fn may_become(self) -> &'static [Kind] {
        self.may_become
    }
}

/// `utf-8 so far; may become legacy or binary`; where it is certain, only what it is.
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
