//! A WebSocket echo server in a few lines: `MessageCodec` on a connection that hyper has upgraded. The function `echo` serves
//! one connection.
//!
//! ```text
//! cargo run --release -p servers --bin upgrade_echo
//! ```
//!
//! Without arguments, it connects to itself over a loopback socket, and exits with 0 if every answer is right.
//! To serve, use `--listen 127.0.0.1:8080`. Its limits are constants; those of
//! `websocket_echo` are options.

#[path = "../../../support/output.rs"]
mod output;

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clap::Parser;
use futures::{SinkExt, StreamExt};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use servers::socket::WriteTimeout;
use servers::websocket;
use servers::websocket::client::Client;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::codec::Framed;
use utf8_codec::codec::MessageCodec;
use utf8_codec::websocket::{Message, Opcode};

use output::{complain, say};

/// A WebSocket echo server in a few lines.
#[derive(Debug, Parser)]
#[command(name = "upgrade_echo")]
struct Arguments {
    /// The address to listen on (port 0: any free port).
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Arguments::parse().listen {
        Some(address) => listen(address).await.map_err(Into::into),
        None => show().await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(error);
            ExitCode::FAILURE
        }
    }
}

/// Echoes messages until the client closes the connection or breaks the protocol.
async fn echo(socket: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut connection = Framed::new(socket, MessageCodec::server());
    let mut wait = MESSAGE;
    while let Some(message) = timeout(wait, connection.next()).await? {
        let answer = match message? {
            Ok(Message::Ping(payload)) => Message::Pong(payload),
            Ok(Message::Pong(_)) => continue,
            Ok(message) => message,
            Err(error) => error.into(),
        };
        let is_last = matches!(answer, Message::Close(_));
        connection.send(answer).await?;
        if is_last {
            connection.close().await?;
            wait = WAIT;
        }
    }
    Ok(())
}

/// The upgraded connection keeps `permit` until it ends.
async fn upgrade(
    mut request: Request<Incoming>,
    permit: Arc<OwnedSemaphorePermit>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let mut response = Response::new(Empty::new());
    let accept = match websocket::accept(&request) {
        Ok(accept) => accept,
        Err(error) => {
            *response.status_mut() = error.status();
            websocket::offer_upgrade(response.headers_mut());
            return Ok(response);
        }
    };
    tokio::spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(&mut request).await {
            // An error ends this connection only.
            let _lost = echo(TokioIo::new(upgraded)).await;
        }
        drop(permit);
    });
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    Ok(response)
}

/// The longest time for a request, for a write without progress, and for the end of a connection.
const WAIT: Duration = Duration::from_secs(30);
/// The longest time until a message is complete.
const MESSAGE: Duration = Duration::from_secs(300);
/// The most connections at a time; others wait.
const CONNECTIONS: usize = 1024;

async fn serve(listener: TcpListener) {
    let free = Arc::new(Semaphore::new(CONNECTIONS));
    while let Ok(permit) = Arc::clone(&free).acquire_owned().await {
        let Ok((socket, _)) = listener.accept().await else {
            // Such as too many open files: try again later.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let permit = Arc::new(permit);
        let service = service_fn(move |request| upgrade(request, Arc::clone(&permit)));
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(WAIT);
        let socket = TokioIo::new(WriteTimeout::new(socket, WAIT));
        tokio::spawn(builder.serve_connection(socket, service).with_upgrades());
    }
}

async fn listen(address: SocketAddr) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    say(format_args!("listening on ws://{}/", listener.local_addr()?))?;
    serve(listener).await;
    Ok(())
}

/// Connects to the server as a client, and checks what it answers.
async fn show() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(serve(listener));
    let mut client = Client::connect(address, "/").await?;
    client.send_frame(Opcode::Text, false, b"10 \xE2\x82").await?;
    client.send_frame(Opcode::Ping, true, b"?").await?;
    client.send_frame(Opcode::Continuation, true, b"\xAC").await?;
    for (opcode, payload) in [(Opcode::Pong, "?"), (Opcode::Text, "10 €")] {
        let frame = client.receive().await?.ok_or("the connection has ended")?;
        if (frame.opcode, &*frame.payload) != (opcode, payload.as_bytes()) {
            return Err(format!("{frame:?} instead of {payload:?}").into());
        }
        say(format_args!("{opcode:?}: {payload}"))?;
    }
    client.send_frame(Opcode::Text, true, b"caf\xE9!").await?;
    let (code, reason) = client.closed().await?.ok_or("a close frame without a code")?;
    say(format_args!("Close: {code} {reason}"))?;
    if code != 1007 {
        return Err("instead of 1007".into());
    }
    server.abort();
    say("ok: text is validated as it arrives")?;
    Ok(())
}
