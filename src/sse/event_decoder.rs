//! How do bytes become events?

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::iter::FusedIterator;
use core::mem;
use core::time::Duration;

use crate::decoder::bom::BOM;
use crate::decoder::error::Utf8Error;
use crate::decoder::limit::append_within;
use crate::decoder::utf8_decoder::Utf8Decoder;
use crate::sse::{Event, EventError, EventPart};

/// Decodes an event stream that arrives in chunks split anywhere.
///
/// It follows the algorithm of WHATWG HTML: ill-formed bytes are replaced, one leading BOM is removed,
/// lines end with CR, LF or CR LF, and an empty line ends an event. An event without `data` lines is
/// not returned, but its ID applies. An incomplete event at the end of the stream is discarded: there
/// is nothing to call at the end.
///
/// An event is returned as soon as the CR or LF of the empty line that ends it arrives. The
/// decoder holds only the text of the incomplete event, at most 16,777,216 bytes (16 MiB) and two IDs of 8,192
/// bytes (8 KiB) unless [`with_max_length`](Self::with_max_length) and
/// [`with_max_id_length`](Self::with_max_id_length) set other limits, and the last event ID. It holds no
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
    line: FieldLine,
    pending: Pending,
    limits: Limits,
    /// Decodes the values. Between lines it holds nothing.
    utf8: Utf8Decoder,
    position: u64,
    last_event_id: Option<Arc<str>>,
    reconnection_time: Option<Duration>,
}

/// The maximum lengths, in bytes.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Of the data and the type together.
    content: usize,
    id: usize,
}

/// What is too long, the offset of its event, and the limit.
type LongEvent = (EventPart, u64, usize);

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum FieldLine {
    /// The start of the stream; this many bytes of a BOM have arrived.
    Bom(usize),
    /// The start of a line.
    Start,
    /// The start of a line after CR: LF belongs to the line end.
    AfterCr,
    /// The name of a field.
    Name(FieldName),
    /// The first byte after the colon: a space is dropped.
    Colon(Field),
    /// The value of a field.
    Value(Field),
    /// A comment, an unknown or invalid field, or a line of a rejected event.
    Ignored,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Data,
    Event,
    Id,
    /// The number so far; `None` before the first digit.
    Retry(Option<u64>),
}

/// The bytes of a name so far.
#[derive(Clone, Copy, Debug)]
struct FieldName {
    bytes: [u8; FieldName::LONGEST],
    len: usize,
}

/// The event that has not ended.
#[derive(Clone, Debug, Default)]
struct Pending {
    /// The offset of its first line, once that has begun.
    offset: Option<u64>,
    /// Whether it is skipped: its text is dropped.
    is_rejected: bool,
    /// Whether it has a `data` line.
    has_data: bool,
    /// The bytes of the data and of all `event` lines.
    length: usize,
    data: String,
    event_type: String,
    /// The last valid ID, if there is one.
    id: Option<String>,
    /// The ID whose line has not ended.
    next_id: String,
}

impl EventDecoder {
    /// Creates a decoder with limits of 16,777,216 bytes (16 MiB) for an event and 8,192 bytes (8 KiB) for an ID.
    /// [The module](crate::sse#limits) gives the reasons.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            line: FieldLine::Bom(0),
            pending: Pending::new(),
            limits: Limits { content: 16 << 20, id: 8 << 10 },
            utf8: Utf8Decoder::new(),
            position: 0,
            last_event_id: None,
            reconnection_time: None,
        }
    }

    /// Sets the maximum length of an event, in bytes of UTF-8: of its data and the values of its `event` lines
    /// together. The ID has [a limit of its own](Self::with_max_id_length). Comments and unknown fields
    /// take no memory and do not count. Call it before the first push.
    #[must_use]
    pub fn with_max_length(mut self, max_length: usize) -> Self {
        self.limits.content = max_length;
        self
    }

    /// Sets the maximum length of an ID, in bytes of UTF-8. Call it before the first push.
    ///
    /// An event with a longer `id` line is rejected, even if the line contains NUL or another `id` line follows. The
    /// standard has no limit, and ignores only an ID with NUL. But an event without its ID would have the ID of
    /// another, and a client that reconnects with that one would receive events again.
    #[must_use]
    pub fn with_max_id_length(mut self, max_length: usize) -> Self {
        self.limits.id = max_length;
        self
    }

    /// Sets the last event ID that applies until the stream sends another. Call it before the first
    /// push, if the stream continues another one after a reconnection.
    ///
    /// In the standard, every stream starts with an empty ID, which applies to events before the first
    /// `id` line. Browsers keep the ID of the previous connection instead; pass it here to do the same.
    #[must_use]
    pub fn with_last_event_id(self, id: impl Into<Arc<str>>) -> Self {
        Self { last_event_id: Some(id.into()), ..self }
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
    pub fn push<'a>(&'a mut self, chunk: &'a [u8]) -> Events<'a> {
        Events { decoder: self, rest: chunk }
    }

    /// Starts a new stream with the same limits. The incomplete event, the last event ID and the
    /// reconnection time are discarded.
    pub fn reset(&mut self) {
        *self = Self { limits: self.limits, ..Self::new() };
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
        self.last_event_id.as_deref().unwrap_or_default()
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

    /// Decodes the front of `input` up to the end of the next event, and removes it.
    pub(crate) fn next_event(&mut self, input: &mut &[u8]) -> Option<Result<Event, LongEvent>> {
        loop {
            let &byte = input.first()?;
            let is_end = matches!(byte, b'\r' | b'\n');
            match self.line {
                FieldLine::Bom(_) | FieldLine::AfterCr => self.begin_line(byte, input),
                FieldLine::Start if is_end => {
                    self.end_line(input);
                    if let Some(event) = self.end_event() {
                        return Some(Ok(event));
                    }
                }
                FieldLine::Start => {
                    self.pending.offset.get_or_insert(self.position);
                    let is_ignored = self.pending.is_rejected || byte == b':';
                    let name = FieldLine::Name(FieldName::EMPTY);
                    self.line = if is_ignored { FieldLine::Ignored } else { name };
                }
                FieldLine::Name(name) => self.push_name(name, byte, input),
                FieldLine::Colon(field) => {
                    self.line = FieldLine::Value(field);
                    if byte == b' ' {
                        self.take(input, 1);
                    }
                }
                FieldLine::Value(field) => {
                    if let Err(too_long) = self.push_value(field, is_end, input) {
                        return Some(Err(too_long));
                    }
                }
                FieldLine::Ignored if is_end => self.end_line(input),
                FieldLine::Ignored => {
                    let len = line_end(input);
                    self.take(input, len);
                }
            }
        }
    }

    /// Removes `byte`, the next, if it belongs to the BOM or to the previous line end.
    #[inline]
    fn begin_line(&mut self, byte: u8, input: &mut &[u8]) {
        let (is_removed, next) = match self.line {
            FieldLine::Bom(at) if byte == BOM[at] => match at + 1 {
                3 => (true, FieldLine::Start),
                at => (true, FieldLine::Bom(at)),
            },
            // The name of a field that begins with a part of a BOM is unknown.
            FieldLine::Bom(1..) => {
                self.pending.offset = Some(0);
                (false, FieldLine::Ignored)
            }
            FieldLine::AfterCr => (byte == b'\n', FieldLine::Start),
            _ => (false, FieldLine::Start),
        };
        self.line = next;
        self.take(input, usize::from(is_removed));
    }

    /// Adds `byte`, the next, to the name of a field, or begins the value.
    #[inline]
    fn push_name(&mut self, name: FieldName, byte: u8, input: &mut &[u8]) {
        let line = match byte {
            // The line end also ends the value.
            b'\r' | b'\n' => self.begin_value(name).map(FieldLine::Value),
            _ => {
                self.take(input, 1);
                match byte {
                    b':' => self.begin_value(name).map(FieldLine::Colon),
                    _ => name.and(byte).map(FieldLine::Name),
                }
            }
        };
        self.line = line.unwrap_or(FieldLine::Ignored);
    }

    /// Decodes the value of `field` up to the line end, or ends it.
    fn push_value(
        &mut self,
        field: Field,
        is_end: bool,
        input: &mut &[u8],
    ) -> Result<(), LongEvent> {
        let fits = if is_end {
            let fits = self.end_value(field);
            self.end_line(input);
            fits
        } else {
            let len = line_end(input);
            let fits = self.append_value(field, &input[..len]);
            self.take(input, len);
            if !fits {
                self.line = FieldLine::Ignored;
            }
            fits
        };
        if fits { Ok(()) } else { Err(self.reject_too_long(field)) }
    }

    /// Skips the current event, because the source failed and bytes of it may be missing.
    #[cfg(feature = "stream")]
    pub(crate) fn reject_event(&mut self) {
        self.reject();
        self.line = FieldLine::Ignored;
    }

    /// Removes bytes that have been decoded.
    fn take(&mut self, input: &mut &[u8], len: usize) {
        *input = &input[len..];
        self.position += len as u64;
    }

    /// Removes the CR or LF at the front of `input`.
    fn end_line(&mut self, input: &mut &[u8]) {
        self.line = if input[0] == b'\r' { FieldLine::AfterCr } else { FieldLine::Start };
        self.take(input, 1);
    }

    /// Begins the value of a field, unless its name is unknown.
    fn begin_value(&mut self, name: FieldName) -> Option<Field> {
        let field = name.field()?;
        match field {
            Field::Data if self.pending.has_data => {
                // If this exceeds the limit, so does what follows: the end of the value at the latest.
                self.pending.append(field, "\n", self.limits);
            }
            Field::Data => self.pending.has_data = true,
            Field::Event => self.pending.event_type.clear(),
            Field::Id => self.pending.next_id.clear(),
            Field::Retry(_) => {}
        }
        Some(field)
    }

    /// Adds a part of the value of `field`. Returns whether the event is within the limit.
    fn append_value(&mut self, field: Field, bytes: &[u8]) -> bool {
        if let Field::Retry(number) = field {
            let digits = bytes.iter().try_fold(number, |number, byte| {
                let digit = char::from(*byte).to_digit(10)?;
                Some(Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit.into())))
            });
            self.line =
                digits.map_or(FieldLine::Ignored, |number| FieldLine::Value(Field::Retry(number)));
            return true;
        }
        let decoded = self.position - self.utf8.incomplete().len() as u64;
        self.utf8.scanner_mut().seek(decoded);
        let Self { utf8, pending, limits, .. } = self;
        utf8.push(bytes).all(|piece| pending.append(field, piece.unwrap_or(REPLACEMENT), *limits))
    }

    /// Ends the value of `field`. Returns whether the event is within the limit.
    fn end_value(&mut self, field: Field) -> bool {
        if let Field::Retry(number) = field {
            self.reconnection_time = number.map(Duration::from_millis).or(self.reconnection_time);
            return true;
        }
        let end = self.utf8.finish().map_or(REPLACEMENT, |()| "");
        let pending = &mut self.pending;
        if !pending.append(field, end, self.limits) {
            return false;
        }
        if matches!(field, Field::Id) && !pending.next_id.contains('\0') {
            pending.id = Some(mem::take(&mut pending.next_id));
        }
        true
    }

    /// Ends the event. Returns it if it has data.
    fn end_event(&mut self) -> Option<Event> {
        let Pending { is_rejected, has_data, data, event_type, id, .. } =
            mem::take(&mut self.pending);
        if is_rejected {
            return None;
        }
        if let Some(id) = id {
            self.last_event_id = (!id.is_empty()).then(|| id.into());
        }
        let event_type = match event_type {
            empty if empty.is_empty() => Cow::Borrowed(Event::MESSAGE),
            event_type => Cow::Owned(event_type),
        };
        let last_event_id = || self.last_event_id.clone().unwrap_or_default();
        has_data.then(|| Event { event_type, data, last_event_id: last_event_id() })
    }

    /// Rejects the event, of which `field` is too long.
    fn reject_too_long(&mut self, field: Field) -> LongEvent {
        let offset = self.pending.offset.unwrap_or(self.position);
        self.reject();
        match field {
            Field::Id => (EventPart::Id, offset, self.limits.id),
            _ => (EventPart::Content, offset, self.limits.content),
        }
    }

    /// Drops the text of the event and skips the rest of it.
    fn reject(&mut self) {
        // The beginning of a character can follow the text that is too long.
        self.utf8.take_held();
        let offset = self.pending.offset;
        self.pending = Pending { is_rejected: true, offset, ..Pending::new() };
    }
}

/// The events that a chunk completes. See [`EventDecoder::push`].
#[derive(Debug)]
pub struct Events<'a> {
    decoder: &'a mut EventDecoder,
    rest: &'a [u8],
}

impl Iterator for Events<'_> {
    type Item = Result<Event, EventError>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.decoder.next_event(&mut self.rest)?;
        Some(event.map_err(|(part, offset, max_length)| EventError::TooLong {
            part,
            offset,
            max_length,
        }))
    }
}

impl FusedIterator for Events<'_> {}

impl Default for EventDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl FieldName {
    const LONGEST: usize = 5;
    const EMPTY: Self = Self { bytes: [0; Self::LONGEST], len: 0 };

    /// Returns the name with another byte, unless it is longer than every known name.
    fn and(mut self, byte: u8) -> Option<Self> {
        *self.bytes.get_mut(self.len)? = byte;
        self.len += 1;
        Some(self)
    }

    fn field(&self) -> Option<Field> {
        match &self.bytes[..self.len] {
            b"data" => Some(Field::Data),
            b"event" => Some(Field::Event),
            b"id" => Some(Field::Id),
            b"retry" => Some(Field::Retry(None)),
            _ => None,
        }
    }
}

impl Pending {
    const fn new() -> Self {
        Self {
            offset: None,
            is_rejected: false,
            has_data: false,
            length: 0,
            data: String::new(),
            event_type: String::new(),
            id: None,
            next_id: String::new(),
        }
    }

    /// Appends to the value of `field`, unless that would exceed a limit.
    fn append(&mut self, field: Field, text: &str, limits: Limits) -> bool {
        let value = match field {
            Field::Data => &mut self.data,
            Field::Event => &mut self.event_type,
            Field::Id => return append_within(&mut self.next_id, text, limits.id).is_ok(),
            Field::Retry(_) => return true,
        };
        let Some(room) = limits.content.checked_sub(self.length) else { return false };
        self.length += text.len();
        append_within(value, text, value.len() + room).is_ok()
    }
}

const REPLACEMENT: &str = "\u{FFFD}";

/// Returns the offset of the first CR or LF, or the length.
fn line_end(bytes: &[u8]) -> usize {
    // Blocks of this size are compared with vector instructions.
    const BLOCK: usize = 32;
    let is_end = |byte: &u8| (*byte == b'\r') | (*byte == b'\n');
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let clean =
        blocks.iter().take_while(|block| !block.iter().fold(false, |any, byte| any | is_end(byte)));
    let start = clean.count() * BLOCK;
    bytes[start..].iter().position(is_end).map_or(bytes.len(), |at| start + at)
}
