//! Buffers for the pieces of a message, which are not copied as long as they are contiguous.

use alloc::string::String;
use core::{mem, ptr};

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;

use crate::decoder::text::GatheredText;

/// The kept part of a text message.
#[derive(Clone, Debug)]
pub(super) enum TextBuffer {
    /// Nothing, or the pieces themselves. The beginning of a character can follow the text.
    Whole(GatheredText),
    /// A copy.
    Joined(String),
}

/// The kept part of a binary message: the pieces themselves, or a copy.
#[derive(Clone, Debug, Default)]
pub(super) struct BytesBuffer(BytesMut);

/// The expected length of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedLength {
    /// The number of announced bytes, including those to be added.
    pub(super) announced: u64,
    /// The maximum length of the message, in bytes.
    pub(super) max_length: u64,
}

impl TextBuffer {
    pub(super) fn new() -> Self {
        Self::Whole(GatheredText::default())
    }

    /// Returns the pieces if `piece` can be added to them without a copy.
    pub(super) fn contiguous_with(&mut self, piece: &[u8]) -> Option<&mut GatheredText> {
        match self {
            Self::Whole(buffer) if buffer.is_empty() || buffer.is_followed_by(piece) => {
                Some(buffer)
            }
            Self::Whole(_) | Self::Joined(_) => None,
        }
    }

    /// Returns the beginning of a character at the end of the pieces.
    pub(super) fn incomplete(&self) -> &[u8] {
        match self {
            Self::Whole(buffer) => buffer.after_text(),
            Self::Joined(_) => &[],
        }
    }

    /// Drops the beginning of a character at the end of the pieces.
    pub(super) fn drop_incomplete(&mut self) {
        if let Self::Whole(buffer) = self {
            buffer.truncate();
        }
    }

    /// Adds a copy of `text`.
    pub(super) fn push(&mut self, text: &str, expected: ExpectedLength) {
        if text.is_empty() {
            return;
        }
        let mut joined = match mem::replace(self, Self::Joined(String::new())) {
            Self::Whole(buffer) => {
                debug_assert!(buffer.after_text().is_empty());
                String::from(buffer.as_str())
            }
            Self::Joined(joined) => joined,
        };
        joined.reserve_exact(expected.growth(joined.len(), joined.capacity(), text.len()));
        joined.push_str(text);
        *self = Self::Joined(joined);
    }

    pub(super) fn into_text(self) -> ByteString {
        match self {
            Self::Whole(buffer) => buffer.into_text(),
            Self::Joined(joined) => joined.into(),
        }
    }
}

impl BytesBuffer {
    /// Adds a copy of `bytes`.
    pub(super) fn push(&mut self, bytes: &[u8], expected: ExpectedLength) {
        let (len, capacity) = (self.0.len(), self.0.capacity());
        let growth = expected.growth(len, capacity, bytes.len());
        if growth > 0 {
            // `BytesMut` could grow to twice the limit.
            let shorter = mem::replace(&mut self.0, BytesMut::with_capacity(len + growth));
            self.0.extend_from_slice(&shorter);
        }
        self.0.extend_from_slice(bytes);
    }

    /// Adds `bytes`. They are not copied if they are the first or contiguous with the previous
    /// ones.
    pub(super) fn push_owned(&mut self, bytes: BytesMut, expected: ExpectedLength) {
        if self.0.is_empty() || ptr::eq(self.0.as_ptr_range().end, bytes.as_ptr()) {
            self.0.unsplit(bytes);
        } else {
            self.push(&bytes, expected);
        }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.0.freeze()
    }
}

impl ExpectedLength {
    /// The maximum number of bytes reserved because of an announcement.
    const MAX_RESERVED: u64 = 64 << 10;

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
                    let (mut text, mut bytes) = (TextBuffer::new(), BytesBuffer::default());
                    let mut grown = 0;
                    let mut capacity = 0;
                    for at in (0..limit).step_by(size) {
                        let piece = &"a".repeat(size)[..size.min(limit - at)];
                        text.push(piece, expected);
                        bytes.push(piece.as_bytes(), expected);
                        let TextBuffer::Joined(joined) = &text else { panic!("it is a copy") };
                        assert!(joined.capacity() <= limit && bytes.0.capacity() <= limit);
                        grown += usize::from(joined.capacity() != capacity);
                        capacity = joined.capacity();
                    }
                    assert!(grown <= 20, "{grown} times for {limit} in pieces of {size}");
                    assert_eq!(text.into_text().len(), limit);
                    assert_eq!(bytes.into_bytes().len(), limit);
                }
            }
        }
    }

    #[test]
    fn an_announcement_reserves_at_most_64_kib() {
        let expected = ExpectedLength { announced: 1 << 40, max_length: u64::MAX };
        let mut text = TextBuffer::new();
        text.push("a", expected);
        let TextBuffer::Joined(joined) = text else { panic!("it is a copy") };
        assert_eq!(joined.capacity(), 65_536);
    }
}
