//! Frames off a socket, into a `MessageAssembler`, as they arrive.

use std::error::Error;
use std::fmt;
use std::io;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};
use utf8_codec::payload::websocket::{ClosePayload, Message, MessageAssembler, MessageError};

use super::frame::{Header, HeaderError};

/// Reads what a client sends, message by message.
///
/// The text of a message is validated in the pieces in which it arrives, so that what is ill-formed is
/// refused when it comes, however long its frame is. What fits the buffer is handed on without copying,
/// in however many pieces it arrives.
#[derive(Debug)]
pub struct MessageReader<S> {
    socket: S,
    buffer: BytesMut,
    message: MessageAssembler,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the start of a frame.
    Header,
    /// In a payload, with so many bytes to come.
    Payload { rest: u64 },
}

/// Why no more is read from a client.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// A header cannot be one.
    Header(HeaderError),
    /// A frame of a client is not masked.
    NotMasked,
    /// A message is refused.
    Message(MessageError),
    /// The connection is lost, or ends inside a frame.
    Io(io::Error),
}

/// What a read makes room for.
const READ: usize = 16 << 10;

/// How long a payload may be for all of it to be given room because its header says so.
const MAX_ROOM: u64 = 64 << 10;

impl<S: AsyncRead + Unpin> MessageReader<S> {
    /// Creates a reader. What has been read of `socket` already is `buffer`.
    pub fn new(socket: S, buffer: BytesMut, message: MessageAssembler) -> Self {
        Self { socket, buffer, message, state: State::Header }
    }

    /// Returns the next message or control frame; `None` where the client has gone between two frames.
    ///
    /// # Errors
    ///
    /// Behind an error there is nothing more to be read.
    ///
    /// # Cancel safety
    ///
    /// What has been read stays in the reader.
    pub async fn next(&mut self) -> Result<Option<Message>, ReadError> {
        loop {
            if let Some(message) = self.take()? {
                return Ok(Some(message));
            }
            let wanted = match self.state {
                State::Header => READ / 4,
                State::Payload { rest } => rest.min(READ as u64 / 4) as usize,
            };
            if self.buffer.capacity() - self.buffer.len() < wanted {
                self.buffer.reserve(READ);
            }
            if self.socket.read_buf(&mut self.buffer).await? == 0 {
                let inside = self.state != State::Header || !self.buffer.is_empty();
                return match inside {
                    true => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                    false => Ok(None),
                };
            }
        }
    }

    /// Uses up what has been read, up to the end of a message.
    fn take(&mut self) -> Result<Option<Message>, ReadError> {
        loop {
            let rest = match self.state {
                State::Payload { rest } => rest,
                State::Header => {
                    let Some((header, len)) = Header::parse(&self.buffer)? else { return Ok(None) };
                    let mask = header.mask.ok_or(ReadError::NotMasked)?;
                    self.buffer.advance(len);
                    self.message.start_frame(header.opcode, header.fin, Some(mask))?;
                    self.message.announce(header.len)?;
                    let room = header.len.min(MAX_ROOM) as usize;
                    self.buffer.reserve(room.saturating_sub(self.buffer.len()));
                    header.len
                }
            };
            let len = rest.min(self.buffer.len() as u64);
            self.message.push_bytes(self.buffer.split_to(len as usize))?;
            if len < rest {
                self.state = State::Payload { rest: rest - len };
                return Ok(None);
            }
            self.state = State::Header;
            if let Some(message) = self.message.end_frame()? {
                return Ok(Some(message));
            }
        }
    }

    /// The socket, for answers.
    pub fn socket(&mut self) -> &mut S {
        &mut self.socket
    }
}

impl ReadError {
    /// Returns what to tell the client, if it is still there.
    pub fn to_close(&self) -> Option<ClosePayload> {
        match self {
            Self::Message(error) => Some(error.to_close()),
            Self::Header(_) | Self::NotMasked => ClosePayload::new(1002, self.to_string()).ok(),
            Self::Io(_) => None,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(error) => error.fmt(f),
            Self::NotMasked => f.write_str("frame that is not masked"),
            Self::Message(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Header(error) => error.source(),
            Self::NotMasked => None,
            Self::Message(error) => error.source(),
            Self::Io(error) => error.source(),
        }
    }
}

impl From<HeaderError> for ReadError {
    fn from(error: HeaderError) -> Self {
        Self::Header(error)
    }
}

impl From<MessageError> for ReadError {
    fn from(error: MessageError) -> Self {
        Self::Message(error)
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
