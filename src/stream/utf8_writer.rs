//! How do text, `char`s and UTF-16 units reach an `AsyncWrite`?

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use bytestring::ByteString;
use futures::Sink;
use pin_project_lite::pin_project;
use tokio::io::AsyncWrite;

use crate::adaptor::{MIN_SHARED, Outgoing, WriteItem, WriteText, formatting_failed};
use crate::decoder::{ErrorMode, Utf8Encoder};
use crate::stream::sources::uninterrupted;
use crate::utf16::Utf16Decoder;

pin_project! {
    /// Writes text, `char`s and UTF-16 units to an `AsyncWrite`, as UTF-8.
    ///
    /// It writes into a buffer. When the buffer is full, the next call waits until there is room.
    /// [`flush`](Self::flush) writes everything that is buffered, and [`close`](Self::close) ends
    /// the stream. It does not implement `AsyncWrite`, because arbitrary bytes need not be text. It
    /// is a `Sink` of `char`, of text (`&str`, `&String`, `String`, `Cow<str>`, `ByteString`) and
    /// of UTF-16 units (`&[u16]`, `Vec<u16>`), in any mix.
    ///
    /// A `ByteString` or `String` of 256 bytes or more is not copied: its bytes are written from
    /// where they are, in order with everything else, up to 64 slices in one call. If the inner
    /// writer does not support vectored writes (`is_write_vectored`), texts shorter than the
    /// capacity are copied too, so that fewer calls are needed. Everything else is copied once.
    ///
    /// A trailing high surrogate is held until the next unit arrives; `flush` keeps it. `close` and
    /// any other text that is not empty turn it into an unpaired surrogate. The [`ErrorMode`] decides
    /// what replaces an unpaired surrogate.
    ///
    /// **Dropping it loses the buffered bytes** and a held surrogate, because `drop` cannot wait: call
    /// `close` or `flush` first. [`unwritten_len`](Self::unwritten_len) returns the number of buffered
    /// bytes.
    ///
    /// # Memory
    ///
    /// It is 136 bytes larger than the inner writer, on a 64-bit machine. It buffers at most its
    /// capacity, 8,192 bytes (8 KiB) unless set otherwise, plus the last item, which it takes
    /// whole. A `ByteString` that is not copied keeps all of its memory alive until it is written.
    /// To write parts of large reads to a peer that may be slow, use
    /// [`write_str`](Self::write_str), which copies. After a flush it holds no heap memory.
    ///
    /// # Errors
    ///
    /// An error of the inner writer, or [`WriteZero`](std::io::ErrorKind::WriteZero) if it accepts
    /// no bytes. Nothing is lost. The call has not taken its text, and you can repeat it.
    /// [`Interrupted`](std::io::ErrorKind::Interrupted) is not an error: the inner call is repeated.
    ///
    /// In [`ErrorMode::Fatal`], the default, an error for the first unpaired surrogate that the call
    /// found. Its inner error ([`get_ref`](std::io::Error::get_ref)) is a [`Utf16Error`].
    /// Unpaired surrogates are skipped and everything else has been taken, so do not repeat that call.
    ///
    /// After `close`, text is [`BrokenPipe`](std::io::ErrorKind::BrokenPipe).
    ///
    /// # Cancel safety
    ///
    /// Writes are atomic: a future that is dropped before it is ready, for example by
    /// `tokio::select!`, has taken none of its text. Text that was taken earlier is written by the
    /// next call that waits.
    ///
    /// [`Utf16Error`]: crate::utf16::Utf16Error
    ///
    /// # Examples
    ///
    /// A surrogate pair split across calls, between texts:
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.write_str("waves: ").await?;
    /// writer.write_utf16(&[0xD83D]).await?;
    /// writer.write_utf16(&[0xDC4B]).await?;
    /// writer.write_char('!').await?;
    /// writer.close().await?;
    /// assert_eq!(writer.into_inner(), "waves: 👋!".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// As a sink of items of several types:
    ///
    /// ```
    /// use futures::SinkExt;
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.feed("one ").await?;
    /// writer.feed(String::from("two ")).await?;
    /// writer.feed('3').await?;
    /// writer.feed(vec![0xD83D]).await?; // a high surrogate
    /// writer.send(&[0xDC4B][..]).await?; // its low surrogate
    /// assert_eq!(writer.into_inner(), "one two 3👋".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    #[must_use = "writers do nothing unless written to"]
    pub struct Utf8Writer<W> {
        #[pin]
        writer: W,
        text: WriteText,
        state: WriteState,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteState {
    Open,
    /// The inner writer has been shut down.
    Closed,
}

impl<W> Utf8Writer<W> {
    /// Writes to `writer`, without a BOM, in [`ErrorMode::Fatal`], with a capacity of 8,192 bytes
    /// (8 KiB).
    pub fn new(writer: W) -> Self {
        Self { writer, text: WriteText::new(), state: WriteState::Open }
    }

    /// Sets the number of bytes, at least 1, that are buffered before a write waits. Nothing is
    /// allocated in advance.
    pub fn with_capacity(mut self, capacity: usize) -> Self {
        self.text.capacity = capacity.max(1);
        self
    }

    /// Sets the encoder, which determines whether a BOM is written. Call it before the first text.
    ///
    /// The BOM is written before the first text, even if that is empty. If there is no text before
    /// `close`, no BOM is written.
    pub fn with_encoder(mut self, encoder: Utf8Encoder) -> Self {
        self.text.encoder = encoder;
        self
    }

    /// Sets what replaces unpaired surrogates.
    pub fn with_surrogate_mode(mut self, mode: ErrorMode) -> Self {
        self.text.mode = mode;
        self
    }

    /// Returns the number of buffered bytes.
    pub fn unwritten_len(&self) -> usize {
        self.text.outgoing.len()
    }

    /// Returns the inner UTF-16 decoder, for the number of units, the held surrogate, and the
    /// number of unpaired surrogates.
    pub fn utf16(&self) -> &Utf16Decoder {
        &self.text.utf16
    }

    /// Returns the inner writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns the inner writer mutably. Bytes that you write to it precede the buffered bytes,
    /// which may start in the middle of a character: flush first.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Consumes the adaptor and returns the inner writer. Buffered bytes are lost (see
    /// [`unwritten_len`](Self::unwritten_len)), and so is a held surrogate.
    /// [`into_parts`](Self::into_parts) returns the bytes.
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Consumes the adaptor and returns the inner writer and the bytes that have not been written.
    ///
    /// The bytes start where the writer stopped, perhaps within a character, and end between two
    /// characters. They are copied unless they are contiguous. A held surrogate is lost; see
    /// [`utf16`](Self::utf16).
    pub fn into_parts(self) -> (W, Bytes) {
        (self.writer, self.text.outgoing.into_bytes())
    }
}

impl<W: AsyncWrite + Unpin> Utf8Writer<W> {
    /// Copies `text` into the buffer, after waiting until there is room.
    pub async fn write_str(&mut self, text: &str) -> io::Result<()> {
        self.write(WriteItem::Str(text)).await
    }

    /// Writes one `char` to the buffer, after waiting until there is room.
    pub async fn write_char(&mut self, c: char) -> io::Result<()> {
        self.write(WriteItem::Char(c)).await
    }

    /// Takes `text`, after waiting until there is room. A text of 256 bytes or more is not copied
    /// (see [above](Self)).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, nothing of `text` has been taken. `text` is
    /// dropped with the future. To keep it, pass a clone, which is cheap.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ByteString;
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let verse = ByteString::from("la la ".repeat(100));
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// for _ in 0..3 {
    ///     writer.write_text(verse.clone()).await?;
    ///     writer.write_char('\n').await?;
    /// }
    /// writer.close().await?;
    /// assert_eq!(writer.into_inner().len(), 3 * 601);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_text(&mut self, text: ByteString) -> io::Result<()> {
        self.write(WriteItem::Text(text)).await
    }

    /// Encodes UTF-16 units into the buffer, after waiting until there is room.
    ///
    /// # Errors
    ///
    /// See [above](Self#errors). If there are unpaired surrogates, all other units have been taken.
    pub async fn write_utf16(&mut self, units: &[u16]) -> io::Result<()> {
        self.write(WriteItem::Units(units)).await
    }

    /// Writes formatted text to the buffer, after waiting until there is room: `write!` and
    /// `writeln!` call this.
    ///
    /// The text is formatted at once, before the future is polled, into a `String`; text without
    /// arguments is not copied. So the future does not borrow the arguments, and is `Send` if the
    /// writer is.
    ///
    /// # Errors
    ///
    /// See [above](Self#errors). [`Other`](io::ErrorKind::Other) if a `Display` implementation fails;
    /// nothing has been taken.
    pub fn write_fmt<'a>(
        &'a mut self,
        arguments: fmt::Arguments<'_>,
    ) -> impl Future<Output = io::Result<()>> + use<'a, W> {
        let text = format(arguments);
        async move {
            match text.map_err(|_| formatting_failed())? {
                Cow::Borrowed(text) => self.write_str(text).await,
                Cow::Owned(text) if text.len() < MIN_SHARED => self.write_str(&text).await,
                Cow::Owned(text) => self.write_text(text.into()).await,
            }
        }
    }

    /// Writes everything that is buffered, and flushes the inner writer. A held surrogate stays
    /// held.
    ///
    /// # Errors
    ///
    /// An error of the inner writer. Unwritten bytes are kept, and you can repeat the call.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, some of the bytes may have been written. The
    /// others are kept, and the next call that waits writes them.
    pub async fn flush(&mut self) -> io::Result<()> {
        poll_fn(|cx| Pin::new(&mut *self).poll_flush(cx)).await
    }

    /// Ends the stream: a held surrogate becomes an unpaired surrogate, everything is written, and the
    /// inner writer is shut down. Calling `close` again does nothing. Writing text after it returns
    /// [`BrokenPipe`](io::ErrorKind::BrokenPipe).
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`](crate::ErrorMode::Fatal), an error for a held surrogate, once. The
    /// stream is then still open, and the next call closes it. Errors of the inner writer as for
    /// [`flush`](Self::flush).
    ///
    /// # Cancel safety
    ///
    /// The same as for [`flush`](Self::flush). The next call continues.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::AsyncReadExt;
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mut peer, socket) = tokio::io::duplex(64);
    /// let mut writer = Utf8Writer::new(socket);
    /// writer.write_utf16(&[0xD83D]).await?;
    /// assert!(writer.close().await.is_err()); // no low surrogate can follow
    /// writer.close().await?;
    /// assert_eq!(peer.read(&mut [0]).await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn close(&mut self) -> io::Result<()> {
        poll_fn(|cx| Pin::new(&mut *self).poll_close(cx)).await
    }

    async fn write(&mut self, item: WriteItem<'_>) -> io::Result<()> {
        poll_fn(|cx| Pin::new(&mut *self).poll_ready(cx)).await?;
        Pin::new(self).take(item)
    }
}

/// Formats text. Unlike `format!`, it returns the error of an argument.
fn format(arguments: fmt::Arguments<'_>) -> Result<Cow<'static, str>, fmt::Error> {
    if let Some(text) = arguments.as_str() {
        return Ok(text.into());
    }
    let mut text = String::new();
    text.write_fmt(arguments)?;
    Ok(text.into())
}

/// Methods for hand-written futures. `Sink` has methods of the same names for each type of item.
impl<W: AsyncWrite> Utf8Writer<W> {
    /// Waits until fewer bytes are buffered than the capacity.
    ///
    /// # Errors
    ///
    /// An error of the inner writer.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    /// use std::pin::pin;
    /// use futures::Sink;
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut writer = pin!(Utf8Writer::new(tokio::io::sink()));
    /// poll_fn(|cx| writer.as_mut().poll_ready(cx)).await?;
    /// writer.as_mut().start_send("text")?;
    /// poll_fn(|cx| writer.as_mut().poll_flush(cx)).await?;
    /// poll_fn(|cx| writer.as_mut().poll_close(cx)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state == WriteState::Closed {
            return Poll::Ready(Err(closed()));
        }
        while self.text.is_full() {
            ready!(self.as_mut().poll_write_some(cx))?;
        }
        Poll::Ready(Ok(()))
    }

    /// The poll form of [`flush`](Self::flush).
    pub fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_write_all(cx))?;
        let flushed = self.project().writer.poll_flush(cx);
        uninterrupted(cx, flushed)
    }

    /// The poll form of [`close`](Self::close).
    pub fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state == WriteState::Open {
            let this = self.as_mut().project();
            this.text.finish()?;
            ready!(self.as_mut().poll_write_all(cx))?;
            let this = self.project();
            let closed = this.writer.poll_shutdown(cx);
            ready!(uninterrupted(cx, closed))?;
            *this.state = WriteState::Closed;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_all(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.text.outgoing.len() > 0 {
            ready!(self.as_mut().poll_write_some(cx))?;
        }
        self.project().text.outgoing = Outgoing::default();
        Poll::Ready(Ok(()))
    }

    /// Writes some of the buffered bytes to the inner writer. There must be at least one.
    fn poll_write_some(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        let outgoing = &this.text.outgoing;
        let poll = if outgoing.is_copied() || !this.writer.is_write_vectored() {
            this.writer.poll_write(cx, outgoing.first())
        } else {
            let mut slices = [IoSlice::new(&[]); MAX_SLICES];
            let filled = outgoing.fill_slices(&mut slices);
            this.writer.poll_write_vectored(cx, &slices[..filled])
        };
        let written = ready!(uninterrupted(cx, poll))?;
        Poll::Ready(this.text.advance(written))
    }

    /// Takes `item`, even if the buffer is full.
    fn take(self: Pin<&mut Self>, item: WriteItem<'_>) -> io::Result<()> {
        if self.state == WriteState::Closed {
            return Err(closed());
        }
        let this = self.project();
        Ok(this.text.take(item, this.writer.is_write_vectored())?)
    }

    fn take_string(self: Pin<&mut Self>, text: String) -> io::Result<()> {
        match text.len() < MIN_SHARED {
            true => self.take(WriteItem::Str(&text)),
            false => self.take(WriteItem::Text(text.into())),
        }
    }
}

/// Implements `Sink` for each type of item, which a function takes, with the methods of the same names.
macro_rules! sinks {
    ($($item:ty => $take:expr,)+) => {$(
        impl<W: AsyncWrite> Sink<$item> for Utf8Writer<W> {
            type Error = io::Error;

            fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_ready(cx)
            }

            fn start_send(self: Pin<&mut Self>, item: $item) -> io::Result<()> {
                let take: fn(Pin<&mut Self>, $item) -> io::Result<()> = $take;
                take(self, item)
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }

            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_close(cx)
            }
        }
    )+};
}

sinks! {
    char => |writer, c| writer.take(WriteItem::Char(c)),
    &str => |writer, text| writer.take(WriteItem::Str(text)),
    &String => |writer, text| writer.take(WriteItem::Str(text)),
    String => Self::take_string,
    ByteString => |writer, text| writer.take(WriteItem::Text(text)),
    &[u16] => |writer, units| writer.take(WriteItem::Units(units)),
    Vec<u16> => |writer, units| writer.take(WriteItem::Units(&units)),
    Cow<'_, str> => |writer, text| match text {
        Cow::Borrowed(text) => writer.take(WriteItem::Str(text)),
        Cow::Owned(text) => writer.take_string(text),
    },
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "`Utf8Writer` is closed")
}

const MAX_SLICES: usize = 64;
