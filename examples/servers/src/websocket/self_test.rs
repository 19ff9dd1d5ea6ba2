//! Checks a server over a loopback socket.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::time::timeout;
use utf8_codec::payload::websocket::Opcode;

use super::Server;
use super::client::{Client, Frame};

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
pub async fn run() -> Outcome {
    let server = Server::bind((Ipv4Addr::LOCALHOST, 0), MAX_LENGTH).await?;
    let address = server.address()?;
    tokio::spawn(server.run());
    for (number, check) in CHECKS.iter().enumerate() {
        timeout(PATIENCE, check.run(address))
            .await?
            .map_err(|error| format!("{}: {error}", check.name))?;
        println!("{:>2} {}", number + 1, check.name);
    }
    println!("All checks passed.");
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
            bytes.extend(super::client::masked(b"good so far \xF4\x90"));
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
