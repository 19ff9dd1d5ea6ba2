use core::fmt;

/// A surrogate without its partner in a stream of UTF-16 units: where it stands, and why it is alone.
///
/// One error covers one unit. Places are offsets in *units* from the first unit of the stream,
/// whatever the chunks were. It is 16 bytes large.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "alloc")]
/// # {
/// use utf8_codec::utf16::{SurrogateMode, Utf16Decoder, Utf16ErrorKind};
///
/// let (mut decoder, mut text) = (Utf16Decoder::new(), String::new());
/// decoder.push_to_string(&[0x61, 0xD83D], SurrogateMode::Skip, &mut text); // a partner may come
/// decoder.push_to_string(&[0x62], SurrogateMode::Skip, &mut text); // but it does not
///
/// let error = decoder.first_error().unwrap();
/// assert_eq!(error.offset(), 1);
/// assert_eq!(error.unpaired_surrogate(), 0xD83D);
/// assert_eq!(error.kind(), Utf16ErrorKind::LoneHigh);
/// assert_eq!(error.to_string(), "ill-formed utf-16 at unit 1: lone high surrogate (d83d)");
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Utf16Error {
    offset: u64,
    unit: u16,
    kind: Utf16ErrorKind,
}

/// Why a surrogate is alone.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "alloc")]
/// # {
/// use utf8_codec::utf16::{SurrogateMode, Utf16Decoder, Utf16ErrorKind};
///
/// let kind = |units: &[u16]| {
///     let mut decoder = Utf16Decoder::new();
///     decoder.push_to_string(units, SurrogateMode::Skip, &mut String::new());
///     decoder.finish().err().or(decoder.first_error()).unwrap().kind()
/// };
/// assert_eq!(kind(&[0xD800, 0x61]), Utf16ErrorKind::LoneHigh);
/// assert_eq!(kind(&[0xDC00]), Utf16ErrorKind::LoneLow);
/// assert_eq!(kind(&[0xD800]), Utf16ErrorKind::Incomplete);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Utf16ErrorKind {
    /// A high surrogate, D800 to DBFF, and then a unit that is not a low one, or other text.
    LoneHigh,
    /// A low surrogate, DC00 to DFFF, without a high one before it.
    LoneLow,
    /// A high surrogate, and then the end of the stream.
    Incomplete,
}

impl Utf16Error {
    pub(super) const fn new(offset: u64, unit: u16, kind: Utf16ErrorKind) -> Self {
        Self { offset, unit, kind }
    }

    /// Returns the offset of the surrogate in the stream, in units.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")]
    /// # {
    /// use utf8_codec::utf16::{SurrogateMode, Utf16Decoder};
    ///
    /// let mut decoder = Utf16Decoder::new();
    /// decoder.push_to_string(&[0x61, 0xD83D, 0xDC4B, 0xDC4B], SurrogateMode::Skip, &mut String::new());
    /// assert_eq!(decoder.first_error().unwrap().offset(), 3);
    /// # }
    /// ```
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the surrogate.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")]
    /// # {
    /// use utf8_codec::utf16::{SurrogateMode, Utf16Decoder};
    ///
    /// let mut decoder = Utf16Decoder::new();
    /// decoder.push_to_string(&[0xDC4B], SurrogateMode::Skip, &mut String::new());
    /// assert_eq!(decoder.first_error().unwrap().unpaired_surrogate(), 0xDC4B);
    /// # }
    /// ```
    pub const fn unpaired_surrogate(&self) -> u16 {
        self.unit
    }

    /// Returns why it is alone.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")]
    /// # {
    /// use utf8_codec::utf16::{SurrogateMode, Utf16Decoder, Utf16ErrorKind};
    ///
    /// let mut decoder = Utf16Decoder::new();
    /// decoder.push_to_string(&[0xD83D], SurrogateMode::Fatal, &mut String::new());
    /// assert_eq!(decoder.finish().unwrap_err().kind(), Utf16ErrorKind::Incomplete);
    /// # }
    /// ```
    pub const fn kind(&self) -> Utf16ErrorKind {
        self.kind
    }
}

/// Says what, where and which unit: `ill-formed utf-16 at unit 7: lone low surrogate (dc4b)`.
impl fmt::Display for Utf16Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, unit, kind } = self;
        write!(f, "ill-formed utf-16 at unit {offset}: {kind} ({unit:04x})")
    }
}

/// Says the kind in words: `lone high surrogate`.
impl fmt::Display for Utf16ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::LoneHigh => "lone high surrogate",
            Self::LoneLow => "lone low surrogate",
            Self::Incomplete => "high surrogate at the end",
        })
    }
}

impl core::error::Error for Utf16Error {}

/// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) where the stream ended behind a high
/// surrogate, [`InvalidData`](std::io::ErrorKind::InvalidData) for everything else; `get_ref` gives
/// the error itself.
#[cfg(feature = "std")]
impl From<Utf16Error> for std::io::Error {
    fn from(error: Utf16Error) -> Self {
        let kind = match error.kind {
            Utf16ErrorKind::Incomplete => std::io::ErrorKind::UnexpectedEof,
            _ => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
