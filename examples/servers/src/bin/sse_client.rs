//! A client of server-sent events that prints each event as soon as it arrives.
//!
//! It shows `EventSource` over the bodies of reqwest responses, with what the standard leaves to the client: it
//! checks the status and the media type, and reconnects with `Last-Event-ID` after the time that the server
//! sets, within bounds. See `follow` in `src/sse.rs`. It is built without TLS: the URL begins with `http:`.
//!
//! ```text
//! cargo run --release -p servers --bin sse_client [URL]
//! ```
//!
//! Without a URL, it starts a server on a loopback socket. That server sends a text in many scripts, word by
//! word, in pieces that end inside characters and between CR and LF. It sends each event only after the
//! client has printed the previous one. The program exits with 0 if all of the text is right.

#[path = "../../../support/output.rs"]
mod output;

use std::error::Error;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use futures::TryStreamExt;
use servers::sse::{self, Item, Piece};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use utf8_codec::ByteString;
use utf8_codec::sse::{Event, Reconnection};

use output::{Visible, complain, put, say};

/// Prints server-sent events as they arrive.
#[derive(Debug, Parser)]
#[command(name = "sse_client")]
struct Arguments {
    /// The source of the events; by default, a server on a loopback socket.
    url: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Arguments::parse().url {
        Some(url) => follow(&url).await,
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

type Outcome = Result<(), Box<dyn Error>>;

/// Prints the events of a server until it has no more.
async fn follow(url: &str) -> Outcome {
    let print = |item: Item| match item {
        Ok(event) => say(format_args!("{}: {}", Visible(&event.event_type), Visible(&event.data))),
        Err(error) => {
            complain(error);
            Ok(())
        }
    };
    Ok(sse::follow(url, Reconnection::default(), print).await?)
}

/// Prints the events of a server on a loopback socket, and checks each.
async fn show() -> Outcome {
    let expected = tokens();
    let seen = Arc::new(Semaphore::new(0));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let pieces = script(&expected);
    let count = pieces.iter().filter(|piece| matches!(piece, Piece::Bytes(_))).count();
    let server = axum::serve(listener, sse::router(pieces, seen.clone()));
    let server = tokio::spawn(async move { server.await });

    let events = sse::connect(&reqwest::Client::new(), &url, "").await?;
    let mut events = events.ok_or("no events")?;
    for (n, token) in expected.iter().enumerate() {
        let event = tokio::time::timeout(PATIENCE, events.try_next()).await;
        let event = event.map_err(|_| format!("no event after number {n}"))??;
        let (event_type, last_event_id) = ("token".into(), n.to_string().into());
        let wanted =
            Event { event_type, last_event_id, ..Event::new(ByteString::from_static(token)) };
        if event.as_ref() != Some(&wanted) {
            return Err(format!("{event:?} instead of {wanted:?}").into());
        }
        put(token)?;
        seen.add_permits(1);
    }
    if let Some(event) = events.try_next().await? {
        return Err(format!("{event:?} instead of the end").into());
    }
    server.abort();
    say(format_args!(
        "ok: {} events in {count} pieces, each shown before the next was sent",
        expected.len()
    ))?;
    Ok(())
}

/// The words of the text, each with the space or line feed after it.
fn tokens() -> Vec<&'static str> {
    TEXT.split_inclusive([' ', '\n']).collect()
}

/// Events with every kind of line ending, after a BOM, with comments between them.
fn script(tokens: &[&str]) -> Vec<Piece> {
    let mut pieces = sse::hostile_pieces("\u{FEFF}: žádná událost\r".as_bytes());
    pieces.pop(); // the wait: a comment is not an event
    for (n, token) in tokens.iter().enumerate() {
        let newline = ["\n", "\r\n", "\r"][n % 3];
        let mut lines = vec![": коммéнтарий".to_owned(), "event: token".into(), format!("id:{n}")];
        lines.extend(token.split('\n').map(|line| format!("data: {line}")));
        let event = format!("{}{newline}{newline}", lines.join(newline));
        pieces.extend(sse::hostile_pieces(event.as_bytes()));
    }
    pieces
}

/// How long to wait for an event.
const PATIENCE: Duration = Duration::from_secs(30);

const TEXT: &str = "\
The quick brown fox jumps over the lazy dog.
Příliš žluťoučký kůň úpěl ďábelské ódy.
Съешь же ещё этих мягких французских булок.
Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.
דג סקרן שט בים מאוכזב ולפתע מצא לו חברה.
نص حكيم له سر قاطع وذو شأن عظيم.
เป็นมนุษย์สุดประเสริฐเลิศคุณค่า
いろはにほへと ちりぬるを 天地玄黄 宇宙洪荒 다람쥐 헌 쳇바퀴에 타고파
👋🏽 👩‍👩‍👧‍👦 🏴‍☠️ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𒀀𒀁 🎉
";
