//! How is data decoded whose line is cut?
//!
//! It is copied, and validated when its line ends or 16 KiB wait: one validation takes less time than one of each piece. Data
//! waits only if ill-formed bytes are replaced, and only as much as fits into the limit even if each byte becomes three.

use utf8_simd::PrefixEnd;

use crate::decoder::Utf8Decoder;
use crate::sse::event_decoder::lines::{Field, is_line_end};
use crate::sse::event_decoder::{ErrorPolicy, EventDecoder, Found};

/// The most bytes that wait: they are still in the L1 cache when they are validated. Rows `events-1m`.
const MOST: usize = 16 << 10;

impl EventDecoder {
    /// Takes `chunk` if it is one byte of data that can wait. Returns whether it was taken.
    #[inline(always)]
    pub(crate) fn take_byte(&mut self, chunk: &[u8]) -> bool {
        let &[byte] = chunk else { return false };
        let is_taken = !is_line_end(byte) && self.pending.defer_byte(byte);
        self.position += u64::from(is_taken);
        is_taken
    }

    /// Finds any item in `input`, which continues the value of data.
    pub(super) fn find_after_data<'a>(&mut self, mut input: &'a [u8]) -> Found<'a> {
        while self.make_deferrable() {
            let front = &input[..input.len().min(self.pending.deferrable)];
            let len = self.pending.defer(front, self.rules);
            self.take(&mut input, len);
            if len < front.len() {
                return self.end_deferred(input);
            }
            if input.is_empty() {
                return Found::End;
            }
        }
        self.find_any(input, "")
    }

    /// Ends the line of data that waits, and finds any item. `input` begins with the line end.
    #[inline(always)]
    pub(super) fn end_deferred<'a>(&mut self, mut input: &'a [u8]) -> Found<'a> {
        self.settle();
        match Self::event_end(input) {
            Some((ends, next)) if self.utf8.incomplete().is_empty() => {
                self.take(&mut input, ends);
                self.line = next;
                self.end_event(true);
                Found::Event(None)
            }
            _ => self.find_any(input, ""),
        }
    }

    /// Validates the data that waits if no more can be added, and lets more wait if the policy and the limit allow it. Returns
    /// whether they do. If not, all data has been validated.
    #[inline(always)]
    pub(super) fn make_deferrable(&mut self) -> bool {
        if self.pending.deferrable == 0 {
            self.settle();
            self.begin_deferring();
        }
        self.pending.deferrable > 0
    }

    /// Lets data wait from here on, if the limit and the policy allow it.
    #[inline(always)]
    fn begin_deferring(&mut self) {
        if self.rules.repair == ErrorPolicy::Reject {
            return;
        }
        let Self { utf8, pending, rules, .. } = self;
        let held = utf8.incomplete();
        let room = rules.content.saturating_sub(pending.length) / "\u{FFFD}".len();
        if room <= held.len() {
            return;
        }
        pending.deferrable = room.min(MOST);
        if !held.is_empty() {
            pending.defer_front("", held, *rules);
            utf8.take_held();
        }
    }

    /// Validates the data that waits, and replaces what is ill-formed. Holds an incomplete character.
    #[inline(always)]
    pub(super) fn settle(&mut self) {
        self.pending.deferrable = 0;
        if !self.pending.rest().is_empty() {
            self.settle_rest();
        }
    }

    #[inline(never)]
    fn settle_rest(&mut self) {
        let Some(data) = &mut self.pending.data else { return };
        match data.validate() {
            PrefixEnd::Input => {}
            PrefixEnd::Incomplete(_) => {
                debug_assert!(self.utf8.incomplete().is_empty());
                self.utf8.hold(data.rest());
                self.pending.length -= data.rest().len();
                data.clear_rest();
            }
            PrefixEnd::IllFormed(_) => self.replace_in_rest(),
        }
    }

    #[cold]
    fn replace_in_rest(&mut self) {
        let Self { utf8, pending, rules, position, .. } = self;
        let Some(data) = &mut pending.data else { return };
        let rest = data.rest().to_vec();
        data.clear_rest();
        pending.length -= rest.len();
        utf8.scanner_mut().seek(*position - rest.len() as u64);
        for piece in utf8.push(&rest) {
            let added = pending.append_piece(Field::Data, piece, *rules);
            debug_assert!(added.is_ok(), "`begin_deferring` has left room for it");
        }
    }

    /// Returns a copy of `utf8` that has also decoded the data that waits.
    pub(super) fn settled(&self) -> Utf8Decoder {
        let (mut utf8, rest) = (self.utf8.clone(), self.pending.rest());
        utf8.scanner_mut().seek(self.position - rest.len() as u64);
        utf8.push(rest).for_each(drop);
        utf8
    }
}
