//! Server-sent events (WHATWG HTML, section 9.2): a parser for a client, and a server that sends events
//! split in awkward places.

use std::io;
use std::mem;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use bytes::Bytes;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use tokio::sync::Semaphore;
use tokio_util::codec::FramedRead;
use tokio_util::io::StreamReader;
use utf8_codec::codec::Utf8LinesCodec;
use utf8_codec::lines::{Delimiter, LineEnd, LineError};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The field `event`, or `message` if there was none.
    pub name: String,
    /// The fields `data`, joined by line feeds.
    pub data: String,
    /// The most recent field `id`.
    pub id: String,
}

/// Turns lines into events.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    name: String,
    data: String,
    id: String,
}

impl Parser {
    /// Parses the next line; an empty line ends an event.
    pub fn push(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let name = mem::take(&mut self.name);
            let mut data = mem::take(&mut self.data);
            data.pop()?; // the last line feed
            let name = if name.is_empty() { "message".to_owned() } else { name };
            return Some(Event { name, data, id: self.id.clone() });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = value.to_owned(),
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            "id" if !value.contains('\0') => self.id = value.to_owned(),
            _ => {} // a comment, `retry`, or an unknown field
        }
        None
    }
}

/// Turns the chunks of a body into events. As in the standard, a BOM at the start is removed, ill-formed
/// parts are replaced, and lines end with CR, LF or CR LF.
///
/// # Errors
///
/// An item is an error if a chunk is one, or if a line is longer than [`MAX_LINE`] bytes.
pub fn events<E>(
    chunks: impl Stream<Item = Result<Bytes, E>>,
) -> impl Stream<Item = io::Result<Event>>
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let codec = Utf8LinesCodec::new()
        .with_delimiter(Delimiter::any_newline())
        .with_options(Utf8Options::new().with_bom(BomPolicy::Strip))
        .with_error_mode(ErrorMode::Replacement)
        .with_max_length(MAX_LINE);
    let reader = StreamReader::new(chunks.map_err(io::Error::other));
    let mut parser = Parser::default();
    FramedRead::new(reader, codec).filter_map(move |line| {
        let event = match line {
            Ok(Ok(line)) if line.end == LineEnd::Delimiter => parser.push(&line).map(Ok),
            Ok(Ok(_)) => None, // the stream ended inside this line
            Ok(Err(error)) => Some(Err(too_long(error))),
            Err(error) => Some(Err(error)),
        };
        std::future::ready(event)
    })
}

fn too_long(error: LineError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// The longest line, in bytes.
pub const MAX_LINE: usize = 1 << 20;

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
        std::future::ready(([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(chunks)))
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
