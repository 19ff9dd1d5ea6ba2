//! How does the buffer of a message grow?

use core::{mem, ptr};

use bytes::BytesMut;
use utf8_simd::text::GatheredText;

/// The expected length of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedLength {
    /// The number of announced bytes, including those to be added.
    pub(super) announced: u64,
    /// The maximum length of the message, in bytes.
    pub(super) max_length: u64,
}

impl ExpectedLength {
    /// The maximum number of bytes reserved because of an announcement.
    const MAX_RESERVED: u64 = 64 << 10;

    /// Adds a copy of `text` to `buffer`.
    pub(super) fn push_text(self, buffer: &mut GatheredText, text: &str) {
        if !text.is_empty() {
            let growth = self.growth(buffer.as_str().len(), buffer.capacity(), text.len());
            buffer.push_copy(text, growth);
        }
    }

    /// Adds a copy of `bytes` to `buffer`.
    pub(super) fn push_bytes(self, buffer: &mut BytesMut, bytes: &[u8]) {
        let (len, capacity) = (buffer.len(), buffer.capacity());
        let growth = self.growth(len, capacity, bytes.len());
        if growth > 0 {
            // `BytesMut` could grow to twice the limit.
            let shorter = mem::replace(buffer, BytesMut::with_capacity(len + growth));
            buffer.extend_from_slice(&shorter);
        }
        buffer.extend_from_slice(bytes);
    }

    /// Adds `bytes` to `buffer`. They are not copied if they are the first or contiguous with the previous ones.
    pub(super) fn push_owned(self, buffer: &mut BytesMut, bytes: BytesMut) {
        if buffer.is_empty() || ptr::eq(buffer.as_ptr_range().end, bytes.as_ptr()) {
            buffer.unsplit(bytes);
        } else {
            self.push_bytes(buffer, &bytes);
        }
    }

    /// Returns the number of bytes by which a buffer of `len` bytes grows for `more` bytes: to
    /// twice its size or to the announced length, but not beyond the limit.
    fn growth(self, len: usize, capacity: usize, more: usize) -> usize {
        if more <= capacity - len {
            return 0;
        }
        let announced = self.announced.min(Self::MAX_RESERVED) as usize;
        let limit = usize::try_from(self.max_length).unwrap_or(usize::MAX);
        let wanted = announced.max(capacity).min(limit.saturating_sub(len));
        wanted.max(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of equal length up to the limit: the capacity never exceeds it, and rarely grows.
    #[test]
    fn a_buffer_grows_to_at_most_the_limit() {
        for limit in [1, 100, 4096, 100_000] {
            for size in [1, 3, 7, 1460] {
                for announced in [0, 5, 1 << 40] {
                    let expected = ExpectedLength { announced, max_length: limit as u64 };
                    let (mut text, mut bytes) = (GatheredText::default(), BytesMut::new());
                    let mut grown = 0;
                    let mut capacity = 0;
                    for at in (0..limit).step_by(size) {
                        let piece = &"a".repeat(size)[..size.min(limit - at)];
                        expected.push_text(&mut text, piece);
                        expected.push_bytes(&mut bytes, piece.as_bytes());
                        assert!(text.capacity() <= limit && bytes.capacity() <= limit);
                        grown += usize::from(text.capacity() != capacity);
                        capacity = text.capacity();
                    }
                    assert!(grown <= 20, "{grown} times for {limit} in pieces of {size}");
                    assert_eq!((text.as_str().len(), bytes.len()), (limit, limit));
                }
            }
        }
    }

    #[test]
    fn an_announcement_reserves_at_most_64_kib() {
        let expected = ExpectedLength { announced: 1 << 40, max_length: u64::MAX };
        let mut text = GatheredText::default();
        expected.push_text(&mut text, "a");
        assert_eq!(text.capacity(), 65_536);
    }
}
