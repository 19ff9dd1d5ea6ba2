//! A WebSocket server that sends back what it gets.
//!
//! ```text
//! cargo run --release -p servers --bin websocket_echo -- --listen 127.0.0.1:8080
//! ```
//!
//! `/echo` sends text and binary messages back. `/decode` sends binary ones back as text, with U+FFFD
//! for what is not UTF-8. `/` is a page that checks both from a browser. A text message that is not
//! UTF-8 is refused with close code 1007 as soon as the first impossible byte arrives.

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use servers::websocket::{Server, self_test};
use tokio::sync::mpsc;

/// A WebSocket server that sends back what it gets.
#[derive(Parser)]
struct Arguments {
    /// Listen on this address; port 0 takes any that is free.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: String,
    /// Refuse messages with more bytes than this.
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20)]
    max_message: u64,
    /// Wait for a browser to open the page, and end with its verdict.
    #[arg(long, conflicts_with = "self_test")]
    browser: bool,
    /// Drive a server over the loopback device, and end with the verdict.
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
    let report = reports.recv().await.ok_or("the server has ended")?;
    print!("{}", report.text);
    Ok(if report.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
