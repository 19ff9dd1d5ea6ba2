//! How are lines read from a stream of chunks, a stream of text, or a reader?

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::Stream;
use futures::stream::FusedStream;

use crate::adaptor::{AfterError, MAX_TURNS, NextLine, ReadLines, coop_yield};
use crate::lines::{Line, LineRef, decoder::FoundLine};
use crate::stream::{ChunkStream, StreamError, Utf8Lines, Utf8Reader, Utf8Stream};

impl<S: ChunkStream> Utf8Lines<S> {
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
    /// let chunks = [&b"GET /caf\xC3"[..], b"\xA9\r\nGET /caf\xE9\r\nGET", b" /tea"];
    /// let mut lines = Utf8Lines::new(stream::iter(chunks.map(Ok::<_, std::io::Error>)));
    /// let mut seen = Vec::new();
    /// while let Some(line) = lines.next().await {
    ///     seen.push(match line {
    ///         Ok(line) => line.to_string(),
    ///         Err(error) => error.to_string(),
    ///     });
    /// }
    /// let error = "line 2 is not valid UTF-8: truncated character (e9, followed by 0d) at byte 20 of the stream";
    /// assert_eq!(seen, ["GET /café", error, "GET /tea"]);
    /// # }
    /// ```
    pub fn new(source: S) -> Self {
        Self { source, lines: ReadLines::new(), after_error: |_| AfterError::Gap }
    }

    /// Returns the text after the lines, with the same options and error mode. Nothing is lost: the bytes in
    /// [`rest`](Self::rest) come first.
    ///
    /// Errors in all lines so far have been counted. Errors in an incomplete line are counted later. After a rejected
    /// line, the text continues in the middle of that line. If a CR ended the last line, an LF after it is skipped, even
    /// if it arrives later.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, TryStreamExt, stream};
    /// use utf8_codec::lines::Delimiter;
    /// use utf8_codec::stream::Utf8Lines;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"HEAD\r"[..], b"\nbody"].map(Ok::<_, std::io::Error>);
    /// let mut lines = Utf8Lines::new(stream::iter(chunks)).with_delimiter(Delimiter::any_newline());
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "HEAD");
    /// let body: Vec<_> = lines.into_stream().try_collect().await.unwrap();
    /// assert_eq!(body, ["body"]);
    /// # }
    /// ```
    pub fn into_stream(self) -> Utf8Stream<S> {
        let (text, state) = self.lines.into_unread();
        Utf8Stream { state, ..Utf8Stream::continuing(self.source, text, self.after_error) }
    }
}

impl<R> Utf8Lines<Utf8Reader<R>> {
    /// Returns the reader, to read what follows the lines. Nothing is lost: bytes that were read
    /// but are in no line ([`rest`](Self::rest)) come first. They are copied to memory that is
    /// freed once the text has been consumed and the reader is pending.
    ///
    /// Errors in all lines so far have been counted. Errors in an incomplete line are counted
    /// later. After a rejected line, the reader continues in the middle of that line. If a CR ended the
    /// last line, an LF after it is skipped, even if it arrives later. If the inner reader has already reported
    /// its end, it is read once more before the end is returned.
    pub fn into_reader(self) -> Utf8Reader<R> {
        self.source.continuing(self.lines.into_unread())
    }
}

/// What lines are read from: a [`ChunkStream`] or a [`Utf8Reader`].
pub trait LineSource {
    /// The error of the chunks, or of the reader.
    type Error;

    /// Polls for more bytes. Returns `None` at the end.
    #[doc(hidden)]
    fn poll_fill(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        lines: &mut ReadLines,
    ) -> Poll<Option<Result<(), Self::Error>>>;
}

impl<S: Stream<Item = Result<B, E>>, B: Into<Bytes>, E> LineSource for S {
    type Error = E;

    #[inline]
    fn poll_fill(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        lines: &mut ReadLines,
    ) -> Poll<Option<Result<(), E>>> {
        lines.skip_lost_chunk();
        self.poll_next(cx).map_ok(|chunk| lines.push(chunk))
    }
}

impl<S: LineSource> Utf8Lines<S> {
    #[inline]
    fn poll_find(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<FoundLine, StreamError<S::Error>>>> {
        let mut this = self.project();
        let lines = this.lines;
        // `poll_items` would make this 10% slower (benches/scenarios/reader.rs, read-lines).
        let mut silent = 0;
        loop {
            match lines.next() {
                NextLine::Line(line) => return Poll::Ready(Some(line.map_err(StreamError::Line))),
                NextLine::End => return Poll::Ready(None),
                NextLine::Read if silent == MAX_TURNS => return coop_yield(cx),
                NextLine::Read => {}
            }
            match this.source.as_mut().poll_fill(cx, lines) {
                Poll::Ready(Some(Ok(()))) => silent += 1,
                Poll::Ready(Some(Err(error))) => {
                    lines.fail((this.after_error)(&this.source));
                    return Poll::Ready(Some(Err(StreamError::Inner(error))));
                }
                Poll::Ready(None) => lines.finish(),
                Poll::Pending => {
                    lines.shrink();
                    return Poll::Pending;
                }
            }
        }
    }

    /// Returns the next line, borrowed. Nothing is allocated while data keeps arriving, once the buffers are as large as the lines;
    /// while the source is pending, the buffers are freed. Returns `None` at the end. Like the stream otherwise; dropping the future
    /// loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::stream;
    /// use utf8_codec::stream::Utf8Lines;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = ["GET /caf", "é\nGET /tea\n"].map(Ok::<_, std::io::Error>);
    /// let mut lines = Utf8Lines::new(stream::iter(chunks));
    /// let mut longest = 0;
    /// while let Some(line) = lines.next_line().await {
    ///     longest = longest.max(line.unwrap().len());
    /// }
    /// assert_eq!(longest, 10);
    /// # }
    /// ```
    pub async fn next_line(&mut self) -> Option<Result<LineRef<'_>, StreamError<S::Error>>>
    where
        S: Unpin,
    {
        if let Some(found) = self.lines.next_usual() {
            return Some(Ok(self.lines.line(found)));
        }
        let found = poll_fn(|cx| Pin::new(&mut *self).poll_find(cx)).await?;
        Some(found.map(|found| self.lines.line(found)))
    }
}

impl<S: LineSource> Stream for Utf8Lines<S> {
    type Item = Result<Line, StreamError<S::Error>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(found) = self.as_mut().project().lines.next_usual() {
            return Poll::Ready(Some(Ok(self.project().lines.owned(found))));
        }
        let found = ready!(self.as_mut().poll_find(cx));
        Poll::Ready(found.map(|found| found.map(|found| self.project().lines.owned(found))))
    }
}

impl<S: LineSource> FusedStream for Utf8Lines<S> {
    fn is_terminated(&self) -> bool {
        self.lines.has_ended()
    }
}
