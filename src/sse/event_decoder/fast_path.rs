//! How is the data of most events found, in one pass?

use utf8_simd::text::{first_char, split_line};
use utf8_simd::{Level, PrefixEnd, valid_prefix};

use crate::sse::event_decoder::lines::{EventLine, Field, line_end};
use crate::sse::event_decoder::{EventDecoder, Found};

impl EventDecoder {
    /// Decodes the front of `input` up to the end of the next item, and removes it. The caller takes an event with
    /// [`event`](Self::event).
    #[inline(always)]
    pub(crate) fn find<'a>(&mut self, input: &mut &'a [u8]) -> Found<'a> {
        if self.take_byte(input) {
            *input = &[];
            return Found::End;
        }
        self.find_longer(input)
    }

    /// As `find`, for an input that [`take_byte`](Self::take_byte) has not taken.
    #[inline(always)]
    pub(crate) fn find_longer<'a>(&mut self, input: &mut &'a [u8]) -> Found<'a> {
        self.decode_single_bytes();
        let (all, start) = (*input, self.position);
        let found = self.find_usual(all);
        *input = &all[(self.position - start) as usize..];
        found
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
}

/// The front of an input.
pub(super) struct Front<'a> {
    /// Its text, up to the first ill-formed or incomplete part.
    pub(super) text: &'a str,
    /// The offset of the first CR or LF, or the length of the input.
    pub(super) end: usize,
    /// Whether the bytes between are the beginning of a character.
    pub(super) is_incomplete: bool,
}

impl<'a> Front<'a> {
    #[inline(always)]
    fn of(input: &'a [u8]) -> Self {
        if let Some(0x80..) = input.first() {
            return Self::beyond_ascii(input, 0);
        }
        let text = split_line(Level::detect(), *b"\r\n", input);
        match input.get(text.len()) {
            Some(0x80..) => Self::beyond_ascii(input, text.len()),
            _ => Self { text, end: text.len(), is_incomplete: false }, // in one pass
        }
    }

    /// As `of`. If `text` is not empty, it is the text.
    #[inline]
    pub(super) fn after(input: &'a [u8], text: &'a str) -> Self {
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
        let end = ascii + line_end(rest).unwrap_or(rest.len());
        let (text, why) = valid_prefix(&input[..end]);
        Self { text, end, is_incomplete: matches!(why, PrefixEnd::Incomplete(_)) }
    }

    /// Whether it is a whole line of `input`, and well-formed.
    #[inline]
    pub(super) fn is_whole(&self, input: &[u8]) -> bool {
        self.text.len() == self.end && self.end < input.len()
    }
}
