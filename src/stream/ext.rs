//! Which methods do readers and streams get?

use bytes::Bytes;
use futures::Stream;
use tokio::io::AsyncRead;

use crate::stream::{ReaderChunks, Utf8Stream};
use crate::stream::{Texts, Utf8Lines};

/// Extension method that turns an `AsyncRead` into a stream of text.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use utf8_codec::stream::Utf8ReadExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (socket, _peer) = (&b"d\xC3\xA9j\xC3\xA0 vu"[..], ());
/// assert_eq!(socket.utf8().next().await.unwrap().unwrap(), "déjà vu");
/// # }
/// ```
pub trait Utf8ReadExt: AsyncRead {
    /// Decodes the bytes of this reader, with the default options, in
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal); see [`Utf8Stream::from_reader`].
    ///
    /// [`Utf8Reader`](crate::stream::Utf8Reader) is faster if borrowed text is enough.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::TryStreamExt;
    /// use utf8_codec::stream::Utf8ReadExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chars: Vec<_> = "žluť".as_bytes().utf8().chars().try_collect().await.unwrap();
    /// assert_eq!(chars, ['ž', 'l', 'u', 'ť']);
    /// # }
    /// ```
    fn utf8(self) -> Utf8Stream<ReaderChunks<Self>>
    where
        Self: Sized,
    {
        Utf8Stream::from_reader(self)
    }
}

impl<R: AsyncRead + ?Sized> Utf8ReadExt for R {}

/// Extension methods for streams of chunks and streams of text.
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
    /// The items are `Result`s. A channel has no errors: map its chunks with `std::io::Result::Ok`. `next()`
    /// and the other methods of [`StreamExt`](futures::StreamExt) need an `Unpin` stream: if this one is not,
    /// write `Box::pin(stream).utf8()`.
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

    /// Splits a stream of text into lines. A line can span several items.
    ///
    /// The items are `Result<T, E>` with `T: AsRef<str>`: `String`, `&str`, `Arc<str>`,
    /// [`ByteString`](crate::ByteString), tungstenite's `Utf8Bytes` and others. Each item is copied once into
    /// the buffer of lines. For a stream of byte chunks, use `utf8()` and [`lines()`](Utf8Stream::lines).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let tokens = stream::iter(["One li", "ne.\nAno", "ther."].map(Ok::<_, std::io::Error>));
    /// let mut lines = tokens.text_lines();
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "One line.");
    /// assert_eq!(lines.next().await.unwrap().unwrap(), "Another.");
    /// # }
    /// ```
    fn text_lines<T, E>(self) -> Utf8Lines<Texts<Self>>
    where
        Self: Stream<Item = Result<T, E>> + Sized,
        T: AsRef<str>,
    {
        Utf8Lines::new(Texts::new(self))
    }
}

impl<S: Stream + ?Sized> Utf8StreamExt for S {}
