//! Text, characters and UTF-16 units to a writer of bytes.

mod error;
mod item;
mod outgoing;
mod poll;
mod wait;

use std::fmt;

use bytes::Bytes;
use pin_project_lite::pin_project;
use tokio::io::AsyncWrite;

pub use error::WriteError;
pub use item::Utf8Item;

use crate::core::encoder::Utf8Encoder;
use crate::core::mode::ErrorMode;
use crate::utf16::Utf16Decoder;
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
    /// `flush` leaves it where it is; any other text, unless empty, and `close` show that it is alone.
    /// An [`ErrorMode`] decides what replaces a lone surrogate.
    ///
    /// # Memory
    ///
    /// It is 136 bytes large (on a 64-bit machine), besides the writer. It holds as many bytes as its
    /// capacity says, 8,192 (8 KiB) unless set otherwise, and on top of that the last item, which is
    /// taken whole. A `ByteString` that is not copied keeps alive, until it is written, all of the memory it
    /// is a part of: for parts of large reads and a peer that may not read, [`write_str`](Self::write_str)
    /// copies. When everything is flushed, it holds nothing on the heap.
    ///
    /// # Errors
    ///
    /// [`WriteError::Io`] where the writer fails, or takes no bytes (`WriteZero`): nothing is lost, and
    /// the next call tries again. [`WriteError::Utf16`] for a lone surrogate, in
    /// [`ErrorMode::Fatal`], the default: all else is taken. Written to after it was closed, it
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
        mode: ErrorMode,
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
    /// Writes to `writer`, with no signature, in [`ErrorMode::Fatal`], with a capacity of 8,192
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
            mode: ErrorMode::default(),
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
    /// let mut writer = Vec::new().utf8_writer().with_encoder(Utf8Encoder::new().with_bom());
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

    /// Sets what replaces lone surrogates.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8WriteExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mode = ErrorMode::Replacement;
    /// let mut writer = Vec::new().utf8_writer().with_surrogate_mode(mode);
    /// writer.write_utf16(&[0xD83D]).await?;
    /// writer.close().await?;
    /// assert_eq!(writer.into_inner(), "\u{FFFD}".as_bytes());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_surrogate_mode(self, mode: ErrorMode) -> Self {
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
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8WriteExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), utf8_codec::stream::WriteError> {
    /// let mut writer = Vec::new().utf8_writer().with_surrogate_mode(ErrorMode::Skip);
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

const CAPACITY: usize = 8 * 1024;

/// Text of fewer bytes is copied, as that is quicker than to hand it on by itself.
const MIN_SHARED: usize = 256;
