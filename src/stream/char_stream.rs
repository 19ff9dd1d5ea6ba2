use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::Stream;
use futures::stream::FusedStream;
use pin_project_lite::pin_project;

use crate::stream::block::Block;
use crate::stream::{CharIndexStream, TextSource, Utf8Stream};

pin_project! {
    /// `char`s one by one, each with its place, from a stream of chunks, a reader, or a stream of
    /// text.
    ///
    /// Many are decoded at once, so that one costs about what one of [`str::chars`] does. Who can
    /// work on several takes them with [`next_block`](Self::next_block); who works on text, as lexers
    /// do, [peeks](Self::peek), looks at [`as_str`](Self::as_str), and [takes](Self::advance) some of
    /// it. Where a block or that text ends depends on the chunks; the `char`s and their offsets do
    /// not.
    ///
    /// Besides what the source holds there is one piece of text, which shares its chunk's memory or,
    /// where something was repaired, takes 40 KiB at the most; and at most 2,048 `char`s (8 KiB). All
    /// of it is given up when it is out and the source is pending. A `CharStream` is 112 bytes larger
    /// than its source, on a 64-bit machine, if an error has 24.
    ///
    /// The options and the error mode are those of the source. After `None` there is nothing else ever
    /// after.
    ///
    /// # Errors
    ///
    /// Those of the source, as items in their places. The stream goes on behind them at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()`, or one of the methods here, loses nothing.
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
    /// let mut chars = stream::iter(chunks).utf8_chars();
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
    pub struct CharStream<T>
    where
        T: TextSource,
    {
        #[pin]
        source: T,
        block: Block,
        // Comes behind the block, which is empty: it has been peeked at, or is about to be taken.
        trouble: Option<T::Error>,
    }
}

/// What is next in a stream.
pub(super) enum Next {
    /// `char`s: the block is not empty.
    Chars,
    /// An error, which is kept.
    Trouble,
    /// Nothing ever after.
    End,
}

impl<T: TextSource> CharStream<T> {
    /// Takes the text of `source` apart: of a [`Utf8Stream`], or of [`Texts`](crate::stream::Texts).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::{CharStream, Utf8Stream};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let texts = Utf8Stream::from_reader(&b"na\xEFve"[..]).with_error_mode(ErrorMode::Latin1);
    /// assert_eq!(CharStream::new(texts).try_collect::<String>().await.unwrap(), "naïve");
    /// # }
    /// ```
    pub fn new(source: T) -> Self {
        let block = Block::new(source.text_end());
        Self { source, block, trouble: None }
    }

    /// Makes a stream of `char`s and their offsets.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"1\xE2\x82"[..], b"\xAC2"].map(Ok::<_, std::io::Error>);
    /// let indices = stream::iter(chunks).utf8_chars().indices();
    /// let indices: Vec<_> = indices.try_collect().await.unwrap();
    /// assert_eq!(indices, [(0, '1'), (1, '€'), (4, '2')]);
    /// # }
    /// ```
    pub fn indices(self) -> CharIndexStream<T> {
        CharIndexStream::new(self)
    }

    /// Returns the offset in the stream of the next `char`, in bytes: as
    /// [`CharIndices::offset`](std::str::CharIndices::offset), but in the whole stream, a signature
    /// and what was skipped included.
    ///
    /// Where [`as_str`](Self::as_str) is empty, nothing is known of the next `char`: then it is the
    /// offset behind the last one. What stands for an ill-formed part has the offset of that part.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let texts = stream::iter([Ok::<_, std::io::Error>(&b"\xC3\xA9\xFFx"[..])]).utf8();
    /// let mut chars = texts.with_error_mode(ErrorMode::Skip).chars();
    /// assert_eq!(chars.next().await.unwrap().unwrap(), 'é');
    /// assert_eq!(chars.offset(), 2);
    /// assert_eq!(chars.peek().await.unwrap().unwrap(), 'x');
    /// assert_eq!(chars.offset(), 3);
    /// # }
    /// ```
    pub fn offset(&self) -> u64 {
        self.block.offset()
    }

    /// Returns the text that has been decoded and not been handed out, none of it where only the
    /// source can say what comes next.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut chars = stream::iter([Ok::<_, std::io::Error>(&b"word word"[..])]).utf8_chars();
    /// assert_eq!(chars.as_str(), "");
    /// chars.next().await;
    /// assert_eq!(chars.as_str(), "ord word");
    /// # }
    /// ```
    pub fn as_str(&self) -> &str {
        self.block.as_str()
    }

    /// Takes the first `len` bytes of [`as_str`](Self::as_str): what a lexer has used of it.
    ///
    /// # Panics
    ///
    /// If `len` is not between two characters of that text, at its start or at its end.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut chars = stream::iter([Ok::<_, std::io::Error>("größe = 7")]).utf8_chars();
    /// chars.peek().await;
    /// let word = chars.as_str().find(' ').unwrap();
    /// chars.advance(word);
    /// assert_eq!((chars.offset(), chars.as_str()), (7, " = 7"));
    /// # }
    /// ```
    pub fn advance(&mut self, len: usize) {
        self.block.consume(len);
    }

    /// Returns the source, which knows what of errors there were.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut chars = stream::iter([Ok::<_, std::io::Error>(&b"\xFF"[..])]).utf8_chars();
    /// chars.next().await;
    /// assert_eq!(chars.get_ref().error_count(), 1);
    /// # }
    /// ```
    pub fn get_ref(&self) -> &T {
        &self.source
    }

    /// Returns the source for good. What [`as_str`](Self::as_str) shows is lost, and an error that has
    /// only been peeked at.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"a"[..], b"text"].map(Ok::<_, std::io::Error>);
    /// let mut chars = stream::iter(chunks).utf8_chars();
    /// chars.next().await;
    /// assert_eq!(chars.into_inner().next().await.unwrap().unwrap(), "text");
    /// # }
    /// ```
    pub fn into_inner(self) -> T {
        self.source
    }
}

impl<T: TextSource> CharStream<T> {
    /// Polls for the next `char` without taking it; see [`peek`](Self::peek).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    /// use std::pin::Pin;
    /// use futures::stream;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut chars = stream::iter([Ok::<_, std::io::Error>("…")]).utf8_chars();
    /// let is_first = poll_fn(|cx| Pin::new(&mut chars).poll_peek(cx).map(|c| matches!(c, Some(Ok('…')))));
    /// assert!(is_first.await);
    /// # }
    /// ```
    pub fn poll_peek<'a>(
        mut self: Pin<&'a mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<char, &'a T::Error>>> {
        ready!(self.as_mut().poll_first(cx));
        let this = self.project();
        let next = this.block.peek().map(Ok);
        Poll::Ready(next.or_else(|| this.trouble.as_ref().map(Err)))
    }

    /// Polls for the next block, and takes it; see [`next_block`](Self::next_block).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::Pin;
    /// use std::task::{Context, Poll};
    /// use futures::{stream, task::noop_waker};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// let waker = noop_waker();
    /// let mut chars = stream::iter([Ok::<_, std::io::Error>("dvě")]).utf8_chars();
    /// let block = Pin::new(&mut chars).poll_next_block(&mut Context::from_waker(&waker));
    /// assert!(matches!(block, Poll::Ready(Some(Ok(['d', 'v', 'ě'])))));
    /// ```
    pub fn poll_next_block<'a>(
        mut self: Pin<&'a mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<&'a [char], T::Error>>> {
        let next = ready!(self.as_mut().poll_first(cx));
        let this = self.project();
        Poll::Ready(match next {
            Next::Chars => Some(Ok(this.block.take_chars())),
            Next::Trouble => this.trouble.take().map(Err),
            Next::End => None,
        })
    }

    /// Returns the next `char` without taking it, or the error that comes before it; `None` at the end.
    /// Where there is a `char`, [`as_str`](Self::as_str) begins with it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
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
    /// let mut chars = stream::iter(chunks).utf8_chars();
    /// assert_eq!(chars.peek().await.unwrap().unwrap(), '≠');
    /// assert_eq!(chars.next().await.unwrap().unwrap(), '≠');
    /// assert!(chars.peek().await.unwrap().is_err());
    /// assert!(chars.next().await.unwrap().is_err());
    /// assert_eq!(chars.peek().await.unwrap().unwrap(), '=');
    /// # }
    /// ```
    pub async fn peek(&mut self) -> Option<Result<char, &T::Error>>
    where
        T: Unpin,
    {
        poll_fn(|cx| Pin::new(&mut *self).poll_first(cx)).await;
        let next = self.block.peek().map(Ok);
        next.or_else(|| self.trouble.as_ref().map(Err))
    }

    /// Takes the next `char`s, as many as are decoded at once, 2,048 at the most, and what is left of
    /// them where some have been taken; `None` at the end. Never empty.
    ///
    /// # Errors
    ///
    /// As `next()`.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
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
    /// let mut chars = stream::iter(chunks).utf8_chars();
    /// let mut greek = 0;
    /// while let Some(block) = chars.next_block().await {
    ///     greek += block.unwrap().iter().filter(|c| ('α'..='ω').contains(*c)).count();
    /// }
    /// assert_eq!(greek, 2);
    /// # }
    /// ```
    pub async fn next_block(&mut self) -> Option<Result<&[char], T::Error>>
    where
        T: Unpin,
    {
        match poll_fn(|cx| Pin::new(&mut *self).poll_first(cx)).await {
            Next::Chars => Some(Ok(self.block.take_chars())),
            Next::Trouble => self.trouble.take().map(Err),
            Next::End => None,
        }
    }

    /// Finds out what is next.
    #[inline]
    fn poll_first(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Next> {
        match self.block.peek() {
            Some(_) => Poll::Ready(Next::Chars),
            None => self.poll_block(cx),
        }
    }

    /// Finds out what is next, where no `char` is decoded.
    #[inline(never)]
    pub(super) fn poll_block(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Next> {
        let this = self.project();
        if this.block.look_ahead() {
            return Poll::Ready(Next::Chars);
        }
        if this.trouble.is_some() {
            return Poll::Ready(Next::Trouble);
        }
        match this.source.poll_piece(cx) {
            Poll::Ready(Some(Ok(piece))) => {
                this.block.fill(piece);
                Poll::Ready(Next::Chars)
            }
            Poll::Ready(Some(Err(error))) => {
                *this.trouble = Some(error);
                Poll::Ready(Next::Trouble)
            }
            Poll::Ready(None) => Poll::Ready(Next::End),
            Poll::Pending => {
                this.block.shrink();
                Poll::Pending
            }
        }
    }

    /// The next item, where no `char` is decoded.
    #[inline(never)]
    fn poll_slowly(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<char, T::Error>>> {
        Poll::Ready(match ready!(self.as_mut().poll_block(cx)) {
            Next::Chars => self.block().next_char().map(Ok),
            Next::Trouble => self.take_trouble().map(Err),
            Next::End => None,
        })
    }

    pub(super) fn take_trouble(self: Pin<&mut Self>) -> Option<T::Error> {
        self.project().trouble.take()
    }

    #[inline]
    pub(super) fn block(self: Pin<&mut Self>) -> &mut Block {
        self.project().block
    }
}

impl<T: TextSource> Stream for CharStream<T> {
    type Item = Result<char, T::Error>;

    #[inline]
    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.as_mut().block().next_char() {
            Some(next) => Poll::Ready(Some(Ok(next))),
            None => self.poll_slowly(cx),
        }
    }
}

impl<T: TextSource> FusedStream for CharStream<T> {
    fn is_terminated(&self) -> bool {
        self.block.as_str().is_empty() && self.trouble.is_none() && self.source.has_ended()
    }
}

impl<T> fmt::Debug for CharStream<T>
where
    T: TextSource<Error: fmt::Debug> + fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CharStream")
            .field("source", &self.source)
            .field("block", &self.block.as_str())
            .field("trouble", &self.trouble)
            .finish()
    }
}

impl<S, B, E> Utf8Stream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    /// Makes a stream of `char`s.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let chunks = [&b"\xEF"[..], b"\xBB\xBFx"].map(Ok::<_, std::io::Error>);
    /// let mut chars = stream::iter(chunks).utf8().with_options(options).chars();
    /// assert_eq!(chars.next().await.unwrap().unwrap(), 'x');
    /// # }
    /// ```
    pub fn chars(self) -> CharStream<Self> {
        CharStream::new(self)
    }
}
