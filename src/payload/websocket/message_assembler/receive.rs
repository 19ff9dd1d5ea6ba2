use crate::core::decoder::masked::Unmasked;
use crate::payload::websocket::close::MAX_CONTROL;
use crate::payload::websocket::message_assembler::{Frame, MessageAssembler, Open};
use crate::payload::websocket::{MessageError, ProtocolError};

/// What a piece was.
#[derive(Default)]
pub(super) struct Received<'p> {
    /// Of a text message.
    pub(super) cut: Option<char>,
    /// Of a text message.
    pub(super) text: &'p str,
    /// Of a binary message.
    pub(super) bytes: &'p [u8],
    pub(super) error: Option<MessageError>,
}

impl MessageAssembler {
    /// Unmasks a piece, counts it, and says what it is. Keeps only the payload of control frames.
    #[inline]
    pub(super) fn receive<'p>(&mut self, piece: &'p mut [u8]) -> Received<'p> {
        match &mut self.frame {
            Frame::Data { .. } => {}
            Frame::Control { mask, payload, .. } => {
                self.decoder.unmask(piece, mask);
                let fits = payload.len() + piece.len() <= MAX_CONTROL;
                if fits {
                    payload.extend_from_slice(piece);
                }
                let error = (!fits).then_some(ProtocolError::LongControl.into());
                return Received { error, ..Received::default() };
            }
            Frame::Nothing => {
                let error = Some(ProtocolError::NoFrame.into());
                return Received { error, ..Received::default() };
            }
        }
        self.settle();
        let (piece, excess) = piece.split_at_mut(self.admit(piece.len()));
        let too_long = self.too_long(excess);
        let Self { decoder, frame: Frame::Data { mask, .. }, open, .. } = self else {
            unreachable!("it is a data frame")
        };
        let mut received = Received::default();
        if let Open::Text(_) = open {
            let Unmasked { cut, text, error, .. } = decoder.push_masked(piece, mask);
            received = Received { cut, text, bytes: &[], error: error.map(MessageError::Utf8) };
        } else {
            decoder.unmask(piece, mask);
            received.bytes = piece;
        }
        if !excess.is_empty() {
            decoder.unmask(excess, mask);
        }
        received.error = received.error.or(too_long);
        received
    }

    /// Lets the decoder hold the beginning of a character that the kept pieces end with: what follows
    /// is not kept there.
    pub(super) fn settle(&mut self) {
        if let Open::Text(kept) = &mut self.open
            && !kept.incomplete().is_empty()
        {
            self.decoder.hold(kept.incomplete());
            kept.drop_incomplete();
        }
    }

    /// Counts a piece of the open message. Returns how many bytes of it there is room for.
    pub(super) fn admit(&mut self, len: usize) -> usize {
        let room = usize::try_from(self.limit.saturating_sub(self.len)).unwrap_or(usize::MAX);
        let admitted = len.min(room);
        self.len += admitted as u64;
        if let Frame::Data { announced, .. } = &mut self.frame {
            *announced = announced.saturating_sub(admitted as u64);
        }
        admitted
    }

    pub(super) fn too_long(&self, excess: &[u8]) -> Option<MessageError> {
        (!excess.is_empty()).then_some(MessageError::TooLong { limit: self.limit })
    }
}
