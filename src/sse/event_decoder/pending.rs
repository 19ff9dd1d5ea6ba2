//! What does the incomplete event have so far?

use alloc::string::String;
use core::mem;

use memchr::memchr;
use utf8_simd::{Level, text::DeferredText};

use crate::decoder::{Utf8Error, push_within};
use crate::sse::event_decoder::lines::{Field, is_line_end, line_end};
use crate::sse::event_decoder::{ErrorPolicy, EventDecoder, Rejection, Rules};
use crate::sse::{EventPart, SharedStr};

/// The event that has not ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// The offset of its first line, once that has begun. Of one that is skipped, that of any line, or none.
    pub(super) offset: Option<u64>,
    /// Whether it is skipped: its text is dropped.
    pub(super) is_rejected: bool,
    /// The bytes of the data and of all `event` lines.
    pub(super) length: usize,
    /// The ill-formed parts that have been replaced.
    pub(super) repaired: u64,
    /// The text of the `data` lines, if there are any. Its rest is data that waits: the last bytes that were consumed.
    pub(super) data: Option<DeferredText>,
    /// How many bytes of data can be added to that rest.
    ///
    /// Invariant: if this is not 0, the line is the value of data, `utf8` holds nothing, and three times as many bytes fit.
    pub(super) deferrable: usize,
    pub(super) event_type: SharedStr,
    /// The last valid ID, if there is one.
    pub(super) id: Option<SharedStr>,
    /// The type, ID or comment whose line has not ended.
    pub(super) value: String,
    /// The length of the last data that was copied, even if the copy was dropped, because the next is probably as long.
    pub(super) usual_length: usize,
}

impl EventDecoder {
    pub(super) fn begin_data(&mut self) {
        match self.pending.data {
            // If this exceeds the limit, so does what follows: the end of the value at the latest.
            Some(_) if self.pending.length < self.rules.content => {
                self.pending.length += 1;
                self.pending.push_data("\n", self.rules);
            }
            Some(_) => self.pending.length = self.rules.content.saturating_add(1),
            None => {
                let usual = self.pending.usual_length.clamp(16, Pending::FIRST_CAPACITY);
                let capacity = usual.min(self.rules.content.saturating_sub(self.pending.length));
                self.pending.data = Some(DeferredText::with_capacity(capacity));
            }
        }
    }

    /// Sets the type or ID.
    pub(super) fn set(&mut self, field: Field, text: &str) {
        let Self { pending, recent_type, last_event_id, rules, .. } = self;
        match field {
            Field::Event => {
                if *recent_type != text && text.len() <= Self::SHORT_TYPE {
                    *recent_type = text.into();
                }
                pending.event_type = if *recent_type == text {
                    recent_type.clone()
                } else {
                    pending.free_room(text.len(), *rules);
                    text.into()
                };
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
    pub(super) fn end_event(&mut self, has_data: bool) -> bool {
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
    pub(super) fn keep(&mut self, data: Option<&str>) {
        if let Some(text) = data {
            self.begin_data();
            self.pending.push_data(text, self.rules);
        }
    }
}

impl Pending {
    /// The largest capacity before any data has arrived, in bytes.
    const FIRST_CAPACITY: usize = 4096;
    /// A line of data is expected to end in the next chunk while neither the last data that was copied nor that of this event so
    /// far is longer than this. Rows `events/*/1460`, `events-4k`, `events-1m`.
    const SHORT: usize = 1024;
    /// If the last data was that long, the capacity is at most this many times the length.
    const GROWTH: usize = 16;

    pub(super) const fn new() -> Self {
        Self {
            offset: None,
            is_rejected: false,
            length: 0,
            repaired: 0,
            data: None,
            deferrable: 0,
            event_type: SharedStr::EMPTY,
            id: None,
            value: String::new(),
            usual_length: 0,
        }
    }

    pub(super) fn append_piece(
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
                self.append(field, "\u{FFFD}", rules)?;
                self.repaired += u64::from(field != Field::Comment);
                Ok(())
            }
        }
    }

    /// Appends to the value of `field`.
    #[inline]
    pub(super) fn append(
        &mut self,
        field: Field,
        text: &str,
        rules: Rules,
    ) -> Result<(), Rejection> {
        self.admit(field, text.len(), rules)?;
        match field {
            Field::Data => self.push_data(text, rules),
            Field::Id => push_within(&mut self.value, text, rules.id),
            Field::Event => {
                let len = self.value.len() + text.len();
                self.free_room(2 * len, rules);
                push_within(&mut self.value, text, len + (rules.content - self.length));
            }
            _ => push_within(&mut self.value, text, rules.content),
        }
        Ok(())
    }

    /// Frees the room of the data, if it has room for as much as that of the event before had, and both it and `more` bytes would
    /// exceed the limit. This happens once in an event.
    #[inline]
    fn free_room(&mut self, more: usize, rules: Rules) {
        if let Some(data) = &mut self.data
            && data.capacity() > 2 * data.len().max(Self::FIRST_CAPACITY)
            && data.capacity().saturating_add(more) > rules.content
        {
            data.shrink_to_fit();
            self.usual_length = 0;
        }
    }

    #[inline]
    pub(super) fn push_data(&mut self, text: &str, rules: Rules) {
        self.data_with_room(text.len(), 0, rules).push_str(text);
    }

    /// Appends `text`, and then `bytes` without validating them.
    #[inline(always)]
    pub(super) fn defer_front(&mut self, text: &str, bytes: &[u8], rules: Rules) {
        let len = text.len() + bytes.len();
        let data = self.data_with_room(len, len, rules);
        data.push_str(text);
        if !bytes.is_empty() {
            data.push(bytes);
        }
        self.count_deferred(len);
    }

    /// Whether the data of the event is probably shorter than a chunk.
    #[inline]
    pub(super) fn expects_short_data(&self) -> bool {
        self.usual_length.max(self.length) <= Self::SHORT
    }

    /// Whether data that begins here is probably cut: the data that was copied last is long, and at least as long as the `len`
    /// bytes that are left. Then its end is searched for while it is copied, not before. Rows `event-stream-4k/*/1460`.
    #[inline]
    pub(super) fn expects_more_than(&self, len: usize) -> bool {
        self.usual_length > Self::SHORT && self.usual_length >= len
    }

    /// Drops the copy of data that is not cut, and keeps its length as the usual one.
    #[cold]
    pub(super) fn drop_copy(&mut self) {
        self.usual_length = self.length;
        (self.length, self.deferrable, self.data) = (0, 0, None);
    }

    /// Returns the data with room for `more` bytes, of which `uncounted` have not been counted.
    #[inline(always)]
    fn data_with_room(&mut self, more: usize, uncounted: usize, rules: Rules) -> &mut DeferredText {
        let data = self.data.get_or_insert_default();
        if more > data.capacity() - data.len() {
            let left = rules.content.saturating_sub(self.length + uncounted);
            grow_data(data, more, self.usual_length, left);
        }
        data
    }

    /// Appends the data at the start of `input`, up to the end of its line, without validating it. Returns its length.
    #[inline]
    pub(super) fn defer(&mut self, input: &[u8], rules: Rules) -> usize {
        let data = self.data.get_or_insert_default();
        let mut len = data.push_before(Level::detect(), *b"\r\n", input);
        if let [byte, ..] = input[len..]
            && !is_line_end(byte)
        {
            let rest = &input[len..];
            let more = line_end(rest).unwrap_or(rest.len());
            self.data_with_room(more, len + more, rules).push(&rest[..more]);
            len += more;
        }
        self.count_deferred(len);
        len
    }

    /// The data that waits.
    #[inline(always)]
    pub(super) fn rest(&self) -> &[u8] {
        self.data.as_ref().map_or(&[], DeferredText::rest)
    }

    /// Counts data that waits.
    #[inline(always)]
    pub(super) fn count_deferred(&mut self, len: usize) {
        self.length += len;
        self.deferrable -= len;
    }

    /// Appends a byte of data without validating it, if it can wait and there is room. Returns whether that is so.
    #[inline(always)]
    pub(super) fn defer_byte(&mut self, byte: u8) -> bool {
        match &mut self.data {
            Some(data) if self.deferrable > 0 && data.len() < data.capacity() => data.push(&[byte]),
            _ => return false,
        }
        self.count_deferred(1);
        true
    }

    /// Counts `len` more bytes of the value of `field`, unless that would exceed a limit.
    #[inline]
    pub(super) fn admit(
        &mut self,
        field: Field,
        len: usize,
        rules: Rules,
    ) -> Result<(), Rejection> {
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

/// Makes room for `more` bytes of data, after which the event can have `left` more. If the last data was long, that takes fewer
/// copies than doubling. Rows `event-stream-1m`.
#[cold]
fn grow_data(data: &mut DeferredText, more: usize, usual_length: usize, left: usize) {
    let needed = data.len() + more;
    let doubled = needed.max(2 * data.capacity());
    let usual = usual_length.min(Pending::GROWTH * needed);
    let capacity = doubled.max(usual).min(needed.saturating_add(left));
    data.reserve_exact(capacity - data.len());
}
