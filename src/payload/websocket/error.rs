use alloc::string::ToString;
use core::error::Error;
use core::fmt;

use crate::core::error::{Utf8Error, Utf8ErrorKind};
use crate::payload::websocket::ClosePayload;

/// Why a message is refused, and with it the connection.
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::websocket::{MessageError, Opcode, MessageAssembler};
///
/// let mut connection = MessageAssembler::new();
/// connection.start_frame(Opcode::Text, true, None).unwrap();
/// connection.push(&mut b"caf\xC3".clone()).unwrap(); // perhaps an é, cut
/// let error = connection.push(&mut *b"!".to_vec()).unwrap_err();
///
/// assert_eq!((error.close_code(), error.offset()), (1007, Some(3)));
/// assert!(matches!(error, MessageError::Utf8(error) if error.bytes() == b"\xC3"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageError {
    /// A text message is not UTF-8, or contains what the options refuse. Offsets count from its first
    /// byte, over all its frames.
    Utf8(Utf8Error),
    /// The reason in a close payload is not UTF-8. Offsets count from the first byte of the reason.
    Reason(Utf8Error),
    /// A message has more bytes than the limit, or announces more.
    TooLong {
        /// The limit, in bytes.
        limit: u64,
    },
    /// The peer, or the caller, does what the protocol does not allow.
    Protocol(ProtocolError),
}

impl MessageError {
    /// Returns the code to close the connection with (RFC 6455 section 7.4.1).
    ///
    /// | error | code |
    /// | --- | --- |
    /// | not UTF-8 | 1007 |
    /// | UTF-8, and refused by the options all the same | 1008 |
    /// | too long | 1009 |
    /// | against the protocol | 1002 |
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
            Self::Protocol(_) => 1002,
        }
    }

    /// Returns the offset of what is refused, in bytes from the first of the message: of an ill-formed
    /// sequence its start, of a message that is too long the limit. Where no payload is to blame, there
    /// is none.
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
            Self::TooLong { limit } => Some(*limit),
            Self::Protocol(_) => None,
        }
    }

    /// Returns the payload of the close frame that tells the peer: the code, and the error in words.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::{Opcode, MessageAssembler};
    ///
    /// let mut connection = MessageAssembler::new();
    /// connection.start_frame(Opcode::Text, true, None).unwrap();
    /// let error = connection.push(&mut b"a\xFF".to_vec()).unwrap_err();
    /// assert_eq!(error.to_close().reason(), "ill-formed utf-8 at byte 1: invalid byte (ff)");
    /// ```
    pub fn to_close(&self) -> ClosePayload {
        let reason = match self {
            Self::Utf8(error) | Self::Reason(error) => error.to_string(),
            Self::TooLong { .. } => self.to_string(),
            Self::Protocol(error) => error.to_string(),
        };
        ClosePayload::allowed(self.close_code(), &reason)
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8(_) => f.write_str("the text message is not acceptable utf-8"),
            Self::Reason(_) => f.write_str("the reason for closing is not utf-8"),
            Self::TooLong { limit } => write!(f, "the message is longer than {limit} bytes"),
            Self::Protocol(_) => f.write_str("the websocket protocol does not allow this"),
        }
    }
}

impl Error for MessageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Utf8(error) | Self::Reason(error) => Some(error),
            Self::TooLong { .. } => None,
            Self::Protocol(error) => Some(error),
        }
    }
}

impl From<ProtocolError> for MessageError {
    fn from(error: ProtocolError) -> Self {
        Self::Protocol(error)
    }
}

/// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) where a message ends inside a sequence,
/// [`InvalidData`](std::io::ErrorKind::InvalidData) for everything else.
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

/// What the protocol does not allow: close code 1002.
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::websocket::{MessageError, Opcode, ProtocolError, MessageAssembler};
///
/// let mut connection = MessageAssembler::new();
/// connection.start_frame(Opcode::Text, false, None).unwrap();
/// connection.end_frame().unwrap();
/// // The message goes on with continuation frames.
/// let error = connection.start_frame(Opcode::Text, true, None).unwrap_err();
/// assert_eq!(error, MessageError::Protocol(ProtocolError::InterruptedMessage));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// An opcode that means nothing: `3` to `7`, `B` to `F`.
    ReservedOpcode(u8),
    /// A continuation frame where no message has been begun.
    UnexpectedContinuation,
    /// A text or binary frame where the last message has not ended.
    InterruptedMessage,
    /// A control frame without FIN.
    FragmentedControl,
    /// A control frame with more than 125 bytes of payload.
    LongControl,
    /// A close payload of one byte, half a code.
    TruncatedCloseCode,
    /// A close code that must not be sent: see [`ClosePayload`].
    CloseCode(u16),
    /// A payload, or the end of a frame, where no frame has been started. The caller's fault.
    NoFrame,
    /// The start of a frame where the last has not ended. The caller's fault.
    NestedFrame,
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReservedOpcode(opcode) => return write!(f, "reserved opcode {opcode:#x}"),
            Self::UnexpectedContinuation => "continuation without a message to continue",
            Self::InterruptedMessage => "new message before the last one has ended",
            Self::FragmentedControl => "fragmented control frame",
            Self::LongControl => "control frame with more than 125 bytes",
            Self::TruncatedCloseCode => "close payload of one byte",
            Self::CloseCode(code) => return write!(f, "close code {code}"),
            Self::NoFrame => "payload without a frame",
            Self::NestedFrame => "frame within a frame",
        })
    }
}

impl Error for ProtocolError {}
