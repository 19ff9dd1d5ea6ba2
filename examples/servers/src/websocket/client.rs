//! A client for tests, which can also break the protocol: it sends any bytes, split anywhere.

use std::io;
use std::net::SocketAddr;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use utf8_codec::ByteString;
use utf8_codec::payload::websocket::{FrameHeader, Opcode, parse_close};

/// The masking key of every frame, from the examples in RFC 6455.
pub const MASK: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];

/// A connection after the handshake.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    buffer: BytesMut,
}

/// A frame from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The opcode.
    pub opcode: Opcode,
    /// The payload.
    pub payload: Bytes,
}

impl Client {
    /// Connects, and upgrades the connection at `path`.
    ///
    /// # Errors
    ///
    /// Those of the socket, and an answer that is not an upgrade.
    pub async fn connect(address: SocketAddr, path: &str) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut buffer = BytesMut::new();
        loop {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some(end) = buffer.windows(4).position(|end| end == b"\r\n\r\n") else { continue };
            let head = buffer.split_to(end + 4);
            let is_upgrade = head.starts_with(b"HTTP/1.1 101 ")
                && head.windows(28).any(|key| key == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
            return match is_upgrade {
                true => Ok(Self { stream, buffer }),
                false => Err(io::Error::other("the server does not upgrade the connection")),
            };
        }
    }

    /// Returns the bytes of a masked frame.
    pub fn frame(opcode: Opcode, fin: bool, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Self::header(opcode, fin, payload.len() as u64);
        bytes.extend(masked(payload));
        bytes
    }

    /// Returns the bytes of the header of a masked frame, also of one that breaks the protocol.
    pub fn header(opcode: Opcode, fin: bool, len: u64) -> Vec<u8> {
        let valid = FrameHeader::new(Opcode::Text, fin, Some(MASK), len).expect("below 2^63");
        let mut bytes = valid.encode(&mut [0; FrameHeader::MAX_LENGTH]).to_vec();
        bytes[0] = bytes[0] & 0xF0 | u8::from(opcode);
        bytes
    }

    /// Sends these bytes unchanged.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Sends a frame.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub async fn send_frame(
        &mut self,
        opcode: Opcode,
        fin: bool,
        payload: &[u8],
    ) -> io::Result<()> {
        self.send(&Self::frame(opcode, fin, payload)).await
    }

    /// Returns the next frame from the server, or `None` if it closed the connection.
    ///
    /// # Errors
    ///
    /// Those of the socket, and a frame that is masked or fragmented.
    pub async fn receive(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some((header, at)) = FrameHeader::parse_from_server(&self.buffer)? {
                if !header.fin() {
                    return Err(io::Error::other("a frame that is fragmented"));
                }
                let len = usize::try_from(header.payload_length()).map_err(io::Error::other)?;
                if self.buffer.len() >= at + len {
                    let payload = self.buffer.split_to(at + len).freeze().slice(at..);
                    return Ok(Some(Frame { opcode: header.opcode(), payload }));
                }
            }
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return match self.buffer.has_remaining() {
                    true => Err(io::ErrorKind::UnexpectedEof.into()),
                    false => Ok(None),
                };
            }
        }
    }

    /// Waits for the server's close frame and for the end of the connection, and returns the code and the reason
    /// of the close frame. Skips the frames before it.
    ///
    /// # Errors
    ///
    /// Those of [`receive`](Self::receive), an end without a close frame, and a frame after one.
    pub async fn closed(&mut self) -> io::Result<Option<(u16, ByteString)>> {
        loop {
            let frame = self.receive().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
            if frame.opcode == Opcode::Close {
                let close = parse_close(frame.payload)?;
                return match self.receive().await? {
                    None => Ok(close),
                    Some(frame) => Err(io::Error::other(format!("{frame:?} after a close frame"))),
                };
            }
        }
    }
}

/// Masks or unmasks a payload.
pub fn masked(payload: &[u8]) -> Vec<u8> {
    payload.iter().zip(MASK.into_iter().cycle()).map(|(byte, key)| byte ^ key).collect()
}
