//! How does a stream of chunks become a stream of events?

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use futures::Stream;

use crate::adaptor::ChunkText;
use crate::sse::{Event, EventDecoder};
use crate::stream::{StreamError, Utf8Stream};

impl<S> Utf8Stream<S> {
    /// Returns a stream of the server-sent events ([`sse`](crate::sse)) of these chunks.
    ///
    /// The standard (WHATWG HTML, section 9.2) fixes how the bytes are decoded: one leading BOM is
    /// removed, and ill-formed bytes are replaced. Options and an error mode that you set before have no
    /// effect. The event stream starts after the text that has been yielded, and its offsets count from
    /// there.
    ///
    /// It yields an event as soon as the CR or LF of the empty line that ends it arrives. It holds one
    /// chunk and what its [`decoder`](Self::decoder) holds: at most 16 MiB of an event and 8 KiB of its ID, unless
    /// [`with_max_length`](Utf8Stream::with_max_length) and
    /// [`with_max_id_length`](Utf8Stream::with_max_id_length) set other limits, and the last event ID. While
    /// the inner stream is pending between two events, it holds only that ID on the heap. An incomplete
    /// event at the end of the inner stream is discarded. After 32 consecutive chunks that complete no
    /// event, it wakes the task and returns `Pending`, so that an always-ready source cannot starve other
    /// tasks.
    ///
    /// # Errors
    ///
    /// The stream yields [`StreamError::EventTooLong`] for an event that exceeds a limit, and
    /// [`StreamError::Inner`] if the inner stream fails. Bytes may be missing at that point, so the stream
    /// continues after the next empty line. A reader ([`from_reader`](Utf8Stream::from_reader)) loses
    /// nothing when it fails, so there the event continues. Ill-formed bytes are no error. The stream
    /// continues after every error.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let chunks = [&b"id: 1\ndata: caf\xC3"[..], b"\xA9\n", b"\ndata: cut off"];
    /// let mut events = stream::iter(chunks.map(Ok::<_, std::io::Error>)).utf8().events();
    /// let event = events.try_next().await?.unwrap();
    /// assert_eq!((&*event.data, &*event.last_event_id), ("café", "1"));
    /// assert_eq!(events.try_next().await?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn events<B, E>(self) -> Utf8Stream<S, EventDecoder>
    where
        S: Stream<Item = Result<B, E>>,
        B: Into<Bytes>,
    {
        self.into_chunks(EventDecoder::new())
    }
}

impl<S> Utf8Stream<S, EventDecoder> {
    /// Sets the maximum length of an event, in bytes; see [`EventDecoder::with_max_length`]. Call it
    /// before the first poll.
    pub fn with_max_length(self, max_length: usize) -> Self {
        self.map_decoder(|decoder| decoder.with_max_length(max_length))
    }

    /// Sets the maximum length of an ID, in bytes; see [`EventDecoder::with_max_id_length`]. Call it before the first
    /// poll.
    pub fn with_max_id_length(self, max_length: usize) -> Self {
        self.map_decoder(|decoder| decoder.with_max_id_length(max_length))
    }

    /// Sets the last event ID that applies until the stream sends another; see
    /// [`EventDecoder::with_last_event_id`]. Call it before the first poll.
    ///
    /// The [`decoder`](Self::decoder) returns the last event ID and the reconnection time of the stream.
    pub fn with_last_event_id(self, id: impl Into<Arc<str>>) -> Self {
        self.map_decoder(|decoder| decoder.with_last_event_id(id))
    }
}

/// Each item is an event. See [`events`](Utf8Stream::events).
impl<S, B, E> Stream for Utf8Stream<S, EventDecoder>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    type Item = Result<Event, StreamError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_with(cx, next_event, |_| Ok(None), EventDecoder::reject_event)
    }
}

/// Takes the next event from `chunk`.
fn next_event<E>(text: &mut ChunkText<EventDecoder>) -> Result<Option<Event>, StreamError<E>> {
    let ChunkText { decoder, chunk, .. } = text;
    let mut rest = &chunk[..];
    let event = decoder.next_event(&mut rest);
    match rest.len() {
        // An empty `Bytes` would keep its memory alive.
        0 => *chunk = Bytes::new(),
        rest => chunk.advance(chunk.len() - rest),
    }
    event.transpose().map_err(|(part, offset, max_length)| StreamError::EventTooLong {
        part,
        offset,
        max_length,
    })
}
