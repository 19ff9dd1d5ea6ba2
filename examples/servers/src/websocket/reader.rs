//! Reads frames from a socket into a `MessageAssembler`, as they arrive.

use std::future::poll_fn;
use std::io;
use std::pin::pin;

use bytes::{Buf, Bytes, BytesMut};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};
use utf8_codec::websocket::{FrameHeader, Message, MessageAssembler, MessageError};

/// Reads the messages of a client.
///
/// The text of a message is validated piece by piece as it arrives, so an invalid byte is rejected
/// immediately, however long its frame is. A message that fits the buffer is not copied, even if it arrives
/// in several pieces.
#[derive(Debug)]
pub struct MessageReader<S> {
    socket: S,
    buffer: BytesMut,
    message: MessageAssembler,
    state: State,
    /// Whether a later frame continues the message.
    is_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before or inside a header.
    Header,
    /// Inside a payload, of which `rest` bytes are missing.
    Payload { rest: u64 },
}

/// Why reading from a client failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A frame or a message is rejected.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The connection failed, or ended inside a frame.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The space that is reserved for a read, in bytes.
const READ: usize = 16 << 10;

/// The most space that is reserved because a header announces a payload, in bytes.
const MAX_ROOM: u64 = 64 << 10;

impl<S: AsyncRead + Unpin> MessageReader<S> {
    /// Creates a reader. `buffer` holds the bytes that are already read from `socket`.
    pub fn new(socket: S, buffer: BytesMut, message: MessageAssembler) -> Self {
        Self { socket, buffer, message, state: State::Header, is_open: false }
    }

    /// Returns the next message or control frame, or `None` if the connection ended between two frames.
    ///
    /// # Errors
    ///
    /// After an error, do not call it again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: the bytes stay in the reader.
    pub async fn next(&mut self) -> Result<Option<Message>, ReadError> {
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            let wanted = match self.state {
                State::Header => READ / 4,
                State::Payload { rest } => rest.min(READ as u64 / 4) as usize,
            };
            if self.read(wanted).await? == 0 {
                let inside = self.state != State::Header || !self.buffer.is_empty();
                return match inside {
                    true => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                    false => Ok(None),
                };
            }
        }
    }

    /// Reads some bytes, into space for at least `wanted`. While it waits, an empty buffer is freed: an idle
    /// connection holds none.
    async fn read(&mut self, wanted: usize) -> io::Result<usize> {
        poll_fn(|context| {
            if self.buffer.capacity() - self.buffer.len() < wanted {
                self.buffer.reserve(READ);
            }
            let read = pin!(self.socket.read_buf(&mut self.buffer)).poll(context);
            if read.is_pending() && self.buffer.is_empty() {
                self.buffer = BytesMut::new();
            }
            read
        })
        .await
    }

    /// Consumes the bytes that are read, up to the end of a message.
    fn take(&mut self) -> Result<Option<Message>, ReadError> {
        loop {
            let rest = match self.state {
                State::Payload { rest } => rest,
                State::Header => {
                    let parsed = FrameHeader::parse_from_client(&self.buffer)?;
                    let Some((header, len)) = parsed else { return Ok(None) };
                    self.buffer.advance(len);
                    if !header.opcode().is_control() {
                        self.is_open = !header.fin();
                    }
                    self.message.start(&header)?;
                    let room = header.payload_length().min(MAX_ROOM) as usize;
                    self.buffer.reserve(room.saturating_sub(self.buffer.len()));
                    header.payload_length()
                }
            };
            let len = rest.min(self.buffer.len() as u64);
            self.message.push_bytes(self.buffer.split_to(len as usize))?;
            if len < rest {
                self.state = State::Payload { rest: rest - len };
                return Ok(None);
            }
            self.state = State::Header;
            let message = self.message.end_frame()?;
            if message.is_some() {
                return Ok(message);
            }
        }
    }

    /// Returns whether some bytes of a message or of a frame have arrived, but not all.
    pub fn is_inside(&self) -> bool {
        self.is_open || self.state != State::Header || !self.buffer.is_empty()
    }

    /// Returns whether a later frame continues the message.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns the socket, for answers.
    pub fn socket(&mut self) -> &mut S {
        &mut self.socket
    }
}

impl ReadError {
    /// Returns the payload of the close frame to answer with, if the connection still works.
    pub fn to_close(&self) -> Option<Bytes> {
        match self {
            Self::Message(error) => Some(error.to_close()),
            Self::Io(_) => None,
        }
    }
}
