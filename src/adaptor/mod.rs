//! Code that `codec`, `stream`, `io` and `payload` share.

#[cfg(any(feature = "http-body", feature = "stream"))]
pub(crate) mod chunks;
#[cfg(feature = "std")]
pub(crate) mod outgoing;
#[cfg(feature = "std")]
pub(crate) mod read_text;
#[cfg_attr(not(docsrs), cfg(feature = "std"))]
pub(crate) mod stream_error;
#[cfg_attr(not(docsrs), cfg(feature = "std"))]
pub(crate) mod utf8_byte_reader;
#[cfg_attr(not(docsrs), cfg(feature = "std"))]
pub(crate) mod utf8_lines;
#[cfg(feature = "std")]
pub(crate) mod write_text;

use alloc::string::String;
use core::fmt;

/// The size of a buffer for reading or writing if none is set, in bytes.
#[cfg(feature = "std")]
pub(crate) const CAPACITY: usize = 8 * 1024;

/// The largest size of a buffer for reading, in bytes. It is allocated at a read, which a peer causes.
#[cfg(feature = "std")]
pub(crate) const MAX_CAPACITY: usize = 1 << 24;

/// Whether a source has ended.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceState {
    /// More may follow.
    Open,
    /// The source has ended. What it determines has not been returned.
    Ending,
    /// Only `None` is left.
    Ended,
}

/// The part of a server-sent event that is longer than its limit.
///
/// # Examples
///
/// ```
/// use utf8_codec::sse::{EventDecoder, EventError, EventPart};
///
/// let mut decoder = EventDecoder::new().with_max_id_length(3);
/// let error = decoder.push(b"id: 1234\ndata: 5\n\n").next().unwrap().unwrap_err();
/// assert_eq!(error, EventError::TooLong { part: EventPart::Id, offset: 0, max_length: 3 });
/// assert_eq!(error.to_string(), "ID of the event at byte 0 of the stream is longer than 3 bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventPart {
    /// The data and the type together.
    Content,
    /// The ID.
    Id,
}

/// Writes `event` or `ID of the event`.
impl fmt::Display for EventPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Content => "event",
            Self::Id => "ID of the event",
        })
    }
}

/// The text would be longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Appends `more`, unless `text` would become longer than `max_length`.
///
/// The capacity of `text` doubles like that of a `String`, but never exceeds `max_length`.
pub(crate) fn append_within(
    text: &mut String,
    more: &str,
    max_length: usize,
) -> Result<(), TooLong> {
    if more.len() > max_length.saturating_sub(text.len()) {
        return Err(TooLong);
    }
    let needed = text.len() + more.len();
    if needed > text.capacity() {
        let capacity = needed.max(text.capacity().saturating_mul(2)).min(max_length);
        text.reserve_exact(capacity - text.len());
    }
    text.push_str(more);
    Ok(())
}
