//! Why is a message rejected, and with which close code?

use alloc::string::ToString;
use core::error::Error;
use core::fmt;

use crate::core::error::{Utf8Error, Utf8ErrorKind};
use crate::payload::websocket::ClosePayload;

/// The reason why a message is rejected. Close the connection with
/// [`close_code`](Self::close_code).
///
/// The message of the error contains that of the source.
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::websocket::{MessageError, Opcode, MessageAssembler};
///
/// let mut connection = MessageAssembler::new();
/// connection.start_frame(Opcode::Text, true, None).unwrap();
/// connection.push(&mut b"caf\xC3".clone()).unwrap(); // C3 may begin an é
/// let error = connection.push(&mut *b"!".to_vec()).unwrap_err();
///
/// assert_eq!((error.close_code(), error.offset()), (1007, Some(3)));
/// assert!(matches!(error, MessageError::Utf8(error) if error.bytes() == b"\xC3"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageError {
    /// A text message is not UTF-8, or the options reject it. Offsets count from its first byte,
    /// across all its frames.
    Utf8(Utf8Error),
    /// The reason in a close payload is not UTF-8. Offsets count from the first byte of the reason.
    Reason(Utf8Error),
    /// A message has more bytes than the limit, or its announced length exceeds the limit.
    TooLong {
        /// The limit, in bytes.
        max_length: u64,
    },
    /// A reserved bit is set, and no extension gives it a meaning.
    ReservedBits,
    /// An undefined opcode: `3` to `7`, `B` to `F`.
    ReservedOpcode(u8),
    /// The length of a frame is not in its shortest form, or is 2^63 bytes or more.
    FrameLength,
    /// A frame of a server is masked.
    Masked,
    /// A frame of a client is not masked.
    NotMasked,
    /// A continuation frame without a message to continue.
    UnexpectedContinuation,
    /// A text or binary frame before the end of the previous message.
    InterruptedMessage,
    /// A control frame without FIN.
    FragmentedControl,
    /// A control frame with more than 125 bytes of payload.
    LongControl,
    /// A close payload of one byte, which is half a code.
    TruncatedCloseCode,
    /// A close code that must not be sent; see [`ClosePayload`].
    CloseCode(u16),
    /// A payload, or the end of a frame, before any frame was started: a bug in the caller.
    NoFrame,
    /// The start of a frame before the end of the previous one: a bug in the caller.
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
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let error = MessageAssembler::new().start_frame(Opcode::Continuation, true, None).unwrap_err();
    /// assert_eq!(error.close_code(), 1002);
    /// ```
    pub const fn close_code(&self) -> u16 {
        match self {
            Self::Utf8(error) | Self::Reason(error) => match error.kind() {
                Utf8ErrorKind::ForbiddenBom
                | Utf8ErrorKind::MissingBom
                | Utf8ErrorKind::Noncharacter
                | Utf8ErrorKind::Forbidden => 1008,
                _ => 1007,
            },
            Self::TooLong { .. } => 1009,
            _ => 1002,
        }
    }

    /// Returns the offset of the error in the message, in bytes: the start of an ill-formed
    /// sequence, or the limit if the message is too long. Returns `None` for a violation of the
    /// protocol.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new().with_max_length(4);
    /// connection.start_frame(Opcode::Text, false, None).unwrap();
    /// connection.push(&mut b"1234".to_vec()).unwrap();
    /// assert_eq!(connection.push(&mut b"5".to_vec()).unwrap_err().offset(), Some(4));
    /// ```
    pub const fn offset(&self) -> Option<u64> {
        match self {
            Self::Utf8(error) | Self::Reason(error) => Some(error.valid_up_to()),
            Self::TooLong { max_length } => Some(*max_length),
            _ => None,
        }
    }

    /// Returns the payload of a close frame with the close code, and the error as its reason.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Text, true, None).unwrap();
    /// let error = connection.push(&mut b"a\xFF".to_vec()).unwrap_err();
    /// assert_eq!(error.to_close().reason(), "invalid UTF-8 at byte 1: invalid byte (ff)");
    /// ```
    pub fn to_close(&self) -> ClosePayload {
        let reason = match self {
            Self::Utf8(error) | Self::Reason(error) => error.to_string(),
            _ => self.to_string(),
        };
        ClosePayload::allowed(self.close_code(), &reason)
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf8(error) => return error.fmt_in(" in the text message", f),
            Self::Reason(error) => return error.fmt_in(" in the close reason", f),
            Self::TooLong { max_length } => {
                return write!(f, "message is longer than {max_length} bytes");
            }
            Self::ReservedBits => "a reserved bit of the frame header is set",
            Self::FrameLength => {
                "frame length is not in its shortest form or exceeds 2^63 - 1 bytes"
            }
            Self::Masked => "masked frame from a server",
            Self::NotMasked => "frame from a client is not masked",
            Self::ReservedOpcode(opcode) => return write!(f, "reserved opcode {opcode:#x}"),
            Self::UnexpectedContinuation => "continuation frame without a message",
            Self::InterruptedMessage => "new message before the end of the previous one",
            Self::FragmentedControl => "control frame is fragmented (FIN is not set)",
            Self::LongControl => "control frame with more than 125 bytes of payload",
            Self::TruncatedCloseCode => "close payload has one byte; a close code has two",
            Self::CloseCode(code) => return write!(f, "invalid close code {code}"),
            Self::NoFrame => "payload or end of frame, but no frame was started",
            Self::NestedFrame => "new frame before the end of the previous one",
        })
    }
}

impl Error for MessageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Utf8(error) | Self::Reason(error) => Some(error),
            _ => None,
        }
    }
}

/// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if a message ends inside a character,
/// [`InvalidData`](std::io::ErrorKind::InvalidData) otherwise.
#[cfg(feature = "std")]
impl From<MessageError> for std::io::Error {
    fn from(error: MessageError) -> Self {
        let kind = match error {
            MessageError::Utf8(cause) | MessageError::Reason(cause) => Self::from(cause).kind(),
            _ => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
