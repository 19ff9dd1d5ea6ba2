//! What can text come from: streams of chunks, readers, streams of text?

use std::fmt;
use std::io;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;
use futures::stream::MapOk;
use futures::{Stream, TryStreamExt};
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, ReadBuf};

use crate::adaptor::legacy::after_error;
use crate::adaptor::{AfterError, CAPACITY, MAX_CAPACITY, coop_yield};
use crate::sse::EventDecoder;
use crate::stream::{Utf8Lines, Utf8Stream};

/// A stream of chunks: every `Stream` of `Result<B, E>` where `B` is `Bytes`, `Vec<u8>` or another type
/// that converts into `Bytes`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream of `Result<B, E>` with `B: Into<Bytes>`",
    note = "if it is a reader, use `io::Utf8Reader::new(reader)` or `stream::Utf8Reader::new(reader)`, and its `into_lines()`",
    note = "if its items are plain `Bytes`, as those of a channel, use `stream.map(std::io::Result::Ok)`"
)]
pub trait ChunkStream: Stream {}

#[diagnostic::do_not_recommend]
impl<S: Stream<Item = Result<B, E>>, B: Into<Bytes>, E> ChunkStream for S {}

/// Extension methods for streams of chunks and streams of text.
pub trait Utf8StreamExt: Stream {
    /// Decodes the chunks of this stream, with the default options, in
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal).
    ///
    /// The items are `Result`s. A channel has no errors: map its chunks with `std::io::Result::Ok`. `next()`
    /// and the other methods of [`StreamExt`](futures::StreamExt) need an `Unpin` stream: if this one is not,
    /// write `Box::pin(stream).utf8()`.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::stream;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let body = stream::iter([&b"Gr\xFC\xDFe"[..], b" \xE2\x82"].map(Ok::<_, std::io::Error>));
    /// let text = body.utf8().with_error_mode(ErrorMode::Windows1252).collect_text(1 << 20).await;
    /// assert_eq!(text.unwrap(), "Grüße â‚");
    /// # }
    /// ```
    fn utf8(self) -> Utf8Stream<Self>
    where
        Self: ChunkStream + Sized,
    {
        Utf8Stream::new(self)
    }

    /// Splits a stream of text into lines. A line can span several items.
    ///
    /// The items are `Result<T, E>` with `T: AsRef<str>`: `String`, `&str`, `Arc<str>`,
    /// [`ByteString`](crate::ByteString), tungstenite's `Utf8Bytes` and others. Each item is copied. For a stream of byte chunks, use `utf8()` and [`lines()`](Utf8Stream::lines).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let tokens = stream::iter(["One li", "ne.\nAno", "ther."].map(Ok::<_, std::io::Error>));
    /// let mut lines = tokens.text_lines();
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "One line.");
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "Another.");
    /// # }
    /// ```
    fn text_lines<T, E>(self) -> Utf8Lines<TextItems<Self, T>>
    where
        Self: Stream<Item = Result<T, E>> + Sized,
        T: AsRef<str>,
    {
        Utf8Lines::new(self.map_ok(TextItem))
    }
}

/// A stream of text of type `T`, not yet converted to bytes: the source of [`text_lines`](Utf8StreamExt::text_lines).
pub type TextItems<S, T> = MapOk<S, fn(T) -> TextItem<T>>;

/// An item of a stream of text, which is copied when it is converted.
#[derive(Debug)]
pub struct TextItem<T>(T);

impl<T: AsRef<str>> From<TextItem<T>> for Bytes {
    fn from(TextItem(text): TextItem<T>) -> Self {
        Self::copy_from_slice(text.as_ref().as_bytes())
    }
}

impl<S: Stream + ?Sized> Utf8StreamExt for S {}

/// The method of the crate `eventsource-stream`, for programs that move from it: only the import changes. See
/// [the guide](crate::guide::eventsource_stream).
pub trait Eventsource: Sized {
    /// Returns the server-sent events of these chunks: [`utf8()`](Utf8StreamExt::utf8), then
    /// [`events()`](Utf8Stream::events).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Eventsource;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"data: caf\xC3"[..], b"\xA9\n\n"].map(Ok::<_, std::io::Error>);
    /// let mut events = stream::iter(chunks).eventsource();
    /// assert_eq!(events.next().await.unwrap().unwrap().data, "café");
    /// # }
    /// ```
    fn eventsource(self) -> Utf8Stream<Self, EventDecoder>;
}

impl<S, B, E> Eventsource for S
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    fn eventsource(self) -> Utf8Stream<Self, EventDecoder> {
        self.utf8().events()
    }
}

/// A stream of text as a stream of `Bytes`: what [`into_byte_stream`](Utf8Stream::into_byte_stream) returns.
pub type TextChunks<S> = MapOk<S, fn(ByteString) -> Bytes>;

// tokio-util's `ReaderStream` is similar, but it ends at the first error, even a temporary one such as a timeout.
pin_project! {
    /// The bytes of a reader in chunks, one for each read: the source of
    /// [`Utf8Stream::from_reader`], which documents it.
    ///
    /// The chunks share a buffer: a chunk is not a copy, and keeps the buffer alive. Bytes that have been read are
    /// never held. If it is polled again after the end, it reads again.
    #[must_use = "streams do nothing unless polled"]
    pub struct ReaderChunks<R> {
        #[pin]
        reader: R,
        // The part of the buffer that no read has filled.
        buffer: BytesMut,
        capacity: usize,
        after_error: AfterError,
    }
}

impl<R> ReaderChunks<R> {
    pub(crate) fn new(reader: R) -> Self {
        let after_error = AfterError::Next;
        Self { reader, buffer: BytesMut::new(), capacity: CAPACITY, after_error }
    }

    pub(crate) fn with_capacity(self, capacity: usize) -> Self {
        Self { capacity: capacity.clamp(1, MAX_CAPACITY), ..self }
    }

    pub(super) fn after_error(&self) -> AfterError {
        self.after_error
    }

    /// Returns the reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the reader mutably. Bytes that you read from it are missing from the chunks.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Consumes the adaptor and returns the reader. Nothing is lost: all bytes read have been yielded.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R: AsyncRead> Stream for ReaderChunks<R> {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let this = self.project();
        // Reading into the last few bytes would cost more than a new buffer.
        if this.buffer.len() <= *this.capacity / 8 {
            this.buffer.resize(*this.capacity, 0);
        }
        Poll::Ready(match ready!(poll_read_into(this.reader, cx, this.buffer)) {
            Ok(0) => None,
            Ok(read) => Some(Ok(this.buffer.split_to(read).freeze())),
            Err(error) => {
                *this.after_error = after_error(&error);
                Some(Err(error))
            }
        })
    }
}

impl<R: fmt::Debug> fmt::Debug for ReaderChunks<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReaderChunks")
            .field("reader", &self.reader)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

/// Reads into `room`. Returns how many bytes were read, 0 at the end.
///
/// Safe code can replace the `ReadBuf` by another: then nothing was read into `room`, and this is an error.
#[inline]
pub(super) fn poll_read_into(
    reader: Pin<&mut impl AsyncRead>,
    cx: &mut Context<'_>,
    room: &mut [u8],
) -> Poll<io::Result<usize>> {
    let start = room.as_ptr();
    let mut room = ReadBuf::new(room);
    let read = reader.poll_read(cx, &mut room).map(|result| {
        result?;
        match ptr::eq(room.filled().as_ptr(), start) {
            true => Ok(room.filled().len()),
            false => Err(io::Error::other("the reader replaced the `ReadBuf` that it was given")),
        }
    });
    uninterrupted(cx, read)
}

/// Returns `polled`, unless the call was interrupted. Then other tasks run, and the caller's next poll repeats it.
#[inline]
pub(super) fn uninterrupted<T>(
    cx: &mut Context<'_>,
    polled: Poll<io::Result<T>>,
) -> Poll<io::Result<T>> {
    match polled {
        Poll::Ready(Err(error)) if is_interrupted(&error) => coop_yield(cx),
        polled => polled,
    }
}

/// Out of line: errors are rare, and their kind takes more code than the rest of a write. Rows `write/mixed`.
#[cold]
#[inline(never)]
fn is_interrupted(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Interrupted
}
