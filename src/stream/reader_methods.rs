//! The async methods of `Utf8Reader`, and its text as bytes.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use crate::adaptor::Turns;
use crate::stream::{StreamError, Utf8ByteReader, Utf8Reader};

impl<R: AsyncRead> Utf8Reader<R> {
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
    pub async fn next_str(&mut self) -> Result<Option<&str>, StreamError<io::Error>>
    where
        R: Unpin,
    {
        self.fill().await?;
        Ok(self.text.next_text())
    }

    /// Returns the next text without consuming it; `None` at the end.
    ///
    /// # Errors
    ///
    /// The same as [`next_str`](Self::next_str). Each error is returned once.
    #[inline]
    pub async fn peek_str(&mut self) -> Result<Option<&str>, StreamError<io::Error>>
    where
        R: Unpin,
    {
        self.fill().await?;
        Ok(self.text.peek_text())
    }

    /// Consumes and returns the next `char`; `None` at the end.
    #[inline]
    pub async fn next_char(&mut self) -> Result<Option<char>, StreamError<io::Error>>
    where
        R: Unpin,
    {
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
    pub async fn collect_text(
        &mut self,
        max_length: usize,
    ) -> Result<String, StreamError<io::Error>>
    where
        R: Unpin,
    {
        let mut text = String::new();
        self.append_text(&mut text, max_length).await?;
        Ok(text)
    }

    /// Appends the text up to the end to `text`, which may then have at most `max_length` bytes in
    /// total.
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
    ) -> Result<(), StreamError<io::Error>>
    where
        R: Unpin,
    {
        let mut turns = Turns::default();
        loop {
            turns.next(|cx| Pin::new(&mut *self).poll_fill(cx)).await?;
            if !self.text.append_to(text, max_length)? {
                return Ok(());
            }
        }
    }

    #[inline]
    async fn fill(&mut self) -> Result<(), StreamError<io::Error>>
    where
        R: Unpin,
    {
        poll_fn(|cx| Pin::new(&mut *self).poll_fill(cx)).await
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
        this.read.consume(amount, this.inner.text_mut());
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
