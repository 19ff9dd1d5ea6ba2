use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::Stream;
use futures::stream::FusedStream;
use pin_project_lite::pin_project;

use crate::stream::char_stream::Next;
use crate::stream::{CharStream, TextSource};

pin_project! {
    /// `char`s and their offsets in the stream, in bytes; see [`CharStream::indices`].
    ///
    /// What a [`CharStream`] is otherwise, this is too.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"\xC3"[..], b"\xA9\xFF\xC3"].map(Ok::<_, std::io::Error>);
    /// let texts = stream::iter(chunks).utf8().with_error_mode(ErrorMode::Escape);
    /// let indices: Vec<_> = texts.chars().indices().try_collect().await.unwrap();
    /// assert_eq!(indices[..2], [(0, 'é'), (2, '\\')]);
    /// assert_eq!(indices[4..6], [(2, 'f'), (3, '\\')]); // one part at 2, and one at 3
    /// # }
    /// ```
    #[must_use = "streams do nothing unless polled"]
    pub struct CharIndexStream<T>
    where
        T: TextSource,
    {
        #[pin]
        chars: CharStream<T>,
    }
}

impl<T: TextSource> CharIndexStream<T> {
    pub(super) fn new(chars: CharStream<T>) -> Self {
        Self { chars }
    }

    /// Returns the stream of `char`s within.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut indices = stream::iter([Ok::<_, std::io::Error>("äx")]).utf8_chars().indices();
    /// indices.next().await;
    /// assert_eq!(indices.get_ref().offset(), 2);
    /// # }
    /// ```
    pub fn get_ref(&self) -> &CharStream<T> {
        &self.chars
    }

    /// Returns the stream of `char`s for good. Nothing is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut indices = stream::iter([Ok::<_, std::io::Error>("äx")]).utf8_chars().indices();
    /// assert_eq!(indices.next().await.unwrap().unwrap(), (0, 'ä'));
    /// assert_eq!(indices.into_inner().next().await.unwrap().unwrap(), 'x');
    /// # }
    /// ```
    pub fn into_inner(self) -> CharStream<T> {
        self.chars
    }
}

impl<T: TextSource> Stream for CharIndexStream<T> {
    type Item = Result<(u64, char), T::Error>;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut chars = self.project().chars;
        loop {
            let block = chars.as_mut().block();
            let offset = block.offset();
            if let Some(next) = block.next_char() {
                return Poll::Ready(Some(Ok((offset, next))));
            }
            match ready!(chars.as_mut().poll_block(cx)) {
                Next::Chars => {}
                Next::Trouble => return Poll::Ready(chars.take_trouble().map(Err)),
                Next::End => return Poll::Ready(None),
            }
        }
    }
}

impl<T: TextSource> FusedStream for CharIndexStream<T> {
    fn is_terminated(&self) -> bool {
        self.chars.is_terminated()
    }
}

impl<T> fmt::Debug for CharIndexStream<T>
where
    T: TextSource<Error: fmt::Debug> + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CharIndexStream").field(&self.chars).finish()
    }
}
