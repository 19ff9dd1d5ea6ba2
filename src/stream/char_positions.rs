//! How do `char`s get their line and column?

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::stream::FusedStream;
use futures::{Stream, TryStream};
use pin_project_lite::pin_project;

use crate::core::position::TextPosition;
use crate::stream::{CharStream, StreamError};

impl<S, E> CharStream<S, E>
where
    S: TryStream<Ok: Into<Bytes>, Error = E>,
{
    /// Returns a stream of the `char`s and errors, each with its line, column and offset. Lines and columns
    /// count from the next item.
    ///
    /// The errors are those of this stream, not `Err` items: the position precedes either. A repair has
    /// the offset of its ill-formed part. A lexer that reads [`as_str`](Self::as_str) keeps a
    /// [`TextPosition`] instead, and calls [`push`](TextPosition::push) with the text that it
    /// consumes.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"one\r"[..], b"\nzw\xC3", b"\xB6\xFFlf"].map(Ok::<_, std::io::Error>);
    /// let mut chars = stream::iter(chunks).utf8().chars().with_positions();
    /// while let Some((at, next)) = chars.next().await {
    ///     match next {
    ///         Ok('ö') => assert_eq!((at.line, at.column, at.offset), (2, 3, 7)),
    ///         Ok(_) => {}
    ///         Err(_) => assert_eq!((at.to_string(), at.offset), ("line 2, column 4".into(), 9)),
    ///     }
    /// }
    /// # }
    /// ```
    pub fn with_positions(
        self,
    ) -> impl FusedStream<Item = (TextPosition, Result<char, StreamError<E>>)> {
        CharPositions { chars: self, position: TextPosition::new() }
    }
}

pin_project! {
    /// The stream of [`CharStream::with_positions`].
    #[must_use = "streams do nothing unless polled"]
    struct CharPositions<S, E> {
        #[pin]
        chars: CharStream<S, E>,
        // That of the next item, except for the offset.
        position: TextPosition,
    }
}

impl<S, E> Stream for CharPositions<S, E>
where
    S: TryStream<Ok: Into<Bytes>, Error = E>,
{
    type Item = (TextPosition, Result<char, StreamError<E>>);

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        Poll::Ready(match ready!(this.chars.as_mut().poll_next_indexed(cx)) {
            Some(Ok((offset, next))) => Some((this.position.take(offset, Ok(next)), Ok(next))),
            Some(Err(error)) => {
                let at = match &error {
                    StreamError::Utf8(utf8) => {
                        this.position.take(utf8.valid_up_to(), Err(Some(utf8)))
                    }
                    _ => this.position.take(this.chars.offset(), Err(None)),
                };
                Some((at, Err(error)))
            }
            None => None,
        })
    }
}

impl<S, E> FusedStream for CharPositions<S, E>
where
    S: TryStream<Ok: Into<Bytes>, Error = E>,
{
    fn is_terminated(&self) -> bool {
        self.chars.is_terminated()
    }
}
