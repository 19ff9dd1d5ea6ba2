//! What is a line, and why is one rejected?

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Deref;

use bytestring::ByteString;

use crate::core::error::Utf8Error;

/// A line of text, without its delimiter.
///
/// # Examples
///
/// ```
/// use utf8_codec::io::Utf8Reader;
/// use utf8_codec::lines::LineEnd;
///
/// let mut lines = Utf8Reader::new(&b"one\r\ntwo"[..]).into_lines();
/// let line = lines.nth(1).unwrap().unwrap();
/// assert_eq!(line.to_uppercase(), "TWO"); // a line is a `str`
/// assert_eq!((line.number, line.offset, line.end), (2, 5, LineEnd::Stream));
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Line {
    /// The text. It shares the memory of the read buffer, unless something was repaired.
    pub text: ByteString,
    /// The number of the line. The first line is 1.
    pub number: u64,
    /// The offset in the stream of the first byte of the line, in bytes. A BOM that was removed is before it.
    pub offset: u64,
    /// What ended the line.
    pub end: LineEnd,
    /// The number of errors in the line that were repaired, like the decoder's `error_count()`. 0 in
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal), and for lines of text. In a line that a
    /// [`FallbackDecoder`](crate::fallback::FallbackDecoder) decodes as a whole, only the first ill-formed part counts.
    pub error_count: u64,
    /// The offset in the stream of the first of these errors, in bytes.
    pub first_error_offset: Option<u64>,
}

/// What ends a [`Line`].
///
/// # Examples
///
/// ```
/// use utf8_codec::io::Utf8Reader;
/// use utf8_codec::lines::LineEnd;
///
/// let lines = Utf8Reader::new(&b"one\ntwo"[..]).into_lines();
/// let ends: Vec<_> = lines.map(|line| line.unwrap().end).collect();
/// assert_eq!(ends, [LineEnd::Delimiter, LineEnd::Stream]);
/// ```
// As wide as the other fields: see `crate::core`, "Store forwarding"; scenario `framed`.
#[repr(u64)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LineEnd {
    /// The delimiter.
    Delimiter,
    /// The end of the stream, with no delimiter before it.
    Stream,
}

impl Deref for Line {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl AsRef<str> for Line {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl PartialEq<str> for Line {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Line {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl PartialEq<String> for Line {
    fn eq(&self, other: &String) -> bool {
        **self == **other
    }
}

impl PartialEq<ByteString> for Line {
    fn eq(&self, other: &ByteString) -> bool {
        self.text == *other
    }
}

impl PartialEq<Line> for str {
    fn eq(&self, other: &Line) -> bool {
        *self == **other
    }
}

impl PartialEq<Line> for &str {
    fn eq(&self, other: &Line) -> bool {
        **self == **other
    }
}

impl PartialEq<Line> for String {
    fn eq(&self, other: &Line) -> bool {
        **self == **other
    }
}

impl From<Line> for ByteString {
    fn from(line: Line) -> Self {
        line.text
    }
}

impl From<Line> for String {
    fn from(line: Line) -> Self {
        line.text.into()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// The error of a rejected line. The next line is not affected.
///
/// The message contains the reason and the offset of an ill-formed part. [`source`](std::error::Error::source)
/// returns them as the [`Utf8Error`] in [`kind`](Self::kind). The bytes of the line are discarded. To keep
/// them, use a lossy mode such as [`ErrorMode::Escape`](crate::ErrorMode::Escape).
///
/// # Examples
///
/// ```
/// use utf8_codec::io::Utf8Reader;
/// use utf8_codec::lines::{LineErrorKind, LinesError};
///
/// let reader = Utf8Reader::new(&b"fine\nnot so fine\n"[..]);
/// let mut lines = reader.into_lines().with_max_length(5);
/// assert!(lines.next().unwrap().is_ok());
/// let Some(Err(LinesError::Line(error))) = lines.next() else { panic!() };
/// assert_eq!((error.number, error.offset), (2, 5));
/// assert_eq!(error.kind, LineErrorKind::TooLong { max_length: 5 });
/// assert_eq!(error.to_string(), "line 2 at byte 5 is longer than 5 bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct LineError {
    /// The number of the line. The first line is 1.
    pub number: u64,
    /// The offset in the stream of the first byte of the line, in bytes. That of the error is in `kind`.
    pub offset: u64,
    /// Why the line was rejected.
    pub kind: LineErrorKind,
}

/// Why a line was rejected.
///
/// # Examples
///
/// ```
/// use utf8_codec::io::Utf8Reader;
/// use utf8_codec::lines::{LineErrorKind, LinesError};
///
/// let mut lines = Utf8Reader::new(&b"a\xFF"[..]).into_lines();
/// let Some(Err(LinesError::Line(error))) = lines.next() else { panic!() };
/// assert!(matches!(error.kind, LineErrorKind::Utf8(error) if error.valid_up_to() == 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum LineErrorKind {
    /// The line is not UTF-8, or contains a character that the options reject.
    Utf8(Utf8Error),
    /// The line has more bytes than the limit.
    TooLong {
        /// The limit, in bytes.
        max_length: usize,
    },
    /// The line contains a CR without an LF after it, which [`Delimiter::crlf`] rejects.
    ///
    /// [`Delimiter::crlf`]: crate::lines::Delimiter::crlf
    BareCr {
        /// The offset in the stream of the CR, in bytes.
        offset: u64,
    },
}

/// Writes the line, the reason and the offset: `line 2 is not valid UTF-8: invalid byte (e9) at byte 9`.
impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, offset, kind } = self;
        match kind {
            LineErrorKind::Utf8(error) if error.kind().is_ill_formed() => {
                write!(f, "line {number} is not valid UTF-8: ")?;
                error.fmt_reason(f)?;
                write!(f, " at byte {}{}", error.valid_up_to(), error.hint())
            }
            LineErrorKind::Utf8(error) => write!(f, "line {number}: {error}"),
            LineErrorKind::TooLong { max_length } => {
                write!(f, "line {number} at byte {offset} is longer than {max_length} bytes")
            }
            LineErrorKind::BareCr { offset } => {
                write!(f, "line {number} contains a bare CR at byte {offset}")
            }
        }
    }
}

impl Error for LineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            LineErrorKind::Utf8(error) => Some(error),
            LineErrorKind::TooLong { .. } | LineErrorKind::BareCr { .. } => None,
        }
    }
}

/// The kind is [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the stream ended inside a character, and
/// [`InvalidData`](io::ErrorKind::InvalidData) otherwise.
impl From<LineError> for io::Error {
    fn from(error: LineError) -> Self {
        let kind = match error.kind {
            LineErrorKind::Utf8(cause) => Self::from(cause).kind(),
            LineErrorKind::TooLong { .. } | LineErrorKind::BareCr { .. } => {
                io::ErrorKind::InvalidData
            }
        };
        Self::new(kind, error)
    }
}

/// An error while lines are read. The next line follows it.
///
/// `E` is the error of the source of bytes. The message contains that of the source.
///
/// # Examples
///
/// ```
/// use utf8_codec::io::Utf8Reader;
/// use utf8_codec::lines::LinesError;
///
/// let mut lines = Utf8Reader::new(&b"\xFF\nlast"[..]).into_lines();
/// let error = lines.next().unwrap().unwrap_err();
/// assert!(matches!(error, LinesError::Line(error) if error.number == 1));
/// assert_eq!(lines.next().unwrap().unwrap(), "last");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinesError<E> {
    /// A line was rejected. The rest of it is skipped.
    Line(LineError),
    /// The source failed. Unless the source is a `Utf8Reader`, the current line is rejected as well.
    Inner(E),
}

impl<E: fmt::Display> fmt::Display for LinesError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(error) => error.fmt(f),
            Self::Inner(error) => write!(f, "reading failed: {error}"),
        }
    }
}

impl<E: Error + 'static> Error for LinesError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Line(error) => error.source(),
            Self::Inner(error) => Some(error),
        }
    }
}

impl<E> From<LineError> for LinesError<E> {
    fn from(error: LineError) -> Self {
        Self::Line(error)
    }
}

/// Returns an inner error unchanged. A [`LineError`] is converted by its own `From`.
impl<E: Into<io::Error>> From<LinesError<E>> for io::Error {
    fn from(error: LinesError<E>) -> Self {
        match error {
            LinesError::Line(error) => error.into(),
            LinesError::Inner(error) => error.into(),
        }
    }
}
