//! What is the least work for data that arrives in chunks of one byte?
//!
//! The reference count of a chunk is changed twice, and the code between is not run at the same time: its latency counts.
//! So a byte is only stored here, as long as it continues well-formed data. All of them are decoded at once. Rows
//! `event-stream/*/1`.

use utf8_simd::valid_prefix;

use crate::sse::event_decoder::EventDecoder;
use crate::sse::event_decoder::lines::{EventLine, Field};

/// The next bytes of a data line, in which nothing is ill-formed. They are not in the [`Pending`](super::Pending) event,
/// but [fit](EventDecoder::begin_single_bytes) into it.
#[derive(Clone, Debug)]
pub(super) struct SingleBytes {
    bytes: [u8; Self::MOST],
    len: usize,
    next: u32,
}

// What the next byte can be: no byte, the first of a character, the first of one to three continuation bytes, or one of a
// smaller range.
const NOTHING: u32 = 0;
const LEAD: u32 = BITS;
const ONE: u32 = 2 * BITS;
const TWO: u32 = 3 * BITS;
const THREE: u32 = 4 * BITS;
const AFTER_E0: u32 = 5 * BITS;
const AFTER_ED: u32 = 6 * BITS;
const AFTER_F0: u32 = 7 * BITS;
const AFTER_F4: u32 = 8 * BITS;
const BITS: u32 = 6;

/// What follows `byte`: `NOTHING` if it is a line end or ill-formed (Unicode, table 3-7).
const fn after(next: u32, byte: u8) -> u32 {
    match (next, byte) {
        (LEAD, b'\r' | b'\n') => NOTHING,
        (LEAD, ..0x80) | (ONE, 0x80..0xC0) => LEAD,
        (LEAD, 0xC2..0xE0)
        | (TWO, 0x80..0xC0)
        | (AFTER_E0, 0xA0..0xC0)
        | (AFTER_ED, 0x80..0xA0) => ONE,
        (LEAD, 0xE0) => AFTER_E0,
        (LEAD, 0xED) => AFTER_ED,
        (LEAD, 0xE1..0xF0)
        | (THREE, 0x80..0xC0)
        | (AFTER_F0, 0x90..0xC0)
        | (AFTER_F4, 0x80..0x90) => TWO,
        (LEAD, 0xF0) => AFTER_F0,
        (LEAD, 0xF1..0xF4) => THREE,
        (LEAD, 0xF4) => AFTER_F4,
        _ => NOTHING,
    }
}

/// What follows each byte, for all that it can be. The branches of `after` are mispredicted in text that mixes scripts.
static AFTER: [u64; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 * 9 {
        let (byte, next) = (at / 9, BITS * (at % 9) as u32);
        table[byte] |= (after(next, byte as u8) as u64) << next;
        at += 1;
    }
    table
};

impl SingleBytes {
    const MOST: usize = 64;

    pub(super) const fn new() -> Self {
        Self { bytes: [0; Self::MOST], len: 0, next: NOTHING }
    }

    #[inline(always)]
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Stores `chunk` if it is one byte that continues the data. Returns whether it is.
    #[inline(always)]
    pub(super) fn push(&mut self, chunk: &[u8]) -> bool {
        let (&[byte], len) = (chunk, self.len) else { return false };
        let next = (AFTER[usize::from(byte)] >> self.next) as u32 % (1 << BITS);
        // A character that begins has room for all its bytes.
        let has_room = len < Self::MOST - 3 || self.next != LEAD;
        match self.bytes.get_mut(len) {
            Some(free) if has_room && next != NOTHING => *free = byte,
            _ => {
                self.next = NOTHING;
                return false;
            }
        }
        self.len += 1;
        self.next = next;
        true
    }
}

impl EventDecoder {
    /// Takes `chunk` if it is one byte inside data. Returns whether it is.
    #[inline(always)]
    pub(crate) fn take_byte(&mut self, chunk: &[u8]) -> bool {
        self.single.push(chunk) || (chunk.len() == 1 && self.begin_single_bytes(chunk))
    }

    /// As `take_byte`, for the first byte.
    #[inline(never)]
    fn begin_single_bytes(&mut self, chunk: &[u8]) -> bool {
        self.decode_single_bytes();
        let room = self.rules.content.saturating_sub(self.pending.length);
        let can_begin = matches!(self.line, EventLine::Value(Field::Data))
            && !self.pending.is_rejected
            && self.utf8.incomplete().is_empty()
            && room >= SingleBytes::MOST;
        if can_begin {
            self.single.next = LEAD;
        }
        can_begin && self.single.push(chunk)
    }

    /// Decodes the single bytes, if there are any.
    #[inline(always)]
    pub(super) fn decode_single_bytes(&mut self) {
        if self.single.len > 0 {
            self.decode_stored_bytes();
        }
    }

    #[inline(never)]
    fn decode_stored_bytes(&mut self) {
        let SingleBytes { bytes, len, next } = &mut self.single;
        let bytes = &bytes[..*len];
        let (text, _) = valid_prefix(bytes);
        self.pending.length += text.len();
        self.pending.push_data(text, self.rules);
        self.utf8.hold(&bytes[text.len()..]);
        self.position += bytes.len() as u64;
        (*len, *next) = (0, NOTHING);
    }
}
