//! What text is decoded into: a slice of bytes, of `char`s, or of UTF-16 units.

use crate::kernel::Kernel;

/// A slice of units of one encoding.
pub(crate) trait Destination {
    /// How many units it has.
    fn size(&self) -> usize;

    /// How many units `text` is.
    fn units(text: &str) -> usize;

    /// How many bytes of input to look at where there is room for `room` units.
    ///
    /// Text that is looked at and does not fit is looked at again by the next call.
    fn window(room: usize) -> usize;

    /// Writes `text` from unit `at` on, as far as there is room for whole characters. Returns the
    /// bytes read and the units written.
    fn put(&mut self, at: usize, text: &str) -> (usize, usize);

    /// Writes `bytes` from the start on if they are few, ASCII, and fit: the shortest way, for those
    /// that have one. Says whether they are; if not, nothing is written.
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

/// The window for units that stand for one to `widest` bytes each.
///
/// If they all stand for one, then at most `MORE` bytes are looked at in vain; if for more, then what
/// is left is looked at next. No more at once than stays in a cache until it is converted.
fn window(room: usize, widest: usize) -> usize {
    const MORE: usize = 512;
    const LARGEST: usize = 64 * 1024;
    room.saturating_mul(widest).min(room.saturating_add(MORE)).min(LARGEST)
}

/// Returns the last character boundary of `text` at or before `index`: a step of at most three.
pub(crate) fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut boundary = index.min(text.len());
    while !text.is_char_boundary(boundary) {
        boundary -= 1;
    }
    boundary
}
