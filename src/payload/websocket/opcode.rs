//! What is the opcode of a frame?

use crate::payload::websocket::MessageError;

/// The opcode of a frame (RFC 6455 section 5.2).
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::websocket::{MessageError, Opcode};
///
/// let header = [0x81, 0x05];
/// assert_eq!(Opcode::try_from(header[0] & 0x0F), Ok(Opcode::Text));
/// assert_eq!(Opcode::try_from(0x3), Err(MessageError::ReservedOpcode(0x3)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opcode {
    /// `0`: continues the message.
    Continuation,
    /// `1`: a text message, or the first frame of one.
    Text,
    /// `2`: a binary message, or the first frame of one.
    Binary,
    /// `8`: the last frame of the connection.
    Close,
    /// `9`: answer it with a pong.
    Ping,
    /// `A`: the answer to a ping.
    Pong,
}

impl Opcode {
    /// Returns whether this is a control frame: close, ping or pong. Control frames are never
    /// fragmented, can come between the frames of a message, and have at most 125 bytes of payload.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::websocket::Opcode;
    ///
    /// assert!(Opcode::Ping.is_control());
    /// assert!(!Opcode::Continuation.is_control());
    /// ```
    pub const fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// Converts from the four bits of the header.
impl TryFrom<u8> for Opcode {
    type Error = MessageError;

    fn try_from(bits: u8) -> Result<Self, MessageError> {
        Ok(match bits {
            0x0 => Self::Continuation,
            0x1 => Self::Text,
            0x2 => Self::Binary,
            0x8 => Self::Close,
            0x9 => Self::Ping,
            0xA => Self::Pong,
            reserved => return Err(MessageError::ReservedOpcode(reserved)),
        })
    }
}

/// Converts to the four bits of the header.
impl From<Opcode> for u8 {
    fn from(opcode: Opcode) -> Self {
        match opcode {
            Opcode::Continuation => 0x0,
            Opcode::Text => 0x1,
            Opcode::Binary => 0x2,
            Opcode::Close => 0x8,
            Opcode::Ping => 0x9,
            Opcode::Pong => 0xA,
        }
    }
}
