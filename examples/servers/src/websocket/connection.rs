//! One WebSocket connection: reads messages and sends them back.

use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;
use utf8_codec::decoder::Status;
use utf8_codec::payload::websocket::{ClosePayload, Message, MessageAssembler, Opcode};
use utf8_codec::{ErrorMode, Utf8Decoder};

use super::frame::Header;
use super::reader::MessageReader;

/// How binary messages are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Unchanged.
    Echo,
    /// As text, with U+FFFD for each maximal subpart that is not UTF-8.
    Decode,
}

/// How long a client may take to close the connection after a close frame.
const LINGER: Duration = Duration::from_secs(5);

/// Serves one client until it closes the connection, is lost, or is rejected. `buffer` holds the bytes that
/// are already read. A message has at most `max_length` bytes.
///
/// # Errors
///
/// Those of the socket.
pub async fn serve<S>(
    socket: S,
    buffer: BytesMut,
    service: Service,
    max_length: u64,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let message = MessageAssembler::new().with_max_length(max_length);
    let mut reader = MessageReader::new(socket, buffer, message);
    let close = loop {
        let (opcode, payload) = match reader.next().await {
            Ok(Some(Message::Text(text))) => (Opcode::Text, text.into_bytes()),
            Ok(Some(Message::Binary(bytes))) => match service {
                Service::Echo => (Opcode::Binary, bytes),
                Service::Decode => (Opcode::Text, decode(&bytes)),
            },
            Ok(Some(Message::Ping(payload))) => (Opcode::Pong, payload),
            Ok(Some(Message::Pong(_))) => continue,
            Ok(Some(Message::Close(close))) => break close,
            Ok(None) => return Ok(()),
            Err(error) => match error.to_close() {
                Some(close) => break Some(close),
                None => return Ok(()),
            },
        };
        send(reader.socket(), opcode, payload).await?;
    };
    // A close frame is answered with its own code (section 5.5.1).
    let payload = close.as_ref().map_or(Bytes::new(), ClosePayload::to_bytes);
    let socket = reader.socket();
    send(socket, Opcode::Close, payload).await?;
    socket.shutdown().await?;
    // Discard what the client sent before it received the close frame: closing the socket with unread bytes
    // would reset it, and the close frame might be lost.
    let _late = timeout(LINGER, drain(socket)).await;
    Ok(())
}

/// Sends an unmasked, unfragmented frame.
async fn send<S: AsyncWrite + Unpin>(
    socket: &mut S,
    opcode: Opcode,
    payload: Bytes,
) -> io::Result<()> {
    let mut header = BytesMut::with_capacity(14);
    Header { fin: true, opcode, mask: None, len: payload.len() as u64 }.write(&mut header);
    socket.write_all_buf(&mut header.chain(payload)).await?;
    socket.flush().await
}

async fn drain<S: AsyncRead + Unpin>(socket: &mut S) -> io::Result<()> {
    let mut scrap = [0; 4096];
    while socket.read(&mut scrap).await? > 0 {}
    Ok(())
}

fn decode(bytes: &[u8]) -> Bytes {
    let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
    let progress = decoder.push_to_string(bytes, ErrorMode::Replacement, &mut text);
    let ended = decoder.finish_to_string(ErrorMode::Replacement, &mut text);
    debug_assert!(progress.status == Status::Done && ended.is_ok(), "everything is replaced");
    text.into()
}
