//! The destination: what is text decoded into, and how much of it fits?

use crate::core::boundary::floor_char_boundary;
use crate::kernel::Kernel;

/// A slice of units of one encoding.
pub(crate) trait Destination {
    /// Returns the number of units it has.
    fn size(&self) -> usize;

    /// Returns the number of units of `text`.
    fn units(text: &str) -> usize;

    /// Returns the number of bytes of input to validate if there is room for `room` units.
    ///
    /// Text that is validated and does not fit is validated again by the next call.
    fn window(room: usize) -> usize;

    /// Writes `text` from unit `at` on, as many whole characters as fit. Returns the bytes read and
    /// the units written.
    fn put(&mut self, at: usize, text: &str) -> (usize, usize);

    /// The fast path of destinations that have one: writes `bytes` from the start on if they are few,
    /// ASCII, and fit. Otherwise writes nothing and returns `false`.
    fn put_short_ascii(&mut self, _bytes: &[u8]) -> bool {
        false
    }
}

impl Destination for [u8] {
    fn size(&self) -> usize {
        self.len()
    }

    fn units(text: &str) -> usize {
        text.len()
    }

    fn window(room: usize) -> usize {
        room
    }

    fn put(&mut self, at: usize, text: &str) -> (usize, usize) {
        let room = &mut self[at..];
        let fits = floor_char_boundary(text, room.len());
        room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        (fits, fits)
    }
}

impl Destination for [char] {
    fn size(&self) -> usize {
        self.len()
    }

    fn units(text: &str) -> usize {
        text.chars().count()
    }

    fn window(room: usize) -> usize {
        window(room, 4)
    }

    fn put(&mut self, at: usize, text: &str) -> (usize, usize) {
        Kernel::detect().decode_chars(text, &mut self[at..])
    }

    #[inline]
    fn put_short_ascii(&mut self, bytes: &[u8]) -> bool {
        Kernel::detect().decode_short_ascii(bytes, self)
    }
}

impl Destination for [u16] {
    fn size(&self) -> usize {
        self.len()
    }

    fn units(text: &str) -> usize {
        text.encode_utf16().count()
    }

    fn window(room: usize) -> usize {
        window(room, 3)
    }

    fn put(&mut self, at: usize, text: &str) -> (usize, usize) {
        Kernel::detect().decode_utf16(text, &mut self[at..])
    }
}

/// The window for units that encode one to `widest` bytes each.
///
/// If each encodes one byte, at most `MORE` bytes are validated in vain; if more, the rest is validated
/// next. The window is small enough to stay in the cache until it is converted.
fn window(room: usize, widest: usize) -> usize {
    const MORE: usize = 512;
    const LARGEST: usize = 64 * 1024;
    room.saturating_mul(widest).min(room.saturating_add(MORE)).min(LARGEST)
}
