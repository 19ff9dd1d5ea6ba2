//! How does text become `char`s?

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::stream::FusedStream;
use futures::{Stream, TryStream};
use pin_project_lite::pin_project;

use crate::decoder::{TextPosition, Utf8Decoder};
use crate::stream::{StreamError, Utf8Stream, char_block::CharBlock};

pin_project! {
    /// Decodes the text of a [`Utf8Stream`] into `char`s with their offsets; see
    /// [`Utf8Stream::chars`].
    ///
    /// `char`s are decoded in blocks, so each costs about as much as with [`str::chars`]. Take
    /// whole blocks with [`next_block`](Self::next_block), or offsets with
    /// [`next_indexed`](Self::next_indexed). Lexers can [`peek`](Self::peek), read
    /// [`as_str`](Self::as_str) and [`advance`](Self::advance). The boundaries of the blocks and of
    /// that text depend on the chunks. The `char`s and their offsets do not.
    ///
    /// Besides what the `Utf8Stream` holds, it holds at most 2,048 `char`s (8 KiB) and one piece of
    /// text. The piece shares the memory of its chunk. If something was repaired, it is a copy of
    /// at most 40 KiB. This memory is freed once consumed while the source is pending. On a 64-bit
    /// machine, a `CharStream` is 144 bytes larger than its `Utf8Stream` if the inner error is an
    /// `io::Error`.
    ///
    /// The options and the error mode are those of the `Utf8Stream`. The stream is fused.
    /// `E` is the error of `S`. Neither has a bound, so your types can hold a `CharStream<S>`, or a
    /// `CharStream<S, E>` if `E` is not an `io::Error`.
    ///
    /// # Errors
    ///
    /// The errors of the `Utf8Stream`, as items at their position. The stream continues after an
    /// error without delay.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()`, or of one of the methods here, loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::{StreamError, Utf8StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"4 \xE2\x82"[..], b"\xAC\xFF!"].map(Ok::<_, std::io::Error>);
    /// let mut chars = stream::iter(chunks).utf8().chars();
    /// assert_eq!(chars.next().await.unwrap().unwrap(), '4');
    /// assert_eq!(chars.next().await.unwrap().unwrap(), ' ');
    /// assert_eq!(chars.next().await.unwrap().unwrap(), '€');
    /// let error = chars.next().await.unwrap().unwrap_err();
    /// assert!(matches!(error, StreamError::Utf8(error) if error.valid_up_to() == 5));
    /// assert_eq!(chars.next().await.unwrap().unwrap(), '!');
    /// assert!(chars.next().await.is_none());
    /// # }
    /// ```
    #[must_use = "streams do nothing unless polled"]
    pub struct CharStream<S, E = io::Error> {
        #[pin]
        texts: Utf8Stream<S>,
        block: CharBlock,
        // Follows the block, which is empty: the error has been peeked at, or is about to be taken.
        error: Option<StreamError<E>>,
    }
}

/// The next item of a stream.
enum Next {
    /// `char`s. The block is not empty.
    Chars,
    /// An error, which is stored in `error`.
    Error,
    /// Only `None`.
    End,
}

impl<S, E> CharStream<S, E> {
    pub(super) fn new(texts: Utf8Stream<S>) -> Self {
        let block = CharBlock::new(end_of_decoded(texts.decoder()));
        Self { texts, block, error: None }
    }

    /// Returns the offset of the next `char` in the stream, in bytes, like
    /// [`CharIndices::offset`](std::str::CharIndices::offset). A removed BOM and skipped bytes
    /// count.
    ///
    /// If [`as_str`](Self::as_str) is empty, the next `char` is not known, and this is the offset
    /// after the last one. A repair has the offset of its ill-formed part.
    pub fn offset(&self) -> u64 {
        self.block.offset()
    }

    /// Returns the text that has been decoded but not yielded. It is empty if the next `char` is
    /// still in the source.
    pub fn as_str(&self) -> &str {
        self.block.as_str()
    }

    /// Consumes the first `len` bytes of [`as_str`](Self::as_str).
    ///
    /// # Panics
    ///
    /// If `len` is not a character boundary of that text.
    pub fn advance(&mut self, len: usize) {
        self.block.consume(len);
    }

    /// Returns the `Utf8Stream`, for example for its decoder's error count and first error.
    pub fn get_ref(&self) -> &Utf8Stream<S> {
        &self.texts
    }

    /// Consumes the adaptor and returns the `Utf8Stream`. The text in [`as_str`](Self::as_str) is
    /// lost, and so is an error that was only peeked at.
    pub fn into_inner(self) -> Utf8Stream<S> {
        self.texts
    }
}

impl<S, E> CharStream<S, E>
where
    S: TryStream<Ok: Into<Bytes>, Error = E>,
{
    /// Polls for the next `char` and its offset; see [`next_indexed`](Self::next_indexed).
    #[inline]
    #[allow(clippy::type_complexity, reason = "as that of `Stream::poll_next`")]
    pub fn poll_next_indexed(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<(u64, char), StreamError<E>>>> {
        let next = ready!(self.as_mut().poll_first(cx));
        Poll::Ready(self.take(next, |block| {
            let offset = block.offset();
            block.next_char().map(|next| (offset, next))
        }))
    }

    /// Consumes and returns the next `char` and its offset in the stream, in bytes, or `None` at
    /// the end.
    ///
    /// A repair has the offset of its ill-formed part.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::stream;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"\xC3"[..], b"\xA9\xFF\xC3"].map(Ok::<_, std::io::Error>);
    /// let texts = stream::iter(chunks).utf8().with_error_mode(ErrorMode::Escape);
    /// let (mut chars, mut indices) = (texts.chars(), Vec::new());
    /// while let Some(next) = chars.next_indexed().await {
    ///     indices.push(next.unwrap());
    /// }
    /// assert_eq!(indices[..2], [(0, 'é'), (2, '\\')]);
    /// assert_eq!(indices[4..6], [(2, 'f'), (3, '\\')]); // one ill-formed part at 2, and one at 3
    /// # }
    /// ```
    pub async fn next_indexed(&mut self) -> Option<Result<(u64, char), StreamError<E>>>
    where
        S: Unpin,
    {
        poll_fn(|cx| Pin::new(&mut *self).poll_next_indexed(cx)).await
    }

    /// Returns the next `char`, or the error before it, without consuming it; `None` at the end. If
    /// there is a `char`, [`as_str`](Self::as_str) begins with it.
    ///
    /// # Errors
    ///
    /// The error that `next()` returns next, borrowed: it stays until you take it.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"\xE2\x89"[..], b"\xA0\xFF="].map(Ok::<_, std::io::Error>);
    /// let mut chars = stream::iter(chunks).utf8().chars();
    /// assert_eq!(chars.peek().await.unwrap().unwrap(), '≠');
    /// assert_eq!(chars.next().await.unwrap().unwrap(), '≠');
    /// assert!(chars.peek().await.unwrap().is_err());
    /// assert!(chars.next().await.unwrap().is_err());
    /// assert_eq!(chars.peek().await.unwrap().unwrap(), '=');
    /// # }
    /// ```
    pub async fn peek(&mut self) -> Option<Result<char, &StreamError<E>>>
    where
        S: Unpin,
    {
        poll_fn(|cx| Pin::new(&mut *self).poll_first(cx)).await;
        let next = self.block.peek().map(Ok);
        next.or_else(|| self.error.as_ref().map(Err))
    }

    /// Consumes and returns all decoded `char`s. If there are none, decodes the next ones first: at
    /// least one and at most 2,048. Returns `None` at the end.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::stream;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"\xCE\xB1 and \xCE"[..], b"\xB2"].map(Ok::<_, std::io::Error>);
    /// let mut chars = stream::iter(chunks).utf8().chars();
    /// let mut greek = 0;
    /// while let Some(block) = chars.next_block().await {
    ///     greek += block.unwrap().iter().filter(|c| ('α'..='ω').contains(*c)).count();
    /// }
    /// assert_eq!(greek, 2);
    /// # }
    /// ```
    pub async fn next_block(&mut self) -> Option<Result<&[char], StreamError<E>>>
    where
        S: Unpin,
    {
        let next = poll_fn(|cx| Pin::new(&mut *self).poll_first(cx)).await;
        Pin::new(self).take(next, |block| Some(block.take_chars()))
    }

    /// Returns a stream of the `char`s and errors, each with its line, column and offset. Lines and columns
    /// count from the next item.
    ///
    /// A repair has the offset of its ill-formed part. A lexer that reads [`as_str`](Self::as_str) keeps a
    /// [`TextPosition`] instead, and calls [`push`](TextPosition::push) with the text that it
    /// consumes.
    ///
    /// # Errors
    ///
    /// An item is a position, and a `char` or an error of this stream. The stream continues after an error.
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
    pub fn with_positions(self) -> CharPositions<S, E> {
        CharPositions { chars: self, position: TextPosition::new() }
    }

    /// Polls for the next item, without consuming it.
    #[inline]
    fn poll_first(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Next> {
        let block = self.as_mut().block();
        block.mark();
        match block.peek() {
            Some(_) => Poll::Ready(Next::Chars),
            None => self.poll_block(cx),
        }
    }

    /// Like [`poll_first`](Self::poll_first), if no `char` is decoded.
    #[inline(never)]
    fn poll_block(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Next> {
        let this = self.project();
        if this.block.look_ahead() {
            return Poll::Ready(Next::Chars);
        }
        if this.error.is_some() {
            return Poll::Ready(Next::Error);
        }
        match this.texts.poll_pieces(cx) {
            Poll::Ready(Some(Ok(piece))) => {
                this.block.fill(piece);
                Poll::Ready(Next::Chars)
            }
            Poll::Ready(Some(Err(error))) => {
                *this.error = Some(error);
                Poll::Ready(Next::Error)
            }
            Poll::Ready(None) => Poll::Ready(Next::End),
            Poll::Pending => {
                this.block.shrink();
                Poll::Pending
            }
        }
    }

    /// Like `poll_next`, if no `char` is decoded.
    #[inline(never)]
    fn poll_slowly(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<char, StreamError<E>>>> {
        let next = ready!(self.as_mut().poll_block(cx));
        Poll::Ready(self.take(next, CharBlock::next_char))
    }

    /// Consumes the next item.
    #[inline]
    fn take<'a, T>(
        self: Pin<&'a mut Self>,
        next: Next,
        take: impl FnOnce(&'a mut CharBlock) -> Option<T>,
    ) -> Option<Result<T, StreamError<E>>> {
        let this = self.project();
        match next {
            Next::Chars => take(this.block).map(Ok),
            Next::Error => this.error.take().map(Err),
            Next::End => None,
        }
    }

    #[inline]
    fn block(self: Pin<&mut Self>) -> &mut CharBlock {
        self.project().block
    }
}

impl<S, E> Stream for CharStream<S, E>
where
    S: TryStream<Ok: Into<Bytes>, Error = E>,
{
    type Item = Result<char, StreamError<E>>;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.as_mut().block().next_char() {
            Some(next) => Poll::Ready(Some(Ok(next))),
            None => self.poll_slowly(cx),
        }
    }
}

impl<S, E> FusedStream for CharStream<S, E>
where
    S: TryStream<Ok: Into<Bytes>, Error = E>,
{
    fn is_terminated(&self) -> bool {
        self.block.as_str().is_empty() && self.error.is_none() && self.texts.has_ended()
    }
}

impl<S: fmt::Debug, E: fmt::Debug> fmt::Debug for CharStream<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CharStream")
            .field("texts", &self.texts)
            .field("block", &self.block.as_str())
            .field("error", &self.error)
            .finish()
    }
}

pin_project! {
    /// The `char`s of a [`CharStream`], each with its line, column and offset; see
    /// [`CharStream::with_positions`].
    #[derive(Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct CharPositions<S, E = io::Error> {
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
        let next = ready!(this.chars.as_mut().poll_next_indexed(cx));
        Poll::Ready(next.map(|next| {
            let (offset, item) = match next {
                Ok((offset, next)) => (offset, Ok(next)),
                Err(error) => (end_of_decoded(this.chars.get_ref().decoder()), Err(error)),
            };
            (StreamError::position_of(this.position, offset, &item), item)
        }))
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

/// Returns the offset of the first byte that has not been decoded.
fn end_of_decoded(decoder: &Utf8Decoder) -> u64 {
    decoder.position() - decoder.incomplete().len() as u64
}
