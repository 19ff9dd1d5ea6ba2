//! Events: what they are, how they become text, and why one is rejected.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;
use core::fmt::Write;
use core::time::Duration;

use crate::decoder::Utf8Error;
use crate::sse::SharedStr;

/// An event of an event stream.
///
/// The fields are those of the standard's `MessageEvent`: `type`, `data` and `lastEventId`.
///
/// # Examples
///
/// ```
/// use utf8_codec::sse::{Event, EventDecoder};
///
/// let mut decoder = EventDecoder::new();
/// let event = decoder.push(b"event: add\ndata: 1\ndata: 2\nid: 7\n\n").next().unwrap()?;
/// assert_eq!((&*event.event_type, &*event.data, &*event.last_event_id), ("add", "1\n2", "7"));
/// # Ok::<(), utf8_codec::sse::EventError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event<T = String> {
    /// The type: the last `event` line, or `message` if there was none or if it was empty.
    pub event_type: SharedStr,
    /// The `data` lines, joined by LF. It can be empty. A decoder borrows most data that is one line of a
    /// chunk.
    pub data: T,
    /// The last event ID: that of this event, or of the last event before it that had one. It is empty if there
    /// was none. All events to which an ID applies share it.
    pub last_event_id: SharedStr,
    /// The number of ill-formed parts that have been replaced in its `data`, `event` and `id` lines.
    pub repaired: u64,
}

impl<T> Event<T> {
    /// Creates an event with this data, the type `message`, and an empty ID.
    #[must_use]
    pub fn new(data: T) -> Self {
        let (event_type, last_event_id) = (SharedStr::MESSAGE, SharedStr::EMPTY);
        Self { event_type, data, last_event_id, repaired: 0 }
    }

    /// Converts the data.
    #[inline]
    pub fn map_data<U>(self, convert: impl FnOnce(T) -> U) -> Event<U> {
        let Self { event_type, data, last_event_id, repaired } = self;
        Event { event_type, data: convert(data), last_event_id, repaired }
    }
}

impl Event<Cow<'_, str>> {
    /// Copies the data if it is borrowed.
    #[must_use]
    pub fn into_owned(self) -> Event {
        self.map_data(Cow::into_owned)
    }
}

/// An item of an event stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventItem<T = String> {
    /// An event.
    Event(Event<T>),
    /// The text of a comment: a line that begins with a colon. One space after it is removed, as in a field.
    Comment(T),
    /// The event that the end of the stream cut off, with the data so far. The standard discards it.
    Incomplete(Event<T>),
}

/// Writes events as the text of an event stream.
///
/// No text can end an event early or add a field: data is split into one `data` line for each of its
/// lines, and line ends elsewhere are an error. An [`EventDecoder`](crate::sse::EventDecoder)
/// returns the events as they were, but CR and CR LF in the data become LF.
///
/// The first event has an `id` line, and so does each event whose ID differs from that of the event before.
/// An empty ID is a bare `id`. The first event needs it too: a receiver that has reconnected can still
/// have the ID of the previous connection (WHATWG HTML, section 9.2.6, starts each stream with an empty ID;
/// browsers keep the previous one). Use one encoder for each connection: it holds the last ID.
///
/// # Examples
///
/// ```
/// use utf8_codec::sse::{Event, EventEncoder};
///
/// let (mut encoder, mut text) = (EventEncoder::new(), String::new());
/// encoder.encode(&Event::new("one\r\ntwo\n\nevent: forged"), &mut text)?;
/// assert_eq!(text, "id\ndata: one\ndata: two\ndata: \ndata: event: forged\n\n");
/// # Ok::<(), utf8_codec::sse::EventError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct EventEncoder {
    /// `None` at the start: the receiver's is unknown.
    last_event_id: Option<SharedStr>,
}

impl EventEncoder {
    /// Creates an encoder for a new connection.
    #[must_use]
    pub const fn new() -> Self {
        Self { last_event_id: None }
    }

    /// Appends an event to `text`, with the empty line that ends it. An empty type is `message`,
    /// which is not written.
    ///
    /// # Errors
    ///
    /// [`EventError::InvalidType`] if the type contains CR or LF, [`EventError::InvalidId`] if the
    /// ID contains CR, LF or NUL. Nothing has been written then.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::sse::{Event, EventEncoder, EventError};
    ///
    /// let (mut encoder, mut text) = (EventEncoder::new(), String::new());
    /// let event = Event { event_type: "add".into(), last_event_id: "1".into(), ..Event::new("5") };
    /// encoder.encode(&event, &mut text)?;
    /// encoder.encode(&event, &mut text)?; // the ID continues to apply
    /// assert_eq!(text, "event: add\nid: 1\ndata: 5\n\nevent: add\ndata: 5\n\n");
    ///
    /// let forged = Event { event_type: "add\ndata: 6".into(), ..Event::new("5") };
    /// assert_eq!(encoder.encode(&forged, &mut text), Err(EventError::InvalidType { offset: 3 }));
    /// # Ok::<(), EventError>(())
    /// ```
    pub fn encode<T: AsRef<str>>(
        &mut self,
        event: &Event<T>,
        text: &mut String,
    ) -> Result<(), EventError> {
        let Event { event_type, data, last_event_id: id, .. } = event;
        if let Some(offset) = event_type.find(LINE_ENDS) {
            return Err(EventError::InvalidType { offset });
        }
        if let Some(offset) = id.find(['\r', '\n', '\0']) {
            return Err(EventError::InvalidId { offset });
        }
        if !event_type.is_empty() && *event_type != SharedStr::MESSAGE {
            push_line(text, "event: ", event_type);
        }
        if self.last_event_id.as_ref() != Some(id) {
            push_line(text, if id.is_empty() { "id" } else { "id: " }, id);
            self.last_event_id = Some(id.clone());
        }
        let mut rest = data.as_ref();
        while let Some(end) = rest.find(LINE_ENDS) {
            push_line(text, "data: ", &rest[..end]);
            let delimiter = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
            rest = &rest[end + delimiter..];
        }
        push_line(text, "data: ", rest);
        text.push('\n');
        Ok(())
    }

    /// Appends a comment to `text`, which receivers ignore. Send one every 15 seconds or so to keep
    /// an idle connection open. It can be empty.
    ///
    /// # Errors
    ///
    /// [`EventError::InvalidComment`] if it contains CR or LF. Nothing has been written then.
    pub fn encode_comment(&mut self, comment: &str, text: &mut String) -> Result<(), EventError> {
        if let Some(offset) = comment.find(LINE_ENDS) {
            return Err(EventError::InvalidComment { offset });
        }
        push_line(text, ": ", comment);
        text.push('\n');
        Ok(())
    }

    /// Appends the time that the receiver should wait before it reconnects, rounded down to
    /// milliseconds.
    pub fn encode_reconnection_time(&mut self, time: Duration, text: &mut String) {
        write!(text, "retry: {}\n\n", time.as_millis()).expect("a string does not fail");
    }
}

const LINE_ENDS: [char; 2] = ['\r', '\n'];

fn push_line(text: &mut String, start: &str, value: &str) {
    text.reserve(start.len() + value.len() + 2);
    text.push_str(start);
    text.push_str(value);
    text.push('\n');
}

/// The reason why a received event is rejected, or why something cannot be sent.
///
/// # Examples
///
/// ```
/// use utf8_codec::sse::{EventDecoder, EventError, EventPart};
///
/// let mut decoder = EventDecoder::new().with_max_length(4);
/// let mut events = decoder.push(b"data: four\n\ndata: five!\n\ndata: six\n\n");
/// assert_eq!(events.next().unwrap().unwrap().data, "four");
/// let error = events.next().unwrap().unwrap_err();
/// assert_eq!(error, EventError::TooLong { part: EventPart::Content, offset: 12, max_length: 4 });
/// assert_eq!(error.to_string(), "event at byte 12 of the stream is longer than 4 bytes");
/// assert_eq!(events.next().unwrap().unwrap().data, "six");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// A received event is longer than the limit, or its ID is.
    #[error("{part} at byte {offset} of the stream is longer than {max_length} bytes")]
    TooLong {
        /// What is too long.
        part: EventPart,
        /// The offset of the event in the stream, in bytes.
        offset: u64,
        /// The limit, in bytes.
        max_length: usize,
    },
    /// A received event has ill-formed bytes in its data, type or ID. Only a
    /// [strict](crate::sse::EventDecoder::strict) decoder returns this.
    #[error("{}", .0.message_in(" in an event"))]
    Utf8(Utf8Error),
    /// The type of an event to be sent contains CR or LF.
    #[error("event type contains a line ending at byte {offset}")]
    InvalidType {
        /// The offset of the CR or LF in the type, in bytes.
        offset: usize,
    },
    /// The ID of an event to be sent contains CR, LF or NUL.
    #[error("event ID contains a line ending or NUL at byte {offset}")]
    InvalidId {
        /// The offset of the CR, LF or NUL in the ID, in bytes.
        offset: usize,
    },
    /// A comment to be sent contains CR or LF.
    #[error("comment contains a line ending at byte {offset}")]
    InvalidComment {
        /// The offset of the CR or LF in the comment, in bytes.
        offset: usize,
    },
}

/// The kind is [`InvalidData`](std::io::ErrorKind::InvalidData) for a received event, and
/// [`InvalidInput`](std::io::ErrorKind::InvalidInput) for one to be sent.
#[cfg(feature = "std")]
impl From<EventError> for std::io::Error {
    fn from(error: EventError) -> Self {
        let kind = match error {
            EventError::TooLong { .. } | EventError::Utf8(_) => std::io::ErrorKind::InvalidData,
            _ => std::io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
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
// A word: an error shares its memory with an event, whose words would be written in parts. See `crate::decoder`, "Store
// forwarding"; rows `event-stream/ascii/180`.
#[repr(u64)]
pub enum EventPart {
    /// The data and the type together.
    Content,
    /// The ID.
    Id,
    /// A comment.
    Comment,
}

/// Writes `event`, `ID of the event` or `comment in the event`.
impl fmt::Display for EventPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Content => "event",
            Self::Id => "ID of the event",
            Self::Comment => "comment in the event",
        })
    }
}
