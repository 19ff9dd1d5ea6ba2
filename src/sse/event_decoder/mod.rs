//! How do bytes become events?

mod deferred;
mod fast_path;
mod lines;
mod pending;

use alloc::borrow::Cow;
use alloc::string::String;
use core::iter::FusedIterator;
use core::mem;
use core::time::Duration;

use crate::decoder::{Utf8Decoder, Utf8Error};
use crate::sse::{Event, EventError, EventItem, EventPart, SharedStr};
use lines::{EventLine, Field};
use pending::Pending;

/// Decodes an event stream that arrives in chunks split anywhere.
///
/// It follows the algorithm of WHATWG HTML: ill-formed bytes are replaced, one leading BOM is removed,
/// lines end with CR, LF or CR LF, and an empty line ends an event. An event without `data` lines is
/// not returned, but its ID applies. An incomplete event at the end of the stream is discarded: there
/// is nothing to call at the end.
///
/// An event is returned as soon as the CR or LF of the empty line that ends it arrives. Its data is borrowed from the chunk
/// if it is one well-formed line and the event ends in the same chunk. Other data is copied, most of it once. Data whose line is cut is
/// validated when the line ends, or when 16,384 bytes (16 KiB) wait; near the limit earlier, and in [strict](Self::strict)
/// mode as it arrives.
///
/// The decoder holds only the text of the incomplete event, at most 16,777,216 bytes (16 MiB) and two IDs of 8,192
/// bytes (8 KiB), and with [`push_items`](Self::push_items) a comment of the length of an event, unless
/// [`with_max_length`](Self::with_max_length) and [`with_max_id_length`](Self::with_max_id_length) set other limits, the
/// last event ID, and the last type if it has at most 64 bytes. Other comments, and unknown fields, are dropped as they
/// arrive: each byte is consumed once, and the time is linear in the input. An empty chunk changes nothing. After an error, decoding continues with the next event.
///
/// # Examples
///
/// ```
/// use utf8_codec::sse::EventDecoder;
///
/// let mut decoder = EventDecoder::new();
/// let mut seen = Vec::new();
/// for chunk in [&b"\xEF\xBB"[..], b"\xBF: hi\r", b"\ndata: caf\xC3", b"\xA9\r\n\r", b"\ndata: cut"] {
///     for event in decoder.push(chunk) {
///         seen.push(event?.data);
///     }
/// }
/// assert_eq!(seen, ["café"]);
/// # Ok::<(), utf8_codec::sse::EventError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventDecoder {
    line: EventLine,
    pending: Pending,
    rules: Rules,
    /// Whether comments are items.
    has_comments: bool,
    /// Decodes the values of lines that are cut or ill-formed, except data that waits. Between lines it holds nothing.
    utf8: Utf8Decoder,
    position: u64,
    last_event_id: SharedStr,
    /// The last type of at most [`Self::SHORT_TYPE`] bytes, because the next event probably has it too.
    recent_type: SharedStr,
    reconnection_time: Option<Duration>,
}

/// What an event may have.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// The maximum length of the data and the type together, in bytes.
    content: usize,
    /// The maximum length of an ID, in bytes.
    id: usize,
    repair: ErrorPolicy,
}

/// What happens to ill-formed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorPolicy {
    Replace,
    /// The event is rejected.
    Reject,
}

/// Why an event is skipped.
#[derive(Debug)]
pub(crate) enum Rejection {
    /// What is too long, the offset of its event, and the limit.
    TooLong(EventPart, u64, usize),
    Utf8(Utf8Error),
}

/// What an input contains. It is small, so that an event is only written where the caller wants it: see
/// [store forwarding](crate::decoder#store-forwarding).
pub(crate) enum Found<'a> {
    /// Nothing else.
    End,
    /// An event that has data: this text, if it is a part of the input, or [`EventDecoder::held_data`].
    Event(Option<&'a str>),
    /// A comment: this text, or [`EventDecoder::held_comment`].
    Comment(Option<&'a str>),
    Rejected(Rejection),
}

impl EventDecoder {
    /// Creates a decoder with limits of 16,777,216 bytes (16 MiB) for an event and 8,192 bytes (8 KiB) for an ID.
    /// [The module](crate::sse#limits) gives the reasons.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            line: EventLine::Bom(0),
            pending: Pending::new(),
            rules: Rules { content: 16 << 20, id: 8 << 10, repair: ErrorPolicy::Replace },
            has_comments: false,
            utf8: Utf8Decoder::new(),
            position: 0,
            last_event_id: SharedStr::EMPTY,
            recent_type: SharedStr::EMPTY,
            reconnection_time: None,
        }
    }

    /// Sets the maximum length of an event, in bytes of UTF-8: of its data and the values of its `event` lines
    /// together. The ID has [a limit of its own](Self::with_max_id_length). Comments and unknown fields
    /// take no memory and do not count. Call it before the first push.
    #[must_use]
    pub fn with_max_length(mut self, max_length: usize) -> Self {
        self.rules.content = max_length;
        self
    }

    /// Sets the maximum length of an ID, in bytes of UTF-8. Call it before the first push.
    ///
    /// An event with a longer `id` line is rejected, even if the line contains NUL or another `id` line follows. The
    /// standard has no limit, and ignores only an ID with NUL. But an event without its ID would have the ID of
    /// another, and a client that reconnects with that one would receive events again.
    #[must_use]
    pub fn with_max_id_length(mut self, max_length: usize) -> Self {
        self.rules.id = max_length;
        self
    }

    /// Sets the last event ID that applies until the stream sends another. Call it before the first
    /// push, if the stream continues another one after a reconnection.
    ///
    /// In the standard, every stream starts with an empty ID, which applies to events before the first
    /// `id` line. Browsers keep the ID of the previous connection instead; pass it here to do the same.
    #[must_use]
    pub fn with_last_event_id(self, id: impl Into<SharedStr>) -> Self {
        Self { last_event_id: id.into(), ..self }
    }

    /// Rejects each event with ill-formed bytes in its data, type or ID, instead of replacing them: it becomes an
    /// [`EventError::Utf8`], and the next event is unaffected. The standard replaces them.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::sse::{EventDecoder, EventError};
    ///
    /// let mut decoder = EventDecoder::new().strict();
    /// let mut events = decoder.push(b"data: caf\xE9\n\ndata: tea\n\n");
    /// let error = events.next().unwrap().unwrap_err();
    /// assert!(matches!(error, EventError::Utf8(error) if error.valid_up_to() == 9));
    /// assert_eq!(events.next().unwrap().unwrap().data, "tea");
    /// ```
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.rules.repair = ErrorPolicy::Reject;
        self
    }

    /// Decodes the next chunk of the stream. Yields the events that it completes.
    ///
    /// The iterator is lazy: bytes it has not reached are not consumed, and
    /// [`position`](Self::position) does not count them. If you stop early, push the rest of the chunk
    /// again to continue. Once the iterator has returned `None`, the whole chunk is consumed.
    ///
    /// # Errors
    ///
    /// The iterator yields [`EventError::TooLong`] as soon as an event exceeds a limit, skips the
    /// rest of the event, and continues after it. The ID of a rejected event does not apply; a
    /// `retry` line before the error does.
    ///
    /// # Examples
    ///
    /// One event, and the rest of the chunk:
    ///
    /// ```
    /// use utf8_codec::sse::EventDecoder;
    ///
    /// let (mut decoder, chunk) = (EventDecoder::new(), b"data: a\n\ndata: b\n\n");
    /// let start = decoder.position();
    /// assert_eq!(decoder.push(chunk).next().unwrap().unwrap().data, "a");
    /// let rest = &chunk[(decoder.position() - start) as usize..];
    /// assert_eq!(rest, b"data: b\n\n");
    /// assert_eq!(decoder.push(rest).next().unwrap().unwrap().data, "b");
    /// ```
    #[must_use = "iterators are lazy: bytes are consumed as events are taken"]
    pub fn push<'d, 'c>(&'d mut self, chunk: &'c [u8]) -> Events<'d, 'c> {
        self.has_comments = false;
        Events { decoder: self, rest: chunk }
    }

    /// Like [`push`](Self::push), but comments are items too. Servers send them while they have no event, so that an
    /// idle timer does not fire on a connection that is alive. The data of an event with a comment in it is copied.
    ///
    /// # Errors
    ///
    /// As for `push`. A comment that is longer than an event may be is an error too; the event around it is
    /// unaffected.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::sse::{EventDecoder, EventItem};
    ///
    /// let mut decoder = EventDecoder::new();
    /// let mut items = decoder.push_items(b": ping\n\n");
    /// assert_eq!(items.next().unwrap()?, EventItem::Comment("ping".into()));
    /// # Ok::<(), utf8_codec::sse::EventError>(())
    /// ```
    #[must_use = "iterators are lazy: bytes are consumed as items are taken"]
    pub fn push_items<'d, 'c>(&'d mut self, chunk: &'c [u8]) -> EventItems<'d, 'c> {
        self.has_comments = true;
        EventItems { decoder: self, rest: chunk }
    }

    /// Ends the stream, and returns the event that the end cut off, with the data so far, if it has a `data` line. (A line
    /// that is cut off has a field once a byte follows the colon.) The standard discards it: without this call, so does the
    /// decoder. Its ID does not apply: if you reconnect, the server sends the event again.
    ///
    /// The data is a part in any case, so what makes [`push`](Self::push) reject an event does not apply to its last line: of a
    /// character that the end cuts off, [`strict`](Self::strict) and the limit leave nothing, and `repaired` does not count it.
    ///
    /// Call [`reset`](Self::reset) before the next stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::sse::EventDecoder;
    ///
    /// let mut decoder = EventDecoder::new();
    /// assert!(decoder.push(b"id: 7\ndata: 5 \xE2\x82").next().is_none());
    /// let cut = decoder.finish().unwrap();
    /// assert_eq!((&*cut.data, &*cut.last_event_id, cut.repaired), ("5 \u{FFFD}", "7", 1));
    /// assert_eq!(decoder.last_event_id(), "");
    /// ```
    pub fn finish(&mut self) -> Option<Event> {
        self.settle();
        if let EventLine::Value(Field::Data) = self.line {
            // The data is cut off in any case: an incomplete character that is rejected is too.
            let _ = self.finish_value();
        }
        self.line = EventLine::Start;
        self.utf8.take_held();
        let last_event_id = self.last_event_id.clone();
        let event = self.end_event(false).then(|| {
            let data = self.held_data();
            self.event(data)
        });
        self.last_event_id = last_event_id;
        event
    }

    /// Starts a new stream with the same limits. The incomplete event, the last event ID and the
    /// reconnection time are discarded.
    pub fn reset(&mut self) {
        *self = Self { rules: self.rules, ..Self::new() };
    }

    /// Returns the last event ID: that of the last event that has ended, with or without data.
    /// Send it as `Last-Event-ID` when you reconnect, unless it is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::sse::EventDecoder;
    ///
    /// let mut decoder = EventDecoder::new();
    /// assert_eq!(decoder.push(b"id: 1\ndata: a\n\nid: 2\n\nid: 3\ndata: cut").count(), 1);
    /// assert_eq!(decoder.last_event_id(), "2");
    /// ```
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// Returns [the last event ID](Self::last_event_id), to share it.
    #[must_use]
    pub const fn shared_last_event_id(&self) -> &SharedStr {
        &self.last_event_id
    }

    /// Returns the time to wait before reconnecting: that of the last valid `retry` line.
    ///
    /// A server chooses it: set a minimum and a maximum. A value that does not fit in 64 bits becomes
    /// [`u64::MAX`] milliseconds.
    #[must_use]
    pub const fn reconnection_time(&self) -> Option<Duration> {
        self.reconnection_time
    }

    /// Returns the number of bytes consumed. If an iterator of [`push`](Self::push) was dropped early,
    /// the bytes after its last item do not count.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Returns the number of ill-formed parts that have been found in the values of `data`, `event` and `id` lines, and in
    /// comments that are items, also if they have rejected the event. Validates the data that waits, at most 16,384 bytes
    /// (16 KiB): call it at the end, not for each chunk.
    #[must_use]
    pub fn error_count(&self) -> u64 {
        self.settled().error_count()
    }

    /// Returns the first of these ill-formed parts, with its offset in the stream. Validates the data that waits, as
    /// [`error_count`](Self::error_count).
    #[must_use]
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.settled().first_error()
    }

    /// Takes the data of the event that has been [found](Self::find), which the decoder holds.
    #[inline]
    pub(crate) fn held_data(&mut self) -> String {
        let text = shortened(self.pending.data.take().unwrap_or_default().into_text());
        self.pending.usual_length = text.len();
        text
    }

    /// Takes the event that has been found, with its data.
    #[inline(always)]
    pub(crate) fn event<T>(&mut self, data: T) -> Event<T> {
        Event {
            event_type: or_message(mem::take(&mut self.pending.event_type)),
            data,
            last_event_id: self.last_event_id.clone(),
            repaired: mem::take(&mut self.pending.repaired),
        }
    }

    /// Takes the text of the comment that has been found, which the decoder holds.
    pub(crate) fn held_comment(&mut self) -> String {
        mem::take(&mut self.pending.value)
    }

    /// Finds comments too.
    pub(crate) fn with_comments(self) -> Self {
        Self { has_comments: true, ..self }
    }

    /// Drops the text of the event and skips the rest of it.
    fn skip_event(&mut self) {
        // The beginning of a character can follow the text that is too long.
        self.utf8.take_held();
        let usual_length = self.pending.usual_length;
        self.pending = Pending { is_rejected: true, usual_length, ..Pending::new() };
    }

    /// Skips the current event, because the source failed and bytes of it may be missing.
    pub(crate) fn reject_event(&mut self) {
        self.settle();
        self.skip_event();
        self.line = EventLine::Ignored;
    }

    /// The length of the longest type that is kept for the next event, in bytes.
    const SHORT_TYPE: usize = 64;
}

/// The events that a chunk completes. See [`EventDecoder::push`].
#[derive(Debug)]
pub struct Events<'d, 'c> {
    decoder: &'d mut EventDecoder,
    rest: &'c [u8],
}

impl<'c> Iterator for Events<'_, 'c> {
    type Item = Result<Event<Cow<'c, str>>, EventError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let Self { decoder, rest } = self;
        loop {
            match decoder.find(rest) {
                Found::End => return None,
                Found::Event(whole) => {
                    let data = whole.map_or_else(|| decoder.held_data().into(), Cow::Borrowed);
                    return Some(Ok(decoder.event(data)));
                }
                Found::Comment(_) => drop(decoder.held_comment()), // `push_items` began it
                Found::Rejected(rejection) => return Some(Err(rejection.into())),
            }
        }
    }
}

impl FusedIterator for Events<'_, '_> {}

/// The events and comments that a chunk completes. See [`EventDecoder::push_items`].
#[derive(Debug)]
pub struct EventItems<'d, 'c> {
    decoder: &'d mut EventDecoder,
    rest: &'c [u8],
}

impl<'c> Iterator for EventItems<'_, 'c> {
    type Item = Result<EventItem<Cow<'c, str>>, EventError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let Self { decoder, rest } = self;
        match decoder.find(rest) {
            Found::End => None,
            Found::Event(whole) => {
                let data = whole.map_or_else(|| decoder.held_data().into(), Cow::Borrowed);
                Some(Ok(EventItem::Event(decoder.event(data))))
            }
            Found::Comment(whole) => {
                let text = whole.map_or_else(|| decoder.held_comment().into(), Cow::Borrowed);
                Some(Ok(EventItem::Comment(text)))
            }
            Found::Rejected(rejection) => Some(Err(rejection.into())),
        }
    }
}

impl FusedIterator for EventItems<'_, '_> {}

impl Default for EventDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Rejection> for EventError {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::TooLong(part, offset, max_length) => {
                Self::TooLong { part, offset, max_length }
            }
            Rejection::Utf8(error) => Self::Utf8(error),
        }
    }
}

/// An event without a type is a message.
#[inline]
fn or_message(event_type: SharedStr) -> SharedStr {
    if event_type.is_empty() { SharedStr::MESSAGE } else { event_type }
}

/// Returns `text` without most of its spare capacity.
#[inline]
fn shortened(mut text: String) -> String {
    if text.capacity() >= 2 * text.len() + 16 {
        text.shrink_to_fit();
    }
    text
}
