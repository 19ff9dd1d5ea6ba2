//! How do the frames of a body become chunks in UTF-8, within a limit, and streams of text?

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
#[cfg(feature = "stream")]
use futures::Stream;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::decoder::mode::ErrorMode;
use crate::http::BodyError;
#[cfg(feature = "stream")]
use crate::http::Utf8Body;
use crate::http::content_type::BodyCharset;
use crate::http::error::BoxError;
use crate::http::legacy::{Legacy, LegacyError};
#[cfg(feature = "stream")]
use crate::stream::{CharStream, Utf8Lines, Utf8Stream};

pin_project! {
    /// The chunks of a [`Utf8Body`](crate::http::Utf8Body), converted to UTF-8 if they are in another charset, but not
    /// validated: the source of the streams that the body becomes.
    ///
    /// A chunk can be empty. Trailers are dropped. After [`BodyError::TooLong`] and
    /// [`BodyError::Inner`] the stream has ended.
    #[derive(Debug)]
    pub struct BodyChunks<B> {
        #[pin]
        inner: B,
        // Converts the bytes if the charset is not UTF-8.
        legacy: Option<Box<Legacy>>,
        // Repairs what is ill-formed in another charset.
        mode: ErrorMode,
        max_length: u64,
        // The number of bytes of data received from the inner body.
        received: u64,
        state: ChunksState,
    }
}

/// What follows the bytes that are being converted.
#[derive(Debug, Default)]
enum ChunksState {
    /// More frames.
    Open,
    /// These trailers, then more frames.
    Trailers(Box<Frame<Bytes>>),
    /// An error, then nothing.
    Failed(Box<BodyError>),
    #[default]
    Ended,
}

impl<B> BodyChunks<B> {
    pub(super) fn new(inner: B) -> Self {
        Self {
            inner,
            legacy: None,
            mode: ErrorMode::Fatal,
            max_length: u64::MAX,
            received: 0,
            state: ChunksState::Open,
        }
    }

    /// Returns the error instead of the body. Call it before the first poll.
    #[cfg(feature = "tower")]
    pub(super) fn fail(&mut self, error: BodyError) {
        self.state = ChunksState::Failed(Box::new(error));
    }

    pub(super) fn set_charset(&mut self, charset: BodyCharset) {
        self.legacy = match charset {
            BodyCharset::Utf8 => None,
            BodyCharset::Legacy(encoding) => Some(Legacy::boxed(encoding)),
        };
    }

    pub(super) fn set_error_mode(&mut self, mode: ErrorMode) {
        self.mode = mode;
    }

    pub(super) fn set_max_length(&mut self, max_length: u64) {
        self.max_length = max_length;
    }

    pub(super) fn charset(&self) -> BodyCharset {
        self.legacy
            .as_ref()
            .map_or(BodyCharset::Utf8, |legacy| BodyCharset::Legacy(legacy.encoding()))
    }

    pub(super) fn get_ref(&self) -> &B {
        &self.inner
    }

    pub(super) fn get_mut(&mut self) -> &mut B {
        &mut self.inner
    }

    pub(super) fn into_inner(self) -> B {
        self.inner
    }

    /// Returns the number of errors in another charset.
    pub(super) fn error_count(&self) -> u64 {
        self.legacy.as_ref().map_or(0, |legacy| legacy.error_count())
    }

    /// Returns the first error in another charset, and its offset in the text.
    pub(super) fn first_error(&self) -> Option<(u64, LegacyError)> {
        self.legacy.as_ref().and_then(|legacy| legacy.first_error())
    }
}

impl<B: Body<Error: Into<BoxError>>> BodyChunks<B> {
    /// Polls for the next frame. One frame of the inner body yields at least one, which can be empty.
    pub(super) fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        loop {
            let this = self.as_mut().project();
            if let Some(block) = next_block(this.legacy, *this.mode).transpose() {
                return Poll::Ready(Some(block.map(Frame::data)));
            }
            if let ChunksState::Open = this.state {
                let Some(data) = ready!(self.as_mut().poll_data(cx)) else { continue };
                let this = self.project();
                let Some(legacy) = this.legacy else {
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                };
                legacy.push(data);
                let block = next_block(this.legacy, *this.mode)?.unwrap_or_default();
                return Poll::Ready(Some(Ok(Frame::data(block))));
            }
            return Poll::Ready(match mem::take(this.state) {
                ChunksState::Trailers(trailers) => {
                    *this.state = ChunksState::Open;
                    Some(Ok(*trailers))
                }
                ChunksState::Failed(error) => Some(Err(*error)),
                ChunksState::Open | ChunksState::Ended => None,
            });
        }
    }

    /// Polls for the data of the next frame, within the limit. Returns `None` after a change of the state.
    fn poll_data(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut this = self.project();
        let max_length = *this.max_length;
        let too_long = || ChunksState::Failed(Box::new(BodyError::TooLong { max_length }));
        if *this.received == 0 && this.inner.size_hint().lower() > max_length {
            *this.state = too_long();
            return Poll::Ready(None);
        }
        *this.state = match ready!(this.inner.as_mut().poll_frame(cx)).transpose() {
            Ok(frame) => match frame.map(Frame::into_data) {
                Some(Ok(data)) => {
                    let allowed = max_length.saturating_sub(*this.received);
                    let allowed = usize::try_from(allowed).unwrap_or(usize::MAX);
                    if allowed < data.remaining() {
                        *this.state = too_long();
                    }
                    let data = to_bytes(data, allowed);
                    *this.received += data.len() as u64;
                    return Poll::Ready(Some(data));
                }
                Some(Err(trailers)) => {
                    ChunksState::Trailers(Box::new(trailers.map_data(|_| Bytes::new())))
                }
                None => ChunksState::Ended,
            },
            Err(error) => ChunksState::Failed(Box::new(BodyError::Inner(error.into()))),
        };
        if let (ChunksState::Trailers(_) | ChunksState::Ended, Some(legacy)) =
            (this.state, this.legacy)
        {
            legacy.finish();
        }
        Poll::Ready(None)
    }

    /// Returns whether nothing follows.
    pub(super) fn is_done(&self) -> bool {
        let is_idle = self.legacy.as_ref().is_none_or(|legacy| legacy.is_idle());
        match self.state {
            ChunksState::Open => self.inner.is_end_stream() && is_idle,
            ChunksState::Trailers(_) | ChunksState::Failed(_) => false,
            ChunksState::Ended => is_idle,
        }
    }

    /// Returns the bounds of the chunks that follow.
    pub(super) fn size_hint(&self) -> SizeHint {
        match self.state {
            _ if self.legacy.is_some() => SizeHint::new(),
            ChunksState::Failed(_) => SizeHint::new(),
            ChunksState::Open => self.inner.size_hint(),
            ChunksState::Trailers(_) | ChunksState::Ended => SizeHint::with_exact(0),
        }
    }
}

#[cfg(feature = "stream")]
impl<B: Body<Error: Into<BoxError>>> Stream for BodyChunks<B> {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let frame = ready!(self.poll_frame(cx));
        Poll::Ready(frame.map(|frame| Ok(frame?.into_data().unwrap_or_default())))
    }
}

#[cfg(feature = "stream")]
impl<B> Utf8Body<B> {
    /// Turns the body into a stream of text, which continues after the text that has been returned.
    ///
    /// Trailers are dropped. Errors in UTF-8 are [`StreamError::Utf8`](crate::stream::StreamError::Utf8), and
    /// all others [`StreamError::Inner`](crate::stream::StreamError::Inner). Both convert into a
    /// [`BodyError`] with the status.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use futures::TryStreamExt;
    /// use http_body_util::Full;
    /// use utf8_codec::http::{BodyError, Utf8Body};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let body = Full::<Bytes>::from(&b"caf\xC3\xA9 \xFF"[..]);
    /// let mut texts = Utf8Body::new(body).into_text_stream();
    /// assert_eq!(texts.try_next().await.unwrap().unwrap(), "café ");
    /// let error = BodyError::from(texts.try_next().await.unwrap_err());
    /// assert_eq!((error.status().as_u16(), error.offset()), (400, Some(6)));
    /// # }
    /// ```
    pub fn into_text_stream(self) -> Utf8Stream<BodyChunks<B>> {
        Utf8Stream::continuing(self.chunks, self.text)
    }

    /// Turns the body into a stream of its lines; see [`Utf8Stream::lines`]. Trailers are dropped.
    pub fn into_lines(self) -> Utf8Lines<BodyChunks<B>> {
        self.into_text_stream().lines()
    }

    /// Turns the body into a stream of its `char`s; see [`Utf8Stream::chars`]. Trailers are dropped.
    pub fn into_chars(self) -> CharStream<BodyChunks<B>, BodyError>
    where
        B: Body<Error: Into<BoxError>>,
    {
        self.into_text_stream().chars()
    }
}

fn next_block(
    legacy: &mut Option<Box<Legacy>>,
    mode: ErrorMode,
) -> Result<Option<Bytes>, BodyError> {
    let Some(legacy) = legacy else { return Ok(None) };
    Ok(legacy.next(mode)?)
}

/// Returns at most `len` bytes of `data`. A buffer that claims more bytes than its chunks have ends with them.
fn to_bytes(mut data: impl Buf, len: usize) -> Bytes {
    let len = len.min(data.remaining());
    if data.chunk().len() >= len {
        // Not copied if `data` is `Bytes`.
        let mut bytes = data.copy_to_bytes(len);
        bytes.truncate(len);
        return bytes;
    }
    let mut bytes = BytesMut::new();
    while bytes.len() < len && !data.chunk().is_empty() {
        let chunk = data.chunk();
        let taken = chunk.len().min(len - bytes.len());
        bytes.extend_from_slice(&chunk[..taken]);
        data.advance(taken);
    }
    bytes.freeze()
}
