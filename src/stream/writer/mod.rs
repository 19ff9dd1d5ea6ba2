//! Text, characters and UTF-16 units to a writer of bytes.

mod error;
mod item;
mod outgoing;

use std::fmt;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use bytestring::ByteString;
use futures::Sink;
use pin_project_lite::pin_project;
use tokio::io::AsyncWrite;

pub use error::WriteError;
pub use item::Utf8Item;

use crate::encoder::Utf8Encoder;
use crate::transcode::Status;
use crate::utf16::{SurrogateMode, Utf16Decoder, Utf16Error};
use item::Item;
use outgoing::Outgoing;

pin_project! {
    /// Writes text, characters and UTF-16 units to an `AsyncWrite`, as UTF-8.
    ///
    /// What is written goes into a buffer first; when that is full, the next call waits until there
    /// is room. [`flush`](Self::flush) writes out everything that is held, [`close`](Self::close)
    /// ends the stream. It is not an `AsyncWrite` itself, as bytes could be anything. It is a
    /// `Sink` of every [`Utf8Item`]: `char`, `&str`, `String`, `ByteString`, `u16`, `&[u16]` and
    /// others, mixed at will.
    ///
    /// A `ByteString` or `String` of 256 bytes or more is not copied: its bytes go to the writer from
    /// where they are, many of them in one call (64 slices at the most), in order with everything else.
    /// Where the writer does not write vectored (`is_write_vectored`), that holds from the capacity on,
    /// so that text goes out in few calls. Anything else is copied once.
    ///
    /// Of UTF-16, a high surrogate at the end of what has come is held until the next unit comes;
    /// `flush` leaves it where it is; other text, and `close`, decide that it is alone. What becomes of
    /// a lone surrogate, a [`SurrogateMode`] says.
    ///
    /// # Memory
    ///
    /// 136 bytes, besides the writer. It holds as many bytes as its capacity says, 8,192 (8 KiB) unless
    /// set otherwise, and on top of that the last item, which is taken whole. When everything is
    /// flushed, it holds nothing on the heap.
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`] where the writer fails, or takes no bytes (`WriteZero`): nothing is lost, and
    /// the next call tries again. [`WriteError::Utf16`] for a lone surrogate, in
    /// [`SurrogateMode::Fatal`], the default: all else is taken. Written to after it was closed, it
    /// fails with `BrokenPipe`.
    ///
    /// # Cancel safety
    ///
    /// Every future here can be dropped before it is ready, as `tokio::select!` does. A text is then not
    /// taken at all, neither in part; what had been taken before is written by the next call that waits.
    ///
    /// # Examples
    ///
    /// A pair of surrogates cut in two, between texts:
    ///
    /// ```
    /// use utf8_codec::stream::{Utf8Writer, WriteError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), WriteError> {
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
    /// As the end of a stream of texts:
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::{Utf8WriteExt, WriteError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), WriteError> {
    /// let mut writer = Vec::new().utf8_writer();
    /// stream::iter(["größer, ", "höher, ", "weiter"]).map(Ok).forward(&mut writer).await?;
    /// assert_eq!(writer.into_inner(), "größer, höher, weiter".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    pub struct Utf8Writer<W> {
        #[pin]
        writer: W,
        outgoing: Outgoing,
        capacity: usize,
        encoder: Utf8Encoder,
        utf16: Utf16Decoder,
        mode: SurrogateMode,
        state: State,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// More may come.
    Open,
    /// The writer has been shut down.
    Closed,
}

/// What a [`Utf8Writer`] is made of, and what it holds; see [`Utf8Writer::into_parts`].
///
/// # Examples
///
/// ```
/// use utf8_codec::stream::Utf8WriteExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
/// let mut writer = Vec::new().utf8_writer();
/// writer.write_str("written").await?;
/// writer.flush().await?;
/// writer.write_str("€").await?;
/// writer.write_utf16(&[0xD83D]).await?;
///
/// let parts = writer.into_parts();
/// assert_eq!(parts.writer, b"written");
/// assert_eq!(parts.unwritten, "€");
/// assert_eq!(parts.high_surrogate, Some(0xD83D));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Utf8WriterParts<W> {
    /// The writer.
    pub writer: W,
    /// The bytes that it has not taken. They start where it stopped, which may be within a character,
    /// and end between two characters.
    pub unwritten: Bytes,
    /// A high surrogate behind them, whose partner has not come.
    pub high_surrogate: Option<u16>,
}

impl<W> Utf8Writer<W> {
    /// Writes to `writer`, with no signature, in [`SurrogateMode::Fatal`], with a capacity of 8,192
    /// bytes (8 KiB).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// assert_eq!(Utf8Writer::new(tokio::io::sink()).unwritten_len(), 0);
    /// ```
    pub fn new(writer: W) -> Self {
        Self {
            writer,
            outgoing: Outgoing::default(),
            capacity: CAPACITY,
            encoder: Utf8Encoder::new(),
            utf16: Utf16Decoder::new(),
            mode: SurrogateMode::default(),
            state: State::Open,
        }
    }

    /// Sets how many bytes are held before writing waits, of one if that is 0.
    ///
    /// Nothing is allocated for them before they come.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::FutureExt;
    /// use utf8_codec::stream::Utf8WriteExt;
    ///
    /// let (_peer, socket) = tokio::io::duplex(1);
    /// let mut writer = socket.utf8_writer().with_capacity(3);
    /// assert!(writer.write_str("abc").now_or_never().is_some()); // held
    /// assert!(writer.write_str("d").now_or_never().is_some()); // "a" has been written
    /// assert!(writer.write_str("e").now_or_never().is_none()); // waits for room
    /// ```
    #[must_use]
    pub fn with_capacity(self, capacity: usize) -> Self {
        Self { capacity: capacity.max(1), ..self }
    }

    /// Sets the encoder: whether a signature is written.
    ///
    /// It goes out before the first text, even an empty one; if there is none before `close`, then not
    /// at all.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Encoder;
    /// use utf8_codec::stream::Utf8WriteExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mut writer = Vec::new().utf8_writer().with_encoder(Utf8Encoder::with_bom());
    /// writer.write_str("text").await?;
    /// writer.close().await?;
    /// assert_eq!(writer.into_inner(), b"\xEF\xBB\xBFtext");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_encoder(self, encoder: Utf8Encoder) -> Self {
        Self { encoder, ..self }
    }

    /// Sets what becomes of surrogates without their partners.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8WriteExt;
    /// use utf8_codec::utf16::SurrogateMode;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mode = SurrogateMode::Replacement;
    /// let mut writer = Vec::new().utf8_writer().with_surrogate_mode(mode);
    /// writer.write_utf16(&[0xD83D]).await?;
    /// writer.close().await?;
    /// assert_eq!(writer.into_inner(), "\u{FFFD}".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_surrogate_mode(self, mode: SurrogateMode) -> Self {
        Self { mode, ..self }
    }

    /// Returns how many bytes have been taken and are not written yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8WriteExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mut writer = Vec::new().utf8_writer();
    /// writer.write_char('€').await?;
    /// assert_eq!(writer.unwritten_len(), 3);
    /// writer.flush().await?;
    /// assert_eq!(writer.unwritten_len(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn unwritten_len(&self) -> usize {
        self.outgoing.len()
    }

    /// Returns the decoder of UTF-16 within, which knows how many units there were, the one held, and
    /// how many were lone surrogates.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8WriteExt;
    /// use utf8_codec::utf16::SurrogateMode;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mut writer = Vec::new().utf8_writer().with_surrogate_mode(SurrogateMode::Skip);
    /// writer.write_utf16(&[0x61, 0xDC00, 0xD83D]).await?;
    /// assert_eq!(writer.utf16().error_count(), 1);
    /// assert_eq!(writer.utf16().incomplete(), Some(0xD83D));
    /// # Ok(())
    /// # }
    /// ```
    pub fn utf16(&self) -> &Utf16Decoder {
        &self.utf16
    }

    /// Returns the writer.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// assert_eq!(Utf8Writer::new(vec![1, 2]).get_ref(), &[1, 2]);
    /// ```
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns the writer, to be changed. What is written to it here goes before all that is held, and
    /// perhaps into the middle of a character: flush first.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.get_mut().extend_from_slice(b"before");
    /// assert_eq!(writer.into_inner(), b"before");
    /// ```
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Returns the writer for good. What has not been written is lost, as `unwritten_len` and
    /// `utf16().incomplete()` tell; see [`into_parts`](Self::into_parts).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.write_str("text").await?;
    /// writer.flush().await?;
    /// assert_eq!(writer.into_inner(), b"text");
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_inner(self) -> W {
        self.writer
    }

    /// Returns the writer, and what it has not been given.
    ///
    /// The bytes are copied where they do not lie together.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mut writer = Utf8Writer::new(tokio::io::sink());
    /// writer.write_str("text").await?;
    /// assert_eq!(writer.into_parts().unwritten, "text");
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_parts(self) -> Utf8WriterParts<W> {
        let high_surrogate = self.utf16.incomplete();
        let unwritten = self.outgoing.into_bytes();
        Utf8WriterParts { writer: self.writer, unwritten, high_surrogate }
    }
}

/// Waiting.
impl<W: AsyncWrite + Unpin> Utf8Writer<W> {
    /// Takes `text`, copied, as soon as there is room.
    ///
    /// # Errors
    ///
    /// As [above](Self#errors).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, nothing of `text` has been taken.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.write_str("ça ").await?;
    /// writer.write_str("va").await?;
    /// writer.flush().await?;
    /// assert_eq!(writer.get_ref(), "ça va".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_str(&mut self, text: &str) -> Result<(), WriteError> {
        self.write(Item::Str(text)).await
    }

    /// Takes one character, as soon as there is room.
    ///
    /// # Errors
    ///
    /// As [above](Self#errors).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the character has not been taken.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.write_char('♫').await?;
    /// writer.flush().await?;
    /// assert_eq!(writer.get_ref(), b"\xE2\x99\xAB");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_char(&mut self, c: char) -> Result<(), WriteError> {
        self.write(Item::Char(c)).await
    }

    /// Takes `text`, as soon as there is room, without copying it if it has 256 bytes or more (see
    /// [above](Self)).
    ///
    /// # Errors
    ///
    /// As [above](Self#errors).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, nothing of `text` has been taken; it is dropped
    /// with the future. A clone costs next to nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ByteString;
    /// use utf8_codec::stream::Utf8Writer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
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
    pub async fn write_text(&mut self, text: ByteString) -> Result<(), WriteError> {
        self.write(Item::Text(text)).await
    }

    /// Takes UTF-16 units, as soon as there is room.
    ///
    /// # Errors
    ///
    /// As [above](Self#errors). Where units are ill-formed, the well-formed around them have been
    /// taken.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, none of the units has been taken.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::{Utf8Writer, WriteError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), WriteError> {
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// let error = writer.write_utf16(&[0x61, 0xDC00, 0x62]).await.unwrap_err();
    /// assert!(matches!(error, WriteError::Utf16(error) if error.offset() == 1));
    /// writer.flush().await?;
    /// assert_eq!(writer.get_ref(), b"ab");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_utf16(&mut self, units: &[u16]) -> Result<(), WriteError> {
        self.write(Item::Units(units)).await
    }

    /// Writes out everything that is held, and flushes the writer. A high surrogate that waits for its
    /// partner goes on waiting.
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`]. What is unwritten is kept, and the next call tries again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, part of the bytes may have been written. The others
    /// are held, and written by the next call that waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::AsyncReadExt;
    /// use utf8_codec::stream::Utf8WriteExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mut peer, socket) = tokio::io::duplex(64);
    /// let mut writer = socket.utf8_writer();
    /// writer.write_str("¿qué?").await?;
    /// writer.flush().await?;
    /// let mut received = [0; 7];
    /// peer.read_exact(&mut received).await?;
    /// assert_eq!(received, *"¿qué?".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn flush(&mut self) -> Result<(), WriteError> {
        poll_fn(|cx| Pin::new(&mut *self).poll_flush(cx)).await
    }

    /// Ends the stream: decides that a held surrogate is alone, writes out everything and shuts the
    /// writer down. A further call is harmless.
    ///
    /// # Errors
    ///
    /// [`WriteError::Utf16`] for a held high surrogate, in [`SurrogateMode::Fatal`], once: the stream
    /// is still open then, and the next call closes it. [`WriteError::Io`] as for
    /// [`flush`](Self::flush).
    ///
    /// # Cancel safety
    ///
    /// As [`flush`](Self::flush). The next call goes on with closing.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::AsyncReadExt;
    /// use utf8_codec::stream::Utf8WriteExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (mut peer, socket) = tokio::io::duplex(64);
    /// let mut writer = socket.utf8_writer();
    /// writer.write_utf16(&[0xD83D]).await?;
    /// assert!(writer.close().await.is_err()); // its partner will never come
    /// writer.close().await?;
    /// assert_eq!(peer.read(&mut [0]).await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn close(&mut self) -> Result<(), WriteError> {
        poll_fn(|cx| Pin::new(&mut *self).poll_close(cx)).await
    }

    async fn write(&mut self, item: Item<'_>) -> Result<(), WriteError> {
        poll_fn(|cx| Pin::new(&mut *self).poll_ready(cx)).await?;
        Pin::new(self).take(item)
    }
}

/// Polling, for futures of one's own. (The `Sink` has methods of the same names, one set for each
/// type of item.)
impl<W: AsyncWrite> Utf8Writer<W> {
    /// Waits until there is room: until less is held than the capacity says.
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    /// use std::pin::pin;
    /// use futures::Sink;
    /// use utf8_codec::stream::Utf8WriteExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mut writer = pin!(tokio::io::sink().utf8_writer());
    /// poll_fn(|cx| writer.as_mut().poll_ready(cx)).await?;
    /// writer.as_mut().start_send("text")?;
    /// poll_fn(|cx| writer.as_mut().poll_flush(cx)).await?;
    /// poll_fn(|cx| writer.as_mut().poll_close(cx)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn poll_ready(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), WriteError>> {
        if self.state == State::Closed {
            return Poll::Ready(Err(closed()));
        }
        while self.outgoing.len() >= self.capacity {
            ready!(self.as_mut().poll_write_some(cx))?;
        }
        Poll::Ready(Ok(()))
    }

    /// As [`flush`](Self::flush).
    ///
    /// # Errors
    ///
    /// As [`flush`](Self::flush).
    ///
    /// # Examples
    ///
    /// See [`poll_ready`](Self::poll_ready).
    pub fn poll_flush(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), WriteError>> {
        ready!(self.as_mut().poll_write_all(cx))?;
        ready!(self.project().writer.poll_flush(cx))?;
        Poll::Ready(Ok(()))
    }

    /// As [`close`](Self::close).
    ///
    /// # Errors
    ///
    /// As [`close`](Self::close).
    ///
    /// # Examples
    ///
    /// See [`poll_ready`](Self::poll_ready).
    pub fn poll_close(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), WriteError>> {
        if self.state == State::Open {
            self.as_mut().end_utf16()?;
            ready!(self.as_mut().poll_write_all(cx))?;
            let this = self.project();
            ready!(this.writer.poll_shutdown(cx))?;
            *this.state = State::Closed;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_all(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.outgoing.len() > 0 {
            ready!(self.as_mut().poll_write_some(cx))?;
        }
        self.project().outgoing.release();
        Poll::Ready(Ok(()))
    }

    /// Has the writer take some of what is held, which is not nothing.
    fn poll_write_some(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        let poll = if this.outgoing.is_copied() || !this.writer.is_write_vectored() {
            this.writer.poll_write(cx, this.outgoing.first())
        } else {
            let mut slices = [IoSlice::new(&[]); MAX_SLICES];
            let filled = this.outgoing.lend(&mut slices);
            this.writer.poll_write_vectored(cx, &slices[..filled])
        };
        Poll::Ready(match ready!(poll)? {
            0 => Err(io::Error::new(io::ErrorKind::WriteZero, "the writer takes no more bytes")),
            written => {
                this.outgoing.advance(written);
                Ok(())
            }
        })
    }

    /// Takes `item`, whether there is room or not.
    fn take(mut self: Pin<&mut Self>, item: Item<'_>) -> Result<(), WriteError> {
        if self.state == State::Closed {
            return Err(closed());
        }
        // Units continue those before them; any other text ends them.
        let ended = match item {
            Item::Units(_) => Ok(()),
            _ => self.as_mut().end_utf16(),
        };
        let this = self.project();
        let outgoing = this.outgoing;
        outgoing.copy(this.encoder.take_signature());
        match item {
            Item::Char(c) => outgoing.copy(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Item::Str(text) => outgoing.copy(text.as_bytes()),
            Item::Text(text) => {
                let least = match this.writer.is_write_vectored() {
                    true => MIN_SHARED,
                    false => MIN_SHARED.max(*this.capacity),
                };
                match text.len() < least {
                    true => outgoing.copy(text.as_bytes()),
                    false => outgoing.share(text.into_bytes()),
                }
            }
            Item::Units(mut units) => {
                outgoing.reserve(units.len());
                let mut first = Ok(());
                while !units.is_empty() {
                    let copy = |bytes: &_| outgoing.copy(bytes);
                    let progress = this.utf16.push_to(units, *this.mode, copy);
                    units = &units[progress.read + progress.held..];
                    if let Status::IllFormed(error) = progress.status {
                        first = first.and(Err(error));
                    }
                }
                first?;
            }
        }
        Ok(ended?)
    }

    /// Decides that a held surrogate is alone.
    fn end_utf16(self: Pin<&mut Self>) -> Result<(), Utf16Error> {
        let this = self.project();
        let Err(error) = this.utf16.finish() else { return Ok(()) };
        this.outgoing.copy(this.mode.repair(&error).ok_or(error)?.as_bytes());
        Ok(())
    }
}

/// A sink of text, characters and units, mixed at will; as the methods of the same names.
impl<W: AsyncWrite, T: Utf8Item> Sink<T> for Utf8Writer<W> {
    type Error = WriteError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), WriteError>> {
        self.poll_ready(cx)
    }

    fn start_send(self: Pin<&mut Self>, mut item: T) -> Result<(), WriteError> {
        self.take(item.take())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), WriteError>> {
        self.poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), WriteError>> {
        self.poll_close(cx)
    }
}

/// Tells how much is held, not what.
impl<W: fmt::Debug> fmt::Debug for Utf8Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Utf8Writer")
            .field("writer", &self.writer)
            .field("unwritten_len", &self.outgoing.len())
            .field("capacity", &self.capacity)
            .field("utf16", &self.utf16)
            .field("mode", &self.mode)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// Puts [`Utf8Writer`] around a writer.
///
/// # Examples
///
/// ```
/// use futures::{StreamExt, stream};
/// use utf8_codec::stream::{Utf8WriteExt, WriteError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), WriteError> {
/// let units = stream::iter([0xD83D, 0xDC4B].map(Ok::<u16, WriteError>));
/// let mut writer = Vec::new().utf8_writer();
/// units.forward(&mut writer).await?;
/// assert_eq!(writer.into_inner(), "👋".as_bytes());
/// # Ok(())
/// # }
/// ```
pub trait Utf8WriteExt: AsyncWrite {
    /// Writes text to this writer, with the settings of [`Utf8Writer::new`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::{Utf8WriteExt, WriteError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), WriteError> {
    /// let mut writer = Vec::new().utf8_writer();
    /// writer.write_str("dzień dobry").await?;
    /// writer.close().await?;
    /// assert_eq!(writer.into_inner(), "dzień dobry".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    fn utf8_writer(self) -> Utf8Writer<Self>
    where
        Self: Sized,
    {
        Utf8Writer::new(self)
    }
}

impl<W: AsyncWrite + ?Sized> Utf8WriteExt for W {}

fn closed() -> WriteError {
    io::Error::new(io::ErrorKind::BrokenPipe, "the stream of text is closed").into()
}

const CAPACITY: usize = 8 * 1024;

/// Text of fewer bytes is copied, as that is quicker than to hand it on by itself.
const MIN_SHARED: usize = 256;

const MAX_SLICES: usize = 64;

const _: () = assert!(size_of::<Utf8Writer<()>>() == 136);
