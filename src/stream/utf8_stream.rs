//! How do chunks become text?

use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use bytestring::ByteString;
use futures::stream::FusedStream;
use futures::{Stream, TryStream, TryStreamExt};
use pin_project_lite::pin_project;
use tokio::io::AsyncRead;

use crate::adaptor::{AfterError, ChunkText, MAX_TURNS, SourceState, Turns, coop_yield};
use crate::decoder::{BOM, ErrorMode, Utf8Decoder, Utf8Options, append_within, free_if_empty};
use crate::fallback::FallbackDecoder;
use crate::stream::char_block::{CharPiece, end_piece, next_piece};
use crate::stream::{CharStream, ReaderChunks, StreamError, TextChunks, Utf8Lines};

pin_project! {
    /// Decodes a stream of chunks into a stream of text: each item is a run of whole characters, never
    /// empty.
    ///
    /// The input is any `Stream` of `Result<B, E>` with `B: Into<Bytes>`, such as `Bytes`,
    /// `Vec<u8>` and `&'static [u8]`, or a reader ([`from_reader`](Self::from_reader)). Everything
    /// that a chunk determines is returned before the next chunk is requested. The boundaries of the
    /// items depend on the chunks. The text does not.
    ///
    /// Text is not copied: an item shares the memory of its chunk, so a small item keeps the whole
    /// chunk alive (`ByteString::from(&*item)` copies it). A character split across chunks is
    /// copied, and is an item of its own. In a lossy mode a chunk yields at most one item, which is
    /// a copy if something was repaired or if the chunk completed a character.
    ///
    /// Between polls it holds at most three bytes, the beginning of a sequence or of a BOM. In
    /// [`ErrorMode::Fatal`] it also holds the rest of one chunk ([`rest`](Self::rest)). An empty
    /// chunk changes nothing. At the end of the inner stream, an incomplete sequence becomes one
    /// error or one repair. The stream is fused, and does not poll the inner stream after its end.
    ///
    /// The decoder `D` is a [`Utf8Decoder`], a [`FallbackDecoder`] after
    /// [`with_fallback`](Self::with_fallback), or an
    /// [`EventDecoder`](crate::sse::EventDecoder) after [`events`](Self::events). With an
    /// `EventDecoder`, the items are events.
    ///
    /// # Errors
    ///
    /// [`StreamError::Utf8`] for each ill-formed part in [`ErrorMode::Fatal`], the default. The
    /// text before the error is yielded first, and the text after it follows without delay.
    /// [`StreamError::Inner`] in every mode, if the inner stream fails. The held bytes of a
    /// character are kept, and decoding continues if the inner stream does.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing: the bytes are held here or still in the inner
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
    pub struct Utf8Stream<S, D = Utf8Decoder> {
        #[pin]
        pub(super) inner: S,
        pub(super) text: ChunkText<D>,
        pub(super) state: SourceState,
        // What follows the last error of `inner`.
        pub(super) after_error: fn(&S) -> AfterError,
        // Of events.
        pub(super) next_chunk: NextChunk,
    }
}

/// What is known of the next chunk of a stream of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextChunk {
    Plain,
    /// An LF at its start belongs to the CR that has ended the line before the events.
    AfterCr,
    /// It is being converted, or its conversion has panicked: then it is lost.
    Converting,
}

impl NextChunk {
    /// Removes the LF that a chunk [`AfterCr`](Self::AfterCr) may begin with, and returns what is known of the one after it.
    #[cold]
    pub(super) fn without_lf(mut chunk: Bytes) -> (Bytes, Self) {
        let next = if chunk.is_empty() { Self::AfterCr } else { Self::Plain };
        if chunk.starts_with(b"\n") {
            chunk.advance(1);
            free_if_empty(&mut chunk);
        }
        (chunk, next)
    }
}

impl<S> Utf8Stream<S> {
    /// Decodes the chunks of `inner`, with the default options, in [`ErrorMode::Fatal`].
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            text: ChunkText::new(),
            state: SourceState::Open,
            after_error: |_| AfterError::Gap,
            next_chunk: NextChunk::Plain,
        }
    }

    /// Continues with a decoder and the rest of a chunk. `after_error` returns what follows the last error of `inner`.
    pub(crate) fn continuing(inner: S, text: ChunkText, after_error: fn(&S) -> AfterError) -> Self {
        Self { text, after_error, ..Self::new(inner) }
    }

    /// Sets how the stream begins and what it may contain. Call it before the first poll.
    ///
    /// Once the first character of the stream has been decoded, it continues with the same offsets: the rejected characters apply
    /// to the bytes that have not been decoded, and the other options have no effect.
    pub fn with_options(self, options: Utf8Options) -> Self {
        self.map_decoder(|decoder| decoder.with_options(options))
    }

    /// Sets what replaces ill-formed parts. You can call it at any time. It applies to the bytes
    /// that have not been decoded.
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { text: ChunkText { mode, ..self.text }, ..self }
    }

    /// Decodes text that is not UTF-8 from a legacy encoding. The error mode then applies only to
    /// errors that the options define.
    ///
    /// Only the encoding of `decoder`, how much falls back, and its
    /// [`with_max_length`](FallbackDecoder::with_max_length) are used. The options are those of this
    /// stream: set them and the error mode first. What `decoder` has decoded and holds is dropped.
    /// Bytes that this stream holds are kept. [`decoder`](Utf8Stream::decoder) of the returned
    /// stream counts what fell back.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, stream};
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let chunks = [&b"caf\xE9, th\xC3"[..], b"\xA9"].map(Ok::<_, std::io::Error>);
    /// let latin1 = FallbackDecoder::part(LegacyEncoding::latin1());
    /// let mut texts = stream::iter(chunks).utf8().with_fallback(latin1);
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "caf");
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "é");
    /// assert_eq!(texts.next().await.unwrap().unwrap(), ", th");
    /// assert_eq!(texts.next().await.unwrap().unwrap(), "é");
    /// # }
    /// ```
    pub fn with_fallback(self, decoder: FallbackDecoder) -> Utf8Stream<S, FallbackDecoder> {
        self.map_text(|ChunkText { decoder: begun, mode, chunk }| ChunkText {
            decoder: decoder.continuing(begun),
            mode,
            chunk,
        })
    }

    /// Continues with `decoder`, which receives all bytes that have not been decoded.
    pub(super) fn into_chunks<D>(mut self, decoder: D) -> Utf8Stream<S, D> {
        if self.text.decoder.scanner().start().expects_lf() {
            let (chunk, next_chunk) = NextChunk::without_lf(self.text.chunk);
            self.text.chunk = chunk;
            // Lines may have begun after the end, with what others have left.
            if self.state == SourceState::Open {
                self.next_chunk = next_chunk;
            }
        }
        self.map_text(|ChunkText { decoder: mut previous, mode, mut chunk }| {
            let held = previous.take_held();
            // A BOM that was removed when nothing else had been decoded is still the first bytes.
            let is_first = previous.bom_seen() && previous.position() == BOM.len() as u64;
            let bom = if is_first { &BOM[..] } else { b"" };
            if !bom.is_empty() || !held.as_bytes().is_empty() {
                chunk = [bom, held.as_bytes(), &chunk].concat().into();
            }
            ChunkText { decoder, mode, chunk }
        })
    }

    /// Returns a stream of the `char`s of this text.
    pub fn chars<E>(self) -> CharStream<S, E>
    where
        S: TryStream<Ok: Into<Bytes>, Error = E>,
    {
        CharStream::new(self)
    }

    /// Returns a stream of the lines of this text, with the same options and error mode. The first
    /// line begins after the text that has been yielded. If the source has failed before, it can lack bytes.
    pub fn lines(self) -> Utf8Lines<S> {
        let state = match self.state {
            SourceState::Open => SourceState::Open,
            SourceState::Ending | SourceState::Ended => SourceState::Ending,
        };
        let mut text = self.text;
        let held = text.decoder.take_held();
        // Nothing follows them after an error that ends the stream: then they are no text.
        if !held.is_empty() && (self.after_error)(&self.inner) != AfterError::End {
            text.chunk = [held.as_bytes(), &text.chunk].concat().into();
        }
        Utf8Lines::continuing(self.inner, (text, state), self.after_error)
    }
}

impl<S, D> Utf8Stream<S, D> {
    /// Returns the inner stream.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// Returns the inner stream mutably. Chunks that you take from it are missing from the text.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Consumes the adaptor and returns the inner stream.
    ///
    /// Bytes that were received but not returned are lost: those that the [`decoder`](Self::decoder)
    /// holds, and after them [`rest`](Self::rest).
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

    /// Returns the bytes of the last chunk that have not been decoded.
    ///
    /// With a [`Utf8Decoder`] it is empty in the lossy modes. It is empty after the stream has returned
    /// `Pending`.
    pub fn rest(&self) -> &[u8] {
        &self.text.chunk
    }

    /// Returns the inner decoder, for the position in the stream, the held bytes, the error count,
    /// the first error, whether a BOM was removed, and how many bytes were skipped.
    pub fn decoder(&self) -> &D {
        &self.text.decoder
    }

    /// Returns a stream of the same text as `Bytes`, which are well-formed UTF-8. No text is copied.
    ///
    /// Use it where a stream of bytes is expected, such as `axum::body::Body::from_stream` and
    /// `reqwest::Body::wrap_stream`.
    pub fn into_byte_stream<E>(self) -> TextChunks<Self>
    where
        Self: Stream<Item = Result<ByteString, StreamError<E>>>,
    {
        self.map_ok(ByteString::into_bytes)
    }

    /// Collects the whole text, at most `max_length` bytes of it.
    ///
    /// The limit applies to the text: repairs count, a removed BOM and skipped bytes do not. The
    /// capacity of the collected text never exceeds `max_length` bytes; while it grows, the previous
    /// buffer can exist as well. One chunk is held in addition, repaired in the lossy modes.
    ///
    /// # Errors
    ///
    /// [`StreamError::TooLong`] as soon as the text is longer than `max_length`; otherwise the
    /// first error of the stream. The stream and the text so far are dropped. To keep them, take
    /// the items one by one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses the stream, which it owns, and the text so far.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::stream;
    /// use utf8_codec::stream::{StreamError, Utf8StreamExt};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), StreamError<std::io::Error>> {
    /// let body = || stream::iter([&b"5 \xE2\x82"[..], b"\xAC"].map(Ok::<_, std::io::Error>));
    /// assert_eq!(body().utf8().collect_text(5).await?, "5 €");
    /// let error = body().utf8().collect_text(4).await.unwrap_err();
    /// assert!(matches!(error, StreamError::TooLong { max_length: 4 }));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn collect_text<E>(self, max_length: usize) -> Result<String, StreamError<E>>
    where
        Self: Stream<Item = Result<ByteString, StreamError<E>>>,
    {
        let mut stream = pin!(self);
        let (mut text, mut turns) = (String::new(), Turns::default());
        while let Some(item) = turns.next(|cx| stream.as_mut().poll_next(cx)).await {
            append_within(&mut text, &item?, max_length, || StreamError::TooLong { max_length })?;
        }
        Ok(text)
    }
}

/// The text of a reader.
impl<R> Utf8Stream<ReaderChunks<R>> {
    /// Decodes the bytes of `reader`, with the default options, in [`ErrorMode::Fatal`].
    ///
    /// It reads into a buffer of 8,192 bytes (8 KiB), or of the size [set](Self::with_capacity),
    /// which the items share. An error of the reader is a [`StreamError::Inner`], and the next poll
    /// reads again; a reader that always fails yields errors indefinitely. A read of no bytes ends
    /// the stream. [`Utf8Reader`](crate::stream::Utf8Reader) is faster if borrowed text is enough.
    ///
    /// `get_ref().get_ref()`, `get_mut().get_mut()` and `into_inner().into_inner()` return the reader.
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
    ///
    /// let mut socket = texts.into_inner().into_inner();
    /// socket.write_all(b"bye").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_reader(reader: R) -> Self
    where
        R: AsyncRead,
    {
        Self::continuing(ReaderChunks::new(reader), ChunkText::new(), ReaderChunks::after_error)
    }

    /// Sets the size of the buffer, in bytes, at least 1 and at most 16 MiB (2^24); other sizes are
    /// clamped. One read returns at most this many bytes. Call it before the first poll.
    pub fn with_capacity(self, capacity: usize) -> Self {
        Self { inner: self.inner.with_capacity(capacity), ..self }
    }
}

impl<S: TryStream<Ok: Into<Bytes>>> Stream for Utf8Stream<S> {
    type Item = Result<ByteString, StreamError<S::Error>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_with(cx, |text| Ok(text.next()?), |text| Ok(text.end()?))
    }
}

/// Text is not copied if it is UTF-8 and no part of it was held.
impl<S: TryStream<Ok: Into<Bytes>>> Stream for Utf8Stream<S, FallbackDecoder> {
    type Item = Result<ByteString, StreamError<S::Error>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_with(
            cx,
            |text| Ok(text.decoder.next_text(&mut text.chunk, text.mode)?),
            |text| Ok(text.decoder.last_text(text.mode)?),
        )
    }
}

impl<S, D> FusedStream for Utf8Stream<S, D>
where
    Self: Stream,
{
    fn is_terminated(&self) -> bool {
        self.has_ended()
    }
}

impl<S> Utf8Stream<S> {
    /// Like `poll_next`, in pieces with their offsets.
    pub(super) fn poll_pieces(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<CharPiece, StreamError<S::Error>>>>
    where
        S: TryStream<Ok: Into<Bytes>>,
    {
        self.poll_with(cx, |text| Ok(next_piece(text)?), |text| Ok(end_piece(text)?))
    }
}

impl<S, D> Utf8Stream<S, D> {
    /// Whether only `None` is left.
    pub(super) fn has_ended(&self) -> bool {
        self.state == SourceState::Ended
    }

    /// Changes the decoder.
    pub(super) fn map_decoder(self, map: impl FnOnce(D) -> D) -> Self {
        self.map_text(|text| ChunkText { decoder: map(text.decoder), ..text })
    }

    /// Polls for the next item. `next` takes it from the chunk, `end` from the end of the stream.
    pub(super) fn poll_with<T>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        next: impl Fn(&mut ChunkText<D>) -> Result<Option<T>, StreamError<S::Error>>,
        end: impl Fn(&mut ChunkText<D>) -> Result<Option<T>, StreamError<S::Error>>,
    ) -> Poll<Option<Result<T, StreamError<S::Error>>>>
    where
        S: TryStream<Ok: Into<Bytes>>,
    {
        let mut this = self.project();
        let text = this.text;
        let mut silent = 0;
        while *this.state == SourceState::Open {
            if let Some(item) = next(text).transpose() {
                return Poll::Ready(Some(item));
            }
            if silent == MAX_TURNS {
                return coop_yield(cx);
            }
            match ready!(this.inner.as_mut().try_poll_next(cx)) {
                Some(Ok(chunk)) => {
                    text.chunk = chunk.into();
                    silent += 1;
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(StreamError::Inner(error)))),
                None => *this.state = SourceState::Ending,
            }
        }
        if *this.state == SourceState::Ending {
            // After lines, a chunk can be left.
            let mut item = next(text).transpose();
            if item.is_none() && (this.after_error)(&this.inner) != AfterError::End {
                item = end(text).transpose();
            }
            if item.is_some() {
                return Poll::Ready(item);
            }
            *this.state = SourceState::Ended;
        }
        Poll::Ready(None)
    }

    /// Changes the decoder, the error mode and the rest of the chunk.
    fn map_text<T>(self, map: impl FnOnce(ChunkText<D>) -> ChunkText<T>) -> Utf8Stream<S, T> {
        let Self { inner, text, state, after_error, next_chunk } = self;
        Utf8Stream { inner, text: map(text), state, after_error, next_chunk }
    }
}
