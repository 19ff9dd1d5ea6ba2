//! How do connections become one stream of events?

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use bytestring::ByteString;
use futures::stream::FusedStream;
use futures::{Stream, TryStream};

use crate::adaptor::chunks::{MAX_TURNS, coop_yield};
use crate::sse::{Event, EventDecoder, Reconnection, ResponseError, SharedStr};
use crate::stream::{StreamError, Utf8Stream};

/// A stream of the server-sent events of one connection after another, like the `EventSource` of browsers (WHATWG HTML,
/// section 9.2).
///
/// Your function connects: it waits for the delay of the [`Attempt`], sends the request, and returns the status, the
/// media type and the chunks of the response. [`Reconnection`] decides what they mean and when to connect again.
///
/// The stream yields the events, and each error as an item. It ends after status 204, which the server sends for this
/// purpose; after a response that is no event stream; and after too many failures in a row. The last item before the
/// end is the reason, unless that is status 204. The event that the end of a connection cuts off is dropped, as in the
/// standard: a server whose events have IDs sends it again, because its ID has not applied. A server without IDs, such as those of
/// most chat APIs, starts again from the beginning: use [`events`](Utf8Stream::events) on one response there.
///
/// Leave the loop at the last event of your protocol, such as `[DONE]`. Otherwise the source connects again.
///
/// It holds a future of your function or a connection, with what [`events`](Utf8Stream::events) holds, and the last event
/// ID. After 32 consecutive connections that yield nothing, it wakes the task and returns `Pending`.
///
/// # Cancel safety
///
/// Dropping the future of `next()` loses nothing.
///
/// # Examples
///
/// ```
/// use futures::{StreamExt, stream};
/// use utf8_codec::stream::{EventResponse, EventSource, EventSourceError};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let mut connections = 0;
/// let mut source = EventSource::new(|attempt| {
///     connections += 1;
///     let body: &[u8] = match (&*attempt.last_event_id, connections) {
///         ("", 1) => b"id: 1\ndata: caf\xC3\xA9\n\ndata: \xE2", // it breaks here
///         ("1", 2) => b"id: 2\ndata: \xE2\x82\xAC\n\n",
///         _ => b"",
///     };
///     async move {
///         tokio::time::sleep(attempt.delay).await;
///         let status = if body.is_empty() { 204 } else { 200 };
///         let chunks = stream::iter([Ok::<_, std::io::Error>(body)]);
///         Ok::<_, std::io::Error>(EventResponse::new(status, "text/event-stream", chunks))
///     }
/// });
/// let data: Vec<_> = source.by_ref().map(|event| event.unwrap().data).collect().await;
/// assert_eq!(data, ["café", "€"]);
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct EventSource<C, F, S> {
    connect: C,
    state: State<F, S>,
    reconnection: Reconnection,
    decoder: EventDecoder,
}

enum State<F, S> {
    /// The next attempt, after this delay.
    Waiting(Duration),
    Connecting(Pin<Box<F>>),
    Open(Pin<Box<Utf8Stream<S, EventDecoder>>>),
    /// `GaveUp` follows the last error.
    GivingUp,
    Closed,
}

/// What a function that connects has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The time to wait before the request: zero for the first.
    pub delay: Duration,
    /// What to send as `Last-Event-ID`, in UTF-8, unless it is empty.
    pub last_event_id: SharedStr,
}

/// A response, as far as it matters here.
#[derive(Clone, Debug)]
pub struct EventResponse<S> {
    status: u16,
    content_type: Vec<u8>,
    chunks: S,
}

impl<S> EventResponse<S> {
    /// Creates a response with this status, the value of its `Content-Type`, or nothing if it has none, and the chunks of
    /// its body.
    pub fn new(status: u16, content_type: impl AsRef<[u8]>, chunks: S) -> Self {
        Self { status, content_type: content_type.as_ref().into(), chunks }
    }
}

/// An error in a stream of events over several connections. `E` is that of the function that connects, `B` that of a
/// body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventSourceError<E, B> {
    /// There was no response. The stream connects again or gives up.
    #[error(transparent)]
    Connect(E),
    /// The response is no event stream. The stream ends, unless
    /// [`retry_busy_servers`](crate::sse::Reconnection::retry_busy_servers) makes the status a failure.
    #[error(transparent)]
    Refused(ResponseError),
    /// An event was rejected, or the body broke. In the second case, the stream connects again or gives up.
    #[error(transparent)]
    Event(StreamError<B>),
    /// Too many connections in a row have failed or ended without an event. The stream ends. If the last of them had an error,
    /// that is the item before this one.
    #[error("{failures} connections in a row without an event")]
    GaveUp {
        /// The number of connections.
        failures: u32,
    },
}

impl<C, F, S> EventSource<C, F, S> {
    /// Creates a stream of the events of the connections that `connect` makes, with the default [`Reconnection`].
    pub fn new<E>(connect: C) -> Self
    where
        C: FnMut(Attempt) -> F,
        F: Future<Output = Result<EventResponse<S>, E>>,
    {
        Self {
            connect,
            state: State::Waiting(Duration::ZERO),
            reconnection: Reconnection::new(),
            decoder: EventDecoder::new(),
        }
    }

    /// Sets when to connect again, and the first last event ID. Call it before the first poll.
    pub fn with_reconnection(self, reconnection: Reconnection) -> Self {
        Self { reconnection, ..self }
    }

    /// Sets the limits and the strictness, those of `decoder`. What that has decoded is dropped. Call it before the first poll.
    pub fn with_decoder(self, mut decoder: EventDecoder) -> Self {
        decoder.reset();
        Self { decoder, ..self }
    }

    /// Returns the ID that the next connection starts with.
    pub fn last_event_id(&self) -> &SharedStr {
        match &self.state {
            State::Open(events) => events.decoder().shared_last_event_id(),
            _ => self.reconnection.last_event_id(),
        }
    }

    fn next_attempt(&mut self, delay: Option<Duration>, otherwise: State<F, S>) {
        self.state = delay.map_or(otherwise, State::Waiting);
    }
}

impl<C, F, S, E> Stream for EventSource<C, F, S>
where
    C: FnMut(Attempt) -> F,
    F: Future<Output = Result<EventResponse<S>, E>>,
    S: TryStream<Ok: Into<Bytes>>,
{
    type Item = Result<Event<ByteString>, EventSourceError<E, S::Error>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        for _ in 0..3 * MAX_TURNS {
            match &mut this.state {
                State::Waiting(delay) => {
                    let last_event_id = this.reconnection.last_event_id().clone();
                    let future = (this.connect)(Attempt { delay: *delay, last_event_id });
                    this.state = State::Connecting(Box::pin(future));
                }
                State::Connecting(future) => match ready!(future.as_mut().poll(cx)) {
                    Ok(EventResponse { status, content_type, chunks }) => {
                        let Err(refusal) = this.reconnection.accept(status, &content_type) else {
                            let id = this.reconnection.last_event_id().clone();
                            let decoder = this.decoder.clone().with_last_event_id(id);
                            this.state =
                                State::Open(Box::pin(Utf8Stream::new(chunks).into_chunks(decoder)));
                            continue;
                        };
                        let failures = this.reconnection.failures();
                        let delay = this.reconnection.refused(refusal);
                        // A status that is a failure does not end the stream, but too many failures do.
                        let is_failure = this.reconnection.failures() > failures;
                        let otherwise = if is_failure { State::GivingUp } else { State::Closed };
                        this.next_attempt(delay, otherwise);
                        if refusal != ResponseError::NoContent {
                            return Poll::Ready(Some(Err(EventSourceError::Refused(refusal))));
                        }
                    }
                    Err(error) => {
                        let delay = this.reconnection.failed();
                        this.next_attempt(delay, State::GivingUp);
                        return Poll::Ready(Some(Err(EventSourceError::Connect(error))));
                    }
                },
                State::Open(events) => {
                    let item = match ready!(events.as_mut().poll_next(cx)) {
                        Some(Ok(event)) => {
                            this.reconnection.received();
                            return Poll::Ready(Some(Ok(event)));
                        }
                        Some(Err(StreamError::Inner(error))) => Some(StreamError::Inner(error)),
                        Some(Err(error)) => {
                            return Poll::Ready(Some(Err(EventSourceError::Event(error))));
                        }
                        None => None,
                    };
                    let delay = this.reconnection.ended(events.decoder());
                    this.next_attempt(delay, State::GivingUp);
                    if let Some(error) = item {
                        return Poll::Ready(Some(Err(EventSourceError::Event(error))));
                    }
                }
                State::GivingUp => {
                    this.state = State::Closed;
                    let failures = this.reconnection.failures();
                    return Poll::Ready(Some(Err(EventSourceError::GaveUp { failures })));
                }
                State::Closed => return Poll::Ready(None),
            }
        }
        coop_yield(cx)
    }
}

impl<C, F, S> FusedStream for EventSource<C, F, S>
where
    Self: Stream,
{
    fn is_terminated(&self) -> bool {
        matches!(self.state, State::Closed)
    }
}

/// Futures and connections are on the heap, and functions are not pinned.
impl<C, F, S> Unpin for EventSource<C, F, S> {}

impl<C, F, S> fmt::Debug for EventSource<C, F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSource")
            .field("reconnection", &self.reconnection)
            .field("last_event_id", self.last_event_id())
            .finish_non_exhaustive()
    }
}
