use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use crate::boundary;
use crate::stream::Utf8Reader;

pin_project! {
    /// Reads bytes that are well-formed text, as an `AsyncRead` and an `AsyncBufRead`; see
    /// [`Utf8Reader::into_byte_reader`].
    ///
    /// All bytes together are text; those of one read may end in the middle of a character, as its
    /// caller has room for so many. `fill_buf` shows whole characters, unless some bytes of the first
    /// have been consumed. Holds what the `Utf8Reader` does, and is 8
    /// bytes larger.
    ///
    /// # Errors
    ///
    /// Those of the reader as they were; what is ill-formed as
    /// [`InvalidData`](io::ErrorKind::InvalidData), or
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) where the stream ends inside a character,
    /// with the [`Utf8Error`](crate::Utf8Error) within. What comes before an error has been read
    /// before it, and a further read goes on behind it.
    ///
    /// # Cancel safety
    ///
    /// As tokio's methods say of themselves: here nothing is lost.
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
    /// assert_eq!(error.to_string(), "ill-formed utf-8 at byte 20: invalid byte (ff)");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    pub struct Utf8ByteReader<R> {
        #[pin]
        inner: Utf8Reader<R>,
        // Bytes of the text within that have been read, less than all.
        done: usize,
    }
}

impl<R> Utf8ByteReader<R> {
    pub(super) fn new(inner: Utf8Reader<R>) -> Self {
        Self { inner, done: 0 }
    }

    /// Returns the reader of text within, which knows what of errors there were.
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
    /// assert_eq!(reader.get_ref().error_count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_ref(&self) -> &Utf8Reader<R> {
        &self.inner
    }

    /// Returns the reader of text within for good. Nothing is lost: what has not been read comes next,
    /// with all of a character of which only some bytes have been.
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
        let read = boundary::floor(self.inner.as_str().as_bytes(), self.done);
        self.inner.consume(read);
        self.inner
    }
}

impl<R: AsyncRead> AsyncBufRead for Utf8ByteReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        let text = ready!(this.inner.poll_fill_str(cx))?;
        Poll::Ready(Ok(&text.as_bytes()[*this.done..]))
    }

    /// # Panics
    ///
    /// If `amount` is more than `poll_fill_buf` has shown.
    fn consume(self: Pin<&mut Self>, amount: usize) {
        let mut this = self.project();
        let done = *this.done + amount;
        let len = this.inner.as_str().len();
        assert!(done <= len, "{amount} bytes of {}", len - *this.done);
        if done == len {
            this.inner.as_mut().consume_all();
            *this.done = 0;
        } else {
            *this.done = done;
        }
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
