use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use bytestring::ByteString;
use futures::Stream;
use futures::stream::FusedStream;
use pin_project_lite::pin_project;

use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::fallback::{FallbackDecoder, FallbackReport, Pace, take_next};
use crate::relatives::Follow;
use crate::stream::StreamError;
use crate::stream::poll::{State, poll_items};

pin_project! {
    /// A stream of chunks to a stream of text, some of it in a legacy encoding: what
    /// [`Utf8Stream::with_fallback`] makes.
    ///
    /// Each item is a run of whole characters, never empty; UTF-8 is handed on without copying where
    /// nothing of it was held. Between polls it holds what the [`Fallback`] may hold back, and what is
    /// left of one chunk. The end of the inner stream decides what is held.
    ///
    /// For lines, `char`s or one `String` of it, see [`TextStreamExt`] (`text_lines`, `text_chars`,
    /// `collect_text`). [`Utf8Reader`] and `Utf8Lines` have no `with_fallback`: for the text of a
    /// reader, see [`Utf8ReadExt::utf8_stream`]; for lines by the rule of IRC take `Utf8LinesCodec`.
    ///
    /// # Errors
    ///
    /// [`StreamError::Utf8`] for what the options refuse, if the error mode does not repair it;
    /// [`StreamError::Inner`] in its place. Each is an item, and the stream goes on behind it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing: the bytes are here or still in the inner
    /// stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::{StreamExt, TryStreamExt, stream};
    /// use utf8_codec::fallback::{Fallback, LegacyEncoding};
    /// use utf8_codec::stream::Utf8StreamExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let body = stream::iter([&b"5 \xE2\x82"[..], b"\xAC\n5 \x80\n"].map(Ok::<_, std::io::Error>));
    /// let mut texts = body.utf8().with_fallback(Fallback::line(LegacyEncoding::windows_1252()));
    /// let mut text = String::new();
    /// while let Some(piece) = texts.try_next().await.unwrap() {
    ///     text.push_str(&piece);
    /// }
    /// assert_eq!(text, "5 €\n5 €\n");
    /// assert_eq!(texts.report().runs, 1);
    /// # }
    /// ```
    ///
    /// [`Fallback`]: crate::fallback::Fallback
    /// [`TextStreamExt`]: crate::stream::TextStreamExt
    /// [`Utf8ReadExt::utf8_stream`]: crate::stream::Utf8ReadExt::utf8_stream
    /// [`Utf8Reader`]: crate::stream::Utf8Reader
    /// [`Utf8Stream::with_fallback`]: crate::stream::Utf8Stream::with_fallback
    #[derive(Clone, Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct FallbackStream<S> {
        #[pin]
        pub(super) inner: S,
        pub(super) decoder: FallbackDecoder,
        pub(super) chunk: Bytes,
        pub(super) state: State,
    }
}

impl<S> FallbackStream<S> {
    /// Returns what the fallback has done so far.
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
    /// let body = stream::iter([&b"abc\xE9"[..], b"!"].map(Ok::<_, std::io::Error>));
    /// let mut texts = body.utf8().with_fallback(Fallback::rest(LegacyEncoding::latin1()));
    /// while texts.next().await.is_some() {}
    /// assert_eq!(texts.report().first, Some(3));
    /// # }
    /// ```
    pub fn report(&self) -> FallbackReport {
        self.decoder.report()
    }

    /// Returns the decoder within, which knows the position in the stream, the errors, and what is
    /// held.
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
    /// let body = stream::iter([&b"abc\xC3"[..], b"!"].map(Ok::<_, std::io::Error>));
    /// let mut texts = body.utf8().with_fallback(Fallback::rest(LegacyEncoding::latin1()));
    /// while texts.next().await.is_some() {}
    /// assert_eq!(texts.decoder().first_error().unwrap().valid_up_to(), 3);
    /// # }
    /// ```
    pub fn decoder(&self) -> &FallbackDecoder {
        &self.decoder
    }

    /// Returns the inner stream for good.
    ///
    /// What is held can be had before: `decoder().held()`. What is left of a chunk behind that is lost;
    /// there is nothing left of it when the stream has been pending.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::fallback::{Fallback, LegacyEncoding};
    /// use utf8_codec::stream::Utf8Stream;
    ///
    /// let fallback = Fallback::rest(LegacyEncoding::latin1());
    /// let texts = Utf8Stream::from_reader(&b"bytes"[..]).with_fallback(fallback);
    /// assert_eq!(texts.into_inner().into_inner(), b"bytes");
    /// ```
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, B, E> Stream for FallbackStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    type Item = Result<ByteString, StreamError<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        poll_items(
            cx,
            this.state,
            &mut (this.decoder, this.chunk),
            |(_, chunk), cx| {
                let next = this.inner.as_mut().poll_next(cx).map_err(StreamError::Inner);
                next.map_ok(|next| **chunk = next.into())
            },
            |(decoder, chunk)| decoder.next_text(chunk).map_err(StreamError::Utf8),
            |(decoder, _)| decoder.last_text().map_err(StreamError::Utf8),
        )
    }
}

impl<S, B, E> FusedStream for FallbackStream<S>
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
{
    fn is_terminated(&self) -> bool {
        self.state == State::Ended
    }
}

/// Owned pieces.
impl FallbackDecoder {
    /// Takes the next text off the front of what is held and `chunk`. `None` when `chunk` is empty,
    /// and nothing can be told before more comes.
    fn next_text(&mut self, chunk: &mut Bytes) -> Result<Option<ByteString>, Utf8Error> {
        let mut text = String::new();
        while !self.is_complete() {
            let (used, pace) = self.step_held(chunk, &mut text);
            chunk.advance(used);
            let pace = pace?;
            if !text.is_empty() {
                return Ok(Some(text.into()));
            }
            if pace == Pace::Waits {
                return Ok(None);
            }
        }
        let Self { decoder: Utf8Decoder { scanner, tally, .. }, mode, switch, .. } = self;
        let next = take_next(switch, scanner, tally, chunk, Follow::More, *mode)?;
        if next.is_none() {
            self.hold(&std::mem::take(chunk));
        }
        Ok(next)
    }

    /// Takes the next text, or error, of what is held at the end.
    fn last_text(&mut self) -> Result<Option<ByteString>, Utf8Error> {
        let mut text = String::new();
        while text.is_empty() {
            if self.step_end(&mut text)? == Pace::Waits {
                return Ok(None);
            }
        }
        Ok(Some(text.into()))
    }
}
