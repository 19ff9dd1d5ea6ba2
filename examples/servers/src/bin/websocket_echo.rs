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

#[path = "../../../support/output.rs"]
mod output;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use servers::socket::seconds;
use servers::websocket::client::self_test;
use servers::websocket::{MAX_CONNECTIONS, Server, Timeouts};
use tokio::sync::mpsc;

use output::{complain, put, say};

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
            complain(error);
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
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
    say(format_args!("http://{}/", server.address()?))?;
    if !arguments.browser {
        server.run().await;
        return Ok(ExitCode::SUCCESS);
    }
    let (sender, mut reports) = mpsc::channel(1);
    tokio::spawn(server.with_reports(sender).run());
    let report = reports.recv().await.ok_or("the server ended")?;
    put(report.text)?;
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
