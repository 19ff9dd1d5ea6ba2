//! A client for tests, which can also break the protocol: it sends any bytes, split anywhere. And checks of a
//! server over a loopback socket.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use utf8_codec::ByteString;
use utf8_codec::websocket::{FrameHeader, Opcode, parse_close};

use super::Server;
use crate::output::say;

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

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// The longest message in the test, in bytes.
const MAX_LENGTH: u64 = 1 << 20;

/// How long a check may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a server, runs every check, and prints a line for each.
///
/// # Errors
///
/// The first check that fails.
pub async fn self_test() -> Outcome {
    let server = Server::bind((Ipv4Addr::LOCALHOST, 0), MAX_LENGTH).await?;
    let address = server.address()?;
    tokio::spawn(server.run());
    for (number, check) in CHECKS.iter().enumerate() {
        timeout(PATIENCE, check.run(address))
            .await?
            .map_err(|error| format!("{}: {error}", check.name))?;
        say(format_args!("{:>2} {}", number + 1, check.name))?;
    }
    say("All checks passed.")?;
    Ok(())
}

/// What a client sends, and what it must receive.
struct Check {
    name: &'static str,
    path: &'static str,
    sends: fn() -> Vec<u8>,
    /// The bytes per write.
    piece: usize,
    gets: &'static [(Opcode, &'static [u8])],
    /// The close code of the server; `None` for a close frame without one.
    closes: Option<u16>,
}

const TEXT: &str = "κόσμε, 日本語, 🦀";

const WHOLE: Check = Check {
    name: "",
    path: "/echo",
    sends: Vec::new,
    piece: usize::MAX,
    gets: &[],
    closes: Some(1000),
};

const CHECKS: &[Check] = &[
    Check {
        name: "text is echoed",
        sends: || frames(&[(Opcode::Text, true, TEXT.as_bytes()), BYE]),
        gets: &[(Opcode::Text, TEXT.as_bytes())],
        ..WHOLE
    },
    Check {
        name: "text is echoed when it arrives byte by byte",
        sends: || frames(&[(Opcode::Text, true, TEXT.as_bytes()), BYE]),
        piece: 1,
        gets: &[(Opcode::Text, TEXT.as_bytes())],
        ..WHOLE
    },
    Check {
        name: "text in frames of one byte is echoed, and a ping between them is answered",
        sends: || {
            let mut bytes = Client::frame(Opcode::Text, false, b"");
            for byte in TEXT.as_bytes() {
                bytes.extend(Client::frame(Opcode::Continuation, false, &[*byte]));
            }
            bytes.extend(Client::frame(Opcode::Ping, true, b"\xFF\xC0"));
            bytes.extend(frames(&[(Opcode::Continuation, true, b""), BYE]));
            bytes
        },
        gets: &[(Opcode::Pong, b"\xFF\xC0"), (Opcode::Text, TEXT.as_bytes())],
        ..WHOLE
    },
    Check {
        name: "binary is echoed",
        sends: || frames(&[(Opcode::Binary, true, b"\xFF\x00\xED\xA0\x80"), BYE]),
        gets: &[(Opcode::Binary, b"\xFF\x00\xED\xA0\x80")],
        ..WHOLE
    },
    Check {
        name: "binary is decoded at /decode",
        path: "/decode",
        sends: || frames(&[(Opcode::Binary, true, b"caf\xE9 \xED\xA0\x80"), BYE]),
        gets: &[(Opcode::Text, "caf\u{FFFD} \u{FFFD}\u{FFFD}\u{FFFD}".as_bytes())],
        ..WHOLE
    },
    Check {
        name: "a close frame is answered with its code",
        sends: || frames(&[(Opcode::Close, true, b"\x0F\xA0until tomorrow")]),
        closes: Some(4000),
        ..WHOLE
    },
    Check {
        name: "a close frame without a code is answered with one without a code",
        sends: || frames(&[(Opcode::Close, true, b"")]),
        closes: None,
        ..WHOLE
    },
    Check {
        name: "an invalid byte is rejected in the middle of a frame",
        sends: || {
            let mut bytes = Client::header(Opcode::Text, true, MAX_LENGTH);
            bytes.extend(masked(b"good so far \xF4\x90"));
            bytes
        },
        closes: Some(1007),
        ..WHOLE
    },
    Check {
        name: "a message that ends inside a character is rejected",
        sends: || frames(&[(Opcode::Text, true, b"10 \xE2\x82")]),
        closes: Some(1007),
        ..WHOLE
    },
    Check {
        name: "a message that is too long is rejected when its header arrives",
        sends: || Client::header(Opcode::Binary, true, MAX_LENGTH + 1),
        closes: Some(1009),
        ..WHOLE
    },
    Check {
        name: "a message that never ends is rejected",
        sends: || {
            let mut bytes = Client::frame(Opcode::Text, false, &[b'a'; 1 << 19]);
            for _ in 0..4 {
                bytes.extend(Client::frame(Opcode::Continuation, false, &[b'a'; 1 << 18]));
            }
            bytes
        },
        closes: Some(1009),
        ..WHOLE
    },
    Check {
        name: "a continuation frame without a message is rejected",
        sends: || frames(&[(Opcode::Continuation, true, b"what?")]),
        closes: Some(1002),
        ..WHOLE
    },
    Check {
        name: "a frame that is not masked is rejected",
        sends: || vec![0x81, 0x01, b'a'],
        closes: Some(1002),
        ..WHOLE
    },
    Check {
        name: "a reserved opcode is rejected",
        sends: || vec![0x83, 0x80, 0, 0, 0, 0],
        closes: Some(1002),
        ..WHOLE
    },
    Check {
        name: "a close code that must not be sent is rejected",
        sends: || frames(&[(Opcode::Close, true, b"\x03\xEE")]),
        closes: Some(1002),
        ..WHOLE
    },
    Check {
        name: "the server still works",
        sends: || frames(&[(Opcode::Text, true, b"still there?"), BYE]),
        gets: &[(Opcode::Text, b"still there?")],
        ..WHOLE
    },
];

const BYE: (Opcode, bool, &[u8]) = (Opcode::Close, true, b"\x03\xE8bye");

fn frames(frames: &[(Opcode, bool, &[u8])]) -> Vec<u8> {
    frames.iter().flat_map(|(opcode, fin, payload)| Client::frame(*opcode, *fin, payload)).collect()
}

impl Check {
    async fn run(&self, address: SocketAddr) -> Outcome {
        let mut client = Client::connect(address, self.path).await?;
        for piece in (self.sends)().chunks(self.piece) {
            client.send(piece).await?;
        }
        for (opcode, payload) in self.gets {
            let wanted = Frame { opcode: *opcode, payload: payload.to_vec().into() };
            let got = client.receive().await?.ok_or("the connection ended")?;
            if got != wanted {
                return Err(format!("{got:?} instead of {wanted:?}").into());
            }
        }
        let code = client.closed().await?.map(|(code, _)| code);
        match code == self.closes {
            true => Ok(()),
            false => Err(format!("closed with {code:?} instead of {:?}", self.closes).into()),
        }
    }
}
