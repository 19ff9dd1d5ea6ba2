//! How does an event become text?

use alloc::string::String;
use core::fmt::Write;
use core::time::Duration;

use crate::payload::sse::{Event, EventError};

/// Writes events as the text of an event stream.
///
/// No text can end an event early or add a field: data is split into one `data` line for each of its
/// lines, and line ends elsewhere are an error. An ID is written if it differs from that of the
/// event before, so an [`EventDecoder`](crate::payload::sse::EventDecoder) returns the events as they
/// were; CR and CR LF in the data become LF. Use one encoder for each stream: it holds the last ID.
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::sse::{Event, EventEncoder};
///
/// let (mut encoder, mut text) = (EventEncoder::new(), String::new());
/// encoder.encode(&Event::new("one\r\ntwo\n\nevent: forged"), &mut text)?;
/// assert_eq!(text, "data: one\ndata: two\ndata: \ndata: event: forged\n\n");
/// # Ok::<(), utf8_codec::payload::sse::EventError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct EventEncoder {
    last_event_id: String,
}

impl EventEncoder {
    /// Creates an encoder for a new stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::sse::{Event, EventEncoder};
    ///
    /// let mut text = String::new();
    /// EventEncoder::new().encode(&Event::new(""), &mut text).unwrap();
    /// assert_eq!(text, "data: \n\n");
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self { last_event_id: String::new() }
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
    /// use utf8_codec::payload::sse::{Event, EventEncoder, EventError};
    ///
    /// let (mut encoder, mut text) = (EventEncoder::new(), String::new());
    /// let event = Event { event_type: "add".into(), data: "5".into(), last_event_id: "1".into() };
    /// encoder.encode(&event, &mut text)?;
    /// encoder.encode(&event, &mut text)?; // the ID continues to apply
    /// assert_eq!(text, "event: add\nid: 1\ndata: 5\n\nevent: add\ndata: 5\n\n");
    ///
    /// let forged = Event { event_type: "add\ndata: 6".into(), ..Event::new("5") };
    /// assert_eq!(encoder.encode(&forged, &mut text), Err(EventError::InvalidType { offset: 3 }));
    /// # Ok::<(), EventError>(())
    /// ```
    pub fn encode(&mut self, event: &Event, text: &mut String) -> Result<(), EventError> {
        let Event { event_type, data, last_event_id: id } = event;
        if let Some(offset) = event_type.find(LINE_ENDS) {
            return Err(EventError::InvalidType { offset });
        }
        if let Some(offset) = id.find(['\r', '\n', '\0']) {
            return Err(EventError::InvalidId { offset });
        }
        if !event_type.is_empty() && event_type != Event::MESSAGE {
            push_line(text, "event: ", event_type);
        }
        if *id != self.last_event_id {
            push_line(text, "id: ", id);
            self.last_event_id.clone_from(id);
        }
        let mut rest = &**data;
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
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::sse::{EventEncoder, EventError};
    ///
    /// let (mut encoder, mut text) = (EventEncoder::new(), String::new());
    /// encoder.encode_comment("still here", &mut text)?;
    /// assert_eq!(text, ": still here\n\n");
    /// let error = encoder.encode_comment("\ndata: forged", &mut text).unwrap_err();
    /// assert_eq!(error, EventError::InvalidComment { offset: 0 });
    /// # Ok::<(), EventError>(())
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// use core::time::Duration;
    /// use utf8_codec::payload::sse::EventEncoder;
    ///
    /// let mut text = String::new();
    /// EventEncoder::new().encode_reconnection_time(Duration::from_secs(3), &mut text);
    /// assert_eq!(text, "retry: 3000\n\n");
    /// ```
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
