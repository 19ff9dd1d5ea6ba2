//! How is the text of a `Utf8Reader` read as bytes?

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use crate::adaptor::read_text::ReadBytes;
use crate::stream::Utf8Reader;

pin_project! {
    /// An `AsyncRead` and `AsyncBufRead` of well-formed UTF-8; see [`Utf8Reader::into_byte_reader`].
    ///
    /// All bytes together are well-formed. A read may end in the middle of a character if the
    /// caller's buffer ends there. `fill_buf` returns whole characters, unless some bytes of the
    /// first one have been consumed. The byte reader holds the same data as the `Utf8Reader`, and is
    /// 8 bytes larger.
    ///
    /// # Errors
    ///
    /// An error of the reader is returned unchanged. An ill-formed part is
    /// [`InvalidData`](io::ErrorKind::InvalidData), or
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the stream ends inside a character, with
    /// the [`Utf8Error`](crate::Utf8Error) as its source. The text before an error is read first.
    /// The next read continues after the error.
    ///
    /// # Cancel safety
    ///
    /// The same as for tokio's methods. This reader loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::{AsyncBufReadExt, AsyncReadExt};
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let peer = (&b"status: gr\xC3"[..]).chain(&b"\xBCn\nbody: \xFF"[..]);
    /// let mut reader = Utf8Reader::new(peer).into_byte_reader();
    /// let mut line = String::new();
    /// reader.read_line(&mut line).await?;
    /// assert_eq!(line, "status: grün\n");
    ///
    /// let error = reader.read_to_end(&mut Vec::new()).await.unwrap_err();
    /// assert_eq!(error.to_string(), "invalid UTF-8 at byte 20: invalid byte (ff)");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    #[must_use = "readers do nothing unless read"]
    pub struct Utf8ByteReader<R> {
        #[pin]
        inner: Utf8Reader<R>,
        read: ReadBytes,
    }
}

impl<R> Utf8ByteReader<R> {
    pub(super) fn new(inner: Utf8Reader<R>) -> Self {
        Self { inner, read: ReadBytes::default() }
    }

    /// Returns the inner `Utf8Reader`, for example for its decoder's error count and first error.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::AsyncReadExt;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let reader = Utf8Reader::new(&b"\xFF."[..]).with_error_mode(ErrorMode::Skip);
    /// let mut reader = reader.into_byte_reader();
    /// reader.read_to_end(&mut Vec::new()).await?;
    /// assert_eq!(reader.get_ref().decoder().error_count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_ref(&self) -> &Utf8Reader<R> {
        &self.inner
    }

    /// Consumes the adaptor and returns the `Utf8Reader`. Nothing is lost: it continues with the
    /// text that has not been read. If a character was read in part, it continues with the whole
    /// character.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::AsyncReadExt;
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut reader = Utf8Reader::new("5 €".as_bytes()).into_byte_reader();
    /// let mut bytes = [0; 3];
    /// reader.read_exact(&mut bytes).await?;
    /// assert_eq!(&bytes, b"5 \xE2");
    /// assert_eq!(reader.into_inner().next_str().await?, Some("€"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_inner(mut self) -> Utf8Reader<R> {
        self.inner.consume(self.read.whole_chars(self.inner.as_str()));
        self.inner
    }
}

impl<R: AsyncRead> AsyncBufRead for Utf8ByteReader<R> {
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
        this.read.consume(amount, this.inner.text_mut());
    }
}

impl<R: AsyncRead> AsyncRead for Utf8ByteReader<R> {
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
