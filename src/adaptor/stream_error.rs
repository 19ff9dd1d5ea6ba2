//! What can go wrong in a stream of text?

use std::io;

use crate::decoder::{TextPosition, Utf8Error};
use crate::lines::LineError;
use crate::sse::EventPart;

/// An error in a stream of text, of `char`s, of lines or of server-sent events.
///
/// Streams yield an error as an item and continue after it. A `Utf8Reader`, for which `E` is
/// [`io::Error`], continues with the next call. Ill-formed bytes are [`Utf8`](Self::Utf8) errors in text, and `Line`
/// errors in lines. The message and the source of [`Inner`](Self::Inner) are those of the error inside.
///
/// It converts into [`io::Error`] if `E` does. If not, as with reqwest's error, map the errors of the stream of bytes to
/// `io::Error` first ([`io::Error::other`]).
///
/// # Examples
///
/// ```
/// use utf8_codec::io::{StreamError, Utf8Reader};
///
/// let mut reader = Utf8Reader::new(&b"5\xFF!"[..]);
/// assert_eq!(reader.next_str().unwrap(), Some("5"));
/// let error = reader.next_str().unwrap_err();
/// assert_eq!(error.to_string(), "invalid UTF-8 in the stream at byte 1: invalid byte (ff)");
/// assert!(matches!(error, StreamError::Utf8(error) if error.valid_up_to() == 1));
/// assert_eq!(reader.next_str().unwrap(), Some("!"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError<E> {
    /// The bytes are not UTF-8, or the options reject them. The rejected bytes are consumed, and
    /// decoding continues after them.
    #[error("{}", .0.message_in(" in the stream"))]
    Utf8(Utf8Error),
    /// A line was rejected. The rest of it is skipped. Only streams and iterators of lines return this.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The inner stream or the reader failed. The held bytes of a character are kept: if the inner
    /// stream continues, so does the text. In a stream of lines or events, the current line or event is rejected as
    /// well, unless the source is a reader that has lost nothing.
    #[error(transparent)]
    Inner(E),
    /// The collected text would be longer than the limit. Only `collect_text` and `append_text` return this.
    #[error("text is longer than {max_length} bytes")]
    TooLong {
        /// The limit, in bytes of text.
        max_length: usize,
    },
    /// A server-sent event is longer than the limit, or its ID is. Only a stream of events returns this
    /// (`Utf8Stream::events`). The event is skipped, and decoding continues after it.
    #[error("{part} at byte {offset} of the stream is longer than {max_length} bytes")]
    EventTooLong {
        /// What is too long.
        part: EventPart,
        /// The offset of the event in the stream, in bytes.
        offset: u64,
        /// The limit, in bytes.
        max_length: usize,
    },
}

impl<E> StreamError<E> {
    /// Returns the position of an item and moves past it. It is at `offset`, unless it is an error with its own offset.
    pub(crate) fn position_of(
        position: &mut TextPosition,
        offset: u64,
        item: &Result<char, Self>,
    ) -> TextPosition {
        match item {
            Ok(next) => position.take(offset, Ok(*next)),
            Err(Self::Utf8(error)) => position.take(error.valid_up_to(), Err(Some(error))),
            Err(_) => position.take(offset, Err(None)),
        }
    }
}

impl<E> From<Utf8Error> for StreamError<E> {
    fn from(error: Utf8Error) -> Self {
        Self::Utf8(error)
    }
}

impl From<io::Error> for StreamError<io::Error> {
    fn from(error: io::Error) -> Self {
        Self::Inner(error)
    }
}

/// Returns an inner error unchanged. An exceeded limit becomes
/// [`InvalidData`](io::ErrorKind::InvalidData). A [`Utf8Error`] or `LineError` is converted by its own `From`.
impl<E: Into<io::Error>> From<StreamError<E>> for io::Error {
    fn from(error: StreamError<E>) -> Self {
        let limit: StreamError<Self> = match error {
            StreamError::Utf8(error) => return error.into(),
            StreamError::Line(error) => return error.into(),
            StreamError::Inner(error) => return error.into(),
            StreamError::TooLong { max_length } => StreamError::TooLong { max_length },
            StreamError::EventTooLong { part, offset, max_length } => {
                StreamError::EventTooLong { part, offset, max_length }
            }
        };
        Self::new(io::ErrorKind::InvalidData, limit)
    }
}
