//! Decodes UTF-16 units to UTF-8, chunk by chunk.
//!
//! JavaScript, Java, .NET, Windows and many of their protocols represent text as 16-bit units. A
//! character above U+FFFF is a pair of surrogates, a high one and a low one, and a chunk can end
//! between them. [`Utf16Decoder`] holds the high surrogate until the next unit arrives. The
//! [`ErrorMode`] decides what replaces an unpaired surrogate. A [`Utf16Error`] carries
//! its offset.
//!
//! Units are `u16` values in native byte order. U+FEFF is text. A `CharsetReader` (of `io` or `stream`)
//! reads UTF-16 in bytes, of either byte order. For the opposite direction, use
//! [`Utf8Decoder::push_to_utf16`](crate::Utf8Decoder::push_to_utf16). To write a BOM, pass the text
//! to a [`Utf8Encoder`](crate::Utf8Encoder). With the feature `stream`, a `Utf8Writer` accepts
//! units and writes bytes.
//!
//! ```
//! # #[cfg(feature = "alloc")]
//! # {
//! use utf8_codec::ErrorMode;
//! use utf8_codec::utf16::Utf16Decoder;
//!
//! let (mut decoder, mut text) = (Utf16Decoder::new(), String::new());
//! for chunk in [&[0x48, 0x69, 0x20, 0xD83D][..], &[0xDC4B], &[0xDC4B]] {
//!     let progress = decoder.push_to_string(chunk, ErrorMode::Replacement, &mut text);
//!     assert_eq!(progress.read, chunk.len());
//! }
//! assert_eq!((&*text, decoder.finish()), ("Hi 👋\u{FFFD}", Ok(())));
//! assert_eq!(decoder.first_error().unwrap().offset(), 5);
//! # }
//! ```

mod decoder;

use core::fmt;

use crate::decoder::{ErrorMode, Repair};

pub use decoder::Utf16Decoder;

/// An unpaired surrogate in a stream of UTF-16 units.
///
/// One error covers one unit. Offsets count *units* from the start of the stream, however it was
/// split into chunks. The error has a size of 16 bytes.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "alloc")]
/// # {
/// use utf8_codec::ErrorMode;
/// use utf8_codec::utf16::Utf16Decoder;
///
/// let (mut decoder, mut text) = (Utf16Decoder::new(), String::new());
/// let progress = decoder.push_to_string(&[0x61, 0xD83D], ErrorMode::Skip, &mut text);
/// assert_eq!(progress.held, 1); // the low surrogate may follow
/// let progress = decoder.push_to_string(&[0x62], ErrorMode::Skip, &mut text); // it does not
/// assert_eq!(progress.held, 0);
///
/// let error = decoder.first_error().unwrap();
/// assert_eq!(error.offset(), 1);
/// assert_eq!(error.unpaired_surrogate(), 0xD83D);
/// assert_eq!(error.to_string(), "invalid UTF-16 at unit 1: unpaired high surrogate (d83d)");
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Utf16Error {
    offset: u64,
    unit: u16,
    end: Utf16End,
}

/// Whether the stream ended after the surrogate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Utf16End {
    /// The stream continued.
    NotReached,
    /// The stream ended after a high surrogate.
    Reached,
}

impl Utf16Error {
    const fn new(offset: u64, unit: u16, end: Utf16End) -> Self {
        Self { offset, unit, end }
    }

    /// Returns the offset of the surrogate in the stream, in units.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the surrogate.
    ///
    /// `D800..=DBFF` is a high surrogate without a low surrogate after it. `DC00..=DFFF` is a low
    /// surrogate without a high surrogate before it.
    pub const fn unpaired_surrogate(&self) -> u16 {
        self.unit
    }

    /// Returns whether the stream ended after a high surrogate, so that more units could have
    /// completed the pair.
    pub const fn is_incomplete(&self) -> bool {
        matches!(self.end, Utf16End::Reached)
    }

    /// Returns the text that replaces the surrogate in this mode, or `None` for [`ErrorMode::Fatal`].
    ///
    /// [`ErrorMode::Escape`] writes `\uHHHH` in lower-case hexadecimal, six bytes. A surrogate
    /// exists in no legacy encoding, so [`ErrorMode::Latin1`] and [`ErrorMode::Windows1252`] write
    /// U+FFFD, as they do for rejected characters.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")]
    /// # {
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::utf16::Utf16Decoder;
    ///
    /// let mut decoder = Utf16Decoder::new();
    /// let progress = decoder.push_to_string(&[0xD800], ErrorMode::Fatal, &mut String::new());
    /// assert_eq!(progress.held, 1);
    /// let error = decoder.finish().unwrap_err();
    /// assert_eq!(error.repair(ErrorMode::Escape).as_deref(), Some(r"\ud800"));
    /// assert_eq!(error.repair(ErrorMode::Latin1).as_deref(), Some("\u{FFFD}"));
    /// assert_eq!(error.repair(ErrorMode::Fatal), None);
    /// # }
    /// ```
    pub fn repair(&self, mode: ErrorMode) -> Option<Repair> {
        Some(match mode {
            ErrorMode::Fatal => return None,
            ErrorMode::Skip => Repair::new(""),
            ErrorMode::Escape => Repair::escape(self.unit.into()),
            ErrorMode::Replacement | ErrorMode::Latin1 | ErrorMode::Windows1252 => {
                Repair::new("\u{FFFD}")
            }
        })
    }
}

/// Writes the offset, the reason and the unit: `invalid UTF-16 at unit 7: unpaired low surrogate (dc4b)`.
impl fmt::Display for Utf16Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, unit, end } = self;
        let reason = match (end, unit) {
            (Utf16End::Reached, _) => "unexpected end after a high surrogate",
            (Utf16End::NotReached, &unit) => unpaired(unit),
        };
        write!(f, "invalid UTF-16 at unit {offset}: {reason} ({unit:04x})")
    }
}

impl core::error::Error for Utf16Error {}

/// Names the error of this surrogate.
pub(crate) const fn unpaired(surrogate: u16) -> &'static str {
    match surrogate {
        ..0xDC00 => "unpaired high surrogate",
        _ => "unpaired low surrogate",
    }
}

/// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if the error
/// [is incomplete](Utf16Error::is_incomplete), [`InvalidData`](std::io::ErrorKind::InvalidData)
/// otherwise; `get_ref` returns the error itself.
#[cfg(feature = "std")]
impl From<Utf16Error> for std::io::Error {
    fn from(error: Utf16Error) -> Self {
        let kind = match error.is_incomplete() {
            true => std::io::ErrorKind::UnexpectedEof,
            false => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
