//! Lines of text: their ends, their limits and their errors.
//!
//! `codec::Utf8LinesCodec` and `Utf8Lines` (in `stream` and in `io`) read lines. Each takes a [`Delimiter`] and a
//! limit, 65,536 bytes unless you set another. [`LongLines`] chooses whether a longer line is rejected or cut. Each yields a
//! [`Line`] or a [`LineError`], which `Utf8Lines` wraps in `StreamError::Line`.

pub(crate) mod decoder;
pub(crate) mod delimiter;
pub(crate) mod machine;

use alloc::string::String;
use core::fmt;
use core::ops::Deref;
#[cfg(feature = "std")]
use std::io;

#[cfg(feature = "std")]
use bytestring::ByteString;

use crate::decoder::{Utf8Error, Utf8ErrorKind};

pub use decoder::{ChunkLines, LineDecoder};
pub use delimiter::Delimiter;

/// What happens to a line that is longer than the limit.
///
/// # Examples
///
/// ```
/// use utf8_codec::lines::{LineDecoder, LongLines};
///
/// let mut decoder = LineDecoder::new().with_max_length(4).with_long_lines(LongLines::Cut);
/// let mut lines = decoder.push("café au lait\ntea\n".as_bytes());
/// let coffee = lines.next_line().unwrap().unwrap();
/// assert_eq!((coffee.text, coffee.number, coffee.is_cut()), ("caf", 1, true)); // é would be bytes 4 and 5
/// let tea = lines.next_line().unwrap().unwrap();
/// assert_eq!((tea.text, tea.number, tea.is_cut()), ("tea", 2, false));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LongLines {
    /// It is rejected as [`LineError::TooLong`].
    #[default]
    Reject,
    /// It is cut, as log shippers do: the characters within the limit become a line for which [`is_cut`](Line::is_cut) returns
    /// true. The rest of the line is skipped: it is not validated, and its errors are not counted. A line of the input is
    /// therefore at most one item.
    ///
    /// The line is returned as soon as it is known to be too long. Its last character is complete: the bytes of a character that
    /// the limit would split are dropped. An error in the bytes within the limit is handled as in any line. With
    /// [`FallbackDecoder::part`](crate::fallback::FallbackDecoder::part), an ill-formed part ends at the limit at the latest: half
    /// a legacy character there is U+FFFD.
    Cut,
}

/// A line of text, without its delimiter. The default is an empty line with the number 0, which no line of a stream has.
///
/// # Examples
///
/// ```
/// use utf8_codec::io::Utf8Reader;
///
/// let mut lines = Utf8Reader::new(&b"one\r\ntwo"[..]).into_lines();
/// let line = lines.nth(1).unwrap().unwrap();
/// assert_eq!(line.to_uppercase(), "TWO"); // a line is a `str`
/// assert_eq!((line.number, line.offset), (2, 5));
/// assert!(!line.is_terminated()); // the end of the stream ended it
/// ```
///
/// A repaired line reports its errors:
///
/// ```
/// use utf8_codec::ErrorMode;
/// use utf8_codec::io::Utf8Reader;
///
/// let reader = Utf8Reader::new(&b"fine\ncaf\xE9 \xFF\n"[..]).with_error_mode(ErrorMode::Escape);
/// let line = reader.into_lines().nth(1).unwrap().unwrap();
/// assert_eq!(line, r"caf\xe9 \xff");
/// assert_eq!((line.error_count, line.first_error_offset), (2, Some(8)));
/// ```
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(auto_cfg(hide(feature = "alloc"))))]
pub type Line = LineOf<ByteString>;

/// A line of text that borrows it, without its delimiter.
///
/// # Examples
///
/// ```
/// use utf8_codec::lines::LineDecoder;
///
/// let mut decoder = LineDecoder::new();
/// let mut lines = decoder.push(b"one\r\ntwo\n");
/// let one = lines.next_line().unwrap().unwrap();
/// assert_eq!((one.text, one.number, one.offset), ("one", 1, 0));
/// let two = lines.next_line().unwrap().unwrap();
/// assert_eq!((two.text, two.number, two.offset), ("two", 2, 5));
/// ```
pub type LineRef<'a> = LineOf<&'a str>;

/// A line whose text is a `T`: [`Line`] or [`LineRef`]. It derefs to `str`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LineOf<T> {
    /// The text. That of a [`Line`] shares the memory of the read buffer, unless something was repaired
    /// or a chunk has cut it.
    pub text: T,
    /// The number of the line. The first line is 1.
    pub number: u64,
    /// The offset in the stream of the first byte of the line, in bytes. A BOM that was removed is before it.
    pub offset: u64,
    /// See [`is_terminated`](Self::is_terminated).
    pub(crate) end: LineEnd,
    /// The number of errors in the line that were repaired, like the decoder's `error_count()`. If the lines were converted from
    /// another charset, the conversion counts its repairs for the whole stream only. 0 in
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal), and for lines of text. In a line that a
    /// [`FallbackDecoder`](crate::fallback::FallbackDecoder) decodes as a whole, only the first ill-formed part counts, and
    /// characters that the options reject.
    pub error_count: u64,
    /// The offset in the stream of the first of these errors, in bytes.
    pub first_error_offset: Option<u64>,
}

/// What is known of a line besides its text.
pub(crate) type LineInfo = LineOf<()>;

/// What ends a [`Line`].
// As wide as the other fields, which a `bool` is not: see `crate::decoder`, "Store forwarding"; scenario `framed`.
#[repr(u64)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum LineEnd {
    /// The delimiter.
    #[default]
    Delimiter,
    /// The end of the stream, with no delimiter before it.
    Stream,
    /// The limit: the line is cut.
    Limit,
}

impl<T> LineOf<T> {
    #[inline]
    pub(crate) fn new<O>(text: T, info: LineOf<O>) -> Self {
        let LineOf { number, offset, end, error_count, first_error_offset, .. } = info;
        Self { text, number, offset, end, error_count, first_error_offset }
    }

    /// Whether a delimiter ended the line. If not, the end of the stream did (the line is the last one, and may be
    /// incomplete), or the line [is cut](Self::is_cut).
    #[inline]
    pub fn is_terminated(&self) -> bool {
        self.end == LineEnd::Delimiter
    }

    /// Whether the line was longer than the limit, so that its rest has been dropped: see [`LongLines::Cut`].
    #[inline]
    pub fn is_cut(&self) -> bool {
        self.end == LineEnd::Limit
    }
}

impl<T: Deref<Target = str>> Deref for LineOf<T> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        &self.text
    }
}

impl<T: Deref<Target = str>> AsRef<str> for LineOf<T> {
    fn as_ref(&self) -> &str {
        self
    }
}

impl<T: Deref<Target = str>> PartialEq<str> for LineOf<T> {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl<T: Deref<Target = str>> PartialEq<&str> for LineOf<T> {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl<T: Deref<Target = str>> fmt::Display for LineOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl<T: Into<String>> From<LineOf<T>> for String {
    fn from(line: LineOf<T>) -> Self {
        line.text.into()
    }
}

#[cfg(feature = "std")]
/// Copies the text.
impl From<LineRef<'_>> for Line {
    fn from(line: LineRef<'_>) -> Self {
        Self::new(line.text.into(), line)
    }
}

/// The error of a rejected line. The next line is not affected.
///
/// Every variant has the number of the line and the offset of its first byte; [`number`](Self::number) and
/// [`offset`](Self::offset) return them. The message contains the number, the reason, and, unless a BOM is missing, an offset in
/// the stream: of the ill-formed part, of the CR or LF, or of a line that is too long.
/// The bytes of the line are discarded, and with them whether a delimiter ended it, because the error is
/// returned before the line has ended. To keep both, use [`LineDecoder::keep_rejected`] or that of the type that returns the lines.
/// To close a connection after an error, while the peer is still sending, see
/// [the guide](crate::guide::lines#an-early-error-and-closing-the-connection).
///
/// # Examples
///
/// ```
/// use utf8_codec::lines::{LineDecoder, LineError};
///
/// let mut decoder = LineDecoder::new().with_max_length(5);
/// let mut lines = decoder.push(b"fine\nnot so fine\na\xFF\n");
/// assert!(lines.next_line().unwrap().is_ok());
/// let error = lines.next_line().unwrap().unwrap_err();
/// assert!(matches!(error, LineError::TooLong { number: 2, offset: 5, max_length: 5 }));
/// assert_eq!(error.to_string(), "line 2 at byte 5 of the stream is longer than 5 bytes");
///
/// let error = lines.next_line().unwrap().unwrap_err();
/// assert!(matches!(error, LineError::Utf8 { error, .. } if error.valid_up_to() == 18));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum LineError {
    /// The line is not UTF-8, or contains a character that the options reject.
    #[error(fmt = fmt_utf8)]
    Utf8 {
        /// The number of the line. The first line is 1.
        number: u64,
        /// The offset in the stream of the first byte of the line, in bytes.
        offset: u64,
        /// The ill-formed or rejected part, with its own offset in the stream.
        error: Utf8Error,
    },
    /// The line has more bytes than the limit, and [`LongLines`] rejects it.
    #[error("line {number} at byte {offset} of the stream is longer than {max_length} bytes")]
    TooLong {
        /// The number of the line. The first line is 1.
        number: u64,
        /// The offset in the stream of the first byte of the line, in bytes.
        offset: u64,
        /// The limit, in bytes.
        max_length: usize,
    },
    /// The line contains an LF without a CR before it, which [`Delimiter::crlf`] rejects.
    #[error("line {number} contains a bare LF at byte {lf_offset} of the stream")]
    BareLf {
        /// The number of the line. The first line is 1.
        number: u64,
        /// The offset in the stream of the first byte of the line, in bytes.
        offset: u64,
        /// The offset in the stream of the LF, in bytes.
        lf_offset: u64,
    },
    /// The line contains a CR without an LF after it, which [`Delimiter::crlf`] and [`Delimiter::crlf_or_lf`] reject.
    #[error("line {number} contains a bare CR at byte {cr_offset} of the stream")]
    BareCr {
        /// The number of the line. The first line is 1.
        number: u64,
        /// The offset in the stream of the first byte of the line, in bytes.
        offset: u64,
        /// The offset in the stream of the CR, in bytes.
        cr_offset: u64,
    },
}

impl LineError {
    /// Returns the number of the line. The first line is 1.
    pub fn number(&self) -> u64 {
        match *self {
            Self::Utf8 { number, .. }
            | Self::TooLong { number, .. }
            | Self::BareLf { number, .. }
            | Self::BareCr { number, .. } => number,
        }
    }

    /// Returns the offset in the stream of the first byte of the line, in bytes. The offset of the error is
    /// `error.valid_up_to()` in `Utf8`, `lf_offset` in `BareLf`, and `cr_offset` in `BareCr`.
    pub fn offset(&self) -> u64 {
        match *self {
            Self::Utf8 { offset, .. }
            | Self::TooLong { offset, .. }
            | Self::BareLf { offset, .. }
            | Self::BareCr { offset, .. } => offset,
        }
    }
}

/// Writes the message of `LineError::Utf8`.
fn fmt_utf8(number: &u64, _: &u64, error: &Utf8Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let is_ill_formed = error.kind().is_ill_formed();
    write!(f, "line {number}{}: ", if is_ill_formed { " is not valid UTF-8" } else { "" })?;
    error.fmt_reason(f)?;
    match error.kind() {
        Utf8ErrorKind::MissingBom => Ok(()),
        _ => write!(f, " at byte {} of the stream{}", error.valid_up_to(), error.hint()),
    }
}

/// The kind is [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the stream ended inside a character, and
/// [`InvalidData`](io::ErrorKind::InvalidData) otherwise.
#[cfg(feature = "std")]
impl From<LineError> for io::Error {
    fn from(error: LineError) -> Self {
        let kind = match error {
            LineError::Utf8 { error, .. } => Self::from(error).kind(),
            LineError::TooLong { .. } | LineError::BareLf { .. } | LineError::BareCr { .. } => {
                io::ErrorKind::InvalidData
            }
        };
        Self::new(kind, error)
    }
}
