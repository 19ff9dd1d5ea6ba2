//! How is the data of most events found, in one pass?

use utf8_simd::text::split_line;
use utf8_simd::{Level, valid_prefix};

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
            EventLine::Value(Field::Data) if self.pending.expects_short_data() => Some(0),
            EventLine::Value(Field::Data) => return self.find_after_data(input),
            _ if self.pending.is_rejected => None,
            EventLine::Start | EventLine::AfterCr if self.pending.offset.is_none() => {
                Field::data_value(input)
            }
            _ => None,
        };
        let Some(at) = at else { return self.find_any(input, "") };
        let value = &input[at..];
        // Not if `at` is 0: then the data is short.
        if self.pending.expects_more_than(value.len())
            && self.make_deferrable()
            && self.take_cut_value(&mut input, at)
        {
            return if input.is_empty() { Found::End } else { self.find_after_data(input) };
        }
        let Front { text, end } = Front::of(value);
        let is_cut = end == value.len();
        if at == 0 || is_cut {
            if at != 0 {
                self.begin_data();
                self.begin_first_value(&mut input, at);
            }
            if !self.make_deferrable() || end > self.pending.deferrable {
                return self.find_after_data(input);
            }
            self.pending.defer_front(text, &input[text.len()..end], self.rules);
            self.take(&mut input, end);
            return if is_cut { Found::End } else { self.end_deferred(input) };
        }
        if text.len() == end
            && end <= self.rules.content
            && let Some((ends, next)) = Self::event_end(&value[end..])
        {
            self.position += (at + end + ends) as u64;
            self.line = next;
            return Found::Event(Some(text));
        }
        self.find_any(input, text)
    }

    /// Copies the value of the first line of an event, which begins at `at`, as far as it can wait. If the line ends in this chunk,
    /// drops the copy and takes nothing. Returns whether it took the value.
    #[inline(always)]
    fn take_cut_value(&mut self, input: &mut &[u8], at: usize) -> bool {
        let value = &input[at..];
        let front = &value[..value.len().min(self.pending.deferrable)];
        self.begin_data();
        let len = self.pending.defer(front, self.rules);
        if line_end(&value[len..]).is_some() {
            self.pending.drop_copy();
            return false;
        }
        self.begin_first_value(input, at + len);
        true
    }

    /// Takes the first `len` bytes of an event: the name of the field, which is data, and perhaps a part of its value.
    #[inline(always)]
    fn begin_first_value(&mut self, input: &mut &[u8], len: usize) {
        self.pending.offset = Some(self.position);
        self.line = EventLine::Value(Field::Data);
        self.take(input, len);
    }

    /// Returns the length of the line end and the empty line at the start of `input`, and what the next byte belongs to.
    #[inline(always)]
    pub(super) fn event_end(input: &[u8]) -> Option<(usize, EventLine)> {
        match input {
            [b'\n', b'\n', ..] => Some((2, EventLine::Start)),
            [b'\r', b'\n', b'\r', ..] => Some((3, EventLine::AfterCr)),
            [b'\r', b'\r', ..] => Some((2, EventLine::AfterCr)),
            _ => None,
        }
    }
}

/// The front of an input.
pub(super) struct Front<'a> {
    /// Its text, up to the first ill-formed or incomplete part. Only ASCII if the input has no line end.
    pub(super) text: &'a str,
    /// The offset of the first CR or LF, or the length of the input.
    pub(super) end: usize,
}

impl<'a> Front<'a> {
    #[inline(always)]
    fn of(input: &'a [u8]) -> Self {
        if let Some(0x80..) = input.first() {
            return Self::beyond_ascii(input, "");
        }
        let text = split_line(Level::detect(), *b"\r\n", input);
        match input.get(text.len()) {
            Some(0x80..) => Self::beyond_ascii(input, text),
            _ => Self { text, end: text.len() }, // in one pass
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
                let rest = Self::beyond_ascii(&input[text.len()..], "");
                Self { text, end: text.len() + rest.end }
            }
            _ => Self { text, end: text.len() },
        }
    }

    #[inline(never)]
    fn beyond_ascii(input: &'a [u8], ascii: &'a str) -> Self {
        let rest = &input[ascii.len()..];
        match line_end(rest) {
            None => Self { text: ascii, end: input.len() },
            Some(len) => {
                let end = ascii.len() + len;
                Self { text: valid_prefix(&input[..end]).0, end }
            }
        }
    }

    /// Whether it is a whole line of `input`, and well-formed.
    #[inline]
    pub(super) fn is_whole(&self, input: &[u8]) -> bool {
        self.text.len() == self.end && self.end < input.len()
    }
}
