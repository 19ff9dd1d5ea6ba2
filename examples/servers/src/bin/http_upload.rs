//! Counts the bytes, characters and lines of uploads, of any size, in constant memory, and says
//! where they are not text.
//!
//! ```text
//! cargo run --release -p servers --bin http_upload -- --listen 127.0.0.1:8080
//! curl --data-binary @notes.txt -H 'Content-Type: text/plain; charset=utf-8' http://127.0.0.1:8080/
//! ```
//!
//! `--self-test` serves itself over the loopback device, and exits with 0 if every answer is right;
//! so it does without arguments. With `--gigabyte`, one of its uploads is 1 GiB.

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Parser;
use servers::upload::{self, self_test};
use tokio::net::TcpListener;

/// Counts the text of HTTP uploads.
#[derive(Debug, Parser)]
#[command(name = "http_upload")]
struct Arguments {
    /// The address to listen on (port 0: any).
    #[arg(long, value_name = "ADDR", conflicts_with = "self_test")]
    listen: Option<SocketAddr>,
    /// The most bytes that an upload may have.
    #[arg(long, value_name = "BYTES", requires = "listen")]
    limit: Option<u64>,
    /// Uploads to itself, judges the answers, and exits; so it does without arguments.
    #[arg(long)]
    self_test: bool,
    /// Makes one upload of the self test 1 GiB.
    #[arg(long, conflicts_with = "listen")]
    gigabyte: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.listen {
        Some(address) => {
            listen(address, arguments.limit.unwrap_or(u64::MAX)).await.map_err(Into::into)
        }
        None => self_test::run(if arguments.gigabyte { 1 << 30 } else { 16 << 20 }).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("http_upload: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn listen(address: SocketAddr, limit: u64) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}/", listener.local_addr()?);
    axum::serve(listener, upload::router(limit)).await
}
