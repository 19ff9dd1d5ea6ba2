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
use reqwest::{Client, RequestBuilder, Response};
use thiserror::Error;
use tokio::sync::Semaphore;
use utf8_codec::ByteString;
use utf8_codec::sse::{Event, EventDecoder, Reconnection, ResponseError};
use utf8_codec::stream::{
    Attempt, EventResponse, EventSource, EventSourceError, Eventsource, StreamError, Utf8Stream,
};

/// The events of a response.
pub type Events = Utf8Stream<BoxStream<'static, reqwest::Result<Bytes>>, EventDecoder>;

/// An event, or an error: an event that is too long, or the end of a broken connection.
pub type Item = Result<Event<ByteString>, StreamError<reqwest::Error>>;

/// The reason why a client has no events.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The server could not be reached. Another attempt may succeed.
    #[error(transparent)]
    Unreachable(reqwest::Error),
    /// The response is no event stream: another status than 200, or another media type.
    #[error("no event stream: {0}")]
    NoEventStream(#[from] ResponseError),
    /// The last connections failed or had no event.
    #[error("gave up after {0} connections in a row without an event")]
    GaveUp(u32),
    /// Nobody takes the events.
    #[error(transparent)]
    Output(io::Error),
}

/// The longest time for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// The longest time without a byte of the response. Servers send a comment every 15 seconds or so.
const SILENCE: Duration = Duration::from_secs(60);

/// Passes the events of `url` on, and reconnects when the stream ends. It returns when the server answers with
/// the status 204, which the standard has for this purpose.
///
/// # Errors
///
/// An error of the first connection; a response that is no event stream; or too many failures in a row, of which the last error has
/// been passed on.
pub async fn follow(
    url: &str,
    rules: Reconnection,
    mut pass_on: impl FnMut(Item) -> io::Result<()>,
) -> Result<(), ConnectError> {
    let client = Client::builder().connect_timeout(CONNECT).read_timeout(SILENCE).build();
    let client = client.map_err(ConnectError::Unreachable)?;
    let connect = |attempt: Attempt| {
        let request = request(&client, url, &attempt.last_event_id);
        async move {
            tokio::time::sleep(attempt.delay).await;
            let response = request.send().await?;
            let (status, media_type) = (response.status().as_u16(), content_type(&response));
            Ok(EventResponse::new(status, media_type, response.bytes_stream().boxed()))
        }
    };
    let mut source = EventSource::new(connect).with_reconnection(rules);
    let mut is_first = true;
    while let Some(item) = source.next().await {
        let item = match item {
            Ok(event) => Ok(event),
            Err(EventSourceError::Event(error)) => Err(error),
            Err(EventSourceError::Connect(error)) if is_first => {
                return Err(ConnectError::Unreachable(error));
            }
            Err(EventSourceError::Connect(error)) => Err(StreamError::Inner(error)),
            Err(EventSourceError::Refused(refusal)) => return Err(refusal.into()),
            Err(EventSourceError::GaveUp { failures }) => {
                return Err(ConnectError::GaveUp(failures));
            }
            Err(error) => return Err(ConnectError::Output(io::Error::other(error))),
        };
        is_first = false;
        pass_on(item).map_err(ConnectError::Output)?;
    }
    Ok(())
}

/// Requests the events after `last_event_id`, once. Returns `None` if there will be no more.
///
/// # Errors
///
/// [`ConnectError::Unreachable`] or [`ConnectError::NoEventStream`].
pub async fn connect(
    client: &Client,
    url: &str,
    last_event_id: &str,
) -> Result<Option<Events>, ConnectError> {
    let response = request(client, url, last_event_id).send().await;
    let response = response.map_err(ConnectError::Unreachable)?;
    let media_type = content_type(&response);
    match Reconnection::new().accept(response.status().as_u16(), &media_type) {
        Ok(()) => {}
        Err(ResponseError::NoContent) => return Ok(None),
        Err(refusal) => return Err(refusal.into()),
    }
    let events = response.bytes_stream().boxed().eventsource();
    Ok(Some(events.with_last_event_id(last_event_id)))
}

fn request(client: &Client, url: &str, last_event_id: &str) -> RequestBuilder {
    let request = client.get(url).header(ACCEPT, MEDIA_TYPE).header(CACHE_CONTROL, "no-store");
    match HeaderValue::from_bytes(last_event_id.as_bytes()) {
        Ok(id) if !id.is_empty() => request.header("last-event-id", id),
        // An ID with control characters cannot be sent.
        _ => request,
    }
}

fn content_type(response: &Response) -> Vec<u8> {
    response.headers().get(CONTENT_TYPE).map_or(Vec::new(), |field| field.as_bytes().to_vec())
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
