mod receive;

use core::mem;

use bytes::BytesMut;

use crate::core::decoder::Utf8Decoder;
use crate::core::decoder::masked::Mask;
use crate::core::options::Utf8Options;
use crate::payload::websocket::close::MAX_CONTROL;
use crate::payload::websocket::kept::{KeptBytes, KeptText, Outlook};
use crate::payload::websocket::message_assembler::receive::Received;
use crate::payload::websocket::{
    ClosePayload, Message, MessageError, Opcode, ProtocolError, TextPieces,
};

/// Puts the messages of one WebSocket connection together from their frames, and validates the text
/// as it arrives.
///
/// [The module](crate::payload::websocket) tells how it is called. A frame may come in any number of
/// pieces, empty ones among them, and a message in any number of frames: neither shows in the text, in
/// the error or in its offset. An error is reported by the call that brings the first impossible byte,
/// or the first byte too many. (Of an ill-formed sequence that the byte beyond the limit would break,
/// the limit is reported.)
///
/// Between calls it holds what the open message has been given to keep: the pieces themselves, or a
/// copy in a buffer that is never longer than [the limit](Self::with_max_length) (and while a buffer
/// grows, its predecessor). It holds up to 125 bytes of an open control frame, and at most three bytes
/// of a character that was cut. An empty piece changes nothing.
///
/// The end of a message that is inside a character is an error of [`end_frame`](Self::end_frame). After
/// an error the connection is to be closed: nothing is held any more, and every call gives the same
/// error again, until [`reset`](Self::reset).
///
/// # Examples
///
/// ```
/// use bytes::BytesMut;
/// use utf8_codec::payload::websocket::{Message, Opcode, MessageAssembler};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut connection = MessageAssembler::new();
/// connection.start_frame(Opcode::Text, true, Some([1, 2, 3, 4]))?;
/// connection.push(&mut [0x62, 0x63, 0x65, 0xC7])?; // c, a, f, and half of an é
/// connection.push(&mut [0xA8])?;
/// assert_eq!(connection.end_frame()?, Some(Message::Text("café".into())));
///
/// // What comes in one piece is not copied.
/// let piece = BytesMut::from("tea");
/// let place = piece.as_ptr();
/// connection.start_frame(Opcode::Text, true, None)?;
/// connection.push_bytes(piece)?;
/// let Some(Message::Text(text)) = connection.end_frame()? else { panic!("it was FIN") };
/// assert_eq!((&*text, text.as_ptr()), ("tea", place));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MessageAssembler {
    decoder: Utf8Decoder,
    /// The most bytes a message may have.
    limit: u64,
    /// Bytes of the open message so far: at most `limit`, if that has not been lowered since.
    len: u64,
    frame: Frame,
    open: Open,
    /// The character that was cut, while it is lent out.
    lent: [u8; 4],
}

/// The message whose frames are coming.
#[derive(Clone, Debug)]
enum Open {
    /// None: the next frame begins one.
    Nothing,
    Text(KeptText),
    Binary(KeptBytes),
    /// None any more.
    Failed(MessageError),
}

/// The frame whose payload is coming.
#[derive(Clone, Debug)]
enum Frame {
    /// None: a header is next.
    Nothing,
    /// One of the open message, with so many bytes still to come as has been announced.
    Data { fin: bool, mask: Option<Mask>, announced: u64 },
    /// A control frame. Invariant: the payload has at most 125 bytes.
    Control { opcode: Opcode, mask: Option<Mask>, payload: BytesMut },
}

impl MessageAssembler {
    const MAX_LENGTH: u64 = 16 << 20;

    /// Creates one for a new connection, whose messages may have 16,777,216 bytes (16 MiB) each.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{MessageError, Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Text, true, None).unwrap();
    /// let error = connection.announce(16_777_217).unwrap_err();
    /// assert_eq!(error, MessageError::TooLong { limit: 16_777_216 });
    /// ```
    pub fn new() -> Self {
        Self {
            decoder: Utf8Decoder::new(),
            limit: Self::MAX_LENGTH,
            len: 0,
            frame: Frame::Nothing,
            open: Open::Nothing,
            lent: [0; 4],
        }
    }

    /// Sets how many bytes a message may have, all its frames together, kept or not. May be lowered on
    /// the way: nothing more is let in then.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new().with_max_length(5);
    /// connection.start_frame(Opcode::Text, true, None).unwrap();
    /// assert!(connection.push(&mut b"12345".to_vec()).is_ok());
    /// assert_eq!(connection.push(&mut b"6".to_vec()).unwrap_err().close_code(), 1009);
    /// ```
    #[must_use]
    pub fn with_max_length(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Sets how each text message begins and what it may contain: for before the first frame.
    ///
    /// RFC 6455 says nothing of a signature: by default, an initial U+FEFF is text.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    /// use utf8_codec::{Strictness, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_strictness(Strictness::new().refuse_nul());
    /// let mut connection = MessageAssembler::new().with_options(options);
    /// connection.start_frame(Opcode::Text, true, None).unwrap();
    /// assert_eq!(connection.push(&mut b"\0".to_vec()).unwrap_err().close_code(), 1008);
    /// ```
    #[must_use]
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { decoder: Utf8Decoder::new().with_options(options), ..self }
    }

    /// Starts a frame: its header has been read.
    ///
    /// `mask` is the masking key, if the frame is masked.
    ///
    /// # Errors
    ///
    /// [`MessageError::Protocol`] where the frame must not stand here: a continuation of nothing, a new
    /// message before the last one has ended, a fragmented control frame.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Message, Opcode, MessageAssembler};
    ///
    /// let header = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D]; // FIN and text; masked and five bytes
    /// let opcode = Opcode::try_from(header[0] & 0x0F).unwrap();
    /// let [_, _, mask @ ..] = header;
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(opcode, header[0] & 0x80 != 0, Some(mask))?;
    /// connection.push(&mut [0x7F, 0x9F, 0x4D, 0x51, 0x58])?;
    /// assert_eq!(connection.end_frame()?, Some(Message::Text("Hello".into())));
    /// # Ok::<(), utf8_codec::payload::websocket::MessageError>(())
    /// ```
    pub fn start_frame(
        &mut self,
        opcode: Opcode,
        fin: bool,
        mask: Option<[u8; 4]>,
    ) -> Result<(), MessageError> {
        if let Open::Failed(error) = self.open {
            return Err(error);
        }
        if !matches!(self.frame, Frame::Nothing) {
            return self.fail(ProtocolError::NestedFrame.into());
        }
        let mask = mask.map(Mask::new);
        if opcode.is_control() {
            if !fin {
                return self.fail(ProtocolError::FragmentedControl.into());
            }
            self.frame = Frame::Control { opcode, mask, payload: BytesMut::new() };
            return Ok(());
        }
        match (opcode, &self.open) {
            (Opcode::Continuation, Open::Nothing) => {
                return self.fail(ProtocolError::UnexpectedContinuation.into());
            }
            (Opcode::Continuation, _) => {}
            (_, Open::Text(_) | Open::Binary(_)) => {
                return self.fail(ProtocolError::InterruptedMessage.into());
            }
            (Opcode::Binary, _) => self.open = Open::Binary(KeptBytes::default()),
            _ => {
                self.decoder.reset();
                self.open = Open::Text(KeptText::new());
            }
        }
        self.frame = Frame::Data { fin, mask, announced: 0 };
        Ok(())
    }

    /// Announces how many bytes of payload the frame has, as its header says. It can be left out.
    ///
    /// A length is believed as far as it costs nothing: it makes room for 65,536 bytes (64 KiB) at the
    /// most.
    ///
    /// # Errors
    ///
    /// [`MessageError::TooLong`] where the message would have more bytes than the limit,
    /// [`MessageError::Protocol`] where a control frame would.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Ping, true, None).unwrap();
    /// assert_eq!(connection.announce(126).unwrap_err().close_code(), 1002);
    /// ```
    pub fn announce(&mut self, len: u64) -> Result<(), MessageError> {
        match &mut self.frame {
            Frame::Data { announced, .. } if len <= self.limit.saturating_sub(self.len) => {
                *announced = len;
            }
            Frame::Data { .. } => return self.fail(MessageError::TooLong { limit: self.limit }),
            Frame::Control { .. } if len <= MAX_CONTROL as u64 => {}
            Frame::Control { .. } => return self.fail(ProtocolError::LongControl.into()),
            Frame::Nothing => return self.fail(ProtocolError::NoFrame.into()),
        }
        Ok(())
    }

    /// Takes the next piece of the frame's payload, unmasks it in place, and keeps a copy.
    ///
    /// All of it is unmasked, whatever is found. Costs one pass over `piece`, and one copy.
    ///
    /// # Errors
    ///
    /// [`MessageError::Utf8`] and [`MessageError::TooLong`], in the call that brings the byte at fault.
    /// [`MessageError::Protocol`] for more than 125 bytes of a control frame, and outside of a frame.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Message, Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Text, true, Some(*b"mask"))?;
    /// let mut piece = [b'o' ^ b'm', b'k' ^ b'a'];
    /// connection.push(&mut piece)?;
    /// assert_eq!(piece, *b"ok");
    /// assert_eq!(connection.end_frame()?, Some(Message::Text("ok".into())));
    /// # Ok::<(), utf8_codec::payload::websocket::MessageError>(())
    /// ```
    pub fn push(&mut self, piece: &mut [u8]) -> Result<(), MessageError> {
        let outlook = self.outlook();
        let received = self.receive(piece);
        match &mut self.open {
            Open::Text(kept) => {
                if let Some(c) = received.cut {
                    kept.push(c.encode_utf8(&mut [0; 4]), outlook);
                }
                kept.push(received.text, outlook);
            }
            Open::Binary(kept) => kept.push(received.bytes, outlook),
            Open::Nothing | Open::Failed(_) => {}
        }
        self.conclude(received.error)
    }

    /// As [`push`](Self::push), and keeps the pieces of a message themselves, as long as each follows
    /// the last in memory: so do those that are split off one read buffer, within a frame.
    ///
    /// Costs one pass over `piece`. With a piece that stands elsewhere, all are copied, once. A message
    /// that is not a copy keeps the buffer alive that it was read into, however small it is itself.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use utf8_codec::payload::websocket::{Message, Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// let mut buffer = BytesMut::from(&b"10 \xE2\x82\xAC and the next frame"[..]);
    /// connection.start_frame(Opcode::Text, true, None)?;
    /// connection.push_bytes(buffer.split_to(4))?;
    /// connection.push_bytes(buffer.split_to(2))?;
    /// assert_eq!(connection.end_frame()?, Some(Message::Text("10 €".into())));
    /// # Ok::<(), utf8_codec::payload::websocket::MessageError>(())
    /// ```
    pub fn push_bytes(&mut self, mut piece: BytesMut) -> Result<(), MessageError> {
        if !self.has_room(&piece) {
            return self.push_copied(piece);
        }
        let admitted = self.admit(piece.len());
        let too_long = self.too_long(&piece[admitted..]);
        if too_long.is_some() {
            piece.truncate(admitted);
        }
        let Self {
            decoder,
            frame: Frame::Data { mask, .. },
            open: Open::Text(KeptText::Whole(buffer)),
            ..
        } = self
        else {
            unreachable!("there is room")
        };
        // What is incomplete was unmasked when it came.
        let mask = if buffer.behind().is_empty() {
            mask
        } else {
            decoder.unmask(&mut piece, mask);
            &mut None
        };
        let mut error = None;
        buffer.extend(piece, |bytes| {
            let unmasked = decoder.step_masked(bytes, mask);
            error = unmasked.error.map(MessageError::Utf8);
            (unmasked.silent, unmasked.text)
        });
        self.conclude(error.or(too_long))
    }

    /// Takes the next piece of the frame's payload, unmasks it in place, and lends its text instead of
    /// keeping it: a long message can be used as it comes.
    ///
    /// All is done before the iterator is asked for anything. A character that was cut comes with the
    /// piece that completes it. Of binary messages and control frames there is no text. Costs one pass
    /// over `piece`.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push), behind the text before the error.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Text, true, None)?;
    /// let mut text = String::new();
    /// for piece in [&b"a long \xF0\x9F"[..], b"\x92\xAC, bit by bit"] {
    ///     for piece in connection.pieces(&mut piece.to_vec()) {
    ///         text.push_str(piece?);
    ///     }
    /// }
    /// connection.end_frame()?;
    /// assert_eq!(text, "a long 💬, bit by bit");
    /// # Ok::<(), utf8_codec::payload::websocket::MessageError>(())
    /// ```
    pub fn pieces<'a>(&'a mut self, piece: &'a mut [u8]) -> TextPieces<'a> {
        let Received { cut, text, error, .. } = self.receive(piece);
        let error = self.conclude(error).err();
        let cut = cut.map(|c| &*c.encode_utf8(&mut self.lent));
        TextPieces { cut, text, error }
    }

    /// Takes the next piece of the frame's payload, unmasks it in place, and keeps nothing of it: for a
    /// verdict, or for those who keep it themselves.
    ///
    /// Costs one pass over `piece`, and memory that does not depend on the message.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Message, Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new().with_max_length(u64::MAX);
    /// connection.start_frame(Opcode::Text, true, None)?;
    /// for _ in 0..1000 {
    ///     connection.validate(&mut "日本語".to_owned().into_bytes())?;
    /// }
    /// assert_eq!(connection.position(), 9000);
    /// assert_eq!(connection.end_frame()?, Some(Message::Text("".into())));
    /// # Ok::<(), utf8_codec::payload::websocket::MessageError>(())
    /// ```
    pub fn validate(&mut self, piece: &mut [u8]) -> Result<(), MessageError> {
        let error = self.receive(piece).error;
        self.conclude(error)
    }

    /// Ends the frame: all its payload has been given. Returns the message that it ends, if it does.
    ///
    /// # Errors
    ///
    /// [`MessageError::Utf8`] where a text message ends inside a character, [`MessageError::Reason`] and
    /// [`MessageError::Protocol`] for a close payload that is not as it must be.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Message, Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Binary, false, None)?;
    /// connection.push(&mut [0xFF])?;
    /// assert_eq!(connection.end_frame()?, None); // it was not FIN
    /// connection.start_frame(Opcode::Continuation, true, None)?;
    /// connection.push(&mut [0x00])?;
    /// assert_eq!(connection.end_frame()?, Some(Message::Binary(b"\xFF\x00"[..].into())));
    /// # Ok::<(), utf8_codec::payload::websocket::MessageError>(())
    /// ```
    pub fn end_frame(&mut self) -> Result<Option<Message>, MessageError> {
        match mem::replace(&mut self.frame, Frame::Nothing) {
            Frame::Data { fin: true, .. } => self.end_message().map(Some),
            Frame::Data { fin: false, .. } => Ok(None),
            Frame::Control { opcode, payload, .. } => {
                let payload = payload.freeze();
                match opcode {
                    Opcode::Ping => Ok(Some(Message::Ping(payload))),
                    Opcode::Pong => Ok(Some(Message::Pong(payload))),
                    _ => match ClosePayload::parse(payload) {
                        Ok(payload) => Ok(Some(Message::Close(payload))),
                        Err(error) => self.fail(error),
                    },
                }
            }
            Frame::Nothing => self.fail(ProtocolError::NoFrame.into()),
        }
    }

    /// Forgets the connection: for a new one, with the same settings.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// assert!(connection.start_frame(Opcode::Continuation, true, None).is_err());
    /// assert!(connection.start_frame(Opcode::Text, true, None).is_err());
    /// connection.reset();
    /// assert!(connection.start_frame(Opcode::Text, true, None).is_ok());
    /// ```
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.len = 0;
        self.frame = Frame::Nothing;
        self.open = Open::Nothing;
    }

    /// Returns how many bytes of the open message have come, over all its frames; 0 between messages.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Text, true, None).unwrap();
    /// connection.push(&mut b"abc\xC3".to_vec()).unwrap();
    /// assert_eq!(connection.position(), 4);
    /// ```
    pub fn position(&self) -> u64 {
        self.len
    }

    /// Returns the bytes of a text message that belong to a character whose rest has not come: at most
    /// three.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Text, true, None).unwrap();
    /// connection.push(&mut b"abc\xC3".to_vec()).unwrap();
    /// assert_eq!(connection.incomplete(), b"\xC3");
    /// ```
    pub fn incomplete(&self) -> &[u8] {
        match &self.open {
            Open::Text(kept) if !kept.incomplete().is_empty() => kept.incomplete(),
            _ => self.decoder.incomplete(),
        }
    }

    /// Whether a piece of a text message can be added to those that are kept without being copied.
    fn has_room(&self, piece: &[u8]) -> bool {
        match (&self.frame, &self.open) {
            (Frame::Data { .. }, Open::Text(kept)) => {
                self.decoder.incomplete().is_empty() && kept.has_room(piece)
            }
            _ => false,
        }
    }

    /// [`push_bytes`](Self::push_bytes) where it has to copy, and of all but text messages.
    #[inline(never)]
    fn push_copied(&mut self, mut piece: BytesMut) -> Result<(), MessageError> {
        let (Frame::Data { .. }, Open::Binary(_)) = (&self.frame, &self.open) else {
            return self.push(&mut piece);
        };
        let outlook = self.outlook();
        let Received { bytes, error, .. } = self.receive(&mut piece);
        let len = bytes.len();
        piece.truncate(len);
        if let Open::Binary(kept) = &mut self.open {
            kept.push_owned(piece, outlook);
        }
        self.conclude(error)
    }

    fn outlook(&self) -> Outlook {
        let announced = match self.frame {
            Frame::Data { announced, .. } => announced,
            Frame::Control { .. } | Frame::Nothing => 0,
        };
        Outlook { announced, limit: self.limit }
    }

    fn end_message(&mut self) -> Result<Message, MessageError> {
        self.settle();
        self.len = 0;
        match mem::replace(&mut self.open, Open::Nothing) {
            Open::Text(kept) => match self.decoder.finish() {
                Ok(()) => Ok(Message::Text(kept.into_text())),
                Err(error) => self.fail(MessageError::Utf8(error)),
            },
            Open::Binary(kept) => Ok(Message::Binary(kept.into_bytes())),
            Open::Nothing | Open::Failed(_) => self.fail(ProtocolError::NoFrame.into()),
        }
    }

    fn conclude(&mut self, error: Option<MessageError>) -> Result<(), MessageError> {
        match error {
            Some(error) => self.fail(error),
            None => Ok(()),
        }
    }

    /// Refuses all that follows, for the first of all errors.
    #[cold]
    fn fail<T>(&mut self, error: MessageError) -> Result<T, MessageError> {
        let error = match self.open {
            Open::Failed(first) => first,
            _ => error,
        };
        self.reset();
        self.open = Open::Failed(error);
        Err(error)
    }
}

impl Default for MessageAssembler {
    fn default() -> Self {
        Self::new()
    }
}
