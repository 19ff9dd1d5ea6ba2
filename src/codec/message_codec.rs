//! The messages of a WebSocket connection.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio_util::codec::{Decoder, Encoder};
use utf8_simd::Level;

use crate::decoder::Utf8Options;
use crate::websocket::{
    FrameHeader, Message, MessageAssembler, MessageError, Opcode, encode_close,
};

/// Reads and writes the messages of a WebSocket connection (RFC 6455), after the opening handshake.
///
/// Text is validated as it arrives. Each message is an item, and so are pings, pongs and the close frame. Fragments are
/// joined. A message that breaks the protocol, is not UTF-8 or is too long becomes an `Err` item.
///
/// A close frame or an `Err` item is the last item. Answer it with a close frame, close the sink, and continue to read until
/// the stream ends: the codec discards what the peer still sends, at most 1 MiB. A socket that is dropped with unread bytes
/// can reset the connection before the peer receives the close frame. Limit the wait with a timeout. A stream that ends
/// without a last item has ended abnormally (section 7.1.5).
///
/// Between calls it holds the message that is arriving: at most 16 MiB, unless [`with_max_length`](Self::with_max_length)
/// sets another limit. Extensions are not supported.
///
/// # Errors
///
/// Decoding: [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the stream ends inside a message, an error of the reader, or
/// [`Other`](io::ErrorKind::Other) if more than 1 MiB follows the last item, counted from the ill-formed bytes or after the close
/// code if they are the reason.
///
/// Encoding: [`InvalidInput`](io::ErrorKind::InvalidInput) for a close code that must not be sent or a ping or pong of more
/// than 125 bytes, and [`BrokenPipe`](io::ErrorKind::BrokenPipe) for a message after the close frame. Nothing is written then.
/// A second close frame is ignored without an error, because both sides may close at the same time. The reason of a close
/// frame is cut to 123 bytes, at a character boundary.
///
/// # Examples
///
/// ```
/// use futures::{SinkExt, StreamExt};
/// use tokio_util::codec::Framed;
/// use utf8_codec::codec::MessageCodec;
/// use utf8_codec::websocket::Message;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let (client, server) = tokio::io::duplex(64);
/// let mut client = Framed::new(client, MessageCodec::client(|| [1, 2, 3, 4])); // in a program: `rand::random`
/// let mut server = Framed::new(server, MessageCodec::server());
/// client.send(Message::Text("grüß dich".into())).await?;
/// assert_eq!(server.next().await.unwrap()?, Ok(Message::Text("grüß dich".into())));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct MessageCodec {
    role: Role,
    messages: MessageAssembler,
    state: MessageState,
    has_sent_close: bool,
}

#[derive(Clone, Copy, Debug)]
enum Role {
    Server,
    /// Masks each frame with the next key.
    Client(fn() -> [u8; 4]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageState {
    /// Between messages.
    Idle,
    /// Between the frames of a message.
    Fragments,
    /// In a frame with a payload of `len` bytes, of which `taken` have been taken. `fin` is false if more frames of a message
    /// follow.
    Payload { taken: u64, len: u64, fin: bool },
    /// The last item has been returned, and this many bytes after it have been discarded.
    Ended { discarded: u64 },
}

/// The maximum number of bytes that are discarded after the last item.
const MAX_DISCARDED: u64 = 1 << 20;

impl MessageCodec {
    /// Creates the codec of a server. It rejects frames that are not masked.
    pub fn server() -> Self {
        Self::new(Role::Server)
    }

    /// Creates the codec of a client. It masks each frame with a key that `next_key` returns. The keys must be unpredictable
    /// (section 10.3): take them from a cryptographically secure random number generator.
    pub fn client(next_key: fn() -> [u8; 4]) -> Self {
        Self::new(Role::Client(next_key))
    }

    fn new(role: Role) -> Self {
        let messages = MessageAssembler::new();
        Self { role, messages, state: MessageState::Idle, has_sent_close: false }
    }

    /// Sets the maximum length of a received message, in bytes; see [`MessageAssembler::with_max_length`].
    pub fn with_max_length(self, max_length: u64) -> Self {
        Self { messages: self.messages.with_max_length(max_length), ..self }
    }

    /// Sets what a received text may contain; see [`MessageAssembler::with_options`].
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { messages: self.messages.with_options(options), ..self }
    }

    /// Takes the header of a frame off `src`, unless one is open. Returns how many bytes of its payload have been taken and
    /// how many it has, and whether the message ends with it. `None` if more bytes are needed.
    fn open_frame(&mut self, src: &mut BytesMut) -> Result<Option<(u64, u64, bool)>, MessageError> {
        if let MessageState::Payload { taken, len, fin } = self.state {
            return Ok(Some((taken, len, fin)));
        }
        let parsed = match self.role {
            Role::Server => FrameHeader::parse_from_client(src)?,
            Role::Client(_) => FrameHeader::parse_from_server(src)?,
        };
        let Some((header, len)) = parsed else { return Ok(None) };
        src.advance(len);
        self.messages.start(&header)?;
        // A control frame can be between the frames of a message.
        let is_control = header.opcode().is_control();
        let fin = if is_control { self.state == MessageState::Idle } else { header.fin() };
        Ok(Some((0, header.payload_length(), fin)))
    }

    /// Nothing but discarded bytes follows. The message that was arriving is not held any more.
    fn end(&mut self, discarded: u64) {
        self.messages.reset();
        self.state = MessageState::Ended { discarded };
    }

    fn next(&mut self, src: &mut BytesMut) -> Result<Option<Message>, MessageError> {
        loop {
            let Some((taken, len, fin)) = self.open_frame(src)? else { return Ok(None) };
            let new = (len - taken).min(src.len() as u64);
            let taken = taken + new;
            self.state = MessageState::Payload { taken, len, fin };
            let received = self.messages.position() + new;
            let pushed = match new {
                0 => Ok(()),
                _ => self.messages.push_bytes(src.split_to(new as usize)),
            };
            let message = match pushed {
                Ok(()) if taken < len => return Ok(None),
                Ok(()) => {
                    self.state = if fin { MessageState::Idle } else { MessageState::Fragments };
                    self.messages.end_frame()
                }
                Err(error) => Err(error),
            };
            match message {
                Ok(None) => {}
                Ok(message) => return Ok(message),
                Err(error) => {
                    // What follows the reason is discarded, also if it has arrived with it. The reason of a close frame follows
                    // its code, of two bytes.
                    let discarded = match error {
                        MessageError::Utf8(error) => received.saturating_sub(error.valid_up_to()),
                        MessageError::Reason(error) => {
                            taken.saturating_sub(2 + error.valid_up_to())
                        }
                        MessageError::CloseCode(_) => taken.saturating_sub(2),
                        _ => 0,
                    };
                    self.end(discarded);
                    return Err(error);
                }
            }
        }
    }
}

impl Decoder for MessageCodec {
    type Item = Result<Message, MessageError>;
    type Error = io::Error;

    fn decode(&mut self, src: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        if let MessageState::Ended { discarded } = &mut self.state {
            *discarded = discarded.saturating_add(src.len() as u64);
            src.clear();
            if *discarded > MAX_DISCARDED {
                return Err(io::Error::other(format!(
                    "the peer sent more than {MAX_DISCARDED} bytes after its last message"
                )));
            }
            return Ok(None);
        }
        let item = self.next(src).transpose();
        let is_last = matches!(item, Some(Ok(Message::Close(_)) | Err(_)));
        if is_last && !matches!(self.state, MessageState::Ended { .. }) {
            self.end(0);
        }
        Ok(item)
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        let item = self.decode(src)?;
        let is_whole = matches!(self.state, MessageState::Idle | MessageState::Ended { .. });
        if item.is_none() && !(is_whole && src.is_empty()) {
            src.clear();
            self.end(0);
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(item)
    }
}

impl Encoder<Message> for MessageCodec {
    type Error = io::Error;

    fn encode(&mut self, message: Message, dst: &mut BytesMut) -> io::Result<()> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let (opcode, payload) = match message {
            Message::Close(_) if self.has_sent_close => return Ok(()),
            _ if self.has_sent_close => return Err(io::ErrorKind::BrokenPipe.into()),
            Message::Text(text) => (Opcode::Text, text.into_bytes()),
            Message::Binary(bytes) => (Opcode::Binary, bytes),
            Message::Ping(payload) => (Opcode::Ping, payload),
            Message::Pong(payload) => (Opcode::Pong, payload),
            Message::Close(None) => (Opcode::Close, Bytes::new()),
            Message::Close(Some((code, reason))) => {
                (Opcode::Close, encode_close(code, &reason).map_err(invalid)?)
            }
        };
        let mask = match self.role {
            Role::Server => None,
            Role::Client(next_key) => Some(next_key()),
        };
        let header = FrameHeader::new(opcode, true, mask, payload.len() as u64).map_err(invalid)?;
        dst.reserve(FrameHeader::MAX_LENGTH + payload.len());
        dst.extend_from_slice(header.encode(&mut [0; FrameHeader::MAX_LENGTH]));
        let start = dst.len();
        dst.extend_from_slice(&payload);
        if let Some(mask) = mask {
            Level::detect().unmask(&mut dst[start..], mask);
        }
        self.has_sent_close = opcode == Opcode::Close;
        Ok(())
    }
}
