//! One WebSocket connection: reads messages and sends them back.

use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};
use utf8_codec::decoder::Status;
use utf8_codec::websocket::{FrameHeader, Message, MessageAssembler, Opcode, encode_close};
use utf8_codec::{ErrorMode, Utf8Decoder};

use super::reader::{MessageReader, ReadError};
use crate::drain::drain;

/// How binary messages are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Unchanged.
    Echo,
    /// As text, with U+FFFD for each maximal subpart that is not UTF-8.
    Decode,
}

/// How many bytes to read of what a client still sends after the close frame.
const MAX_REST: u64 = 64 << 20;

/// How long a client may take. The default values suit a server whose proxy limits the connections of each
/// client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the header of a request, also before its first byte. Default: 30 s.
    pub header: Duration,
    /// Without a byte: after this time it is sent a ping, and after the same time again it is disconnected.
    /// Default: 30 s.
    pub idle: Duration,
    /// From the beginning of a message to its end, and to accept the answer. Default: 60 s.
    pub message: Duration,
    /// In which it accepts no byte of an answer. Default: 30 s.
    pub write: Duration,
    /// To close the connection after a close frame. Default: 5 s.
    pub close: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            header: Duration::from_secs(30),
            idle: Duration::from_secs(30),
            message: Duration::from_secs(60),
            write: Duration::from_secs(30),
            close: Duration::from_secs(5),
        }
    }
}

/// Serves one client until it closes the connection, is lost, or is rejected. `buffer` holds the bytes that
/// are already read. A message has at most `max_length` bytes.
///
/// # Errors
///
/// Those of the socket, and [`TimedOut`](io::ErrorKind::TimedOut) if the client does not read.
pub async fn serve<S>(
    socket: S,
    buffer: BytesMut,
    service: Service,
    max_length: u64,
    timeouts: Timeouts,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let message = MessageAssembler::new().with_max_length(max_length);
    let mut reader = MessageReader::new(socket, buffer, message);
    let mut patience = Patience { timeouts, deadline: None, is_pinged: false };
    let close = loop {
        let (opcode, payload) = match patience.next(&mut reader).await {
            Event::Read(Ok(Some(Message::Text(text)))) => (Opcode::Text, text.into_bytes()),
            Event::Read(Ok(Some(Message::Binary(bytes)))) => match service {
                Service::Echo => (Opcode::Binary, bytes),
                Service::Decode => (Opcode::Text, decode(&bytes)),
            },
            Event::Read(Ok(Some(Message::Ping(payload)))) => (Opcode::Pong, payload),
            Event::Read(Ok(Some(Message::Pong(_)))) => continue,
            // A close frame is answered with its own code (section 5.5.1).
            Event::Read(Ok(Some(Message::Close(Some((code, reason)))))) => {
                break encode_close(code, &reason)?;
            }
            Event::Read(Ok(Some(Message::Close(None)))) => break Bytes::new(),
            Event::Read(Ok(None)) => return Ok(()),
            Event::Read(Err(error)) => match error.to_close() {
                Some(close) => break close,
                None => return Ok(()),
            },
            Event::Idle => (Opcode::Ping, Bytes::new()),
            // 1008 is for violations of a policy (section 7.4.1).
            Event::Late(why) => break encode_close(1008, why)?,
        };
        timeout(timeouts.message, send(reader.socket(), opcode, payload)).await??;
    };
    let socket = reader.socket();
    timeout(timeouts.close, send(socket, Opcode::Close, close)).await??;
    socket.shutdown().await?;
    drain(socket, timeouts.close, MAX_REST).await;
    Ok(())
}

/// Limits how long a client takes.
struct Patience {
    timeouts: Timeouts,
    /// When the message that has begun must be complete.
    deadline: Option<Instant>,
    /// A ping has been sent, and nothing has arrived since.
    is_pinged: bool,
}

enum Event {
    Read(Result<Option<Message>, ReadError>),
    /// Nothing has arrived for a time.
    Idle,
    /// The client is too late, for this reason.
    Late(&'static str),
}

impl Patience {
    async fn next<S: AsyncRead + Unpin>(&mut self, reader: &mut MessageReader<S>) -> Event {
        loop {
            if reader.is_inside() {
                self.deadline.get_or_insert_with(|| Instant::now() + self.timeouts.message);
            }
            let until = self.deadline.unwrap_or_else(|| Instant::now() + self.timeouts.idle);
            match timeout_at(until, reader.next()).await {
                Ok(read) => {
                    self.is_pinged = false;
                    // A control frame can be inside a message, and does not extend its time.
                    if !reader.is_open() {
                        self.deadline = None;
                    }
                    return Event::Read(read);
                }
                Err(_) if self.deadline.is_some() => {
                    return Event::Late("a message takes too long");
                }
                // A message has begun while it was idle.
                Err(_) if reader.is_inside() => {}
                Err(_) if self.is_pinged => return Event::Late("no answer to a ping"),
                Err(_) => {
                    self.is_pinged = true;
                    return Event::Idle;
                }
            }
        }
    }
}

/// Sends an unmasked, unfragmented frame.
///
/// # Errors
///
/// Those of the socket, and those of a control frame that is too long.
pub async fn send<S: AsyncWrite + Unpin>(
    socket: &mut S,
    opcode: Opcode,
    payload: Bytes,
) -> io::Result<()> {
    let header = FrameHeader::new(opcode, true, None, payload.len() as u64)?;
    let mut bytes = [0; FrameHeader::MAX_LENGTH];
    let mut frame = Buf::chain(header.encode(&mut bytes), payload);
    socket.write_all_buf(&mut frame).await?;
    socket.flush().await
}

fn decode(bytes: &[u8]) -> Bytes {
    let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
    let progress = decoder.push_to_string(bytes, ErrorMode::Replacement, &mut text);
    let ended = decoder.finish_to_string(ErrorMode::Replacement, &mut text);
    debug_assert!(progress.status == Status::Done && ended.is_ok(), "everything is replaced");
    text.into()
}
