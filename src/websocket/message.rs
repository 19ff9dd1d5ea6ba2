//! What does a connection receive, why is it rejected, and how does it close?

use alloc::string::{String, ToString};

use bytes::{BufMut, Bytes, BytesMut};
use bytestring::ByteString;

use crate::decoder::{Utf8Decoder, Utf8Error, boundary, slices::from_utf8_bytes};

/// A received message or control frame.
///
/// # Examples
///
/// ```
/// use utf8_codec::websocket::{Message, Opcode, MessageAssembler};
///
/// let mut connection = MessageAssembler::new();
/// connection.start_frame(Opcode::Close, true, None)?;
/// connection.push(&mut b"\x03\xE8".to_vec())?;
/// connection.push(&mut b"bye".to_vec())?;
/// assert_eq!(connection.end_frame()?, Some(Message::Close(Some((1000, "bye".into())))));
/// # Ok::<(), utf8_codec::websocket::MessageError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A text message, or the part of it that was kept, which may be empty.
    Text(ByteString),
    /// A binary message, or the part of it that was kept, which may be empty.
    Binary(Bytes),
    /// A ping. Answer it with a pong that has the same payload.
    Ping(Bytes),
    /// A pong.
    Pong(Bytes),
    /// A close frame, with its code and reason unless its payload is empty. Answer it with the same code
    /// ([`encode_close`]), or with an empty payload.
    Close(Option<(u16, ByteString)>),
}

/// The reason why a message is rejected. Close the connection with
/// [`close_code`](Self::close_code).
///
/// # Examples
///
/// ```
/// use utf8_codec::websocket::{MessageError, Opcode, MessageAssembler};
///
/// let mut connection = MessageAssembler::new();
/// connection.start_frame(Opcode::Text, true, None).unwrap();
/// connection.push(&mut b"caf\xC3".clone()).unwrap(); // C3 may begin an é
/// let error = connection.push(&mut *b"!".to_vec()).unwrap_err();
///
/// assert_eq!((error.close_code(), error.offset()), (1007, Some(3)));
/// assert!(matches!(error, MessageError::Utf8(error) if error.bytes() == b"\xC3"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// A text message is not UTF-8, or the options reject it. Offsets count from its first byte,
    /// across all its frames.
    #[error("{}", .0.message_in(" in the text message"))]
    Utf8(Utf8Error),
    /// The reason in a close payload is not UTF-8. Offsets count from the first byte of the reason.
    #[error("{}", .0.message_in(" in the close reason"))]
    Reason(Utf8Error),
    /// A message has more bytes than the limit, or its announced length exceeds the limit.
    #[error("message is longer than {max_length} bytes")]
    TooLong {
        /// The limit, in bytes.
        max_length: u64,
    },
    /// A reserved bit is set, and no extension gives it a meaning.
    #[error("a reserved bit of the frame header is set")]
    ReservedBits,
    /// An undefined opcode: `3` to `7`, `B` to `F`.
    #[error("reserved opcode {0:#x}")]
    ReservedOpcode(u8),
    /// The length of a frame is not in its shortest form, or is 2^63 bytes or more.
    #[error("frame length is not in its shortest form or exceeds 2^63 - 1 bytes")]
    FrameLength,
    /// A frame from a server is masked.
    #[error("masked frame from a server")]
    Masked,
    /// A frame from a client is not masked.
    #[error("frame from a client is not masked")]
    NotMasked,
    /// A continuation frame without a message to continue.
    #[error("continuation frame without a message")]
    UnexpectedContinuation,
    /// A text or binary frame before the end of the previous message.
    #[error("new message before the end of the previous one")]
    InterruptedMessage,
    /// A control frame without FIN.
    #[error("control frame is fragmented (FIN is not set)")]
    FragmentedControl,
    /// A control frame with more than 125 bytes of payload.
    #[error("control frame with more than 125 bytes of payload")]
    LongControl,
    /// A close payload of one byte, which is half a code.
    #[error("close payload has one byte; a close code has two")]
    TruncatedCloseCode,
    /// A close code that must not be sent; see [`encode_close`].
    #[error("invalid close code {0}")]
    CloseCode(u16),
    /// A payload, or the end of a frame, before any frame was started: a bug in the caller.
    #[error("payload or end of frame, but no frame was started")]
    NoFrame,
    /// The start of a frame before the end of the previous one: a bug in the caller.
    #[error("new frame before the end of the previous one")]
    NestedFrame,
}

impl MessageError {
    /// Returns the code to close the connection with (RFC 6455 section 7.4.1).
    ///
    /// | error | code |
    /// | --- | --- |
    /// | not UTF-8 | 1007 |
    /// | UTF-8 that the options reject | 1008 |
    /// | too long | 1009 |
    /// | the others: violations of the protocol | 1002 |
    pub const fn close_code(&self) -> u16 {
        match self {
            Self::Utf8(error) | Self::Reason(error) if error.kind().is_ill_formed() => 1007,
            Self::Utf8(_) | Self::Reason(_) => 1008,
            Self::TooLong { .. } => 1009,
            _ => 1002,
        }
    }

    /// Returns the offset of the error, in bytes: the start of an ill-formed sequence in the message, or in
    /// the reason of a close frame, after its code; or the limit if the message is too long. Returns `None`
    /// for a violation of the protocol.
    pub const fn offset(&self) -> Option<u64> {
        match self {
            Self::Utf8(error) | Self::Reason(error) => Some(error.valid_up_to()),
            Self::TooLong { max_length } => Some(*max_length),
            _ => None,
        }
    }

    /// Returns the payload of a close frame with the close code, and the error as its reason: at most 125
    /// bytes, not masked.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Text, true, None).unwrap();
    /// let error = connection.push(&mut b"a\xFF".to_vec()).unwrap_err();
    /// assert_eq!(error.to_close(), b"\x03\xEFinvalid UTF-8 at byte 1: invalid byte (ff)"[..]);
    /// ```
    pub fn to_close(&self) -> Bytes {
        encode_allowed(self.close_code(), &self.reason())
    }

    fn reason(&self) -> String {
        match self {
            Self::Utf8(error) | Self::Reason(error) => error.to_string(),
            _ => self.to_string(),
        }
    }
}

/// Converts the error into the close frame that answers it.
impl From<MessageError> for Message {
    fn from(error: MessageError) -> Self {
        Self::Close(Some((error.close_code(), error.reason().into())))
    }
}

/// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if a message ends inside a character,
/// [`InvalidData`](std::io::ErrorKind::InvalidData) otherwise.
impl From<MessageError> for std::io::Error {
    fn from(error: MessageError) -> Self {
        let kind = match error {
            MessageError::Utf8(cause) | MessageError::Reason(cause) => Self::from(cause).kind(),
            _ => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

/// The maximum payload of a control frame, in bytes.
pub(super) const MAX_CONTROL: usize = 125;

const MAX_REASON: usize = MAX_CONTROL - 2;

/// Returns the payload of a close frame with this code and reason (RFC 6455 section 5.5.1): at most 125
/// bytes, not masked. [`FrameHeader`](crate::websocket::FrameHeader) encodes the header of the
/// frame.
///
/// The codes that can be sent are 1000 to 1003, 1007 to 1014 (the last three were added to the IANA
/// registry later), and 3000 to 4999. The others are reserved, or describe a connection that closed
/// without a code. To close without a code, send an empty payload.
///
/// A reason of more than 123 bytes, the maximum in a control frame, is truncated after the last whole
/// character that fits.
///
/// # Errors
///
/// [`MessageError::CloseCode`] if the code must not be sent.
///
/// # Examples
///
/// ```
/// use utf8_codec::websocket::{MessageError, encode_close};
///
/// assert_eq!(encode_close(1001, "going home")?, b"\x03\xE9going home"[..]);
/// assert_eq!(encode_close(4000, &"€".repeat(99))?[2..], *"€".repeat(41).as_bytes());
/// assert_eq!(encode_close(1006, ""), Err(MessageError::CloseCode(1006)));
/// # Ok::<(), MessageError>(())
/// ```
pub fn encode_close(code: u16, reason: &str) -> Result<Bytes, MessageError> {
    check_code(code)?;
    Ok(encode_allowed(code, reason))
}

/// Like [`encode_close`], for a code that can be sent.
fn encode_allowed(code: u16, reason: &str) -> Bytes {
    debug_assert!(check_code(code).is_ok());
    let reason = boundary::truncate(reason, MAX_REASON);
    let mut bytes = BytesMut::with_capacity(2 + reason.len());
    bytes.put_u16(code);
    bytes.put_slice(reason.as_bytes());
    bytes.freeze()
}

/// Parses the unmasked payload of a close frame into its code and reason. Returns `None` if it is empty.
///
/// The reason shares the memory of `payload`.
///
/// # Errors
///
/// [`MessageError::Reason`] if the reason is not UTF-8, [`MessageError::TruncatedCloseCode`] or
/// [`MessageError::CloseCode`] for the code, [`MessageError::LongControl`] for more than 125 bytes.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use utf8_codec::websocket::parse_close;
///
/// let parse = |payload| parse_close(Bytes::from_static(payload));
/// assert_eq!(parse(b"\x03\xE9going home"), Ok(Some((1001, "going home".into()))));
/// assert_eq!(parse(b""), Ok(None));
/// assert_eq!(parse(b"\x03").unwrap_err().close_code(), 1002);
/// assert_eq!(parse(b"\x03\xEE").unwrap_err().close_code(), 1002); // 1006
/// assert_eq!(parse(b"\x03\xE8\xED\xA0\x80").unwrap_err().close_code(), 1007);
/// ```
pub fn parse_close(payload: Bytes) -> Result<Option<(u16, ByteString)>, MessageError> {
    let code = match *payload {
        [] => return Ok(None),
        [_] => return Err(MessageError::TruncatedCloseCode),
        _ if payload.len() > MAX_CONTROL => return Err(MessageError::LongControl),
        [high, low, ..] => u16::from_be_bytes([high, low]),
    };
    check_code(code)?;
    let reason = from_utf8_bytes(payload.slice(2..)).map_err(MessageError::Reason)?;
    Ok(Some((code, reason)))
}

/// Checks the beginning of the payload of a close frame. Half a code, or a part of a character at the end, is not an
/// error yet.
pub(super) fn check_close(payload: &[u8]) -> Result<(), MessageError> {
    let Some((code, reason)) = payload.split_first_chunk() else { return Ok(()) };
    check_code(u16::from_be_bytes(*code))?;
    let error = Utf8Decoder::new().push(reason).find_map(Result::err);
    error.map_or(Ok(()), |error| Err(MessageError::Reason(error)))
}

fn check_code(code: u16) -> Result<(), MessageError> {
    match code {
        1000..=1003 | 1007..=1014 | 3000..=4999 => Ok(()),
        _ => Err(MessageError::CloseCode(code)),
    }
}
