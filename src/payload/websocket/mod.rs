//! WebSocket messages (RFC 6455): text that is validated while it arrives, whatever reads the frames.
//!
//! A [`MessageAssembler`] takes the frames of one connection in the pieces in which they come off the
//! socket. It depends on no WebSocket crate: who has parsed a frame's header, which is two to fourteen
//! bytes, has all it asks for. The caller does this:
//!
//! 1. For a header, [`start_frame`](MessageAssembler::start_frame) with the opcode, the FIN bit and the
//!    mask; then, if wanted, [`announce`](MessageAssembler::announce) with the length, so that what is too
//!    long is refused before it comes.
//! 2. For each piece of the payload one of the four:
//!
//!    | method | the text is | costs |
//!    | --- | --- | --- |
//!    | [`push_bytes`](MessageAssembler::push_bytes) | kept; not copied where the pieces lie together | one pass |
//!    | [`push`](MessageAssembler::push) | kept, copied | one pass and one copy |
//!    | [`pieces`](MessageAssembler::pieces) | lent, piece by piece, and not kept | one pass |
//!    | [`validate`](MessageAssembler::validate) | not kept | one pass |
//!
//! 3. Behind the last piece, [`end_frame`](MessageAssembler::end_frame), which gives the [`Message`] if this
//!    was its last frame.
//!
//! An error has the code to close with: [`MessageError::close_code`].
//!
//! ```
//! use utf8_codec::payload::websocket::{Message, Opcode, MessageAssembler};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mask = [0x37, 0xFA, 0x21, 0x3D];
//! let masked = |text: &[u8]| -> Vec<u8> {
//!     text.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key).collect()
//! };
//!
//! // Two frames, cut inside the euro sign, with a ping between them.
//! let mut connection = MessageAssembler::new();
//! connection.start_frame(Opcode::Text, false, Some(mask))?;
//! connection.push(&mut masked(b"10 \xE2"))?;
//! assert_eq!(connection.end_frame()?, None);
//!
//! connection.start_frame(Opcode::Ping, true, Some(mask))?;
//! connection.push(&mut masked(b"\xFF"))?;
//! assert_eq!(connection.end_frame()?, Some(Message::Ping(b"\xFF"[..].into())));
//!
//! connection.start_frame(Opcode::Continuation, true, Some(mask))?;
//! connection.push(&mut masked(b"\x82\xAC"))?;
//! assert_eq!(connection.end_frame()?, Some(Message::Text("10 €".into())));
//! # Ok(())
//! # }
//! ```
//!
//! # What is the caller's business
//!
//! - The header: its form, the reserved bits, and whether the peer has to mask (a client does, a server
//!   must not).
//! - Extensions. What has been compressed is pushed inflated, and without a mask.
//! - Which frames to give it. Control frames may be kept away from it, as they do not touch a message.
//!   So may binary messages; but then which message a continuation frame belongs to is for the caller
//!   to know. Given all frames, it checks everything that RFC 6455 says of their order, and hands out
//!   all messages.

mod close;
mod error;
mod kept;
mod message;
mod message_assembler;
mod opcode;
mod pieces;

pub use close::ClosePayload;
pub use error::{MessageError, ProtocolError};
pub use message::Message;
pub use message_assembler::MessageAssembler;
pub use opcode::Opcode;
pub use pieces::TextPieces;
