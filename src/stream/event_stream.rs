//! How does a stream of chunks become a stream of events?

use std::borrow::Borrow;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use bytestring::ByteString;
use futures::stream::FusedStream;
use futures::{Stream, TryStream};
use pin_project_lite::pin_project;
use utf8_simd::text::slice_text;

use crate::adaptor::{AfterError, ChunkText, MAX_TURNS, SourceState, coop_yield};
use crate::decoder::free_if_empty;
use crate::sse::{Event, EventDecoder, EventItem, Found, Rejection, SharedStr};
use crate::stream::utf8_stream::NextChunk;
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
    /// chunk and what its [`decoder`](Self::decoder) holds: at most 16 MiB of an event and two IDs of 8 KiB, unless
    /// [`with_max_length`](Utf8Stream::with_max_length) and
    /// [`with_max_id_length`](Utf8Stream::with_max_id_length) set other limits, and the last event ID. While
    /// the inner stream is pending between two events, it holds only that ID, and a type of at most 64 bytes, on the heap. The
    /// data of an event shares the memory of its chunk, so a small event keeps the whole chunk alive
    /// (`String::from(&*event.data)` copies it). Data that is cut, or that has several lines, is copied. An incomplete
    /// event at the end of the inner stream is discarded. After 32 consecutive chunks that complete no
    /// event, it wakes the task and returns `Pending`, so that an always-ready source cannot starve other
    /// tasks.
    ///
    /// # Errors
    ///
    /// The stream yields [`StreamError::EventTooLong`] for an event that exceeds a limit, and
    /// [`StreamError::Inner`] if the inner stream fails. Bytes may be missing at that point, so the stream
    /// continues after the next empty line. A reader ([`from_reader`](Utf8Stream::from_reader)) loses
    /// nothing when it fails, so there the event continues, unless the kind of the error is
    /// [`InvalidData`](std::io::ErrorKind::InvalidData), `UnexpectedEof` or `Other`: such a reader can have skipped bytes, as a
    /// [`CharsetReader`](crate::stream::CharsetReader) and a [`Utf8ByteReader`](crate::stream::Utf8ByteReader) skip an ill-formed part.
    /// The first event after text or lines can lack its beginning, if they ended with an error of the source. Ill-formed bytes are no error. The stream
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

    /// Returns a stream of the events, the comments, and the event that the end of the inner stream cuts off.
    ///
    /// Servers send comments while they have no event: with this stream, an idle timer does not fire on a connection that
    /// is alive. Call it before the first poll.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::sse::EventItem;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let chunks = [&b": ping\n\n"[..], b"data: caf\xC3"].map(Ok::<_, std::io::Error>);
    /// let mut items = stream::iter(chunks).utf8().events().items();
    /// assert_eq!(items.next().await.unwrap()?, EventItem::Comment("ping".into()));
    /// let EventItem::Incomplete(event) = items.next().await.unwrap()? else { panic!() };
    /// assert_eq!(event.data, "caf\u{FFFD}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn items(self) -> EventItems<S> {
        EventItems { events: self.map_decoder(EventDecoder::with_comments) }
    }

    /// Rejects each event with ill-formed bytes, which becomes a [`StreamError::Utf8`], instead of replacing them; see
    /// [`EventDecoder::strict`]. Call it before the first poll.
    pub fn strict(self) -> Self {
        self.map_decoder(EventDecoder::strict)
    }

    /// Sets the last event ID that applies until the stream sends another; see
    /// [`EventDecoder::with_last_event_id`]. Call it before the first poll.
    ///
    /// The [`decoder`](Self::decoder) returns the last event ID and the reconnection time of the stream.
    pub fn with_last_event_id(self, id: impl Into<SharedStr>) -> Self {
        self.map_decoder(|decoder| decoder.with_last_event_id(id))
    }
}

/// Each item is an event. See [`events`](Utf8Stream::events).
impl<S: TryStream<Ok: Into<Bytes>>> Stream for Utf8Stream<S, EventDecoder> {
    type Item = Result<Event<ByteString>, StreamError<S::Error>>;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_item(cx, |event| event, |_| None, |_| None)
    }
}

pin_project! {
    /// A stream of the events and comments of an event stream: see [`items`](Utf8Stream::items).
    #[derive(Clone, Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct EventItems<S> {
        #[pin]
        events: Utf8Stream<S, EventDecoder>,
    }
}

impl<S> EventItems<S> {
    /// Returns the decoder, with the last event ID and the reconnection time.
    pub fn decoder(&self) -> &EventDecoder {
        self.events.decoder()
    }
}

impl<S: TryStream<Ok: Into<Bytes>>> Stream for EventItems<S> {
    type Item = Result<EventItem<ByteString>, StreamError<S::Error>>;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let cut = |decoder: &mut EventDecoder| {
            Some(EventItem::Incomplete(decoder.finish()?.map_data(ByteString::from)))
        };
        let comment = |text| Some(EventItem::Comment(text));
        self.project().events.poll_item(cx, EventItem::Event, comment, cut)
    }
}

impl<S: TryStream<Ok: Into<Bytes>>> FusedStream for EventItems<S> {
    fn is_terminated(&self) -> bool {
        self.events.is_terminated()
    }
}

impl<S: TryStream<Ok: Into<Bytes>>> Utf8Stream<S, EventDecoder> {
    /// Polls for the next item: an `event`, a `comment` if those are found, or what the `end` has cut off.
    ///
    /// A chunk is only stored if bytes are left after an item: to store every chunk would cost a store-to-load forwarding stall
    /// each. Rows `event-stream/*/1` and `/64` of `benches/versus`.
    #[inline(always)]
    fn poll_item<T>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        event: impl Fn(Event<ByteString>) -> T,
        comment: impl Fn(ByteString) -> Option<T>,
        end: impl Fn(&mut EventDecoder) -> Option<T>,
    ) -> Poll<Option<Result<T, StreamError<S::Error>>>> {
        let mut this = self.project();
        let ChunkText { decoder, chunk: held, .. } = this.text;
        match *this.next_chunk {
            NextChunk::Plain => {}
            NextChunk::Converting => {
                *this.next_chunk = NextChunk::Plain;
                decoder.reject_event();
            }
            // Here, not at each chunk: rows `event-stream`. The source has not ended.
            NextChunk::AfterCr => match ready!(this.inner.as_mut().try_poll_next(cx)) {
                Some(Ok(chunk)) => {
                    *this.next_chunk = NextChunk::Converting;
                    (*held, *this.next_chunk) = NextChunk::without_lf(chunk.into());
                    if *this.next_chunk == NextChunk::AfterCr {
                        return coop_yield(cx);
                    }
                }
                Some(Err(error)) => {
                    let after_error = (this.after_error)(&this.inner);
                    if after_error != AfterError::Next {
                        *this.next_chunk = NextChunk::Plain;
                    }
                    return source_failed(decoder, after_error, error);
                }
                None => {
                    *this.next_chunk = NextChunk::Plain;
                    *this.state = SourceState::Ending;
                }
            },
        }
        if !held.is_empty() {
            let keep = |held: &mut Bytes, rest| {
                held.advance(held.len() - rest);
                free_if_empty(held);
            };
            if let Some(item) = next_item(decoder, &mut *held, keep, &event, &comment) {
                return Poll::Ready(Some(item));
            }
        }
        for _ in 0..MAX_TURNS {
            if *this.state != SourceState::Open {
                let state = mem::replace(this.state, SourceState::Ended);
                let is_ending = state == SourceState::Ending;
                return Poll::Ready(is_ending.then(|| end(decoder)).flatten().map(Ok));
            }
            match ready!(this.inner.as_mut().try_poll_next(cx)) {
                Some(Ok(chunk)) => {
                    *this.next_chunk = NextChunk::Converting;
                    let chunk: Bytes = chunk.into();
                    *this.next_chunk = NextChunk::Plain;
                    // Until here, the chunk is in registers: rows `event-stream/*/1`.
                    if decoder.take_byte(&chunk) {
                        continue;
                    }
                    let keep = |chunk: Bytes, rest| {
                        let used = chunk.len() - rest;
                        if rest > 0 {
                            // Stored before it is advanced: moving a changed chunk is a store-to-load forwarding stall. Rows
                            // `event-stream/ascii/180`.
                            *held = chunk;
                            held.advance(used);
                        }
                    };
                    if let Some(item) = next_item(decoder, chunk, keep, &event, &comment) {
                        return Poll::Ready(Some(item));
                    }
                }
                Some(Err(error)) => {
                    let after_error = (this.after_error)(&this.inner);
                    return source_failed(decoder, after_error, error);
                }
                None => {
                    *this.state = SourceState::Ended;
                    return Poll::Ready(end(decoder).map(Ok));
                }
            }
        }
        coop_yield(cx)
    }
}

/// The error of the source. If bytes may be missing, the current event is rejected.
#[cold]
fn source_failed<T, E>(
    decoder: &mut EventDecoder,
    after_error: AfterError,
    error: E,
) -> Poll<Option<Result<T, StreamError<E>>>> {
    if after_error != AfterError::Next {
        decoder.reject_event();
    }
    Poll::Ready(Some(Err(StreamError::Inner(error))))
}

/// Decodes the front of the chunk up to the end of the next item, and calls `keep` with the chunk and the number of
/// bytes after the item.
///
/// An item is only written where the caller wants it, after the chunk: see
/// [store forwarding](crate::decoder#store-forwarding).
#[inline(always)]
fn next_item<C: Borrow<Bytes>, T, E>(
    decoder: &mut EventDecoder,
    chunk: C,
    keep: impl FnOnce(C, usize),
    event: impl Fn(Event<ByteString>) -> T,
    comment: impl Fn(ByteString) -> Option<T>,
) -> Option<Result<T, StreamError<E>>> {
    let mut rest = &chunk.borrow()[..];
    let found = decoder.find_longer(&mut rest);
    let rest = rest.len();
    match found {
        Found::End => {
            keep(chunk, rest);
            None
        }
        Found::Event(whole) => {
            let data = match whole {
                Some(text) => slice_text(chunk.borrow(), text),
                None => decoder.held_data().into(),
            };
            keep(chunk, rest);
            Some(Ok(event(decoder.event(data))))
        }
        Found::Comment(whole) => {
            let text = match whole {
                Some(text) => slice_text(chunk.borrow(), text),
                None => decoder.held_comment().into(),
            };
            keep(chunk, rest);
            comment(text).map(Ok)
        }
        Found::Rejected(rejection) => {
            keep(chunk, rest);
            Some(Err(rejection.into()))
        }
    }
}

impl<E> From<Rejection> for StreamError<E> {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::TooLong(part, offset, max_length) => {
                Self::EventTooLong { part, offset, max_length }
            }
            Rejection::Utf8(error) => Self::Utf8(error),
        }
    }
}
