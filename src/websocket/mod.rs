//! WebSocket messages (RFC 6455): validates text while it arrives, with any frame parser.
//!
//! A [`MessageAssembler`] takes the frames of one connection in pieces, as they arrive from the
//! socket. It depends on no WebSocket crate. [`FrameHeader`] parses and encodes the headers of frames,
//! for programs without a WebSocket crate. Neither does I/O. With tokio-util's `Framed`, `codec::MessageCodec` performs
//! the following steps. Without it, call them as follows:
//!
//! 1. For a header, call [`FrameHeader::parse_from_client`] (in a server) or
//!    [`parse_from_server`](FrameHeader::parse_from_server) (in a client), then
//!    [`start`](MessageAssembler::start). With another parser, call
//!    [`start_frame`](MessageAssembler::start_frame) with the opcode, the FIN bit and the mask, and
//!    [`announce`](MessageAssembler::announce) with the length, so that a message that is too long is
//!    rejected before it arrives.
//! 2. For each piece of the payload, call one of these:
//!
//!    | method | the text is | costs |
//!    | --- | --- | --- |
//!    | [`push_bytes`](MessageAssembler::push_bytes) | kept; not copied if the pieces are contiguous | one pass |
//!    | [`push`](MessageAssembler::push) | kept, copied | one pass and one copy |
//!    | [`pieces`](MessageAssembler::pieces) | returned piece by piece, not kept | one pass |
//!    | [`validate`](MessageAssembler::validate) | not kept | one pass |
//!
//! 3. After the last piece, call [`end_frame`](MessageAssembler::end_frame), which returns the
//!    [`Message`] if this was its last frame.
//!
//! After an error, close the connection with [`MessageError::close_code`]. [`encode_close`] and
//! [`parse_close`] encode and parse the payload of a close frame.
//!
//! # What the caller checks
//!
//! - The opening handshake.
//! - The header, if [`FrameHeader`] does not parse it: its form, the reserved bits, and whether the peer
//!   must mask (a client must, a server must not).
//! - Extensions. Push compressed messages after inflating them, without a mask.
//! - Which frames to push. You can omit control frames, as they do not affect a message. You can
//!   omit binary messages too, if you track which message a continuation frame belongs to. If you
//!   push all frames, the assembler checks the rules about fragments and the control frames between
//!   them (section 5.4), and returns all messages.
//! - That a close frame is the last frame (section 5.5.1): push no frame after [`Message::Close`].
//! - Masking what a client sends: choose a new key for each frame, XOR byte `i` of the payload with byte
//!   `i % 4` of the key, and pass the key to [`FrameHeader::new`].

mod buffer;
mod frame_header;
mod message;
mod message_assembler;

pub use frame_header::{FrameHeader, Opcode};
pub use message::{Message, MessageError, encode_close, parse_close};
pub use message_assembler::{MessageAssembler, MessagePieces};
