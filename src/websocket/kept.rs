//! How is a piece of a frame received, and how is it kept, without copying where pieces are contiguous?

use alloc::string::String;
use core::{mem, ptr};

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;

use crate::decoder::text::GatheredText;
use crate::decoder::utf8_decoder::Utf8Decoder;
use crate::decoder::utf8_decoder::masked::{Mask, Unmasked};
use crate::websocket::message::{MAX_CONTROL, check_close};
use crate::websocket::message_assembler::{Frame, Open};
use crate::websocket::{MessageAssembler, MessageError, Opcode};

/// A received piece, unmasked.
#[derive(Default)]
pub(super) struct Received<'p> {
    /// In a text message: the character that the piece completes.
    pub(super) split: Option<char>,
    /// In a text message.
    pub(super) text: &'p str,
    /// In a binary message.
    pub(super) bytes: &'p [u8],
    pub(super) error: Option<MessageError>,
}

/// Where a piece of a text message can be stored without a copy.
pub(super) struct Room<'a> {
    pub(super) decoder: &'a mut Utf8Decoder,
    pub(super) mask: &'a mut Option<Mask>,
    pub(super) buffer: &'a mut GatheredText,
    /// The number of bytes of the piece that the limit admits.
    pub(super) admitted: usize,
}

/// The kept part of a text message.
#[derive(Clone, Debug)]
pub(super) enum KeptText {
    /// Nothing, or the pieces themselves. The beginning of a character can follow the text.
    Whole(GatheredText),
    /// A copy.
    Joined(String),
}

/// The kept part of a binary message: the pieces themselves, or a copy.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptBytes(BytesMut);

/// The expected length of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    /// The number of announced bytes, including those to be added.
    pub(super) announced: u64,
    /// The maximum length of the message, in bytes.
    pub(super) max_length: u64,
}

impl KeptText {
    pub(super) fn new() -> Self {
        Self::Whole(GatheredText::default())
    }

    /// Returns the pieces if `piece` can be added to them without a copy.
    pub(super) fn room_for(&mut self, piece: &[u8]) -> Option<&mut GatheredText> {
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
    pub(super) fn push(&mut self, text: &str, outlook: Outlook) {
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
        joined.reserve_exact(outlook.growth(joined.len(), joined.capacity(), text.len()));
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

impl KeptBytes {
    /// Adds a copy of `bytes`.
    pub(super) fn push(&mut self, bytes: &[u8], outlook: Outlook) {
        let (len, capacity) = (self.0.len(), self.0.capacity());
        let growth = outlook.growth(len, capacity, bytes.len());
        if growth > 0 {
            // `BytesMut` could grow to twice the limit.
            let shorter = mem::replace(&mut self.0, BytesMut::with_capacity(len + growth));
            self.0.extend_from_slice(&shorter);
        }
        self.0.extend_from_slice(bytes);
    }

    /// Adds `bytes`. They are not copied if they are the first or contiguous with the previous
    /// ones.
    pub(super) fn push_owned(&mut self, bytes: BytesMut, outlook: Outlook) {
        if self.0.is_empty() || ptr::eq(self.0.as_ptr_range().end, bytes.as_ptr()) {
            self.0.unsplit(bytes);
        } else {
            self.push(&bytes, outlook);
        }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        self.0.freeze()
    }
}

impl Outlook {
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

impl MessageAssembler {
    /// Unmasks a piece, counts it, and decodes it. Only the payload of control frames is kept.
    #[inline]
    pub(super) fn receive<'p>(&mut self, piece: &'p mut [u8]) -> Received<'p> {
        let too_long = self.too_long();
        let Self { decoder, max_length, len, frame, open, .. } = self;
        let (mask, announced) = match frame {
            Frame::Data { mask, announced, .. } => (mask, announced),
            Frame::Control { opcode, mask, payload } => {
                decoder.unmask(piece, mask);
                let admitted = piece.len().min(MAX_CONTROL - payload.len());
                payload.extend_from_slice(&piece[..admitted]);
                let is_too_long = admitted < piece.len();
                let error = match *opcode {
                    Opcode::Close => check_close(payload).err(),
                    _ => None,
                };
                let error = error.or(is_too_long.then_some(MessageError::LongControl));
                return Received { error, ..Received::default() };
            }
            Frame::Nothing => {
                return Received { error: Some(MessageError::NoFrame), ..Received::default() };
            }
        };
        settle(decoder, open);
        let admitted = admit(piece.len(), *max_length, len, announced);
        let (piece, excess) = piece.split_at_mut(admitted);
        let mut received = Received::default();
        if let Open::Text(_) = open {
            let Unmasked { cut, text, error, .. } = decoder.push_masked(piece, mask);
            received =
                Received { split: cut, text, bytes: &[], error: error.map(MessageError::Utf8) };
        } else {
            decoder.unmask(piece, mask);
            received.bytes = piece;
        }
        if !excess.is_empty() {
            decoder.unmask(excess, mask);
            received.error = received.error.or(Some(too_long));
        }
        received
    }

    /// Counts a piece of a text message that can be kept without a copy. Returns `None` if it
    /// cannot.
    #[inline]
    pub(super) fn room_for(&mut self, piece: &[u8]) -> Option<Room<'_>> {
        let Self { decoder, max_length, len, frame, open, .. } = self;
        let (Frame::Data { mask, announced, .. }, Open::Text(kept)) = (frame, open) else {
            return None;
        };
        if !decoder.incomplete().is_empty() {
            return None;
        }
        let buffer = kept.room_for(piece)?;
        let admitted = admit(piece.len(), *max_length, len, announced);
        Some(Room { decoder, mask, buffer, admitted })
    }
}

/// Moves the beginning of a character at the end of the kept pieces to the decoder, because the
/// bytes after it are not kept with the pieces.
#[inline]
pub(super) fn settle(decoder: &mut Utf8Decoder, open: &mut Open) {
    if let Open::Text(kept) = open
        && !kept.incomplete().is_empty()
    {
        decoder.hold(kept.incomplete());
        kept.drop_incomplete();
    }
}

/// Counts a piece of `piece` bytes in the open message. Returns how many of them the limit admits.
#[inline]
fn admit(piece: usize, max_length: u64, len: &mut u64, announced: &mut u64) -> usize {
    let room = usize::try_from(max_length.saturating_sub(*len)).unwrap_or(usize::MAX);
    let admitted = piece.min(room);
    *len += admitted as u64;
    *announced = announced.saturating_sub(admitted as u64);
    admitted
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
                    let outlook = Outlook { announced, max_length: limit as u64 };
                    let (mut text, mut bytes) = (KeptText::new(), KeptBytes::default());
                    let mut grown = 0;
                    let mut capacity = 0;
                    for at in (0..limit).step_by(size) {
                        let piece = &"a".repeat(size)[..size.min(limit - at)];
                        text.push(piece, outlook);
                        bytes.push(piece.as_bytes(), outlook);
                        let KeptText::Joined(joined) = &text else { panic!("it is a copy") };
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
        let outlook = Outlook { announced: 1 << 40, max_length: u64::MAX };
        let mut text = KeptText::new();
        text.push("a", outlook);
        let KeptText::Joined(joined) = text else { panic!("it is a copy") };
        assert_eq!(joined.capacity(), 65_536);
    }
}
