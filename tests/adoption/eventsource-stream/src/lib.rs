//! The API of eventsource-stream 0.2, on top of `utf8-codec`.
//!
//! It differs where WHATWG HTML, section 9.2, decides it: ill-formed bytes become U+FFFD and are no error, and an event
//! needs a `data` line. `retry` is that of the event, unless the event before had the same.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::string::FromUtf8Error;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use nom::error::{Error as NomError, ErrorKind};
use pin_project_lite::pin_project;
use utf8_codec::sse::EventDecoder;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub event: String,
    pub data: String,
    pub id: String,
    pub retry: Option<Duration>,
}

/// Why a stream of events failed.
#[derive(Debug, PartialEq)]
pub enum EventStreamError<E> {
    /// Never here.
    Utf8(FromUtf8Error),
    /// An event is longer than the limits of `utf8_codec::sse`.
    Parser(NomError<String>),
    Transport(E),
}

impl<E: fmt::Display> fmt::Display for EventStreamError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8(error) => write!(f, "UTF8 error: {error}"),
            Self::Parser(error) => write!(f, "Parse error: {error}"),
            Self::Transport(error) => write!(f, "Transport error: {error}"),
        }
    }
}

impl<E: fmt::Display + fmt::Debug + Send + Sync> std::error::Error for EventStreamError<E> {}

pin_project! {
    /// A stream of events.
    pub struct EventStream<S> {
        #[pin]
        stream: S,
        decoder: EventDecoder,
        retry: Option<Duration>,
        events: VecDeque<Result<Event, NomError<String>>>,
    }
}

impl<S: fmt::Debug> fmt::Debug for EventStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl<S> EventStream<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, decoder: EventDecoder::new(), retry: None, events: VecDeque::new() }
    }

    pub fn set_last_event_id(&mut self, id: impl Into<String>) {
        let decoder = std::mem::take(&mut self.decoder);
        self.decoder = decoder.with_last_event_id(id.into());
    }

    pub fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }
}

impl<S, B, E> Stream for EventStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<Event, EventStreamError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        loop {
            if let Some(event) = this.events.pop_front() {
                return Poll::Ready(Some(event.map_err(EventStreamError::Parser)));
            }
            let chunk = match ready!(this.stream.as_mut().poll_next(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => {
                    return Poll::Ready(Some(Err(EventStreamError::Transport(error))));
                }
                Some(Ok(chunk)) => chunk,
            };
            decode(this.decoder, chunk.as_ref(), this.retry, this.events);
        }
    }
}

/// Appends the events that `chunk` ends.
fn decode(
    decoder: &mut EventDecoder,
    mut chunk: &[u8],
    retry: &mut Option<Duration>,
    events: &mut VecDeque<Result<Event, NomError<String>>>,
) {
    loop {
        let start = decoder.position();
        let Some(result) = decoder.push(chunk).next() else { return };
        chunk = &chunk[(decoder.position() - start) as usize..];
        let now = decoder.reconnection_time();
        events.push_back(match result {
            Ok(event) => Ok(Event {
                event: String::from(&*event.event_type),
                data: event.data.into_owned(),
                id: String::from(&*event.last_event_id),
                retry: now.filter(|_| now != *retry),
            }),
            Err(error) => Err(NomError::new(error.to_string(), ErrorKind::TooLarge)),
        });
        *retry = now;
    }
}

/// Streams of bytes that are streams of events.
pub trait Eventsource: Sized {
    fn eventsource(self) -> EventStream<Self>;
}

impl<S, B, E> Eventsource for S
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    fn eventsource(self) -> EventStream<Self> {
        EventStream::new(self)
    }
}
