//! A chat in which each connection breaks inside a character, and the answer arrives whole.
//!
//! The server sends an answer token by token, as the server of a language model does: an event for each, with an ID. After a
//! few events it closes the connection, in the middle of the next event and of a character. The client is an
//! [`EventSource`]: it connects again with the ID of the last whole event, and the server continues after it.
//!
//! ```text
//! cargo run --release -p servers --bin sse_chat
//! ```
//!
//! The program prints the answer as it arrives, with a mark where a connection broke. It exits with 0 if the answer is whole.

#[path = "../../../support/output.rs"]
mod output;

use std::error::Error;
use std::io;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use futures::{StreamExt, stream};
use servers::sse;
use tokio::net::TcpListener;
use utf8_codec::sse::{Event, EventEncoder, Reconnection};

use output::{complain, put, say};

#[tokio::main]
async fn main() -> ExitCode {
    match chat().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(error);
            ExitCode::FAILURE
        }
    }
}

/// Asks the server, and prints its answer.
async fn chat() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let server = axum::serve(listener, Router::new().route("/", get(answer)));
    let server = tokio::spawn(async move { server.await });

    let (mut received, mut broken) = (String::new(), 0);
    let rules =
        Reconnection::new().with_delay(Duration::from_millis(10), Duration::from_millis(50));
    let show = |item: sse::Item| match item {
        Ok(event) => {
            received.push_str(&event.data);
            put(&event.data)
        }
        Err(_) => {
            broken += 1;
            put("|")
        }
    };
    sse::follow(&url, rules, show).await?;
    server.abort();
    say(format_args!("\nok: {} bytes over {} connections", received.len(), broken + 1))?;
    if received == ANSWER && broken > 0 { Ok(()) } else { Err("the answer is not whole".into()) }
}

/// Sends the tokens after the last that the client has, and breaks the connection in the middle of a character.
async fn answer(headers: HeaderMap) -> Response {
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let mut encoder = EventEncoder::new();
    let tokens = ANSWER.split_inclusive(' ').enumerate().skip(seen.map_or(0, |id: usize| id + 1));
    let mut text = String::new();
    let mut whole = 0;
    for (sent, (id, token)) in tokens.enumerate() {
        whole = text.len();
        let event = Event { last_event_id: id.to_string().into(), ..Event::new(token) };
        let encoded = encoder.encode(&event, &mut text);
        encoded.expect("an ID and a token without line ends");
        if sent == 3 {
            break;
        }
    }
    let rest = &text[whole..];
    let chunks = match rest.char_indices().find(|(_, c)| !c.is_ascii()) {
        _ if text.is_empty() => return StatusCode::NO_CONTENT.into_response(),
        // One byte of the character, then the connection breaks.
        Some((at, _)) if whole > 0 => {
            let part = Bytes::copy_from_slice(&text.as_bytes()[..=whole + at]);
            vec![Ok(part), Err(io::Error::from(io::ErrorKind::ConnectionReset))]
        }
        _ => vec![Ok(Bytes::from(text))],
    };
    // The server sends what it has before the connection breaks.
    let chunks = stream::iter(chunks).then(|chunk| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        chunk
    });
    ([("content-type", "text/event-stream")], Body::from_stream(chunks)).into_response()
}

const ANSWER: &str = "Ein süßer Gruß: \
    žluťoučký kůň, съешь ещё этих булок, 天地玄黄 宇宙洪荒 , いろはにほへと ちりぬるを , γαζέες καὶ μυρτιὲς δὲν , 👋🏽 🎉 ✓";
