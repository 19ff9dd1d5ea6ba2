use std::pin::pin;

use bytes::Bytes;
use bytestring::ByteString;
use futures::Stream;
use tokio::io::AsyncRead;

use crate::adaptor::chunk::Silence;
#[cfg(feature = "codec")]
use crate::stream::Utf8Lines;
use crate::stream::{
    CharStream, CollectError, ReaderChunks, Texts, Utf8Reader, Utf8Stream, append_within,
};

/// Puts what makes text behind a reader.
///
/// # Examples
///
/// ```
/// use utf8_codec::stream::Utf8ReadExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (socket, _peer) = (&b"d\xC3\xA9j\xC3\xA0 vu"[..], ());
/// assert_eq!(socket.utf8_reader().next_str().await.unwrap(), Some("déjà vu"));
/// # }
/// ```
pub trait Utf8ReadExt: AsyncRead {
    /// Lends the text of this reader: the fast form.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8ReadExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let text = "žluť".as_bytes().utf8_reader().collect_text(1 << 20).await.unwrap();
    /// assert_eq!(text, "žluť");
    /// # }
    /// ```
    fn utf8_reader(self) -> Utf8Reader<Self>
    where
        Self: Sized,
    {
        Utf8Reader::new(self)
    }

    /// Makes a stream of text of this reader.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use utf8_codec::stream::Utf8ReadExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut texts = "žluť".as_bytes().utf8_stream();
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "žluť");
    /// # }
    /// ```
    fn utf8_stream(self) -> Utf8Stream<ReaderChunks<Self>>
    where
        Self: Sized,
    {
        Utf8Stream::from_reader(self)
    }

    /// Makes a stream of `char`s of this reader.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use utf8_codec::stream::Utf8ReadExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chars: Vec<_> = "žluť".as_bytes().utf8_chars().try_collect().await.unwrap();
    /// assert_eq!(chars, ['ž', 'l', 'u', 'ť']);
    /// # }
    /// ```
    fn utf8_chars(self) -> CharStream<Utf8Stream<ReaderChunks<Self>>>
    where
        Self: Sized,
    {
        Utf8Stream::from_reader(self).chars()
    }

    /// Makes a stream of lines of this reader.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use utf8_codec::stream::Utf8ReadExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut lines = "žluť\nbílá\n".as_bytes().utf8_lines().with_max_length(80);
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "žluť");
    /// # }
    /// ```
    #[cfg(feature = "codec")]
    fn utf8_lines(self) -> Utf8Lines<Utf8Reader<Self>>
    where
        Self: Sized,
    {
        Utf8Reader::new(self).into_lines()
    }
}

impl<R: AsyncRead + ?Sized> Utf8ReadExt for R {}

/// Puts what works on text behind a stream of it: of `Result<T, E>` with `T: Into<ByteString>`, such
/// as `String`, `&str`, `Box<str>` and [`ByteString`], the items of an [`Utf8Stream`] among them.
///
/// # Examples
///
/// ```
/// use futures::{TryStreamExt, stream};
/// use utf8_codec::stream::TextStreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let messages = stream::iter([Ok("jedna, "), Ok("dvě"), Err("timed out")]);
/// let mut chars = messages.text_chars().indices();
/// while let Ok(Some((at, c))) = chars.try_next().await {
///     assert_eq!("jedna, dvě"[at as usize..].chars().next(), Some(c));
/// }
/// assert_eq!(chars.get_ref().offset(), 11);
/// # }
/// ```
pub trait TextStreamExt: Stream {
    /// Takes the text apart. Errors of this stream are items as they were.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use utf8_codec::stream::TextStreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let messages = stream::iter(["ab".to_owned(), "č".to_owned()].map(Ok::<_, std::io::Error>));
    /// let chars: Vec<_> = messages.text_chars().try_collect().await.unwrap();
    /// assert_eq!(chars, ['a', 'b', 'č']);
    /// # }
    /// ```
    fn text_chars<T, E>(self) -> CharStream<Texts<Self>>
    where
        Self: Stream<Item = Result<T, E>> + Sized,
        T: Into<ByteString>,
    {
        CharStream::new(Texts::new(self))
    }

    /// Makes lines of the text, wherever its items end.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::TextStreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let tokens = stream::iter(["One li", "ne.\nAno", "ther."].map(Ok::<_, std::io::Error>));
    /// let mut lines = tokens.text_lines();
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "One line.");
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "Another.");
    /// # }
    /// ```
    #[cfg(feature = "codec")]
    fn text_lines<T, E>(self) -> Utf8Lines<Texts<Self>>
    where
        Self: Stream<Item = Result<T, E>> + Sized,
        T: Into<ByteString>,
    {
        Utf8Lines::new(Texts::new(self))
    }

    /// Collects the whole text, `limit` bytes of it at the most.
    ///
    /// # Errors
    ///
    /// [`CollectError::TooLong`] as soon as the text is longer than `limit`; [`CollectError::Inner`]
    /// at the first error of this stream. The stream and the text so far are dropped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the stream, which it owns, and the text so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::stream;
    /// use utf8_codec::stream::{CollectError, TextStreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let tokens = || stream::iter(["5 ", "€"].map(Ok::<_, std::io::Error>));
    /// assert_eq!(tokens().collect_text(5).await.unwrap(), "5 €");
    /// let error = tokens().collect_text(4).await.unwrap_err();
    /// assert!(matches!(error, CollectError::TooLong { limit: 4 }));
    /// # }
    /// ```
    fn collect_text<T, E>(
        self,
        limit: usize,
    ) -> impl Future<Output = Result<String, CollectError<E>>>
    where
        Self: Stream<Item = Result<T, E>> + Sized,
        T: AsRef<str>,
    {
        async move {
            let mut stream = pin!(self);
            let (mut text, mut silence) = (String::new(), Silence::default());
            while let Some(item) = silence.next(|cx| stream.as_mut().poll_next(cx)).await {
                let before = text.len();
                append_within(&mut text, item.map_err(CollectError::Inner)?.as_ref(), limit)?;
                silence.note(text.len() - before);
            }
            Ok(text)
        }
    }
}

impl<S: Stream + ?Sized> TextStreamExt for S {}

/// Puts [`Utf8Stream`] behind a stream of chunks.
///
/// # Examples
///
/// ```
/// use futures::{StreamExt, stream};
/// use utf8_codec::stream::Utf8StreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let chunks = [vec![0xE6, 0x97], vec![0xA5]].map(Ok::<_, std::io::Error>);
/// let mut texts = stream::iter(chunks).utf8();
/// assert_eq!(texts.next().await.unwrap().unwrap(), "日");
/// # }
/// ```
pub trait Utf8StreamExt: Stream {
    /// Decodes the chunks of this stream, with the default options, in
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal).
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
    /// let body = stream::iter([&b"Gr\xFC\xDFe"[..], b" \xE2\x82"].map(Ok::<_, std::io::Error>));
    /// let text = body.utf8().with_error_mode(ErrorMode::Windows1252).collect_text(1 << 20).await;
    /// assert_eq!(text.unwrap(), "Grüße â‚");
    /// # }
    /// ```
    fn utf8<B, E>(self) -> Utf8Stream<Self>
    where
        Self: Stream<Item = Result<B, E>> + Sized,
        B: Into<Bytes>,
    {
        Utf8Stream::new(self)
    }

    /// Takes the text of the chunks apart, with the default options, in
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal); with others, `utf8()`, their settings, and
    /// [`chars()`](Utf8Stream::chars).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{TryStreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [vec![0xE6, 0x97], vec![0xA5, b'!']].map(Ok::<_, std::io::Error>);
    /// let chars: Vec<_> = stream::iter(chunks).utf8_chars().try_collect().await.unwrap();
    /// assert_eq!(chars, ['日', '!']);
    /// # }
    /// ```
    fn utf8_chars<B, E>(self) -> CharStream<Utf8Stream<Self>>
    where
        Self: Stream<Item = Result<B, E>> + Sized,
        B: Into<Bytes>,
    {
        Utf8Stream::new(self).chars()
    }

    /// Makes lines of the chunks, with the default settings.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [vec![0xE6, 0x97], vec![0xA5, b'\n']].map(Ok::<_, std::io::Error>);
    /// let mut lines = stream::iter(chunks).utf8_lines();
    /// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "日");
    /// # }
    /// ```
    #[cfg(feature = "codec")]
    fn utf8_lines<B, E>(self) -> Utf8Lines<Self>
    where
        Self: Stream<Item = Result<B, E>> + Sized,
        B: Into<Bytes>,
    {
        Utf8Lines::new(self)
    }
}

impl<S: Stream + ?Sized> Utf8StreamExt for S {}
