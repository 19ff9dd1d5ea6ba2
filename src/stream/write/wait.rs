use std::future::poll_fn;
use std::pin::Pin;

use bytestring::ByteString;
use tokio::io::AsyncWrite;

use super::item::Item;
use super::{Utf8Writer, WriteError};

/// Waiting for room, and for the writer.
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
    /// [`WriteError::Utf16`] for a held high surrogate, in
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal), once: the stream is still open
    /// then, and the next call closes it. [`WriteError::Io`] as for [`flush`](Self::flush).
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
