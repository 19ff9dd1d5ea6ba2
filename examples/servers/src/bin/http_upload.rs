//! An HTTP server that counts the bytes, characters and lines of uploads of any size, in constant memory,
//! and reports where they are not text.
//!
//! It shows `Utf8Body` around the body of an axum request, and how its errors become answers: see the
//! functions `upload` and `count` in `src/upload/mod.rs`.
//!
//! ```text
//! cargo run --release -p servers --bin http_upload
//! ```
//!
//! Without arguments, or with `--self-test`, it uploads to itself over a loopback socket, and exits with 0
//! if every answer is right. With `--gigabyte`, one of the uploads is 1 GiB. To serve:
//!
//! ```text
//! cargo run --release -p servers --bin http_upload -- --listen 127.0.0.1:8080
//! curl --data-binary @notes.txt -H 'Content-Type: text/plain; charset=utf-8' http://127.0.0.1:8080/
//! ```

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use servers::socket::seconds;
use servers::upload::{self, Limits, self_test};
use tokio::net::TcpListener;

/// An HTTP server that counts the text of uploads.
#[derive(Debug, Parser)]
#[command(name = "http_upload")]
struct Arguments {
    /// The address to listen on (port 0: any free port).
    #[arg(long, value_name = "ADDR", conflicts_with = "self_test")]
    listen: Option<SocketAddr>,
    /// The longest upload, in bytes [default: no limit].
    #[arg(long, value_name = "BYTES", requires = "listen")]
    limit: Option<u64>,
    /// The longest time for the header of a request, also before its first byte.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    header_timeout: Duration,
    /// The longest time without a byte of the body.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    idle_timeout: Duration,
    /// The longest time for a whole body.
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = seconds)]
    upload_timeout: Duration,
    /// The longest time in which a client accepts no byte of the answer.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    write_timeout: Duration,
    /// How long to read what a rejected client still sends, so that it receives the answer.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    drain_timeout: Duration,
    /// How many bytes to read of it.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().drain_bytes)]
    drain_bytes: u64,
    /// The most connections at a time; others wait.
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// Uploads to itself, checks the answers, and exits; this is the default.
    #[arg(long)]
    self_test: bool,
    /// Makes one upload of the self-test 1 GiB long.
    #[arg(long, conflicts_with = "listen")]
    gigabyte: bool,
}

impl Arguments {
    fn limits(&self) -> Limits {
        Limits {
            body: self.limit.unwrap_or(u64::MAX),
            header: self.header_timeout,
            idle: self.idle_timeout,
            upload: self.upload_timeout,
            write: self.write_timeout,
            drain: self.drain_timeout,
            drain_bytes: self.drain_bytes,
            connections: self.max_connections,
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.listen {
        Some(address) => listen(address, arguments.limits()).await.map_err(Into::into),
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

async fn listen(address: SocketAddr, limits: Limits) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}/", listener.local_addr()?);
    upload::serve(listener, limits).await;
    Ok(())
}
