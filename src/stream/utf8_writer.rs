//! How do text, `char`s and UTF-16 units reach an `AsyncWrite`?

use bytes::Bytes;
use pin_project_lite::pin_project;

use crate::adaptor::WriteText;
use crate::decoder::{ErrorMode, Utf8Encoder};
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
    /// It is 144 bytes larger than the inner writer, on a 64-bit machine. It buffers at most its
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
    /// found. Its inner error ([`get_ref`](std::io::Error::get_ref)) is a [`Utf16Error`]. Lone
    /// surrogates are skipped and everything else has been taken, so do not repeat that call.
    ///
    /// After `close`, [`BrokenPipe`](std::io::ErrorKind::BrokenPipe).
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
        pub(super) writer: W,
        pub(super) text: WriteText,
        pub(super) state: WriteState,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteState {
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

    /// Sets the encoder, which determines whether a BOM is written.
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
