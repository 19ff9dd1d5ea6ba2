//! What is an event?

use alloc::borrow::Cow;
use alloc::string::String;

/// An event of an event stream.
///
/// The fields are those of the standard's `MessageEvent`: `type`, `data` and `lastEventId`.
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::sse::{Event, EventDecoder};
///
/// let mut decoder = EventDecoder::new();
/// let event = decoder.push(b"event: add\ndata: 1\ndata: 2\nid: 7\n\n").next().unwrap()?;
/// assert_eq!((&*event.event_type, &*event.data, &*event.last_event_id), ("add", "1\n2", "7"));
/// # Ok::<(), utf8_codec::payload::sse::EventError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The type: the last `event` line, or `message` if there was none or if it was empty.
    pub event_type: Cow<'static, str>,
    /// The `data` lines, joined by LF. It can be empty.
    pub data: String,
    /// The last event ID: that of this event, or of the last event before it that had one.
    pub last_event_id: String,
}

impl Event {
    /// Creates an event with this data, the type `message`, and an empty ID.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::sse::Event;
    ///
    /// let event = Event { last_event_id: "7".into(), ..Event::new("on") };
    /// assert_eq!((&*event.event_type, &*event.data), ("message", "on"));
    /// ```
    #[must_use]
    pub fn new(data: impl Into<String>) -> Self {
        let (event_type, last_event_id) = (Cow::Borrowed(Self::MESSAGE), String::new());
        Self { event_type, data: data.into(), last_event_id }
    }

    /// The type of an event that has none.
    pub(super) const MESSAGE: &'static str = "message";
}
