//! How is text read from an `AsyncRead` without copying it?

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use crate::adaptor::legacy::after_error;
use crate::adaptor::{
    Advance, AfterError, CharsetStep, ChunkText, MAX_TURNS, ReadLines, ReadText, SourceState,
    Turns, coop_yield,
};
use crate::decoder::{ErrorMode, Utf8Decoder, Utf8Options};
use crate::stream::{
    CharsetReader, LineSource, StreamError, Utf8ByteReader, Utf8Lines,
    sources::{poll_read_into, uninterrupted},
};

pin_project! {
    /// Reads text from an `AsyncRead` without copying it.
    ///
    /// [`next_str`](Self::next_str) returns the text received so far as a `&str` borrowed from the
    /// internal buffer. While data keeps arriving, well-formed text is not copied, and the buffer is
    /// reused. An incomplete sequence, at most three bytes, stays in the buffer and is returned with
    /// the bytes after it. The boundaries of the returned text depend on the reads. The text does
    /// not.
    ///
    /// # Memory
    ///
    /// A `Utf8Reader` is 240 bytes larger than its reader, on a 64-bit machine. It includes a
    /// buffer for reads of up to 96 bytes. After a read that fills it, the next read allocates a
    /// buffer of 8,192 bytes (8 KiB), or of the size [set](Self::with_capacity). This buffer, and
    /// that of repaired text, is freed when it is empty and the reader is pending, so an idle
    /// connection holds no heap memory.
    ///
    /// # Errors
    ///
    /// [`StreamError::Utf8`] for each ill-formed part in [`ErrorMode::Fatal`], the default. The
    /// text before it is returned first, and the next call continues after it.
    /// [`StreamError::Inner`] in every mode if the reader fails. The next call reads again. A read
    /// of no bytes is the end. The reader is not polled after it.
    /// [`Interrupted`](io::ErrorKind::Interrupted) is not an error: the read is repeated.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of any method loses no data, except for
    /// [`collect_text`](Self::collect_text).
    ///
    /// # Cooperative scheduling
    ///
    /// When a method returns `Pending`, the inner reader has registered the waker. There is one
    /// exception: after 32 consecutive reads without text, after 32 reads of one text to collect, and
    /// after an interrupted read, the `Utf8Reader` wakes the task itself and returns `Pending`, so
    /// that other tasks run.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::AsyncWriteExt;
    /// use utf8_codec::stream::{StreamError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), StreamError<std::io::Error>> {
    /// let (mut peer, socket) = tokio::io::duplex(64);
    /// let mut reader = Utf8Reader::new(socket);
    ///
    /// peer.write_all(b"snowman: \xE2\x98").await?;
    /// assert_eq!(reader.next_str().await?, Some("snowman: "));
    /// peer.write_all(b"\x83.").await?;
    /// assert_eq!(reader.next_str().await?, Some("☃."));
    /// drop(peer);
    /// assert_eq!(reader.next_str().await?, None);
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    #[must_use = "readers do nothing unless read"]
    pub struct Utf8Reader<R> {
        #[pin]
        reader: R,
        text: ReadText,
    }
}

impl<R> Utf8Reader<R> {
    /// Reads from `reader`, with the default options, in [`ErrorMode::Fatal`].
    pub fn new(reader: R) -> Self {
        Self { reader, text: ReadText::new() }
    }

    /// Sets the size of the buffer for large reads, in bytes, at least 4 and at most 16 MiB (2^24);
    /// other sizes are clamped. One read returns at most this many bytes. Call it before the first
    /// read.
    pub fn with_capacity(self, capacity: usize) -> Self {
        Self { text: self.text.with_capacity(capacity), ..self }
    }

    /// Sets how the stream begins and what it may contain. Call it before the first read.
    ///
    /// Once the first character of the stream has been decoded, it continues with the same offsets: the rejected characters apply
    /// to the bytes that have not been decoded, and the other options have no effect.
    pub fn with_options(mut self, options: Utf8Options) -> Self {
        self.text.decoder = self.text.decoder.with_options(options);
        self
    }

    /// Sets what replaces ill-formed parts. You can call it at any time. It applies to the bytes
    /// that have not been decoded.
    ///
    /// From the first repair in a read, the text is copied and returned in one piece, which can be
    /// four times as long as the bytes read ([`ErrorMode::Escape`]).
    pub fn with_error_mode(mut self, mode: ErrorMode) -> Self {
        self.text.mode = mode;
        self
    }

    /// Returns the text that has been decoded but not consumed. It is empty if more bytes must be
    /// read first.
    pub fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Returns the bytes that have been read but not decoded. After the reader has returned
    /// `Pending`, these are at most three bytes, the beginning of a sequence or of a BOM.
    pub fn rest(&self) -> &[u8] {
        self.text.rest()
    }

    /// Consumes the first `len` bytes of [`as_str`](Self::as_str), the text that
    /// [`poll_fill_str`](Self::poll_fill_str) returns.
    ///
    /// # Panics
    ///
    /// If `len` is not a character boundary of that text.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new("größe: 7".as_bytes());
    /// let name = reader.peek_str().await.unwrap().unwrap().find(':').unwrap();
    /// reader.consume(name);
    /// assert_eq!(reader.as_str(), ": 7");
    /// # }
    /// ```
    pub fn consume(&mut self, len: usize) {
        self.text.consume(len);
    }

    /// Returns the reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the reader mutably. Bytes that you read from it are missing from the text.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Consumes the adaptor and returns the reader.
    ///
    /// Bytes that were read but not consumed are lost: [`as_str`](Self::as_str), and after it
    /// [`rest`](Self::rest). To continue without a `Utf8Reader`, copy both first, and clone the
    /// [`decoder`](Self::decoder), which continues with `rest`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::{StreamError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), StreamError<std::io::Error>> {
    /// let peer = &b"200 ok\n\xE2\x82\xACuro\xFF\0 and more"[..];
    /// let mut reader = Utf8Reader::new(peer).with_capacity(15);
    /// let text = reader.peek_str().await?.unwrap();
    /// let line = text.find('\n').unwrap() + 1;
    /// reader.consume(line);
    ///
    /// assert_eq!((reader.as_str(), reader.rest()), ("€uro", &b"\xFF\0"[..]));
    /// let mut decoder = reader.decoder().clone();
    /// assert!(decoder.push(reader.rest()).next().unwrap().is_err()); // the clone continues with `rest`
    /// assert_eq!(reader.into_inner(), b" and more");
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// Returns an `AsyncRead` and `AsyncBufRead` of well-formed UTF-8.
    pub fn into_byte_reader(self) -> Utf8ByteReader<Self> {
        Utf8ByteReader::new(self)
    }

    /// Returns the inner decoder, for the position in the stream, the error count, the first error,
    /// whether a BOM was removed, and how many bytes were skipped. It holds no bytes; see
    /// [`rest`](Self::rest).
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.text.decoder
    }

    /// Returns a stream of lines, with the options, the error mode and the buffer size of this
    /// reader. The first line begins after the text that has been consumed. Repaired text that has
    /// not been consumed is decoded again from its bytes. If a repair of several characters was
    /// consumed in part, the first line begins after its ill-formed part. In [`ErrorMode::Skip`](crate::ErrorMode::Skip) the parts
    /// skipped between that text and the line belong to the line only if they have been read with it.
    pub fn into_lines(mut self) -> Utf8Lines<Self> {
        let unread = self.text.take_unread();
        Utf8Lines::continuing(self, unread, |_| AfterError::Next)
    }

    /// Continues with the unread bytes.
    pub(super) fn continuing(mut self, (unread, state): (ChunkText, SourceState)) -> Self {
        self.text.restore(unread, state);
        self
    }
}

impl<R: AsyncRead> Utf8Reader<R> {
    /// Polls for text and returns it without consuming it. An empty text is the end.
    ///
    /// It reads only if [`as_str`](Self::as_str) is empty. Text that is not
    /// [consumed](Self::consume) is returned again.
    ///
    /// # Errors
    ///
    /// See [above](Self#errors). Each error is returned once.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::Pin;
    /// use std::task::{Context, Poll};
    /// use futures::task::noop_waker;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// let waker = noop_waker();
    /// let mut cx = Context::from_waker(&waker);
    /// let mut reader = Utf8Reader::new("größe".as_bytes());
    /// let Poll::Ready(Ok("größe")) = Pin::new(&mut reader).poll_fill_str(&mut cx) else { panic!() };
    /// reader.consume("grö".len());
    /// let Poll::Ready(Ok("ße")) = Pin::new(&mut reader).poll_fill_str(&mut cx) else { panic!() };
    /// ```
    #[inline]
    pub fn poll_fill_str<'a>(
        mut self: Pin<&'a mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<&'a str, StreamError<io::Error>>> {
        ready!(self.as_mut().poll_fill(cx))?;
        Poll::Ready(Ok(self.project().text.as_str()))
    }

    /// Polls until there is text or the end is reached.
    #[inline]
    fn poll_fill(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), StreamError<io::Error>>> {
        if self.text.has_text() {
            return Poll::Ready(Ok(()));
        }
        if !self.text.is_reading() {
            return self.poll_more(cx, 0);
        }
        // The common case: a read returns text, perhaps followed by the beginning of a character.
        let read = ready!(self.as_mut().poll_read(cx))?;
        if self.as_mut().project().text.fill(read) {
            return Poll::Ready(Ok(()));
        }
        self.poll_more(cx, 1)
    }

    /// Like [`poll_fill`](Self::poll_fill), in any state, after `reads` reads.
    #[inline(never)]
    fn poll_more(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut reads: usize,
    ) -> Poll<Result<(), StreamError<io::Error>>> {
        loop {
            match self.as_mut().project().text.advance()? {
                Advance::Text | Advance::End => return Poll::Ready(Ok(())),
                Advance::Read if reads == MAX_TURNS => return coop_yield(cx),
                Advance::Read => {
                    let read = ready!(self.as_mut().poll_read(cx))?;
                    if self.as_mut().project().text.fill(read) {
                        return Poll::Ready(Ok(()));
                    }
                    reads += 1;
                }
            }
        }
    }

    /// Reads into the buffer, which holds no text. Frees memory if the reader is pending.
    #[inline]
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let this = self.project();
        let poll = poll_read_into(this.reader, cx, this.text.room());
        if poll.is_pending() {
            this.text.shrink();
        }
        poll
    }
}

impl<R: AsyncRead + Unpin> Utf8Reader<R> {
    /// Consumes and returns all text that has been decoded. If there is none, reads more. Returns
    /// `None` at the end. The text is never empty.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::{StreamError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new(&b"good \xFFand good"[..]);
    /// assert_eq!(reader.next_str().await.unwrap(), Some("good "));
    /// assert!(matches!(reader.next_str().await, Err(StreamError::Utf8(error)) if error.valid_up_to() == 5));
    /// assert_eq!(reader.next_str().await.unwrap(), Some("and good"));
    /// assert_eq!(reader.next_str().await.unwrap(), None);
    /// # }
    /// ```
    #[inline]
    pub async fn next_str(&mut self) -> Result<Option<&str>, StreamError<io::Error>> {
        self.fill().await?;
        Ok(self.text.next_text())
    }

    /// Returns the next text without consuming it; `None` at the end.
    ///
    /// # Errors
    ///
    /// The same as [`next_str`](Self::next_str). Each error is returned once.
    #[inline]
    pub async fn peek_str(&mut self) -> Result<Option<&str>, StreamError<io::Error>> {
        self.fill().await?;
        Ok(self.text.peek_text())
    }

    /// Consumes and returns the next `char`; `None` at the end.
    #[inline]
    pub async fn next_char(&mut self) -> Result<Option<char>, StreamError<io::Error>> {
        if let Some(next) = self.text.next_char() {
            return Ok(Some(next));
        }
        self.fill().await?;
        Ok(self.text.next_char())
    }

    /// Collects the text up to the end, at most `max_length` bytes of it.
    ///
    /// The limit applies to the text: repairs count, a removed BOM and skipped bytes do not.
    ///
    /// # Errors
    ///
    /// [`StreamError::TooLong`] as soon as the text is longer than `max_length`; otherwise the
    /// first error of the stream. The text so far is dropped. [`append_text`](Self::append_text)
    /// keeps it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the text so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::{StreamError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let file = "pět".as_bytes();
    /// assert_eq!(Utf8Reader::new(file).collect_text(4).await.unwrap(), "pět");
    /// let error = Utf8Reader::new(file).collect_text(3).await.unwrap_err();
    /// assert!(matches!(error, StreamError::TooLong { max_length: 3 }));
    /// # }
    /// ```
    #[doc(alias = "read_to_string")]
    pub async fn collect_text(
        &mut self,
        max_length: usize,
    ) -> Result<String, StreamError<io::Error>> {
        let mut text = String::new();
        self.append_text(&mut text, max_length).await?;
        Ok(text)
    }

    /// Appends the text up to the end to `text`, up to `max_length` bytes in total. If `text` is longer already, only an empty rest is
    /// no error.
    ///
    /// # Errors
    ///
    /// The same as [`collect_text`](Self::collect_text). The text before the error is in `text`.
    /// Text that would exceed the limit has not been consumed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: the text so far is in `text`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::{StreamError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), StreamError<std::io::Error>> {
    /// let mut reader = Utf8Reader::new(&b"one \xFFtwo"[..]);
    /// let mut text = String::from("zero ");
    /// while let Err(error) = reader.append_text(&mut text, 100).await {
    ///     assert!(matches!(error, StreamError::Utf8(_)));
    /// }
    /// assert_eq!(text, "zero one two");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn append_text(
        &mut self,
        text: &mut String,
        max_length: usize,
    ) -> Result<(), StreamError<io::Error>> {
        let mut turns = Turns::default();
        loop {
            turns.next(|cx| Pin::new(&mut *self).poll_fill(cx)).await?;
            if !self.text.append_to(text, max_length)? {
                return Ok(());
            }
        }
    }

    #[inline]
    async fn fill(&mut self) -> Result<(), StreamError<io::Error>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_fill(cx)).await
    }
}

impl<R: AsyncRead> LineSource for Utf8Reader<R> {
    type Error = io::Error;

    /// Reads without decoding.
    #[inline]
    fn poll_fill(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        lines: &mut ReadLines,
    ) -> Poll<Option<io::Result<()>>> {
        let read = ready!(self.as_mut().poll_read(cx));
        let read = read.inspect_err(|error| lines.fail(after_error(error)))?;
        self.project().text.fill_raw(read, lines.buffer());
        Poll::Ready((read > 0).then_some(Ok(())))
    }
}

impl<R> Utf8ByteReader<Utf8Reader<R>> {
    /// Consumes the adaptor and returns the `Utf8Reader`. Nothing is lost: it continues with the
    /// text that has not been read. If a character was read in part, it continues with the whole
    /// character.
    pub fn into_inner(mut self) -> Utf8Reader<R> {
        self.inner.consume(self.read.whole_chars(self.inner.as_str()));
        self.inner
    }
}

impl<R: AsyncRead> AsyncBufRead for Utf8ByteReader<Utf8Reader<R>> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        let text = ready!(this.inner.poll_fill_str(cx))?;
        Poll::Ready(Ok(this.read.rest(text)))
    }

    /// # Panics
    ///
    /// If `amount` is more than `poll_fill_buf` returned.
    fn consume(self: Pin<&mut Self>, amount: usize) {
        let this = self.project();
        this.read.consume(amount, this.inner.project().text);
    }
}

impl<R: AsyncRead> AsyncRead for Utf8ByteReader<Utf8Reader<R>> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let bytes = ready!(self.as_mut().poll_fill_buf(cx))?;
        let len = bytes.len().min(buffer.remaining());
        buffer.put_slice(&bytes[..len]);
        self.consume(len);
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncRead> AsyncRead for CharsetReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut this = self.project();
        if room.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        for _ in 0..MAX_TURNS {
            match this.bytes.next()? {
                CharsetStep::Ready => {
                    let len = this.bytes.take(room.initialize_unfilled());
                    room.advance(len);
                    return Poll::Ready(Ok(()));
                }
                CharsetStep::Pass => {
                    let polled = this.reader.poll_read(cx, room);
                    return uninterrupted(cx, polled);
                }
                CharsetStep::Read => {
                    let len = poll_read_into(this.reader.as_mut(), cx, this.bytes.room());
                    this.bytes.fill(ready!(len)?);
                }
                CharsetStep::End => return Poll::Ready(Ok(())),
            }
        }
        coop_yield(cx)
    }
}
