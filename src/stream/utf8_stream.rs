use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use bytestring::ByteString;
use futures::Stream;
use futures::stream::FusedStream;
use pin_project_lite::pin_project;
use tokio::io::AsyncRead;

use crate::adaptor::chunk::Text;
use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::options::Utf8Options;
use crate::fallback::{Fallback, FallbackDecoder};
use crate::search::finder::TextFinder;
use crate::stream::piece::Piece;
use crate::stream::poll::{State, poll_items};
use crate::stream::{
    CollectError, FallbackStream, ReaderChunks, StreamError, TextMatches, append_within,
};

pin_project! {
    /// A stream of chunks to a stream of text: each item is a run of whole characters, never empty.
    ///
    /// The chunks are those of any `Stream` of `Result<B, E>` with `B: Into<Bytes>`, such as
    /// `Bytes`, `Vec<u8>` and `&'static [u8]`, or those of a reader
    /// ([`from_reader`](Self::from_reader)). What a chunk determines is handed on before the next
    /// chunk is asked for; how the text is divided into items depends on the chunks, the text does
    /// not.
    ///
    /// Text is handed on without copying: an item shares its chunk's memory, and a small one keeps
    /// the whole chunk alive (`ByteString::from(&*item)` copies it out). A character that was cut
    /// is a copy, and an item of its own. In a lossy mode a chunk yields at most one item, and that
    /// is a copy where something was repaired or where the chunk completes a character.
    ///
    /// Between polls it holds the beginning of one sequence or of a signature, three bytes at the
    /// most, and in [`ErrorMode::Fatal`] what is left of one chunk ([`rest`](Self::rest)). An empty
    /// chunk changes nothing. The end of the inner stream turns an incomplete tail into one error,
    /// or one repair; then comes `None`, and nothing else ever after: the inner stream is not
    /// polled again.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], the default, [`StreamError::Utf8`] for each ill-formed part, in its
    /// place: the text before it comes first, and what stands behind it comes next, at once, as if
    /// it had not been there. In every mode [`StreamError::Inner`] in its place; what is held of a
    /// character is kept, and decoding goes on if the inner stream does.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing: the bytes are here or still in the inner
    /// stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::{StreamError, Utf8Stream};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), StreamError<std::io::Error>> {
    /// let chunks = [&b"snowman: \xE2\x98"[..], b"\x83 \xFF."].map(Ok::<_, std::io::Error>);
    /// let mut texts = Utf8Stream::new(stream::iter(chunks));
    ///
    /// assert_eq!(texts.next().await.unwrap()?, "snowman: ");
    /// assert_eq!(texts.next().await.unwrap()?, "☃");
    /// assert_eq!(texts.next().await.unwrap()?, " ");
    /// let error = texts.next().await.unwrap().unwrap_err();
    /// assert!(matches!(error, StreamError::Utf8(error) if error.valid_up_to() == 13));
    /// assert_eq!(texts.next().await.unwrap()?, ".");
    /// assert!(texts.next().await.is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct Utf8Stream<S> {
        #[pin]
        inner: S,
        text: Text,
        state: State,
    }
}

impl<S> Utf8Stream<S> {
    /// Decodes the chunks of `inner`, with the default options, in [`ErrorMode::Fatal`].
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, channel::mpsc};
    /// use utf8_codec::stream::Utf8Stream;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let (sender, receiver) = mpsc::unbounded::<Result<Vec<u8>, std::io::Error>>();
    /// let mut texts = Utf8Stream::new(receiver);
    /// sender.unbounded_send(Ok(b"na\xC3".to_vec())).unwrap();
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "na");
    /// sender.unbounded_send(Ok(b"\xAFve".to_vec())).unwrap();
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "ï");
    /// # }
    /// ```
    pub fn new(inner: S) -> Self {
        let text =
            Text { decoder: Utf8Decoder::new(), mode: ErrorMode::default(), chunk: Bytes::new() };
        Self { inner, text, state: State::Open }
    }

    /// Sets how the stream begins and what it may contain. To be called before the first poll: the
    /// decoder is made anew.
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
    /// let chunks = [&b"\xEF\xBB"[..], b"\xBFtext"].map(Ok::<_, std::io::Error>);
    /// let mut texts = stream::iter(chunks).utf8().with_options(options);
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "text");
    /// # }
    /// ```
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self {
            text: Text { decoder: Utf8Decoder::new().with_options(options), ..self.text },
            ..self
        }
    }

    /// Sets what becomes of ill-formed parts. May be called at any time; holds for what has not been
    /// decoded.
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
    /// let chunks = [&b"caf\xE9, th\xE9"[..]].map(Ok::<_, std::io::Error>);
    /// let mut texts = stream::iter(chunks).utf8().with_error_mode(ErrorMode::Latin1);
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "café, th");
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "é"); // until the end, it might go on
    /// # }
    /// ```
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { text: Text { mode, ..self.text }, ..self }
    }

    /// Reads what is not UTF-8 in a legacy encoding; the error mode is for what the options refuse.
    /// Options and error mode are to be set before; what is held goes along.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::fallback::{Fallback, LegacyEncoding};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"caf\xE9, th\xC3"[..], b"\xA9"].map(Ok::<_, std::io::Error>);
    /// let fallback = Fallback::part(LegacyEncoding::latin1());
    /// let mut texts = stream::iter(chunks).utf8().with_fallback(fallback);
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "caf");
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "é");
    /// assert_eq!(texts.next().await.unwrap().unwrap(), ", th");
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "é");
    /// # }
    /// ```
    pub fn with_fallback(self, fallback: Fallback) -> FallbackStream<S> {
        let Text { decoder, mode, chunk } = self.text;
        let decoder = FallbackDecoder::continuing(decoder, fallback).with_error_mode(mode);
        FallbackStream { inner: self.inner, decoder, chunk, state: self.state }
    }

    /// Finds the places of a text in the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::search::TextFinder;
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"error: E\xFFRROR: err"[..], b"or"].map(Ok::<_, std::io::Error>);
    /// let mut matches = stream::iter(chunks).utf8().matches(TextFinder::new("error").unwrap());
    /// assert_eq!(matches.next().await.unwrap().unwrap(), 0);
    /// assert!(matches.next().await.unwrap().is_err()); // FF
    /// assert_eq!(matches.next().await.unwrap().unwrap(), 15);
    /// # }
    /// ```
    pub fn matches(self, finder: TextFinder) -> TextMatches<S> {
        TextMatches::new(self, finder)
    }

    /// Returns the inner stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::stream::Utf8Stream;
    ///
    /// let texts = Utf8Stream::from_reader(&b"bytes"[..]);
    /// assert_eq!(texts.get_ref().get_ref(), b"bytes");
    /// ```
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// Returns the inner stream, to be changed. Chunks that are taken from it here are missing in
    /// the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::channel::mpsc;
    /// use utf8_codec::stream::Utf8Stream;
    ///
    /// let (sender, receiver) = mpsc::unbounded::<Result<Vec<u8>, std::io::Error>>();
    /// let mut texts = Utf8Stream::new(receiver);
    /// texts.get_mut().close();
    /// assert!(sender.is_closed());
    /// ```
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Returns the inner stream for good.
    ///
    /// What has come out of it and has not been handed on is lost: `decoder().incomplete()`, and
    /// behind it [`rest`](Self::rest).
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"a text"[..], b"\0\xFFbinary"].map(Ok::<_, std::io::Error>);
    /// let mut texts = stream::iter(chunks).utf8();
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "a text");
    /// let mut chunks = texts.into_inner();
    /// assert_eq!(chunks.next().await.unwrap().unwrap(), b"\0\xFFbinary");
    /// # }
    /// ```
    pub fn into_inner(self) -> S {
        self.inner
    }

    /// Whether the inner stream has ended.
    #[cfg(feature = "codec")]
    pub(super) fn is_at_end(&self) -> bool {
        self.state != State::Open
    }

    /// Takes it apart: what is within, the decoder and what it has not seen.
    #[cfg(feature = "codec")]
    pub(super) fn into_raw(self) -> (S, Utf8Decoder, ErrorMode, Bytes) {
        (self.inner, self.text.decoder, self.text.mode, self.text.chunk)
    }

    /// Returns the bytes of the last chunk that have not been looked at.
    ///
    /// None in the lossy modes, and none in [`ErrorMode::Fatal`] when the stream has been pending.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"HELO\xFFbinary"[..]].map(Ok::<_, std::io::Error>);
    /// let mut texts = stream::iter(chunks).utf8();
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "HELO");
    /// assert_eq!(texts.rest(), b"\xFFbinary");
    /// # }
    /// ```
    pub fn rest(&self) -> &[u8] {
        &self.text.chunk
    }

    /// Returns the decoder within, which knows the position in the stream, the bytes held, whether
    /// a signature was removed, and how many bytes were skipped.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut texts = stream::iter([Ok::<_, std::io::Error>(&b"abc"[..]), Ok(b"\xE2")]).utf8();
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "abc");
    /// assert_eq!(texts.decoder().position(), 3);
    /// # }
    /// ```
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.text.decoder
    }

    /// Returns how many ill-formed parts (maximal subparts) and refused characters there were.
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
    /// let chunks = stream::iter([Ok::<_, std::io::Error>(&b"\xFF.\xFF"[..])]);
    /// let mut texts = chunks.utf8().with_error_mode(ErrorMode::Skip);
    /// assert_eq!(texts.next().await.unwrap().unwrap(), ".");
    /// assert_eq!(texts.error_count(), 2);
    /// # }
    /// ```
    pub fn error_count(&self) -> u64 {
        self.text.decoder.error_count()
    }

    /// Returns the first error of the stream, repaired or not.
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
    /// let chunks = stream::iter([Ok::<_, std::io::Error>(&b"ab\xFF"[..])]);
    /// let mut texts = chunks.utf8().with_error_mode(ErrorMode::Replacement);
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "ab\u{FFFD}");
    /// assert_eq!(texts.first_error().unwrap().valid_up_to(), 2);
    /// # }
    /// ```
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.text.decoder.first_error()
    }

    /// Collects the whole text, `limit` bytes of it at the most.
    ///
    /// What counts is the text: signatures and skipped bytes do not, repairs do. The text that is
    /// collected takes `limit` bytes of memory at the most, on an endless stream too; besides it
    /// there is one chunk, repaired in the lossy modes.
    ///
    /// # Errors
    ///
    /// [`CollectError::TooLong`] as soon as the text is longer than `limit`;
    /// [`CollectError::Utf8`] and [`CollectError::Inner`] at the first such item. The stream and
    /// the text so far are dropped; who wants to keep them takes the items one by one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the stream, which it owns, and the text so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::stream;
    /// use utf8_codec::stream::{CollectError, Utf8StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), CollectError<std::io::Error>> {
    /// let body = || stream::iter([&b"5 \xE2\x82"[..], b"\xAC"].map(Ok::<_, std::io::Error>));
    /// assert_eq!(body().utf8().collect_text(5).await?, "5 €");
    /// let error = body().utf8().collect_text(4).await.unwrap_err();
    /// assert!(matches!(error, CollectError::TooLong { limit: 4 }));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn collect_text<B, E>(self, limit: usize) -> Result<String, CollectError<E>>
    where
        S: Stream<Item = Result<B, E>>,
        B: Into<Bytes>,
    {
        let mut stream = pin!(self);
        let mut text = String::new();
        while let Some(item) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            append_within(&mut text, &item?, limit)?;
        }
        Ok(text)
    }
}

impl<R: AsyncRead> Utf8Stream<ReaderChunks<R>> {
    /// Decodes what `reader` reads, with the default options, in [`ErrorMode::Fatal`].
    ///
    /// A read goes into a buffer of 8,192 bytes (8 KiB), which the items share; for one of another
    /// size, see [`ReaderChunks::with_capacity`]. Errors of the reader are [`StreamError::Inner`];
    /// polled again, the stream reads again. A read of no bytes is the end.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use tokio::io::AsyncWriteExt;
    /// use utf8_codec::stream::Utf8Stream;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let (mut peer, socket) = tokio::io::duplex(64);
    /// let mut texts = Utf8Stream::from_reader(socket);
    ///
    /// peer.write_all(b"stra\xC3").await?;
    /// assert_eq!(texts.next().await.unwrap()?, "stra");
    /// peer.write_all(b"\x9Fe").await?;
    /// assert_eq!(texts.next().await.unwrap()?, "ß");
    /// assert_eq!(texts.next().await.unwrap()?, "e");
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_reader(reader: R) -> Self {
        Self::new(ReaderChunks::new(reader))
    }
}

impl<S, B, E> Stream for Utf8Stream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    type Item = Result<ByteString, StreamError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_with(cx, Text::next, Text::end)
    }
}

impl<S, B, E> Utf8Stream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    /// As `poll_next`, in pieces that have a place.
    pub(super) fn poll_pieces(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Piece, StreamError<E>>>> {
        self.poll_with(cx, Text::next_piece, Text::end_piece)
    }

    /// Polls for what `next` makes of a chunk, and `end` of the end.
    fn poll_with<T>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        next: impl Fn(&mut Text) -> Result<Option<T>, Utf8Error>,
        end: impl Fn(&mut Text) -> Result<Option<T>, Utf8Error>,
    ) -> Poll<Option<Result<T, StreamError<E>>>> {
        let mut this = self.project();
        poll_items(
            cx,
            this.state,
            this.text,
            |text, cx| {
                let chunk = this.inner.as_mut().poll_next(cx).map_err(StreamError::Inner);
                chunk.map_ok(|chunk| text.chunk = chunk.into())
            },
            |text| next(text).map_err(StreamError::Utf8),
            |text| end(text).map_err(StreamError::Utf8),
        )
    }
}

impl<S, B, E> FusedStream for Utf8Stream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    fn is_terminated(&self) -> bool {
        self.state == State::Ended
    }
}
