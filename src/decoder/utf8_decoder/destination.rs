//! The destination: which units is text decoded into, and how much of it fits?

use utf8_simd::Level;

use crate::decoder::floor_char_boundary;

/// The longest input of [`Destination::put_short`].
pub(crate) const SHORT: usize = 64;

/// A slice of units of one encoding.
pub(crate) trait Destination {
    /// Returns the length of the slice, in units.
    fn size(&self) -> usize;

    /// Returns the length of `text`, in units.
    fn units(text: &str) -> usize;

    /// Returns the number of bytes of input to validate if there is room for `room` units.
    ///
    /// Text that is validated and does not fit is validated again by the next call.
    fn window(room: usize) -> usize;

    /// Writes as many whole characters of `text` as fit, from unit `at` on. Returns the bytes read and the
    /// units written.
    fn put(&mut self, at: usize, text: &str) -> (usize, usize);

    /// Writes ASCII at the start of `bytes` from unit `at` on, in whole blocks that fit. Returns the number of bytes, which
    /// is 0 if a destination has no fast path.
    fn put_ascii(&mut self, _at: usize, _bytes: &[u8]) -> usize {
        0
    }

    /// The fast path of destinations that have one. If `bytes` are at most [`SHORT`] bytes of whole characters that
    /// fit, may write them at the start and return the number of units. Otherwise writes nothing.
    fn put_short(&mut self, _bytes: &[u8]) -> Option<usize> {
        None
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
        let room = self.get_mut(at..).unwrap_or_default();
        let fits = floor_char_boundary(text, room.len());
        if let (Some(room), Some(text)) = (room.get_mut(..fits), text.as_bytes().get(..fits)) {
            room.copy_from_slice(text);
        }
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
        Level::detect().decode_chars(text, self.get_mut(at..).unwrap_or_default())
    }

    #[inline]
    fn put_ascii(&mut self, at: usize, bytes: &[u8]) -> usize {
        Level::detect().decode_ascii_chars(bytes, self.get_mut(at..).unwrap_or_default())
    }

    #[inline]
    fn put_short(&mut self, bytes: &[u8]) -> Option<usize> {
        Level::detect().decode_short_chars(bytes, self)
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
        Level::detect().decode_utf16(text, self.get_mut(at..).unwrap_or_default())
    }

    #[inline]
    fn put_ascii(&mut self, at: usize, bytes: &[u8]) -> usize {
        Level::detect().decode_ascii_utf16(bytes, self.get_mut(at..).unwrap_or_default())
    }

    #[inline]
    fn put_short(&mut self, bytes: &[u8]) -> Option<usize> {
        Level::detect().decode_short_utf16(bytes, self)
    }
}

/// The window for units that encode one to `widest` bytes each.
///
/// If each unit encodes one byte, at most `MORE` bytes are validated that do not fit. If units encode more, the
/// next window validates the rest. The window is small enough to stay in the cache until it is converted.
fn window(room: usize, widest: usize) -> usize {
    const MORE: usize = 512;
    // Rows `to-utf-16/*/65536`: 64 KiB are 3 to 10 % slower.
    const LARGEST: usize = 16 * 1024;
    room.saturating_mul(widest).min(room.saturating_add(MORE)).min(LARGEST)
}
