//! How do bytes become events?

use alloc::borrow::Cow;
use alloc::string::String;
use core::iter::FusedIterator;
use core::mem;
use core::time::Duration;

use memchr::{memchr, memchr2};

use crate::decoder::text::{Level, PrefixEnd, first_char, split_line, valid_prefix};
use crate::decoder::{BOM, Step, Utf8Decoder, Utf8Error, push_within};
use crate::sse::{Event, EventError, EventItem, EventPart, SharedStr};

/// Decodes an event stream that arrives in chunks split anywhere.
///
/// It follows the algorithm of WHATWG HTML: ill-formed bytes are replaced, one leading BOM is removed,
/// lines end with CR, LF or CR LF, and an empty line ends an event. An event without `data` lines is
/// not returned, but its ID applies. An incomplete event at the end of the stream is discarded: there
/// is nothing to call at the end.
///
/// An event is returned as soon as the CR or LF of the empty line that ends it arrives. Its data is borrowed from the chunk
/// if it is one line of it; other data is copied once. The
/// decoder holds only the text of the incomplete event, at most 16,777,216 bytes (16 MiB) and two IDs of 8,192
/// bytes (8 KiB) unless [`with_max_length`](Self::with_max_length) and
/// [`with_max_id_length`](Self::with_max_id_length) set other limits, the last event ID, and the last type if it
/// has at most 64 bytes. It holds no
/// undecoded lines: each byte is consumed once, comments and unknown fields are dropped as they
/// arrive, and the time is linear in the input. An empty chunk changes nothing. After an error,
/// decoding continues with the next event.
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
    /// Decodes the values of lines that are cut or ill-formed. Between lines it holds nothing.
    utf8: Utf8Decoder,
    position: u64,
    last_event_id: SharedStr,
    /// The last type of at most [`Self::SHORT_TYPE`] bytes, because the next event probably has it too.
    recent_type: SharedStr,
    /// The length of the last data that was copied, because the next is probably as long. At most
    /// [`Self::USUAL_DATA`] bytes.
    usual_length: usize,
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

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum EventLine {
    /// The start of the stream; this many bytes of a BOM have arrived.
    Bom(usize),
    /// The start of a line after CR: LF belongs to the line end.
    AfterCr,
    /// The start of a line.
    Start,
    /// A line of which so few bytes have arrived that its field is unknown.
    Head(Head),
    /// The value of a field.
    Value(Field),
    /// A comment, an unknown or invalid field, or a line of a rejected event.
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Data,
    Event,
    Id,
    /// The number so far; `None` before the first digit.
    Retry(Option<u64>),
    Comment,
}

/// The first bytes of a line.
#[derive(Clone, Copy, Debug)]
struct Head {
    bytes: [u8; Head::LONGEST],
    len: usize,
}

/// The event that has not ended.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// The offset of its first line, once that has begun.
    offset: Option<u64>,
    /// Whether it is skipped: its text is dropped.
    is_rejected: bool,
    /// The bytes of the data and of all `event` lines.
    length: usize,
    /// The ill-formed parts that have been replaced.
    repaired: u64,
    /// The text of the `data` lines, if there are any.
    data: Option<String>,
    event_type: SharedStr,
    /// The last valid ID, if there is one.
    id: Option<SharedStr>,
    /// The type, ID or comment whose line has not ended.
    value: String,
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
            usual_length: 0,
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
    /// idle timer does not fire on a connection that is alive.
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

    /// Ends the stream, and returns the event that the end cut off, with the data so far, if it has a `data` line. The
    /// standard discards it: without this call, so does the decoder. Its ID does not apply: if you reconnect, the
    /// server sends the event again.
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

    /// Returns the number of ill-formed parts that have been replaced in the values of `data`,
    /// `event` and `id` lines.
    #[must_use]
    pub const fn error_count(&self) -> u64 {
        self.utf8.error_count()
    }

    /// Returns the first of these ill-formed parts, with its offset in the stream.
    #[must_use]
    pub const fn first_error(&self) -> Option<Utf8Error> {
        self.utf8.first_error()
    }

    /// Decodes the front of `input` up to the end of the next item, and removes it. The caller takes an event with
    /// [`event`](Self::event).
    #[inline(always)]
    pub(crate) fn find<'a>(&mut self, input: &mut &'a [u8]) -> Found<'a> {
        let (all, start) = (*input, self.position);
        let found = if self.take_byte(all) { Found::End } else { self.find_usual(all) };
        *input = &all[(self.position - start) as usize..];
        found
    }

    /// The fast path for a chunk of one byte, if it is ASCII of data that has been begun. Returns whether it is.
    // The reference count of a chunk is changed twice, and the code between is not run at the same time: its latency counts.
    // Rows `event-stream/*/1`.
    #[inline(always)]
    pub(crate) fn take_byte(&mut self, chunk: &[u8]) -> bool {
        let ([byte], Pending { data: Some(data), length, .. }) = (chunk, &mut self.pending) else {
            return false;
        };
        let has_room = data.len() < data.capacity() && *length < self.rules.content;
        match *byte {
            _ if !matches!(self.line, EventLine::Value(Field::Data)) => return false,
            _ if !self.utf8.incomplete().is_empty() => return false,
            0x00..0x80 if has_room && !is_line_end(*byte) => {
                data.push(char::from(*byte));
                *length += 1;
            }
            0xC2..0xF5 => self.utf8.hold(chunk),
            _ => return false,
        }
        self.position += 1;
        true
    }

    /// The fast path for data, to the two line ends after it or to the end of the chunk.
    #[inline(always)]
    fn find_usual<'a>(&mut self, mut input: &'a [u8]) -> Found<'a> {
        if let (EventLine::AfterCr, [b'\n', ..]) = (self.line, input) {
            self.line = EventLine::Start;
            self.take(&mut input, 1);
        }
        let at = match self.line {
            _ if self.pending.is_rejected => None,
            EventLine::Start | EventLine::AfterCr if self.pending.offset.is_none() => {
                Field::data_value(input)
            }
            EventLine::Value(Field::Data) => self.complete_held(&mut input).then_some(0),
            _ => None,
        };
        let Some(at) = at else { return self.find_any(input, "") };
        let value = &input[at..];
        let Front { text, end, is_incomplete } = Front::of(value);
        let fits = self.pending.length.saturating_add(text.len()) <= self.rules.content;
        let (end_len, next) = match value[end..] {
            [b'\n', b'\n', ..] => (2, EventLine::Start),
            [b'\r', b'\n', b'\r', ..] => (3, EventLine::AfterCr),
            [b'\r', b'\r', ..] => (2, EventLine::AfterCr),
            _ => (0, EventLine::Start),
        };
        if fits && text.len() == end && end_len > 0 {
            self.position += (at + end + end_len) as u64;
            self.line = next;
            if at > 0 {
                return Found::Event(Some(text));
            }
            self.pending.push_data(text, self.rules);
            self.end_event(true);
            return Found::Event(None);
        }
        if fits && end == value.len() && (text.len() == end || is_incomplete) {
            if at > 0 {
                self.pending.offset = Some(self.position);
                self.begin_value(Field::Data);
            }
            self.position += input.len() as u64;
            self.pending.length += text.len();
            self.pending.push_data(text, self.rules);
            if is_incomplete {
                self.utf8.hold(&value[text.len()..]);
            }
            return Found::End;
        }
        self.find_any(input, text)
    }

    /// Completes the held character of data with the front of `input`, and removes that. Returns whether none is held.
    #[inline(always)]
    fn complete_held(&mut self, input: &mut &[u8]) -> bool {
        if self.utf8.incomplete().is_empty() {
            return true;
        }
        if self.pending.length.saturating_add(4) > self.rules.content {
            return false;
        }
        let Some((joined, used)) = self.utf8.complete(input) else { return false };
        if let Some(text) = first_char(&joined) {
            self.pending.length += text.len();
            self.pending.push_data(text, self.rules);
        }
        self.take(input, used);
        true
    }

    /// Finds any item. `text` begins the value of the first line; it can be empty.
    // The arguments are passed in registers, so that a chunk whose events are found can stay in registers too.
    #[inline(never)]
    fn find_any<'a>(&mut self, mut input: &'a [u8], mut text: &'a str) -> Found<'a> {
        let input = &mut input;
        // The data of the event, while it is a single line of this input.
        let mut data = None;
        let found = loop {
            let Some(&byte) = input.first() else { break Found::End };
            let found = match self.line {
                EventLine::Start if is_line_end(byte) => {
                    self.end_line(input);
                    if self.end_event(data.is_some()) {
                        return Found::Event(data);
                    }
                    Found::End
                }
                EventLine::Start => self.take_line(&mut data, input, mem::take(&mut text)),
                EventLine::Value(field) => self.take_value(field, input, mem::take(&mut text)),
                EventLine::Head(head) => self.take_head(head, input),
                EventLine::Ignored => {
                    self.take_ignored(input);
                    Found::End
                }
                EventLine::Bom(_) | EventLine::AfterCr => self.begin_line(byte, input),
            };
            if !matches!(found, Found::End) {
                break found;
            }
        };
        if !self.pending.is_rejected {
            self.keep(data);
        }
        found
    }

    /// Takes the data of the event that has been [found](Self::find), which the decoder holds.
    #[inline]
    pub(crate) fn held_data(&mut self) -> String {
        let text = shortened(self.pending.data.take().unwrap_or_default());
        self.usual_length = text.len().min(Self::USUAL_DATA);
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

    /// Removes `byte`, the next, if it belongs to the BOM or to the previous line end.
    fn begin_line<'a>(&mut self, byte: u8, input: &mut &[u8]) -> Found<'a> {
        let (is_removed, next) = match self.line {
            EventLine::Bom(at) if byte == BOM[at] => match at + 1 {
                3 => (true, EventLine::Start),
                at => (true, EventLine::Bom(at)),
            },
            // The name of a field that begins with a part of a BOM is unknown.
            EventLine::Bom(1..) => {
                self.pending.offset = Some(0);
                (false, EventLine::Ignored)
            }
            EventLine::AfterCr => (byte == b'\n', EventLine::Start),
            _ => (false, EventLine::Start),
        };
        self.line = next;
        self.take(input, usize::from(is_removed));
        Found::End
    }

    /// Takes a line, or the front of one that is cut. `data` is that of the event, if none was copied.
    #[inline]
    fn take_line<'a>(
        &mut self,
        data: &mut Option<&'a str>,
        input: &mut &'a [u8],
        text: &'a str,
    ) -> Found<'a> {
        self.pending.offset.get_or_insert(self.position);
        let (field, at) = match Field::of(input) {
            Begin::Undecided if !self.pending.is_rejected => {
                self.line = EventLine::Head(Head::EMPTY);
                return Found::End;
            }
            Begin::Value(field, at)
                if !self.pending.is_rejected && (self.has_comments || field != Field::Comment) =>
            {
                (field, at)
            }
            _ => {
                self.take_ignored(input);
                return Found::End;
            }
        };
        let value = &input[at..];
        let front = Front::after(value, text);
        if front.is_whole(value) && !matches!(field, Field::Retry(_)) {
            let text = front.text;
            let admitted = match field {
                Field::Data if data.is_none() && self.pending.data.is_none() => {
                    *data = Some(text);
                    self.pending.admit(field, text.len(), self.rules)
                }
                Field::Data => {
                    self.keep(data.take());
                    self.begin_data();
                    self.pending.append(field, text, self.rules)
                }
                _ => self
                    .pending
                    .admit(field, text.len(), self.rules)
                    .map(|()| self.set(field, text)),
            };
            self.take(input, at + text.len());
            self.end_line(input);
            return match admitted {
                Ok(()) if field == Field::Comment => Found::Comment(Some(text)),
                Ok(()) => Found::End,
                Err(rejection) => self.reject(field, rejection),
            };
        }
        if field == Field::Data {
            self.keep(data.take());
        }
        self.take(input, at);
        self.begin_value(field);
        self.take_front(field, front, input, Ok(()))
    }

    /// Adds the first bytes of `input` to those of a line whose field is unknown.
    fn take_head<'a>(&mut self, mut head: Head, input: &mut &[u8]) -> Found<'a> {
        let more = &input[..input.len().min(Head::LONGEST - head.len)];
        let held = head.len;
        head.len += more.len();
        head.bytes[held..head.len].copy_from_slice(more);
        match Field::of(&head.bytes[..head.len]) {
            Begin::Undecided => {
                self.take(input, more.len());
                self.line = EventLine::Head(head);
            }
            Begin::Value(Field::Comment, _) if !self.has_comments => self.take_ignored(input),
            Begin::Unknown => self.take_ignored(input),
            Begin::Value(field, at) => {
                self.take(input, at - held);
                self.begin_value(field);
            }
        }
        Found::End
    }

    /// Removes the rest of a line that is ignored.
    fn take_ignored(&mut self, input: &mut &[u8]) {
        let end = line_end(input);
        self.take(input, end.unwrap_or(input.len()));
        match end {
            Some(_) => self.end_line(input),
            None => self.line = EventLine::Ignored,
        }
    }

    fn begin_value(&mut self, field: Field) {
        self.line = EventLine::Value(field);
        if field == Field::Data {
            self.begin_data();
        }
    }

    fn begin_data(&mut self) {
        match &mut self.pending.data {
            // If this exceeds the limit, so does what follows: the end of the value at the latest.
            Some(data) if self.pending.length < self.rules.content => {
                data.push('\n');
                self.pending.length += 1;
            }
            Some(_) => self.pending.length = self.rules.content.saturating_add(1),
            None => {
                let capacity = self.usual_length.max(16).min(self.rules.content);
                self.pending.data = Some(String::with_capacity(capacity));
            }
        }
    }

    /// Takes the value of `field` up to the line end, or ends it.
    #[inline]
    fn take_value<'a>(&mut self, field: Field, input: &mut &'a [u8], text: &'a str) -> Found<'a> {
        let taken = match self.utf8.incomplete() {
            [] => Ok(()),
            held => self.take_held(field, held.len(), input),
        };
        if input.is_empty() && taken.is_ok() {
            return Found::End;
        }
        self.take_front(field, Front::after(input, text), input, taken)
    }

    /// Completes the character of `held` bytes with the front of `input`, up to the line end.
    fn take_held(&mut self, field: Field, held: usize, input: &mut &[u8]) -> Result<(), Rejection> {
        let next = &input[..input.len().min(3)];
        let next = next.split(|&byte| is_line_end(byte)).next().unwrap_or_default();
        if next.is_empty() {
            return Ok(());
        }
        self.utf8.scanner_mut().seek(self.position - held as u64);
        let (used, step) = self.utf8.resume(next);
        self.take(input, used);
        match step {
            Step::Text(c) => self.pending.append(field, c.encode_utf8(&mut [0; 4]), self.rules),
            Step::Error(error) => self.pending.append_piece(field, Err(error), self.rules),
            Step::Skip(_) | Step::NeedMore => Ok(()),
        }
    }

    /// Adds the front of `input` to the value of `field`, and ends the line if it is whole.
    #[inline]
    fn take_front<'a>(
        &mut self,
        field: Field,
        Front { text, end, is_incomplete }: Front<'a>,
        input: &mut &'a [u8],
        mut taken: Result<(), Rejection>,
    ) -> Found<'a> {
        let is_cut = end == input.len();
        let text = if let Field::Retry(_) = field { "" } else { text };
        if !text.is_empty() {
            taken = taken.and_then(|()| self.pending.append(field, text, self.rules));
            self.take(input, text.len());
        }
        if text.len() < end {
            let piece = &input[..end - text.len()];
            taken = taken.and_then(|()| self.decode_value(field, piece, is_incomplete));
            self.take(input, piece.len());
        }
        if !is_cut {
            taken = taken.and_then(|()| self.finish_value());
            self.end_line(input);
        }
        match taken {
            Ok(()) if !is_cut && field == Field::Comment => Found::Comment(None),
            Ok(()) => Found::End,
            Err(rejection) => {
                if is_cut {
                    self.line = EventLine::Ignored;
                }
                self.reject(field, rejection)
            }
        }
    }

    /// Adds a part of the value of `field` that does not begin with text.
    #[inline(never)]
    fn decode_value(
        &mut self,
        field: Field,
        bytes: &[u8],
        is_incomplete: bool,
    ) -> Result<(), Rejection> {
        if let Field::Retry(number) = field {
            let digits = bytes.iter().try_fold(number, |number, byte| {
                let digit = char::from(*byte).to_digit(10)?;
                Some(Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit.into())))
            });
            self.line =
                digits.map_or(EventLine::Ignored, |number| EventLine::Value(Field::Retry(number)));
            return Ok(());
        }
        let Self { utf8, pending, rules, .. } = self;
        utf8.scanner_mut().seek(self.position);
        if is_incomplete {
            utf8.hold(bytes);
            return Ok(());
        }
        utf8.push(bytes).try_for_each(|piece| pending.append_piece(field, piece, *rules))
    }

    /// Ends the value of the line.
    #[inline]
    fn finish_value(&mut self) -> Result<(), Rejection> {
        let field = match self.line {
            EventLine::Value(Field::Retry(number)) => {
                let time = number.map(Duration::from_millis);
                self.reconnection_time = time.or(self.reconnection_time);
                return Ok(());
            }
            EventLine::Value(field) => field,
            _ => return Ok(()),
        };
        let held = self.utf8.incomplete().len() as u64;
        if held == 0 {
            // The LF before an empty line can exceed the limit.
            self.pending.admit(field, 0, self.rules)?;
        } else {
            self.utf8.scanner_mut().seek(self.position - held);
            let end = self.utf8.finish().map(|()| "");
            self.pending.append_piece(field, end, self.rules)?;
        }
        if matches!(field, Field::Event | Field::Id) {
            let value = mem::take(&mut self.pending.value);
            self.set(field, &value);
        }
        Ok(())
    }

    /// Sets the type or ID.
    fn set(&mut self, field: Field, text: &str) {
        let Self { pending, recent_type, last_event_id, .. } = self;
        match field {
            Field::Event => {
                if *recent_type != text && text.len() <= Self::SHORT_TYPE {
                    *recent_type = text.into();
                }
                pending.event_type =
                    if *recent_type == text { recent_type.clone() } else { text.into() };
            }
            Field::Id if memchr(0, text.as_bytes()).is_none() => {
                let is_same = *last_event_id == text;
                pending.id = Some(if is_same { last_event_id.clone() } else { text.into() });
            }
            _ => {}
        }
    }

    /// Ends the event. Returns whether it has data: in the input, or copied.
    #[inline]
    fn end_event(&mut self, has_data: bool) -> bool {
        let pending = &mut self.pending;
        pending.offset = None;
        pending.length = 0;
        if mem::take(&mut pending.is_rejected) {
            return false;
        }
        if let Some(id) = pending.id.take() {
            self.last_event_id = id;
        }
        let has_data = has_data || pending.data.is_some();
        if !has_data {
            pending.event_type = SharedStr::default();
            pending.repaired = 0;
        }
        has_data
    }

    /// Copies the data of an event of which more is to come.
    #[inline]
    fn keep(&mut self, data: Option<&str>) {
        if let Some(text) = data {
            self.begin_data();
            self.pending.push_data(text, self.rules);
        }
    }

    /// Removes bytes that have been decoded.
    #[inline]
    fn take(&mut self, input: &mut &[u8], len: usize) {
        *input = &input[len..];
        self.position += len as u64;
    }

    /// Removes the CR or LF at the front of `input`.
    #[inline]
    fn end_line(&mut self, input: &mut &[u8]) {
        self.line = if input[0] == b'\r' { EventLine::AfterCr } else { EventLine::Start };
        self.take(input, 1);
    }

    /// Rejects what `field` belongs to: the event, or only the comment.
    #[cold]
    fn reject<'a>(&mut self, field: Field, rejection: Rejection) -> Found<'a> {
        if field == Field::Comment {
            self.pending.value = String::new();
            self.utf8.take_held();
        } else {
            self.skip_event();
        }
        Found::Rejected(rejection)
    }

    /// Drops the text of the event and skips the rest of it.
    fn skip_event(&mut self) {
        // The beginning of a character can follow the text that is too long.
        self.utf8.take_held();
        let offset = self.pending.offset;
        self.pending = Pending { is_rejected: true, offset, ..Pending::new() };
    }

    /// Skips the current event, because the source failed and bytes of it may be missing.
    pub(crate) fn reject_event(&mut self) {
        self.skip_event();
        self.line = EventLine::Ignored;
    }

    /// The length of the longest type that is kept for the next event, in bytes.
    const SHORT_TYPE: usize = 64;
    const USUAL_DATA: usize = 4096;
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

impl Head {
    /// That of `event: `, with the space. One byte less is always enough for another field.
    const LONGEST: usize = 7;
    const EMPTY: Self = Self { bytes: [0; Self::LONGEST], len: 0 };
}

/// What a line begins with.
enum Begin {
    /// The value of this field, from this offset on.
    Value(Field, usize),
    Unknown,
    /// More bytes decide.
    Undecided,
}

impl Field {
    /// Returns the offset of the value if `input` begins with a `data` field.
    #[inline(always)]
    fn data_value(input: &[u8]) -> Option<usize> {
        let [b'd', b'a', b't', b'a', b':', first, ..] = input else { return None };
        Some(if *first == b' ' { 6 } else { 5 })
    }

    /// Returns the field of the line at the start of `input`.
    #[inline]
    fn of(input: &[u8]) -> Begin {
        if let Some(at) = Self::data_value(input) {
            return Begin::Value(Self::Data, at);
        }
        let head = &input[..input.len().min(Head::LONGEST - 1)];
        let is_end = |&byte: &u8| byte == b':' || is_line_end(byte);
        let Some(len) = head.iter().position(is_end) else {
            let is_short = head.len() < Head::LONGEST - 1;
            return if is_short { Begin::Undecided } else { Begin::Unknown };
        };
        let field = match &head[..len] {
            b"data" => Self::Data,
            b"event" => Self::Event,
            b"id" => Self::Id,
            b"retry" => Self::Retry(None),
            b"" => Self::Comment,
            _ => return Begin::Unknown,
        };
        match (head[len], input.get(len + 1)) {
            (b':', None) => Begin::Undecided,
            (b':', Some(b' ')) => Begin::Value(field, len + 2),
            (b':', Some(_)) => Begin::Value(field, len + 1),
            _ => Begin::Value(field, len),
        }
    }
}

/// The front of an input.
struct Front<'a> {
    /// Its text, up to the first ill-formed or incomplete part.
    text: &'a str,
    /// The offset of the first CR or LF, or the length of the input.
    end: usize,
    /// Whether the bytes between are the beginning of a character.
    is_incomplete: bool,
}

impl<'a> Front<'a> {
    #[inline(always)]
    fn of(input: &'a [u8]) -> Self {
        let text = split_line(Level::detect(), *b"\r\n", input);
        match input.get(text.len()) {
            Some(0x80..) => Self::beyond_ascii(input, text.len()),
            _ => Self { text, end: text.len(), is_incomplete: false }, // in one pass
        }
    }

    /// As `of`. If `text` is not empty, it is the text.
    #[inline]
    fn after(input: &'a [u8], text: &'a str) -> Self {
        if text.is_empty() {
            return Self::of(input);
        }
        match input.get(text.len()) {
            Some(0x80..) => {
                let rest = Self::beyond_ascii(&input[text.len()..], 0);
                Self { text, end: text.len() + rest.end, ..rest }
            }
            _ => Self { text, end: text.len(), is_incomplete: false },
        }
    }

    #[inline(never)]
    fn beyond_ascii(input: &'a [u8], ascii: usize) -> Self {
        let rest = &input[ascii..];
        let end = ascii + memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
        let (text, why) = valid_prefix(&input[..end]);
        Self { text, end, is_incomplete: matches!(why, PrefixEnd::Incomplete(_)) }
    }

    /// Whether it is a whole line of `input`, and well-formed.
    #[inline]
    fn is_whole(&self, input: &[u8]) -> bool {
        self.text.len() == self.end && self.end < input.len()
    }
}

impl Pending {
    const fn new() -> Self {
        Self {
            offset: None,
            is_rejected: false,
            length: 0,
            repaired: 0,
            data: None,
            event_type: SharedStr::EMPTY,
            id: None,
            value: String::new(),
        }
    }

    fn append_piece(
        &mut self,
        field: Field,
        piece: Result<&str, Utf8Error>,
        rules: Rules,
    ) -> Result<(), Rejection> {
        match piece {
            Ok(text) => self.append(field, text, rules),
            Err(error) if rules.repair == ErrorPolicy::Reject && field != Field::Comment => {
                Err(Rejection::Utf8(error))
            }
            Err(_) => {
                self.repaired += u64::from(field != Field::Comment);
                self.append(field, "\u{FFFD}", rules)
            }
        }
    }

    /// Appends to the value of `field`.
    #[inline]
    fn append(&mut self, field: Field, text: &str, rules: Rules) -> Result<(), Rejection> {
        self.admit(field, text.len(), rules)?;
        match field {
            Field::Data => self.push_data(text, rules),
            _ => push_within(&mut self.value, text, usize::MAX),
        }
        Ok(())
    }

    #[inline]
    fn push_data(&mut self, text: &str, rules: Rules) {
        push_within(self.data.get_or_insert_default(), text, rules.content);
    }

    /// Counts `len` more bytes of the value of `field`, unless that would exceed a limit.
    #[inline]
    fn admit(&mut self, field: Field, len: usize, rules: Rules) -> Result<(), Rejection> {
        let (part, length, max_length) = match field {
            Field::Data | Field::Event => {
                self.length = self.length.saturating_add(len);
                (EventPart::Content, self.length, rules.content)
            }
            Field::Id => (EventPart::Id, self.value.len() + len, rules.id),
            _ => (EventPart::Comment, self.value.len() + len, rules.content),
        };
        if length <= max_length {
            return Ok(());
        }
        Err(Rejection::TooLong(part, self.offset.unwrap_or(0), max_length))
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

#[inline]
fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Returns the offset of the first CR or LF.
#[inline]
fn line_end(bytes: &[u8]) -> Option<usize> {
    // A short line takes less time than a call.
    let (near, far) = bytes.split_at(bytes.len().min(4));
    let found = near.iter().position(|&byte| is_line_end(byte));
    found.or_else(|| Some(near.len() + memchr2(b'\r', b'\n', far)?))
}
