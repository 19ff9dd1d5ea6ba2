//! Why is an event rejected?

use core::error::Error;
use core::fmt;

/// The reason why a received event is rejected, or why something cannot be sent.
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::sse::{EventDecoder, EventError};
///
/// let mut decoder = EventDecoder::new().with_max_length(4);
/// let mut events = decoder.push(b"data: four\n\ndata: five!\n\ndata: six\n\n");
/// assert_eq!(events.next().unwrap().unwrap().data, "four");
/// let error = events.next().unwrap().unwrap_err();
/// assert_eq!(error, EventError::TooLong { offset: 12, max_length: 4 });
/// assert_eq!(error.to_string(), "event at byte 12 is longer than 4 bytes");
/// assert_eq!(events.next().unwrap().unwrap().data, "six");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventError {
    /// A received event is longer than the limit.
    TooLong {
        /// The offset of the event in the stream, in bytes.
        offset: u64,
        /// The limit, in bytes.
        max_length: usize,
    },
    /// The type of an event to be sent contains CR or LF.
    InvalidType {
        /// The offset of the CR or LF in the type, in bytes.
        offset: usize,
    },
    /// The ID of an event to be sent contains CR, LF or NUL.
    InvalidId {
        /// The offset of the CR, LF or NUL in the ID, in bytes.
        offset: usize,
    },
    /// A comment to be sent contains CR or LF.
    InvalidComment {
        /// The offset of the CR or LF in the comment, in bytes.
        offset: usize,
    },
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { offset, max_length } => {
                write!(f, "event at byte {offset} is longer than {max_length} bytes")
            }
            Self::InvalidType { offset } => {
                write!(f, "event type contains a line ending at byte {offset}")
            }
            Self::InvalidId { offset } => {
                write!(f, "event ID contains a line ending or NUL at byte {offset}")
            }
            Self::InvalidComment { offset } => {
                write!(f, "comment contains a line ending at byte {offset}")
            }
        }
    }
}

impl Error for EventError {}

/// The kind is [`InvalidData`](std::io::ErrorKind::InvalidData) for a received event, and
/// [`InvalidInput`](std::io::ErrorKind::InvalidInput) for one to be sent.
#[cfg(feature = "std")]
impl From<EventError> for std::io::Error {
    fn from(error: EventError) -> Self {
        let kind = match error {
            EventError::TooLong { .. } => std::io::ErrorKind::InvalidData,
            _ => std::io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}
