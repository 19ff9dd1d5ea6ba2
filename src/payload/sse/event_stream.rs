//! How does a stream of chunks become a stream of events?

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::stream::FusedStream;
use futures::{Stream, TryStream};
use pin_project_lite::pin_project;
use tokio::io::AsyncRead;

use crate::adaptor::chunks::{SILENT_CHUNKS, give_way};
use crate::payload::sse::{Event, EventDecoder};
use crate::stream::{ReaderChunks, StreamError};

pin_project! {
    /// Events of a stream of chunks or of a reader.
    ///
    /// The chunks are anything that holds bytes: `Bytes`, `Vec<u8>`, `String`, slices, and the items of a
    /// [`Utf8Stream`](crate::stream::Utf8Stream). An HTTP body becomes such a stream with
    /// `http_body_util::BodyDataStream`.
    ///
    /// It yields an event as soon as the CR or LF of the empty line that ends it arrives. It holds one chunk and
    /// what its [`decoder`](Self::decoder) holds: at most 1 MiB of an event unless
    /// [`with_max_length`](Self::with_max_length) sets another limit, and the last event ID. While the
    /// source is pending between two events, it holds no heap memory but that ID. An incomplete event
    /// at the end of the source is discarded. After 32 consecutive chunks that complete no event, it
    /// wakes the task and returns `Pending`, so that an always-ready source cannot starve other tasks.
    /// The stream is fused.
    ///
    /// # Errors
    ///
    /// [`StreamError::EventTooLong`] for an event that exceeds the limit. [`StreamError::Inner`] for an error
    /// of the source. Bytes may be missing at that point, so the stream continues after the next empty
    /// line. A reader ([`from_reader`](Self::from_reader)) loses nothing when it fails, so there the event
    /// continues. Ill-formed bytes are no error: they are replaced. The stream continues after every
    /// error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use utf8_codec::payload::sse::EventStream;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let chunks = [&b"id: 1\ndata: caf\xC3"[..], b"\xA9\n", b"\ndata: cut off"];
    /// let mut events = EventStream::new(stream::iter(chunks.map(Ok::<_, std::io::Error>)));
    /// let event = events.try_next().await?.unwrap();
    /// assert_eq!((&*event.data, &*event.last_event_id), ("café", "1"));
    /// assert_eq!(events.try_next().await?, None);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct EventStream<S>
    where
        S: TryStream,
    {
        #[pin]
        source: S,
        decoder: EventDecoder,
        // The current chunk, of which `used` bytes have been decoded.
        chunk: Option<S::Ok>,
        used: usize,
        // Whether bytes may be missing after an error of the source.
        may_lose: bool,
        has_ended: bool,
    }
}

impl<S: TryStream> EventStream<S> {
    /// Decodes the chunks of `source`.
    ///
    /// # Examples
    ///
    /// The body of a response, as hyper and axum return it:
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use http_body_util::{BodyDataStream, Full};
    /// use utf8_codec::payload::sse::EventStream;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let body = Full::<bytes::Bytes>::from("event: add\ndata: 5\n\n");
    /// let mut events = EventStream::new(BodyDataStream::new(body)).map_err(std::io::Error::other);
    /// let event = events.try_next().await?.unwrap();
    /// assert_eq!((&*event.event_type, &*event.data), ("add", "5"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(source: S) -> Self {
        let decoder = EventDecoder::new();
        Self { source, decoder, chunk: None, used: 0, may_lose: true, has_ended: false }
    }

    /// Sets the maximum length of an event, in bytes; see [`EventDecoder::with_max_length`]. Call it
    /// before the first poll.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::payload::sse::EventStream;
    /// use utf8_codec::stream::StreamError;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, ()>("data: five!"), Ok("\n\ndata: four\n\n")]);
    /// let mut events = EventStream::new(chunks).with_max_length(4);
    /// let error = StreamError::EventTooLong { offset: 0, max_length: 4 };
    /// assert_eq!(events.next().await, Some(Err(error)));
    /// assert_eq!(events.next().await.unwrap().unwrap().data, "four");
    /// # }
    /// ```
    pub fn with_max_length(mut self, max_length: usize) -> Self {
        self.decoder = self.decoder.with_max_length(max_length);
        self
    }

    /// Sets the last event ID that applies until the stream sends another; see
    /// [`EventDecoder::with_last_event_id`]. Call it before the first poll.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::payload::sse::EventStream;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, ()>("data: 1\n\n")]);
    /// let mut events = EventStream::new(chunks).with_last_event_id("7");
    /// assert_eq!(events.next().await.unwrap().unwrap().last_event_id, "7");
    /// # }
    /// ```
    pub fn with_last_event_id(mut self, id: impl Into<String>) -> Self {
        self.decoder = self.decoder.with_last_event_id(id);
        self
    }

    /// Returns the inner decoder, for the last event ID, the reconnection time and the number of
    /// errors.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::payload::sse::EventStream;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut events = EventStream::new(stream::iter([Ok::<_, ()>("retry: 10\nid: 1\n\n")]));
    /// assert!(events.next().await.is_none());
    /// let decoder = events.decoder();
    /// assert_eq!(decoder.last_event_id(), "1");
    /// assert_eq!(decoder.reconnection_time(), Some(Duration::from_millis(10)));
    /// # }
    /// ```
    pub fn decoder(&self) -> &EventDecoder {
        &self.decoder
    }

    /// Returns the source.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::sse::EventStream;
    ///
    /// let events = EventStream::from_reader(&b"data"[..]);
    /// assert_eq!(events.get_ref().get_ref(), b"data");
    /// ```
    pub fn get_ref(&self) -> &S {
        &self.source
    }

    /// Consumes the adaptor and returns the source. The incomplete event and the rest of the last chunk
    /// are lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::sse::EventStream;
    ///
    /// let events = EventStream::from_reader(&b"data"[..]);
    /// assert_eq!(events.into_inner().into_inner(), b"data");
    /// ```
    pub fn into_inner(self) -> S {
        self.source
    }
}

impl<R: AsyncRead> EventStream<ReaderChunks<R>> {
    /// Decodes the bytes of `reader`, which is read into a buffer of 8,192 bytes (8 KiB).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use utf8_codec::payload::sse::EventStream;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut events = EventStream::from_reader(&b"data: a\rdata: b\r\r"[..]);
    /// assert_eq!(events.try_next().await?.unwrap().data, "a\nb");
    /// assert_eq!(events.try_next().await?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_reader(reader: R) -> Self {
        Self { may_lose: false, ..Self::new(ReaderChunks::new(reader)) }
    }
}

impl<S, B, E> Stream for EventStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
{
    type Item = Result<Event, StreamError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        let mut silent = 0;
        loop {
            if let Some(chunk) = this.chunk {
                let chunk = chunk.as_ref();
                let mut rest = chunk.get(*this.used..).unwrap_or_default();
                let event = this.decoder.next_event(&mut rest);
                *this.used = chunk.len() - rest.len();
                if let Some(event) = event {
                    let max_length = this.decoder.max_length();
                    let event =
                        event.map_err(|offset| StreamError::EventTooLong { offset, max_length });
                    return Poll::Ready(Some(event));
                }
                *this.chunk = None;
            }
            if *this.has_ended {
                return Poll::Ready(None);
            }
            if silent == SILENT_CHUNKS {
                return give_way(cx);
            }
            match ready!(this.source.as_mut().poll_next(cx)) {
                Some(Ok(chunk)) => {
                    (*this.chunk, *this.used) = (Some(chunk), 0);
                    silent += 1;
                }
                Some(Err(error)) => {
                    if *this.may_lose {
                        this.decoder.reject_event();
                    }
                    return Poll::Ready(Some(Err(StreamError::Inner(error))));
                }
                None => *this.has_ended = true,
            }
        }
    }
}

impl<S: TryStream> FusedStream for EventStream<S>
where
    Self: Stream,
{
    fn is_terminated(&self) -> bool {
        self.has_ended
    }
}
