//! An HTTP server whose handlers take text: the extractors `Utf8Text` and `Utf8Body`, and `Utf8Layer`.
//! The handlers are in `src/text.rs`, and so is a client that checks the text of its responses.
//!
//! ```text
//! cargo run --release -p servers --bin http_text
//! ```
//!
//! Without arguments, it sends requests to itself over a loopback socket, prints the answers, and exits with 0 if
//! they are right. One of the answers is not UTF-8, and the client rejects it. To serve:
//!
//! ```text
//! cargo run --release -p servers --bin http_text -- --listen 127.0.0.1:8080
//! curl --data-binary @notes.txt -H 'Content-Type: text/plain' http://127.0.0.1:8080/count
//! ```

#[path = "../../../support/output.rs"]
mod output;

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use axum::routing::get;
use clap::Parser;
use http_body_util::BodyExt;
use reqwest::{Client, Method, Request};
use servers::text::{checked_client, router};
use servers::upload::{Limits, serve_router};
use tokio::net::TcpListener;
use tower::ServiceExt;
use utf8_codec::http::{BodyError, Utf8Layer};

use output::{complain, say};

/// An HTTP server whose handlers take text.
#[derive(Debug, Parser)]
#[command(name = "http_text")]
struct Arguments {
    /// The address to listen on (port 0: any free port).
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Arguments::parse().listen {
        Some(address) => listen(address).await,
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

async fn listen(address: SocketAddr) -> Outcome {
    let listener = TcpListener::bind(address).await?;
    say(format_args!("listening on http://{}/", listener.local_addr()?))?;
    serve_router(listener, router(), Limits::default()).await;
    Ok(())
}

/// Sends requests to the server, and checks each answer.
async fn show() -> Outcome {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let router = router().route("/damaged", get(damaged));
    let server = tokio::spawn(serve_router(listener, router, Limits::default()));
    let client = Client::new();
    for (path, media_type, body, status, answer) in REQUESTS {
        let request =
            client.post(format!("http://{address}{path}")).header("content-type", media_type);
        let response = request.body(body).send().await?;
        let found = (response.status().as_u16(), response.text().await?);
        say(format_args!(
            "{path} {media_type} \"{}\": {} {}",
            body.escape_ascii(),
            found.0,
            found.1
        ))?;
        if found != (status, answer.to_owned()) {
            return Err(format!("instead of {status} {answer}").into());
        }
    }
    let request = Request::new(Method::GET, format!("http://{address}/damaged").parse()?);
    let response = checked_client(client, Utf8Layer::new()).oneshot(request).await?;
    let Err(error) = response.into_body().collect().await else {
        return Err("the client accepts a text that is not UTF-8".into());
    };
    let offset = error.downcast_ref().and_then(BodyError::offset);
    say(format_args!("/damaged: the client rejects the answer: {error}"))?;
    if offset != Some(3) {
        return Err("instead of an error at byte 3".into());
    }
    server.abort();
    say(format_args!("ok: {} answers", REQUESTS.len() + 1))?;
    Ok(())
}

/// Answers with a text that is not UTF-8.
async fn damaged() -> ([(&'static str, &'static str); 1], &'static [u8]) {
    ([("content-type", "text/plain")], b"caf\xE9!")
}

/// The path, the media type and the body of a request, and the status and the text of the answer.
type Exchange = (&'static str, &'static str, &'static [u8], u16, &'static str);

const REQUESTS: [Exchange; 7] = [
    ("/count", "text/plain", "žluťoučký kůň".as_bytes(), 200, "13"),
    ("/count", "text/plain; charset=latin1", b"caf\xE9", 200, "4"),
    (
        "/count",
        "text/plain",
        b"caf\xE9!",
        400,
        "invalid UTF-8 in the body at byte 3: truncated character (e9, followed by 21)",
    ),
    ("/count", "text/plain; charset=klingon", b"nuqneH", 415, "unsupported charset: klingon"),
    ("/lines", "text/plain", b"one\ntw\xFF\nthree", 200, "3 lines, 1 damaged"),
    ("/json", "application/json", "[\"☃\"]".as_bytes(), 200, "[\"☃\"]"),
    ("/json", "text/plain", b"[]", 415, "unsupported media type: text/plain"),
];
