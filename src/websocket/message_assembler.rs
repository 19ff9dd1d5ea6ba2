//! How do the frames of one connection become messages?

use core::iter::FusedIterator;
use core::mem;

use bytes::BytesMut;
use utf8_simd::text::GatheredText;

use crate::decoder::{Mask, Unmasked, Utf8Decoder, Utf8Options};
use crate::websocket::buffer::ExpectedLength;
use crate::websocket::message::{MAX_CONTROL, check_close, parse_close};
use crate::websocket::{FrameHeader, Message, MessageError, Opcode};

/// Assembles the messages of one WebSocket connection from their frames, and validates text as it
/// arrives. Create one per connection.
///
/// [The module](crate::websocket) describes the order of the calls. A frame can be pushed
/// in any number of pieces, including empty ones, and a message can have any number of frames.
/// Neither affects the text, the errors or their offsets. The call that receives the byte
/// that makes the message invalid, or the first byte beyond the limit, returns the error. If one byte is both, the
/// error is [`TooLong`](MessageError::TooLong).
///
/// Between calls it holds the kept part of the open message: the pieces themselves, or a copy in a
/// buffer that is never longer than [the limit](Self::with_max_length). While the buffer grows, the
/// previous buffer exists as well. It also holds up to 125 bytes of an open control frame, and at
/// most three bytes of a split character. An empty piece changes nothing.
///
/// The code of a close frame is judged when both its bytes have arrived. If a message or the reason of a
/// close frame ends inside a character, [`end_frame`](Self::end_frame) returns the error. After an
/// error, close the connection. Nothing is held any more, and every call returns the same error
/// until [`reset`](Self::reset).
///
/// # Examples
///
/// ```
/// use utf8_codec::websocket::{Message, Opcode, MessageAssembler};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mask = [0x37, 0xFA, 0x21, 0x3D];
/// let masked = |text: &[u8]| -> Vec<u8> {
///     text.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key).collect()
/// };
///
/// // Two frames, split inside the euro sign, with a ping between them.
/// let mut connection = MessageAssembler::new();
/// connection.start_frame(Opcode::Text, false, Some(mask))?;
/// connection.push(&mut masked(b"10 \xE2"))?;
/// assert_eq!(connection.end_frame()?, None);
///
/// connection.start_frame(Opcode::Ping, true, Some(mask))?;
/// connection.push(&mut masked(b"\xFF"))?;
/// assert_eq!(connection.end_frame()?, Some(Message::Ping(b"\xFF"[..].into())));
///
/// connection.start_frame(Opcode::Continuation, true, Some(mask))?;
/// connection.push(&mut masked(b"\x82\xAC"))?;
/// assert_eq!(connection.end_frame()?, Some(Message::Text("10 €".into())));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct MessageAssembler {
    decoder: Utf8Decoder,
    /// The maximum length of a message, in bytes.
    max_length: u64,
    /// The length of the open message so far. At most `max_length`, unless that was lowered since.
    len: u64,
    frame: Frame,
    open: Open,
    /// The last split character that [`pieces`](Self::pieces) returned.
    split_char: [u8; 4],
}

/// The message being received.
#[derive(Clone, Debug)]
enum Open {
    /// None. The next data frame starts one.
    Nothing,
    /// The kept pieces, not copied as long as they are contiguous. The beginning of a character can follow the text.
    Text(GatheredText),
    /// The kept pieces, not copied as long as they are contiguous.
    Binary(BytesMut),
    /// No messages follow this error.
    Failed(MessageError),
}

/// The frame being received.
#[derive(Clone, Debug)]
enum Frame {
    /// None. A header comes next.
    Nothing,
    /// A frame of the open message. `announced` bytes of its payload are still expected.
    Data { fin: bool, mask: Option<Mask>, announced: u64 },
    /// A control frame. Invariant: the payload has at most 125 bytes.
    Control { opcode: Opcode, mask: Option<Mask>, payload: BytesMut },
}

/// A received piece, unmasked.
#[derive(Default)]
struct Received<'p> {
    /// In a text message: the character that the piece completes.
    split: Option<char>,
    /// In a text message.
    text: &'p str,
    /// In a binary message.
    bytes: &'p [u8],
    error: Option<MessageError>,
}

/// The text of a piece of a payload, and the error after it. See [`MessageAssembler::pieces`].
#[derive(Clone, Debug)]
pub struct MessagePieces<'a> {
    split: &'a str,
    text: &'a str,
    error: Option<MessageError>,
}

impl MessageAssembler {
    const MAX_LENGTH: u64 = 16 << 20;

    /// Creates an assembler for a new connection. A message can have at most 16,777,216 bytes (16 MiB).
    pub fn new() -> Self {
        Self {
            decoder: Utf8Decoder::new(),
            max_length: Self::MAX_LENGTH,
            len: 0,
            frame: Frame::Nothing,
            open: Open::Nothing,
            split_char: [0; 4],
        }
    }

    /// Sets the maximum length of a message, in bytes, across all its frames, kept or not. If you
    /// lower it within a message, further bytes are rejected.
    pub fn with_max_length(self, max_length: u64) -> Self {
        Self { max_length, ..self }
    }

    /// Sets the options for each text message. Call it before the first frame.
    ///
    /// RFC 6455 does not mention a BOM: by default, an initial U+FEFF is text.
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { decoder: Utf8Decoder::new().with_options(options), ..self }
    }

    /// Starts a frame with its header: [`start_frame`](Self::start_frame), then
    /// [`announce`](Self::announce).
    ///
    /// # Errors
    ///
    /// The same as those methods.
    pub fn start(&mut self, header: &FrameHeader) -> Result<(), MessageError> {
        self.start_frame(header.opcode(), header.fin(), header.mask())?;
        self.announce(header.payload_length())
    }

    /// Starts a frame whose header another parser has parsed. `mask` is the masking key of a masked frame.
    ///
    /// # Errors
    ///
    /// [`UnexpectedContinuation`](MessageError::UnexpectedContinuation),
    /// [`InterruptedMessage`](MessageError::InterruptedMessage),
    /// [`FragmentedControl`](MessageError::FragmentedControl), and
    /// [`NestedFrame`](MessageError::NestedFrame) if the previous frame has not ended.
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
            return self.fail(MessageError::NestedFrame);
        }
        let mask = mask.map(Mask::new);
        if opcode.is_control() {
            if !fin {
                return self.fail(MessageError::FragmentedControl);
            }
            self.frame = Frame::Control { opcode, mask, payload: BytesMut::new() };
            return Ok(());
        }
        match (opcode, &self.open) {
            (Opcode::Continuation, Open::Nothing) => {
                return self.fail(MessageError::UnexpectedContinuation);
            }
            (Opcode::Continuation, _) => {}
            (_, Open::Text(_) | Open::Binary(_)) => {
                return self.fail(MessageError::InterruptedMessage);
            }
            (Opcode::Binary, _) => self.open = Open::Binary(BytesMut::new()),
            _ => {
                self.decoder.reset();
                self.open = Open::Text(GatheredText::default());
            }
        }
        self.frame = Frame::Data { fin, mask, announced: 0 };
        Ok(())
    }

    /// Announces the length of the frame's payload, from its header. This call is optional.
    ///
    /// It reserves at most 65,536 bytes (64 KiB), whatever the length.
    ///
    /// # Errors
    ///
    /// [`MessageError::TooLong`] if the message would exceed the limit, [`MessageError::LongControl`] for
    /// a control frame of more than 125 bytes, [`MessageError::TruncatedCloseCode`] for a close frame of
    /// one byte, [`MessageError::NoFrame`] outside a frame.
    pub fn announce(&mut self, len: u64) -> Result<(), MessageError> {
        match &mut self.frame {
            Frame::Data { announced, .. } if len <= self.max_length.saturating_sub(self.len) => {
                *announced = len;
            }
            Frame::Data { .. } => return self.fail(self.too_long()),
            Frame::Control { opcode: Opcode::Close, .. } if len == 1 => {
                return self.fail(MessageError::TruncatedCloseCode);
            }
            Frame::Control { .. } if len <= MAX_CONTROL as u64 => {}
            Frame::Control { .. } => return self.fail(MessageError::LongControl),
            Frame::Nothing => return self.fail(MessageError::NoFrame),
        }
        Ok(())
    }

    /// Takes the next piece of the frame's payload, unmasks it in place, and keeps a copy.
    ///
    /// The whole piece is unmasked even if it contains an error. This costs one pass and one copy.
    ///
    /// # Errors
    ///
    /// [`MessageError::Utf8`] and [`MessageError::TooLong`], returned by the call with the first
    /// rejected byte; in a close frame, [`MessageError::CloseCode`] and [`MessageError::Reason`] by the same
    /// rule; [`MessageError::LongControl`] for more than 125 bytes in a control frame;
    /// [`MessageError::NoFrame`] outside a frame.
    pub fn push(&mut self, piece: &mut [u8]) -> Result<(), MessageError> {
        let expected = self.expected();
        let received = self.receive(piece);
        match &mut self.open {
            Open::Text(buffer) => {
                if let Some(c) = received.split {
                    expected.push_text(buffer, c.encode_utf8(&mut [0; 4]));
                }
                expected.push_text(buffer, received.text);
            }
            Open::Binary(buffer) => expected.push_bytes(buffer, received.bytes),
            Open::Nothing | Open::Failed(_) => {}
        }
        self.conclude(received.error)
    }

    /// Like [`push`](Self::push), but keeps the pieces of a message themselves as long as they are
    /// contiguous in memory, such as pieces that you split off one read buffer within a frame.
    ///
    /// This costs one pass. The first piece that is not contiguous causes all of them to be copied,
    /// once. A message that is not a copy keeps the whole read buffer alive, however short the
    /// message is.
    ///
    /// # Errors
    ///
    /// The same as [`push`](Self::push).
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use utf8_codec::websocket::{Message, Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// let mut buffer = BytesMut::from(&b"10 \xE2\x82\xAC and the next frame"[..]);
    /// connection.start_frame(Opcode::Text, true, None)?;
    /// connection.push_bytes(buffer.split_to(4))?;
    /// connection.push_bytes(buffer.split_to(2))?;
    /// assert_eq!(connection.end_frame()?, Some(Message::Text("10 €".into())));
    /// # Ok::<(), utf8_codec::websocket::MessageError>(())
    /// ```
    pub fn push_bytes(&mut self, mut piece: BytesMut) -> Result<(), MessageError> {
        let Self { decoder, max_length, len, frame, open, .. } = self;
        let (Frame::Data { mask, announced, .. }, Open::Text(buffer)) = (frame, open) else {
            return self.push_copied(piece);
        };
        let is_contiguous = buffer.is_empty() || buffer.is_followed_by(&piece);
        if !is_contiguous || !decoder.incomplete().is_empty() {
            return self.push_copied(piece);
        }
        let accepted = count(piece.len(), *max_length, len, announced);
        let is_too_long = accepted < piece.len();
        if is_too_long {
            piece.truncate(accepted);
        }
        // Incomplete bytes were unmasked when they arrived.
        let mask = if buffer.after_text().is_empty() {
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
        self.conclude(error.or(is_too_long.then_some(self.too_long())))
    }

    /// Takes the next piece of the frame's payload, unmasks it in place, and returns its text
    /// instead of keeping it. Use it to process a long message as it arrives.
    ///
    /// There are at most three items: a split character that the piece completes, all other text,
    /// and an error. Binary messages and control frames yield no text. The work is done before the
    /// iterator is returned, so you can drop it early. This costs one pass.
    ///
    /// # Errors
    ///
    /// The same as [`push`](Self::push), after the text before the error.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::websocket::{Opcode, MessageAssembler};
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
    /// # Ok::<(), utf8_codec::websocket::MessageError>(())
    /// ```
    pub fn pieces<'a>(&'a mut self, piece: &'a mut [u8]) -> MessagePieces<'a> {
        let Received { split, text, error, .. } = self.receive(piece);
        let error = self.conclude(error).err();
        let split = split.map_or("", |c| c.encode_utf8(&mut self.split_char));
        MessagePieces { split, text, error }
    }

    /// Takes the next piece of the frame's payload, unmasks it in place, validates it, and keeps
    /// nothing.
    ///
    /// This costs one pass.
    ///
    /// # Errors
    ///
    /// The same as [`push`](Self::push).
    pub fn validate(&mut self, piece: &mut [u8]) -> Result<(), MessageError> {
        let error = self.receive(piece).error;
        self.conclude(error)
    }

    /// Ends the frame, after you have pushed its whole payload. Returns the message if this was its
    /// last frame.
    ///
    /// # Errors
    ///
    /// [`MessageError::Utf8`] if a text message ends inside a character, and [`MessageError::Reason`] if
    /// the reason of a close frame does; [`MessageError::TruncatedCloseCode`] for a close frame of one byte;
    /// [`MessageError::NoFrame`] outside a frame.
    pub fn end_frame(&mut self) -> Result<Option<Message>, MessageError> {
        match &mut self.frame {
            &mut Frame::Data { fin, .. } => {
                self.frame = Frame::Nothing;
                if fin { self.end_message().map(Some) } else { Ok(None) }
            }
            Frame::Control { opcode, payload, .. } => {
                let (opcode, payload) = (*opcode, mem::take(payload).freeze());
                self.frame = Frame::Nothing;
                match opcode {
                    Opcode::Ping => Ok(Some(Message::Ping(payload))),
                    Opcode::Pong => Ok(Some(Message::Pong(payload))),
                    _ => match parse_close(payload) {
                        Ok(close) => Ok(Some(Message::Close(close))),
                        Err(error) => self.fail(error),
                    },
                }
            }
            Frame::Nothing => self.fail(MessageError::NoFrame),
        }
    }

    /// Starts a new connection with the same settings.
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.len = 0;
        self.frame = Frame::Nothing;
        self.open = Open::Nothing;
    }

    /// Returns the number of bytes of the open message received so far, across all its frames; 0
    /// between messages.
    pub fn position(&self) -> u64 {
        self.len
    }

    /// Returns the bytes of an incomplete character in a text message, at most three.
    pub fn incomplete(&self) -> &[u8] {
        match &self.open {
            Open::Text(buffer) if !buffer.after_text().is_empty() => buffer.after_text(),
            _ => self.decoder.incomplete(),
        }
    }

    /// The path of [`push_bytes`](Self::push_bytes) that copies, and that handles everything but
    /// text messages.
    #[inline(never)]
    fn push_copied(&mut self, mut piece: BytesMut) -> Result<(), MessageError> {
        let (Frame::Data { .. }, Open::Binary(_)) = (&self.frame, &self.open) else {
            return self.push(&mut piece);
        };
        let expected = self.expected();
        let Received { bytes, error, .. } = self.receive(&mut piece);
        let len = bytes.len();
        piece.truncate(len);
        if let Open::Binary(buffer) = &mut self.open {
            expected.push_owned(buffer, piece);
        }
        self.conclude(error)
    }

    /// Unmasks a piece, counts it, and decodes it. Only the payload of control frames is kept.
    #[inline]
    fn receive<'p>(&mut self, piece: &'p mut [u8]) -> Received<'p> {
        let too_long = self.too_long();
        let Self { decoder, max_length, len, frame, open, .. } = self;
        let (mask, announced) = match frame {
            Frame::Data { mask, announced, .. } => (mask, announced),
            Frame::Control { opcode, mask, payload } => {
                decoder.unmask(piece, mask);
                let accepted = piece.len().min(MAX_CONTROL - payload.len());
                payload.extend_from_slice(&piece[..accepted]);
                let is_too_long = accepted < piece.len();
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
        let accepted = count(piece.len(), *max_length, len, announced);
        let (piece, excess) = piece.split_at_mut(accepted);
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

    fn expected(&self) -> ExpectedLength {
        let announced = match self.frame {
            Frame::Data { announced, .. } => announced,
            Frame::Control { .. } | Frame::Nothing => 0,
        };
        ExpectedLength { announced, max_length: self.max_length }
    }

    fn end_message(&mut self) -> Result<Message, MessageError> {
        settle(&mut self.decoder, &mut self.open);
        self.len = 0;
        match mem::replace(&mut self.open, Open::Nothing) {
            Open::Text(buffer) => match self.decoder.finish() {
                Ok(()) => Ok(Message::Text(buffer.into_text())),
                Err(error) => self.fail(MessageError::Utf8(error)),
            },
            Open::Binary(buffer) => Ok(Message::Binary(buffer.freeze())),
            Open::Nothing | Open::Failed(_) => self.fail(MessageError::NoFrame),
        }
    }

    fn too_long(&self) -> MessageError {
        MessageError::TooLong { max_length: self.max_length }
    }

    fn conclude(&mut self, error: Option<MessageError>) -> Result<(), MessageError> {
        match error {
            Some(error) => self.fail(error),
            None => Ok(()),
        }
    }

    /// Returns the error, and makes every following call return it.
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

impl<'a> Iterator for MessagePieces<'a> {
    type Item = Result<&'a str, MessageError>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = if self.split.is_empty() { &mut self.text } else { &mut self.split };
        match mem::take(text) {
            "" => self.error.take().map(Err),
            text => Some(Ok(text)),
        }
    }
}

impl FusedIterator for MessagePieces<'_> {}

impl Default for MessageAssembler {
    fn default() -> Self {
        Self::new()
    }
}

/// Moves the beginning of a character at the end of the kept pieces to the decoder, because the
/// bytes after it are not kept with the pieces.
#[inline]
fn settle(decoder: &mut Utf8Decoder, open: &mut Open) {
    if let Open::Text(buffer) = open
        && !buffer.after_text().is_empty()
    {
        decoder.hold(buffer.after_text());
        buffer.truncate();
    }
}

/// Counts a piece of `piece` bytes in the open message. Returns how many of them the limit allows.
#[inline]
fn count(piece: usize, max_length: u64, len: &mut u64, announced: &mut u64) -> usize {
    let room = usize::try_from(max_length.saturating_sub(*len)).unwrap_or(usize::MAX);
    let accepted = piece.min(room);
    *len += accepted as u64;
    *announced = announced.saturating_sub(accepted as u64);
    accepted
}
