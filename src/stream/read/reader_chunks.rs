//! How does a reader become a stream of chunks?

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use futures::Stream;
use pin_project_lite::pin_project;
use tokio::io::AsyncRead;

use crate::stream::read::poll_read_into;

use crate::adaptor::CAPACITY;

// tokio-util's `ReaderStream` is similar, but it ends at the first error, even a temporary one such
// as a timeout. It would also make the feature `stream` depend on tokio-util.
pin_project! {
    /// The bytes of a reader in chunks, one for each read: the source of
    /// [`Utf8Stream::from_reader`](crate::stream::Utf8Stream::from_reader).
    ///
    /// It reads into a buffer of 8,192 bytes (8 KiB), which the chunks share: a chunk is not a
    /// copy, and keeps the buffer alive. Bytes that have been read are never held. A read of no
    /// bytes ends the stream. If you poll it again, it reads again.
    ///
    /// # Errors
    ///
    /// The errors of the reader. An error does not end the stream: the next poll reads again. A
    /// reader that always fails yields errors indefinitely.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing: each read that returned bytes is an item.
    ///
    /// # Examples
    ///
    /// With a small buffer:
    ///
    /// ```
    /// use futures::StreamExt;
    /// use utf8_codec::stream::{ReaderChunks, Utf8StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let file = "żółw".as_bytes(); // C5 BC C3 B3 C5 82 77
    /// let mut texts = ReaderChunks::with_capacity(file, 3).utf8();
    /// let mut seen = Vec::new();
    /// while let Some(text) = texts.next().await {
    ///     seen.push(text?.to_string());
    /// }
    /// assert_eq!(seen.concat(), "żółw");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "streams do nothing unless polled"]
    pub struct ReaderChunks<R> {
        #[pin]
        reader: R,
        // The part of the buffer that no read has filled.
        buffer: BytesMut,
        capacity: usize,
    }
}

impl<R> ReaderChunks<R> {
    /// Reads `reader` with a buffer of 8,192 bytes (8 KiB).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use utf8_codec::stream::ReaderChunks;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut chunks = ReaderChunks::new(&b"bytes"[..]);
    /// assert_eq!(chunks.next().await.unwrap()?, "bytes");
    /// assert!(chunks.next().await.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(reader: R) -> Self {
        Self::with_capacity(reader, CAPACITY)
    }

    /// Reads `reader` with a buffer of `capacity` bytes, at least 1.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use utf8_codec::stream::ReaderChunks;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut chunks = ReaderChunks::with_capacity(&b"bytes"[..], 4);
    /// assert_eq!(chunks.next().await.unwrap()?, "byte");
    /// assert_eq!(chunks.next().await.unwrap()?, "s");
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_capacity(reader: R, capacity: usize) -> Self {
        Self { reader, buffer: BytesMut::new(), capacity: capacity.max(1) }
    }

    /// Returns the reader.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::ReaderChunks;
    ///
    /// assert_eq!(ReaderChunks::new(&b"bytes"[..]).get_ref(), b"bytes");
    /// ```
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the reader mutably. Bytes that you read from it are missing from the chunks.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::ReaderChunks;
    ///
    /// let mut chunks = ReaderChunks::new(&b"bytes"[..]);
    /// *chunks.get_mut() = b"other bytes";
    /// assert_eq!(chunks.into_inner(), b"other bytes");
    /// ```
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Consumes the adaptor and returns the reader. Nothing is lost: all bytes read have been yielded.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use utf8_codec::stream::ReaderChunks;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut chunks = ReaderChunks::with_capacity(&b"bytes"[..], 4);
    /// chunks.next().await.unwrap()?;
    /// assert_eq!(chunks.into_inner(), b"s");
    /// # Ok(())
    /// # }
    /// ```
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
            Err(error) => Some(Err(error)),
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
