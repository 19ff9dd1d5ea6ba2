use std::future::poll_fn;
use std::io;
use std::pin::Pin;

use tokio::io::AsyncRead;

use crate::stream::{CollectError, ReadError, Utf8Reader, append_within};

/// The methods that wait.
impl<R: AsyncRead> Utf8Reader<R> {
    /// Takes the next text, `None` at the end: all that has been decoded and not been consumed. Never
    /// empty.
    ///
    /// # Errors
    ///
    /// As said [above](Self#errors).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::{ReadError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new(&b"good \xFFand good"[..]);
    /// assert_eq!(reader.next_str().await.unwrap(), Some("good "));
    /// assert!(matches!(reader.next_str().await, Err(ReadError::Utf8(error)) if error.valid_up_to() == 5));
    /// assert_eq!(reader.next_str().await.unwrap(), Some("and good"));
    /// assert_eq!(reader.next_str().await.unwrap(), None);
    /// # }
    /// ```
    #[inline]
    pub async fn next_str(&mut self) -> Result<Option<&str>, ReadError>
    where
        R: Unpin,
    {
        self.fill().await?;
        Ok(Some(self.content.take()).filter(|text| !text.is_empty()))
    }

    /// Lends the next text without taking it, `None` at the end.
    ///
    /// # Errors
    ///
    /// As [`next_str`](Self::next_str). An error is told once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new("a word".as_bytes());
    /// assert_eq!(reader.peek_str().await.unwrap(), Some("a word"));
    /// reader.consume(2);
    /// assert_eq!(reader.peek_str().await.unwrap(), Some("word"));
    /// # }
    /// ```
    #[inline]
    pub async fn peek_str(&mut self) -> Result<Option<&str>, ReadError>
    where
        R: Unpin,
    {
        self.fill().await?;
        Ok(Some(self.content.as_str()).filter(|text| !text.is_empty()))
    }

    /// Takes the next `char`, `None` at the end.
    ///
    /// # Errors
    ///
    /// As [`next_str`](Self::next_str).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Reader;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut reader = Utf8Reader::new("né".as_bytes());
    /// assert_eq!(reader.next_char().await.unwrap(), Some('n'));
    /// assert_eq!(reader.next_char().await.unwrap(), Some('é'));
    /// assert_eq!(reader.next_char().await.unwrap(), None);
    /// # }
    /// ```
    #[inline]
    pub async fn next_char(&mut self) -> Result<Option<char>, ReadError>
    where
        R: Unpin,
    {
        if let Some(next) = self.content.next_char() {
            return Ok(Some(next));
        }
        self.fill().await?;
        Ok(self.content.next_char())
    }

    /// Collects the text up to the end, `limit` bytes of it at the most.
    ///
    /// What counts is the text: signatures and skipped bytes do not, repairs do.
    ///
    /// # Errors
    ///
    /// [`CollectError::TooLong`] as soon as the text is longer than `limit`; [`CollectError::Utf8`]
    /// and [`CollectError::Inner`] at the first such error. The text so far is dropped: to keep it,
    /// see [`append_text`](Self::append_text).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the text so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::{CollectError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let file = "pět".as_bytes();
    /// assert_eq!(Utf8Reader::new(file).collect_text(4).await.unwrap(), "pět");
    /// let error = Utf8Reader::new(file).collect_text(3).await.unwrap_err();
    /// assert!(matches!(error, CollectError::TooLong { limit: 3 }));
    /// # }
    /// ```
    pub async fn collect_text(&mut self, limit: usize) -> Result<String, CollectError<io::Error>>
    where
        R: Unpin,
    {
        let mut text = String::new();
        self.append_text(&mut text, limit).await?;
        Ok(text)
    }

    /// Appends the text up to the end to `text`, until that has `limit` bytes.
    ///
    /// # Errors
    ///
    /// As [`collect_text`](Self::collect_text). What came before the error is in `text`; what would
    /// make that longer than `limit` has not been consumed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: what came is in `text`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::{CollectError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CollectError<std::io::Error>> {
    /// let mut reader = Utf8Reader::new(&b"one \xFFtwo"[..]);
    /// let mut text = String::from("zero ");
    /// while let Err(error) = reader.append_text(&mut text, 100).await {
    ///     assert!(matches!(error, CollectError::Utf8(_)));
    /// }
    /// assert_eq!(text, "zero one two");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn append_text(
        &mut self,
        text: &mut String,
        limit: usize,
    ) -> Result<(), CollectError<io::Error>>
    where
        R: Unpin,
    {
        while let Some(more) = self.peek_str().await? {
            let len = more.len();
            append_within(text, more, limit)?;
            self.consume(len);
        }
        Ok(())
    }

    #[inline]
    async fn fill(&mut self) -> Result<(), ReadError>
    where
        R: Unpin,
    {
        poll_fn(|cx| Pin::new(&mut *self).poll_fill(cx)).await
    }
}
