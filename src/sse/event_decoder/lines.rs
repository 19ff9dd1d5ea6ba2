//! Which field does a line have, and how does its value arrive?

use alloc::string::String;
use core::mem;
use core::time::Duration;

use memchr::memchr2;

use crate::decoder::{BOM, Step};
use crate::sse::event_decoder::fast_path::Front;
use crate::sse::event_decoder::{EventDecoder, Found, Rejection};

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventLine {
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
pub(super) enum Field {
    Data,
    Event,
    Id,
    /// The number so far; `None` before the first digit.
    Retry(Option<u64>),
    Comment,
}

/// The first bytes of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    bytes: [u8; Head::LONGEST],
    len: usize,
}

impl EventDecoder {
    /// Finds any item. `text` begins the value of the first line; it can be empty.
    // The arguments are passed in registers, so that a chunk whose events are found can stay in registers too.
    #[inline(never)]
    pub(super) fn find_any<'a>(&mut self, mut input: &'a [u8], mut text: &'a str) -> Found<'a> {
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

    pub(super) fn begin_value(&mut self, field: Field) {
        self.line = EventLine::Value(field);
        if field == Field::Data {
            self.begin_data();
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
        Front { text, end }: Front<'a>,
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
            taken = taken.and_then(|()| self.decode_value(field, piece));
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
    fn decode_value(&mut self, field: Field, bytes: &[u8]) -> Result<(), Rejection> {
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
        utf8.push(bytes).try_for_each(|piece| pending.append_piece(field, piece, *rules))
    }

    /// Ends the value of the line.
    #[inline]
    pub(super) fn finish_value(&mut self) -> Result<(), Rejection> {
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

    /// Removes bytes that have been decoded.
    #[inline]
    pub(super) fn take(&mut self, input: &mut &[u8], len: usize) {
        *input = &input[len..];
        self.position += len as u64;
    }

    /// Removes the CR or LF at the front of `input`.
    #[inline]
    fn end_line(&mut self, input: &mut &[u8]) {
        self.line = if input[0] == b'\r' { EventLine::AfterCr } else { EventLine::Start };
        self.take(input, 1);
    }

    /// Rejects what `field` belongs to: the event, or only the comment, in silence if that is no item any more.
    #[cold]
    fn reject<'a>(&mut self, field: Field, rejection: Rejection) -> Found<'a> {
        if field == Field::Comment {
            self.pending.value = String::new();
            self.utf8.take_held();
            if !self.has_comments {
                return Found::End;
            }
        } else {
            self.skip_event();
        }
        Found::Rejected(rejection)
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
    pub(super) fn data_value(input: &[u8]) -> Option<usize> {
        let [b'd', b'a', b't', b'a', b':', first, ..] = input else { return None };
        Some(if *first == b' ' { 6 } else { 5 })
    }

    /// Returns the field of the line at the start of `input`.
    #[inline]
    fn of(input: &[u8]) -> Begin {
        if let Some(at) = Self::data_value(input) {
            return Begin::Value(Self::Data, at);
        }
        let head = &input[..input.len().min(Head::LONGEST)];
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

#[inline]
pub(super) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Returns the offset of the first CR or LF.
#[inline]
pub(super) fn line_end(bytes: &[u8]) -> Option<usize> {
    // In a short line, words take less time than a call. Rows `event-stream-20/cjk/64`.
    let (words, _) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().take(3).enumerate() {
        let word = u64::from_le_bytes(*word);
        let differs_from = |byte: u8| word ^ (REPEATED * u64::from(byte));
        let found = zeros(differs_from(b'\r')) | zeros(differs_from(b'\n'));
        if found != 0 {
            return Some(8 * at + found.trailing_zeros() as usize / 8);
        }
    }
    let near = 8 * words.len().min(3);
    Some(near + memchr2(b'\r', b'\n', &bytes[near..])?)
}

const REPEATED: u64 = u64::MAX / 0xFF;

/// The high bit of the first byte that is zero, and of others after it.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(REPEATED) & !word & (REPEATED << 7)
}
