//! Server-sent events (WHATWG HTML, section 9.2): a client that reconnects, and a server that sends events
//! split in awkward places.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use reqwest::header::{ACCEPT, CACHE_CONTROL, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use thiserror::Error;
use tokio::sync::Semaphore;
use utf8_codec::ByteString;
use utf8_codec::sse::{Event, EventDecoder};
use utf8_codec::stream::{StreamError, Utf8Stream, Utf8StreamExt};

/// The events of a response.
pub type Events = Utf8Stream<BoxStream<'static, reqwest::Result<Bytes>>, EventDecoder>;

/// An event, or an error: an event that is too long, or the end of a broken connection.
pub type Item = Result<Event<ByteString>, StreamError<reqwest::Error>>;

/// How long a client waits before it reconnects, and when it stops.
#[derive(Clone, Copy, Debug)]
pub struct Reconnection {
    /// The time to wait, unless the server sets another. It doubles with each failure.
    pub wait: Duration,
    /// The maximum time to wait, whatever the server sets.
    pub max_wait: Duration,
    /// How many connections in a row can fail, or end without an event.
    pub max_failures: u32,
}

impl Default for Reconnection {
    fn default() -> Self {
        let (wait, max_wait) = (Duration::from_secs(1), Duration::from_secs(60));
        Self { wait, max_wait, max_failures: 5 }
    }
}

impl Reconnection {
    /// Returns the time to wait after this many failures. `server` is the time that the server has set: it can
    /// make the client wait longer than by default, but not shorter.
    fn wait(&self, server: Option<Duration>, failures: u32) -> Duration {
        let first = server.unwrap_or_default().max(self.wait);
        first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(self.max_wait)
    }
}

/// The reason why a client has no events.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The server could not be reached. Another attempt may succeed.
    #[error(transparent)]
    Unreachable(reqwest::Error),
    /// The response is no event stream: another status than 200, or another media type.
    #[error("no event stream: {0}")]
    NoEventStream(String),
    /// The last connections failed or had no event.
    #[error("gave up after {0} connections in a row without an event")]
    GaveUp(u32),
    /// Nobody takes the events.
    #[error(transparent)]
    Output(io::Error),
}

/// Passes the events of `url` on, and reconnects when the stream ends. It returns when the server answers with
/// the status 204, which the standard has for this purpose.
///
/// # Errors
///
/// An error of the first connection; a response that is no event stream; or too many failures in a row.
pub async fn follow(
    url: &str,
    rules: Reconnection,
    mut pass_on: impl FnMut(Item) -> io::Result<()>,
) -> Result<(), ConnectError> {
    let client = Client::new();
    let mut connection = connect(&client, url, "").await?;
    let (mut server_wait, mut failures) = (None, 0);
    while let Some(mut events) = connection {
        failures += 1;
        while let Some(item) = events.next().await {
            if item.is_ok() {
                failures = 0;
            }
            pass_on(item).map_err(ConnectError::Output)?;
        }
        let last_event_id = events.decoder().last_event_id().to_owned();
        server_wait = events.decoder().reconnection_time().or(server_wait);
        drop(events);
        connection = loop {
            if failures > rules.max_failures {
                return Err(ConnectError::GaveUp(failures));
            }
            tokio::time::sleep(rules.wait(server_wait, failures)).await;
            match connect(&client, url, &last_event_id).await {
                Err(ConnectError::Unreachable(_)) => failures += 1,
                outcome => break outcome?,
            }
        };
    }
    Ok(())
}

/// Requests the events after `last_event_id`. Returns `None` if there will be no more.
///
/// # Errors
///
/// [`ConnectError::Unreachable`] or [`ConnectError::NoEventStream`].
pub async fn connect(
    client: &Client,
    url: &str,
    last_event_id: &str,
) -> Result<Option<Events>, ConnectError> {
    let mut request = client.get(url).header(ACCEPT, MEDIA_TYPE).header(CACHE_CONTROL, "no-store");
    // An ID with control characters cannot be sent.
    if let Ok(id) = HeaderValue::from_bytes(last_event_id.as_bytes())
        && !id.is_empty()
    {
        request = request.header("last-event-id", id);
    }
    let response = request.send().await.map_err(ConnectError::Unreachable)?;
    if response.status() == StatusCode::NO_CONTENT {
        return Ok(None);
    }
    check(&response).map_err(ConnectError::NoEventStream)?;
    let events = response.bytes_stream().boxed().utf8().events();
    Ok(Some(events.with_last_event_id(last_event_id)))
}

/// Checks the status and the media type, whose parameters are ignored.
fn check(response: &Response) -> Result<(), String> {
    if response.status() != StatusCode::OK {
        return Err(format!("status {}", response.status()));
    }
    let field = response.headers().get(CONTENT_TYPE).map_or(&[][..], HeaderValue::as_bytes);
    let media_type = field.split(|&byte| byte == b';').next().unwrap_or_default();
    if media_type.trim_ascii().eq_ignore_ascii_case(MEDIA_TYPE.as_bytes()) {
        return Ok(());
    }
    Err(format!("media type {:?}", String::from_utf8_lossy(media_type)))
}

const MEDIA_TYPE: &str = "text/event-stream";

/// A server that sends these pieces at `/`. At each [`Piece::Wait`] it waits for a permit of `seen`.
pub fn router(pieces: Vec<Piece>, seen: Arc<Semaphore>) -> Router {
    let send = move || {
        let pieces = pieces.clone();
        let seen = seen.clone();
        let chunks = stream::iter(pieces).filter_map(move |piece| {
            let seen = seen.clone();
            async move {
                match piece {
                    Piece::Bytes(bytes) => {
                        // So that the piece is sent in a packet of its own.
                        tokio::task::yield_now().await;
                        Some(Ok::<_, io::Error>(bytes))
                    }
                    Piece::Wait => {
                        seen.acquire().await.map_err(io::Error::other).ok()?.forget();
                        None
                    }
                }
            }
        });
        std::future::ready(([(CONTENT_TYPE, MEDIA_TYPE)], Body::from_stream(chunks)))
    };
    Router::new().route("/", get(send))
}

/// A step of the server.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Send these bytes.
    Bytes(Bytes),
    /// Wait until the client has seen everything so far.
    Wait,
}

/// Splits an event inside every character and between CR and LF. The wait comes right after the byte that
/// completes the event.
pub fn hostile_pieces(event: &[u8]) -> Vec<Piece> {
    let is_cut = |at: usize| {
        let (before, after) = (event[at - 1], event[at]);
        let is_inside = matches!(after, 0x80..=0xBF);
        is_inside || (before == b'\r' && after == b'\n')
    };
    // The CR of the last CR LF completes the event.
    let complete = if event.ends_with(b"\r\n") { event.len() - 1 } else { event.len() };
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in 1..=event.len() {
        if at == event.len() || at == complete || is_cut(at) {
            pieces.push(Piece::Bytes(Bytes::copy_from_slice(&event[start..at])));
            start = at;
        }
        if at == complete {
            pieces.push(Piece::Wait);
        }
    }
    pieces
}
