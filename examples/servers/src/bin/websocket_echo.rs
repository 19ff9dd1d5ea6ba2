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
//! `/echo` returns text and binary messages. `/decode` returns binary messages as text, with U+FFFD for
//! ill-formed parts. `/` is a page that checks both in a browser. A text message that is not UTF-8 is
//! rejected with close code 1007 as soon as the first invalid byte arrives.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use servers::websocket::{Server, self_test};
use tokio::sync::mpsc;

/// A WebSocket echo server.
#[derive(Parser)]
struct Arguments {
    /// The address to listen on (port 0: any free port).
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: String,
    /// The longest message, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20)]
    max_message: u64,
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
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    if arguments.self_test {
        self_test::run().await?;
        return Ok(ExitCode::SUCCESS);
    }
    let server = Server::bind(&arguments.listen, arguments.max_message).await?;
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
