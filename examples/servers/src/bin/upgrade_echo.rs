//! A WebSocket echo server in a few lines: `FrameHeader` and `MessageAssembler` on a connection that hyper has
//! upgraded. The function `receive` is all that a server needs to read messages.
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

use bytes::{Buf, Bytes, BytesMut};
use clap::Parser;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use servers::drain::drain;
use servers::socket::WriteTimeout;
use servers::websocket;
use servers::websocket::client::Client;
use servers::websocket::connection::send;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use utf8_codec::websocket::{
    FrameHeader, Message, MessageAssembler, MessageError, Opcode, encode_close,
};

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

/// Returns the next message of a client, or `None` at the end. Text is validated while it arrives.
async fn receive(
    socket: &mut (impl AsyncRead + Unpin),
    buffer: &mut BytesMut,
    connection: &mut MessageAssembler,
) -> io::Result<Option<Message>> {
    loop {
        let (header, len) = loop {
            match FrameHeader::parse_from_client(buffer)? {
                Some(parsed) => break parsed,
                None if socket.read_buf(buffer).await? > 0 => {}
                None if buffer.is_empty() => return Ok(None),
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        buffer.advance(len);
        connection.start(&header)?;
        let mut rest = header.payload_length();
        while rest > 0 {
            if buffer.is_empty() && socket.read_buf(buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let len = rest.min(buffer.len() as u64);
            connection.push_bytes(buffer.split_to(len as usize))?;
            rest -= len;
        }
        if let Some(message) = connection.end_frame()? {
            return Ok(Some(message));
        }
    }
}

/// Echoes messages until the client closes the connection or breaks the protocol.
async fn echo(socket: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<()> {
    let (mut buffer, mut connection) = (BytesMut::new(), MessageAssembler::new());
    let close = loop {
        match timeout(MESSAGE, receive(socket, &mut buffer, &mut connection)).await? {
            Ok(Some(Message::Text(text))) => send(socket, Opcode::Text, text.into_bytes()).await?,
            Ok(Some(Message::Binary(bytes))) => send(socket, Opcode::Binary, bytes).await?,
            Ok(Some(Message::Ping(payload))) => send(socket, Opcode::Pong, payload).await?,
            Ok(Some(Message::Pong(_))) => {}
            Ok(Some(Message::Close(Some((code, reason))))) => break encode_close(code, &reason)?,
            Ok(Some(Message::Close(None))) => break Bytes::new(),
            Ok(None) => return Ok(()),
            Err(error) => match error.get_ref().and_then(|error| error.downcast_ref()) {
                Some(error) => break MessageError::to_close(error),
                None => return Err(error),
            },
        }
    };
    send(socket, Opcode::Close, close).await?;
    socket.shutdown().await?;
    drain(socket, WAIT, 1 << 20).await;
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
            return Ok(response);
        }
    };
    tokio::spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(&mut request).await {
            // An error ends this connection only.
            let _lost = echo(&mut TokioIo::new(upgraded)).await;
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
