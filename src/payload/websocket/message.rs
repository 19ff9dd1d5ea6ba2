//! What does a connection receive?

use bytes::Bytes;
use bytestring::ByteString;

use crate::payload::websocket::ClosePayload;

/// A received message or control frame.
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::websocket::{Message, Opcode, MessageAssembler};
///
/// let mut connection = MessageAssembler::new();
/// connection.start_frame(Opcode::Close, true, None)?;
/// connection.push(&mut b"\x03\xE8".to_vec())?;
/// connection.push(&mut b"bye".to_vec())?;
/// let Some(Message::Close(Some(payload))) = connection.end_frame()? else { panic!("it was a close") };
/// assert_eq!((payload.code(), payload.reason()), (1000, "bye"));
/// # Ok::<(), utf8_codec::payload::websocket::MessageError>(())
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
    /// A close frame and its payload.
    Close(Option<ClosePayload>),
}
