use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncRead;

use crate::adaptor::cooperate::{SILENT_CHUNKS, give_way};
use crate::search::finder::TextFinder;
use crate::stream::{StreamError, Utf8Reader};

/// A text, looked for.
impl<R: AsyncRead + Unpin> Utf8Reader<R> {
    /// Reads up to the next match and takes it, so that the text behind it comes next. Returns the
    /// offset of its first byte; `None` at the end.
    ///
    /// In [`ErrorMode::Fatal`](crate::ErrorMode::Fatal) that is the offset in the stream of bytes,
    /// whatever the finder has seen before, and nothing matches across what is ill-formed, nor across
    /// text that was taken by other means between two calls. In the lossy modes it is the offset in
    /// the repaired text that the finder has been shown, behind a signature and skipped bytes, if they
    /// were removed; there [`TextFinder::skip`] tells the finder of text that was taken by other means.
    ///
    /// Costs one pass over the text, behind reading it, and keeps none of it.
    ///
    /// # Errors
    ///
    /// As said [above](Self#errors), each in its place: what stands before it has been looked at, and
    /// the next call goes on behind it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: what has been looked at is taken, and the finder knows how
    /// much of a match it ends in. Go on with the same finder.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio::io::AsyncWriteExt;
    /// use utf8_codec::search::TextFinder;
    /// use utf8_codec::stream::{StreamError, Utf8Reader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), StreamError<std::io::Error>> {
    /// let (mut peer, socket) = tokio::io::duplex(64);
    /// let mut reader = Utf8Reader::new(socket);
    /// let mut end_of_head = TextFinder::new("\r\n\r\n").unwrap();
    ///
    /// peer.write_all(b"To: \xC3\x89va\r\n\r").await?;
    /// let find = tokio::time::timeout(std::time::Duration::ZERO, reader.find(&mut end_of_head));
    /// assert!(find.await.is_err()); // half of it has come
    /// peer.write_all("\nszia".as_bytes()).await?;
    /// assert_eq!(reader.find(&mut end_of_head).await?, Some(8));
    /// assert_eq!(reader.next_str().await?, Some("szia"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn find(
        &mut self,
        finder: &mut TextFinder,
    ) -> Result<Option<u64>, StreamError<io::Error>> {
        poll_fn(|cx| self.poll_find(cx, finder)).await
    }

    fn poll_find(
        &mut self,
        cx: &mut Context<'_>,
        finder: &mut TextFinder,
    ) -> Poll<Result<Option<u64>, StreamError<io::Error>>> {
        for _ in 0..SILENT_CHUNKS {
            ready!(Pin::new(&mut *self).poll_fill_str(cx))?;
            match self.offset() {
                Some(offset) => finder.go_to(offset),
                None if finder.position() == 0 => {
                    finder.skip(self.decoder().removed() as u64);
                }
                None => {}
            }
            if self.as_str().is_empty() {
                return Poll::Ready(Ok(None));
            }
            let (place, used) = finder.step(self.as_str());
            // A match ends where a character does.
            self.consume(used);
            if place.is_some() {
                return Poll::Ready(Ok(place));
            }
        }
        give_way(cx)
    }
}
