//! A WebSocket echo server.
//!
//! It shows `MessageAssembler` on top of hyper: `src/websocket/reader.rs` reads frames from the socket and
//! passes them to the assembler in pieces, as they arrive.
//!
//! ```text
//! cargo run --release -p servers --bin websocket_echo -- --self-test
//! cargo run --release -p servers --bin websocket_echo -- --listen 127.0.0.1:8080
//! ```
//!
//! `/echo`, or `/` with an upgrade, returns text and binary messages. `/decode` returns binary messages as text, with U+FFFD for
//! ill-formed parts. `/` is a page that checks both in a browser. A text message that is not UTF-8 is
//! rejected with close code 1007 as soon as the first invalid byte arrives.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use servers::socket::seconds;
use servers::websocket::client::{Client, Frame, masked};
use servers::websocket::{MAX_CONNECTIONS, Server, Timeouts};
use tokio::sync::mpsc;
use tokio::time::timeout;
use utf8_codec::payload::websocket::{ClosePayload, Opcode};

/// A WebSocket echo server.
#[derive(Parser)]
struct Arguments {
    /// The address to listen on (port 0: any free port).
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: String,
    /// The longest message, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20)]
    max_message: u64,
    /// The longest time for the header of a request, also before its first byte.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    header_timeout: Duration,
    /// A client that is silent for this time is sent a ping, and if it is silent again, disconnected.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    idle_timeout: Duration,
    /// The longest time from the beginning of a message to its end, and to accept the answer.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    message_timeout: Duration,
    /// The longest time in which a client accepts no byte of an answer.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    write_timeout: Duration,
    /// The most connections at a time; others wait.
    #[arg(long, value_name = "N", default_value_t = MAX_CONNECTIONS)]
    max_connections: usize,
    /// Waits for a browser to open the page, and exits with its result.
    #[arg(long, conflicts_with = "self_test")]
    browser: bool,
    /// Runs the checks of a client against a server on a loopback socket, and exits with the result.
    #[arg(long)]
    self_test: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("websocket_echo: {error}");
            ExitCode::FAILURE
        }
    }
}

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

async fn run(arguments: Arguments) -> Outcome<ExitCode> {
    if arguments.self_test {
        self_test().await?;
        return Ok(ExitCode::SUCCESS);
    }
    let timeouts = Timeouts {
        header: arguments.header_timeout,
        idle: arguments.idle_timeout,
        message: arguments.message_timeout,
        write: arguments.write_timeout,
        ..Timeouts::default()
    };
    let server = Server::bind(&arguments.listen, arguments.max_message).await?;
    let server = server.with_timeouts(timeouts).with_max_connections(arguments.max_connections);
    println!("http://{}/", server.address()?);
    if !arguments.browser {
        server.run().await;
        return Ok(ExitCode::SUCCESS);
    }
    let (sender, mut reports) = mpsc::channel(1);
    tokio::spawn(server.with_reports(sender).run());
    let report = reports.recv().await.ok_or("the server ended")?;
    print!("{}", report.text);
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

// ---- the self-test -------------------------------------------------------------------------------

/// The longest message in the test, in bytes.
const MAX_LENGTH: u64 = 1 << 20;

/// How long a check may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a server, runs every check, and prints a line for each. The first check that fails is an error.
async fn self_test() -> Outcome {
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
        let code = client.closed().await?.as_ref().map(ClosePayload::code);
        match code == self.closes {
            true => Ok(()),
            false => Err(format!("closed with {code:?} instead of {:?}", self.closes).into()),
        }
    }
}
