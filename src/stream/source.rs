use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use bytestring::ByteString;
use futures::Stream;
use pin_project_lite::pin_project;

use crate::adaptor::chunk::{SILENT_CHUNKS, give_way};
use crate::stream::piece::Piece;
use crate::stream::{StreamError, Utf8Stream};

/// What a [`CharStream`](crate::stream::CharStream) has its text from: a [`Utf8Stream`], or
/// [`Texts`]. It cannot be implemented elsewhere.
///
/// # Examples
///
/// ```
/// use futures::{StreamExt, stream};
/// use utf8_codec::stream::{CharStream, TextSource, Utf8Stream};
///
/// async fn first<T: TextSource + Unpin>(source: T) -> Option<char> {
///     CharStream::new(source).next().await?.ok()
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(first(Utf8Stream::from_reader("žluť".as_bytes())).await, Some('ž'));
/// # }
/// ```
pub trait TextSource {
    /// What is not text, and an item of its own.
    type Error;

    /// Returns the next text with its place, of whose form every part has been decided.
    #[doc(hidden)]
    fn poll_piece(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Piece, Self::Error>>>;

    /// Returns how far in the stream the text has come that has been returned.
    #[doc(hidden)]
    fn text_end(&self) -> u64;

    /// Whether there will be nothing more.
    #[doc(hidden)]
    fn has_ended(&self) -> bool;
}

impl<S, B, E> TextSource for Utf8Stream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    type Error = StreamError<E>;

    fn poll_piece(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Piece, StreamError<E>>>> {
        self.poll_pieces(cx)
    }

    fn text_end(&self) -> u64 {
        let decoder = self.decoder();
        decoder.position() - decoder.incomplete().len() as u64
    }

    fn has_ended(&self) -> bool {
        futures::stream::FusedStream::is_terminated(self)
    }
}

pin_project! {
    /// A stream of text as a source of [`CharStream`](crate::stream::CharStream) and
    /// [`Utf8Lines`](crate::stream::Utf8Lines): of `String`s, of messages and the like.
    ///
    /// The items of the inner stream are `Result<T, E>` with `T: Into<ByteString>`; empty ones change
    /// nothing. Holds nothing. The end of the inner stream is the end: it is not polled again.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, TryStreamExt, stream};
    /// use utf8_codec::stream::{CharStream, Texts};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let messages = stream::iter([Ok("dvě"), Ok(""), Err("timed out"), Ok("tři")]);
    /// let mut chars = CharStream::new(Texts::new(messages));
    /// assert_eq!(chars.by_ref().take(3).try_collect::<String>().await.unwrap(), "dvě");
    /// assert_eq!(chars.next().await, Some(Err("timed out")));
    /// assert_eq!(chars.try_collect::<String>().await.unwrap(), "tři");
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    #[must_use = "a source does nothing by itself"]
    pub struct Texts<S> {
        #[pin]
        inner: S,
        position: u64,
        ended: bool,
    }
}

impl<S> Texts<S> {
    /// Takes text from `inner`.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::{CharStream, Texts};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let texts = Texts::new(stream::iter([Ok::<_, std::io::Error>("dvě".to_owned())]));
    /// assert_eq!(CharStream::new(texts).next().await.unwrap().unwrap(), 'd');
    /// # }
    /// ```
    pub fn new(inner: S) -> Self {
        Self { inner, position: 0, ended: false }
    }

    /// Returns how many bytes of text have come.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::TextStreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut chars = stream::iter([Ok::<_, std::io::Error>("dvě")]).text_chars();
    /// assert_eq!(chars.next().await.unwrap().unwrap(), 'd');
    /// assert_eq!((chars.offset(), chars.get_ref().position()), (1, 4));
    /// # }
    /// ```
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the inner stream.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(utf8_codec::stream::Texts::new(7).get_ref(), &7);
    /// ```
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// Returns the inner stream for good. Nothing is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(utf8_codec::stream::Texts::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, T, E> Texts<S>
where
    S: Stream<Item = Result<T, E>>,
    T: Into<ByteString>,
{
    /// Polls for the next text that is not empty.
    pub(super) fn poll_text(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<ByteString, E>>> {
        let mut this = self.project();
        if *this.ended {
            return Poll::Ready(None);
        }
        for _ in 0..SILENT_CHUNKS {
            match ready!(this.inner.as_mut().poll_next(cx)) {
                Some(Ok(text)) => {
                    let text = text.into();
                    if !text.is_empty() {
                        *this.position += text.len() as u64;
                        return Poll::Ready(Some(Ok(text)));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    *this.ended = true;
                    return Poll::Ready(None);
                }
            }
        }
        give_way(cx)
    }
}

impl<S, T, E> TextSource for Texts<S>
where
    S: Stream<Item = Result<T, E>>,
    T: Into<ByteString>,
{
    type Error = E;

    fn poll_piece(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Piece, E>>> {
        let offset = self.position;
        let text = ready!(self.poll_text(cx));
        Poll::Ready(text.map(|text| text.map(|text| Piece::Text { text, offset })))
    }

    fn text_end(&self) -> u64 {
        self.position
    }

    fn has_ended(&self) -> bool {
        self.ended
    }
}
