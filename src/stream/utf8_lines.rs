//! How are lines read from a stream of chunks, a stream of text, or a reader?

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::Stream;
use futures::stream::FusedStream;
use pin_project_lite::pin_project;
use tokio::io::AsyncRead;

use crate::adaptor::chunks::{SILENT_CHUNKS, give_way};
use crate::adaptor::read_lines::ReadLines;
use crate::adaptor::read_text::Unread;
use crate::core::decoder::Utf8Decoder;
use crate::lines::{Delimiter, Line, LinesError};
use crate::stream::{Texts, Utf8Reader};

pin_project! {
    /// Lines of a stream of chunks, of a stream of text, or of a reader, each with its number and
    /// offset.
    ///
    /// Created by [`Utf8Stream::lines`](crate::stream::Utf8Stream::lines),
    /// [`Utf8Reader::into_lines`] and [`text_lines`](crate::stream::Utf8StreamExt::text_lines),
    /// with the options and the error mode of that stream or reader. In
    /// [`Fatal`](crate::ErrorMode::Fatal) mode, the default, an invalid line yields one error as
    /// soon as the problem is known, and the next line is unaffected. The other modes repair
    /// ill-formed parts and keep every line, except lines that are too long; each line has the
    /// number of its errors and the offset of the first.
    ///
    /// It buffers the incomplete line, the delimiter and one chunk. A line has at most 65,536 bytes
    /// (64 KiB) unless [`with_max_length`](Self::with_max_length) sets another limit.
    /// Over a `Utf8Reader` it holds no heap memory while the reader is pending between two lines.
    /// It is at most 216 bytes larger than its source. An empty chunk changes nothing. The end of
    /// the source ends the last line. The stream is fused.
    ///
    /// # Errors
    ///
    /// [`LinesError::Line`] for a rejected line. [`LinesError::Inner`] for an error of the source.
    /// Text may be missing at that point, so the current line is rejected as well, and the rest of
    /// it is skipped in bounded memory. A [`Utf8Reader`] loses nothing when it fails, so there the
    /// line continues. The stream continues after every error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"GET /caf\xC3"[..], b"\xA9\r\nGET /caf\xE9\r\nGET", b" /tea"];
    /// let mut lines = stream::iter(chunks.map(Ok::<_, std::io::Error>)).utf8().lines();
    /// let mut seen = Vec::new();
    /// while let Some(line) = lines.next().await {
    ///     seen.push(match line {
    ///         Ok(line) => line.to_string(),
    ///         Err(error) => error.to_string(),
    ///     });
    /// }
    /// let error = "line 2 is not valid UTF-8: truncated character (e9, followed by 0d) at byte 20";
    /// assert_eq!(seen, ["GET /café", error, "GET /tea"]);
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct Utf8Lines<S> {
        #[pin]
        source: S,
        lines: ReadLines,
    }
}

impl<S> Utf8Lines<S> {
    /// Splits the chunks of `source` into lines, with the default settings: lines of at most 64
    /// KiB, ended by LF or CR LF, in [`Fatal`](crate::ErrorMode::Fatal) mode. For other options and
    /// error modes, see [`Utf8Stream::lines`](crate::stream::Utf8Stream::lines).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8Lines;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, std::io::Error>("fir"), Ok("st\nsecond")]);
    /// let mut lines = Utf8Lines::new(chunks);
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "first");
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "second");
    /// # }
    /// ```
    pub fn new(source: S) -> Self {
        Self { source, lines: ReadLines::new() }
    }

    /// Continues with the unread bytes of a reader.
    pub(super) fn continuing(source: S, unread: Unread) -> Self {
        Self { source, lines: ReadLines::continuing(unread) }
    }

    /// Sets what ends a line. Call it before the first poll.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::lines::Delimiter;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, std::io::Error>("data: 1\r"), Ok("\n\r")]);
    /// let mut lines = chunks.utf8().lines().with_delimiter(Delimiter::any_newline());
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "data: 1");
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "");
    /// # }
    /// ```
    pub fn with_delimiter(mut self, delimiter: Delimiter) -> Self {
        self.lines.set_delimiter(delimiter);
        self
    }

    /// Sets the maximum length of a line, in bytes as received, without the BOM and the delimiter.
    /// Call it before the first poll.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = stream::iter([Ok::<_, std::io::Error>("four\nfive!\n")]);
    /// let mut lines = chunks.utf8().lines().with_max_length(4);
    /// assert!(lines.next().await.unwrap().is_ok());
    /// assert!(lines.next().await.unwrap().is_err());
    /// # }
    /// ```
    pub fn with_max_length(mut self, max_length: usize) -> Self {
        self.lines.set_max_length(max_length);
        self
    }

    /// Returns the source.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// let lines = Utf8Reader::new(&b"line\n"[..]).into_lines();
    /// assert_eq!(lines.get_ref().get_ref(), b"line\n");
    /// ```
    pub fn get_ref(&self) -> &S {
        &self.source
    }

    /// Consumes the adaptor and returns the source. Bytes that were read but are in no line are
    /// lost: copy [`rest`](Self::rest) first. [`into_reader`](Utf8Lines::into_reader) returns a
    /// [`Utf8Reader`] without loss.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"text follows\n"[..], b"\0\xFFbinary"].map(Ok::<_, std::io::Error>);
    /// let mut lines = stream::iter(chunks).utf8().lines();
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "text follows");
    /// assert_eq!(lines.into_inner().next().await.unwrap().unwrap(), b"\0\xFFbinary");
    /// # }
    /// ```
    pub fn into_inner(self) -> S {
        self.source
    }

    /// Returns the bytes that have been read but are in no line yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut lines = stream::iter([Ok::<_, std::io::Error>("one\ntwo")]).utf8().lines();
    /// lines.next().await;
    /// assert_eq!(lines.rest(), b"two");
    /// # }
    /// ```
    pub fn rest(&self) -> &[u8] {
        self.lines.rest()
    }

    /// Returns the inner decoder, for its error count, whether a BOM was removed, and how many
    /// bytes were skipped. Its position is the offset up to which [`rest`](Self::rest) has been
    /// scanned. When a line is returned, its errors have been counted and those of the next line have
    /// not. In a rejected line, errors are counted up to the byte that caused the rejection.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut lines = stream::iter([Ok::<_, std::io::Error>("one\n")]).utf8().lines();
    /// lines.next().await;
    /// assert_eq!(lines.decoder().position(), 4);
    /// # }
    /// ```
    pub fn decoder(&self) -> &Utf8Decoder {
        self.lines.decoder()
    }

    /// Polls for the next line. `fill` polls the source for more bytes, and returns `None` at the
    /// end. If the source `may_lose` text, its error rejects the current line.
    fn poll_line<E>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        may_lose: bool,
        mut fill: impl FnMut(
            Pin<&mut S>,
            &mut Context<'_>,
            &mut BytesMut,
        ) -> Poll<Option<Result<(), E>>>,
    ) -> Poll<Option<Result<Line, LinesError<E>>>> {
        let mut this = self.project();
        let lines = this.lines;
        // `poll_items` would make this 10% slower (benches/scenarios/reader.rs, read-lines).
        let mut silent = 0;
        loop {
            if let Some(line) = lines.next_line() {
                return Poll::Ready(Some(line.map_err(LinesError::Line)));
            }
            if let Some(line) = lines.last_line() {
                return Poll::Ready(Some(line.map_err(LinesError::Line)));
            }
            if lines.has_ended() {
                return Poll::Ready(None);
            }
            if silent == SILENT_CHUNKS {
                return give_way(cx);
            }
            match fill(this.source.as_mut(), cx, lines.buffer()) {
                Poll::Ready(Some(Ok(()))) => silent += 1,
                Poll::Ready(Some(Err(error))) => {
                    if may_lose {
                        lines.reject_line();
                    }
                    return Poll::Ready(Some(Err(LinesError::Inner(error))));
                }
                Poll::Ready(None) => lines.finish(),
                Poll::Pending => {
                    lines.shrink();
                    return Poll::Pending;
                }
            }
        }
    }
}

impl<R> Utf8Lines<Utf8Reader<R>> {
    /// Returns the reader, to read what follows the lines. Nothing is lost: bytes that were read
    /// but are in no line ([`rest`](Self::rest)) come first. They are copied to memory that is
    /// freed once the text has been consumed and the reader is pending.
    ///
    /// Errors in all lines so far have been counted. Errors in an incomplete line are counted
    /// later. After a rejected line, the reader continues in the middle of that line. If a line can
    /// end with CR, the reader may continue with the LF of a CR LF. If the inner reader
    /// has already reported its end, it is read once more before the end is returned.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut lines = Utf8Reader::new("DATA\r\nžluť\r\n.\r\n".as_bytes()).into_lines();
    /// assert_eq!(lines.try_next().await?.unwrap(), "DATA");
    /// let mut reader = lines.into_reader();
    /// assert_eq!(reader.next_str().await?, Some("žluť\r\n.\r\n"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_reader(self) -> Utf8Reader<R> {
        self.source.continuing(self.lines.into_unread())
    }
}

impl<S, B, E> Stream for Utf8Lines<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    type Item = Result<Line, LinesError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_line(cx, true, |source, cx, buffer| {
            source.poll_next(cx).map_ok(|chunk| append(buffer, chunk.into()))
        })
    }
}

impl<S, T, E> Stream for Utf8Lines<Texts<S>>
where
    S: Stream<Item = Result<T, E>>,
    T: AsRef<str>,
{
    type Item = Result<Line, LinesError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_line(cx, true, |source, cx, buffer| source.poll_text(cx, buffer))
    }
}

impl<R: AsyncRead> Stream for Utf8Lines<Utf8Reader<R>> {
    type Item = Result<Line, LinesError<io::Error>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_line(cx, false, |source, cx, buffer| {
            source.poll_raw(cx, buffer).map(|read| match read {
                Ok(0) => None,
                Ok(_) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            })
        })
    }
}

impl<S> FusedStream for Utf8Lines<S>
where
    Self: Stream,
{
    fn is_terminated(&self) -> bool {
        self.lines.has_ended()
    }
}

/// Appends a chunk. If the buffer is empty and the chunk is not shared, it is not copied.
fn append(buffer: &mut BytesMut, chunk: Bytes) {
    if !buffer.is_empty() {
        return buffer.extend_from_slice(&chunk);
    }
    match chunk.try_into_mut() {
        Ok(chunk) => *buffer = chunk,
        Err(chunk) => buffer.extend_from_slice(&chunk),
    }
}
