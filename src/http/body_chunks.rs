//! How do the frames of a body become chunks in UTF-8, within a limit, and streams of text?

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
#[cfg(feature = "stream")]
use futures::Stream;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

#[cfg(feature = "stream")]
use crate::adaptor::AfterError;
use crate::adaptor::charset::Charset;
use crate::adaptor::legacy::Legacy;
use crate::decoder::ErrorMode;
use crate::http::error::BoxError;
use crate::http::{BodyError, Utf8Body};
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
        pub(super) inner: B,
        // Converts the bytes if the charset is not UTF-8.
        pub(super) legacy: Option<Box<Legacy>>,
        // Repairs what is ill-formed in another charset.
        pub(super) mode: ErrorMode,
        pub(super) max_length: u64,
        // The number of bytes of data received from the inner body.
        received: u64,
        state: ChunksState,
    }
}

/// What follows the bytes that are being converted.
#[derive(Debug)]
enum ChunksState {
    /// More frames.
    Open,
    /// These trailers, then more frames.
    Trailers(Box<Frame<Bytes>>),
    /// Nothing.
    Finished,
    /// This error, if it has not been returned, then nothing.
    Failed(Option<Box<BodyError>>),
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
    pub(super) fn fail(&mut self, error: BodyError) {
        self.state = ChunksState::failed(error);
    }

    pub(super) fn charset(&self) -> Charset {
        self.legacy.as_ref().map_or(Charset::Utf8, |legacy| legacy.charset())
    }

    /// Returns the number of ill-formed parts so far in a charset other than UTF-8, repaired or not. Those of UTF-8 are errors of
    /// the stream of text.
    pub fn error_count(&self) -> u64 {
        self.legacy.as_ref().map_or(0, |legacy| legacy.error_count())
    }

    /// Returns whether an error has ended the chunks.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.state, ChunksState::Failed(None))
    }
}

impl<B: Body<Error: Into<BoxError>>> BodyChunks<B> {
    /// Polls for the next chunk. One frame of data of the inner body yields at least one, which can be empty. `None` means
    /// trailers or the end.
    pub(super) fn poll_chunk(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, BodyError>>> {
        loop {
            let this = self.as_mut().project();
            if let Some(block) = next_block(this.legacy, *this.mode).transpose() {
                return Poll::Ready(Some(block));
            }
            match this.state {
                ChunksState::Open => {}
                ChunksState::Trailers(_) | ChunksState::Finished => return Poll::Ready(None),
                ChunksState::Failed(error) => {
                    return Poll::Ready(error.take().map(|error| Err(*error)));
                }
            }
            let Some(data) = ready!(self.as_mut().poll_inner(cx)) else { continue };
            let this = self.project();
            let Some(legacy) = this.legacy else { return Poll::Ready(Some(Ok(data))) };
            legacy.push(data);
            let block = next_block(this.legacy, *this.mode);
            return Poll::Ready(Some(block.map(Option::unwrap_or_default)));
        }
    }

    /// Polls for the data of the next frame, within the limit. Returns `None` after a change of the state.
    fn poll_inner(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut this = self.project();
        let max_length = *this.max_length;
        let too_long = || ChunksState::failed(BodyError::TooLong { max_length });
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
                None => ChunksState::Finished,
            },
            Err(error) => ChunksState::failed(BodyError::Inner(error.into())),
        };
        if let (ChunksState::Trailers(_) | ChunksState::Finished, Some(legacy)) =
            (this.state, this.legacy)
        {
            legacy.finish();
        }
        Poll::Ready(None)
    }

    /// Takes the trailers, after all chunks before them.
    pub(super) fn take_trailers(self: Pin<&mut Self>) -> Option<Frame<Bytes>> {
        let state = self.project().state;
        match mem::replace(state, ChunksState::Open) {
            ChunksState::Trailers(trailers) => Some(*trailers),
            other => {
                *state = other;
                None
            }
        }
    }

    /// Returns whether no chunks and no trailers follow.
    pub(super) fn is_done(&self) -> bool {
        let is_idle = self.legacy.as_ref().is_none_or(|legacy| legacy.is_idle());
        match self.state {
            ChunksState::Open => self.inner.is_end_stream() && is_idle,
            ChunksState::Finished => is_idle,
            ChunksState::Trailers(_) | ChunksState::Failed(_) => false,
        }
    }

    /// Returns the bounds of the chunks that follow.
    pub(super) fn size_hint(&self) -> SizeHint {
        match self.state {
            _ if self.legacy.is_some() => SizeHint::new(),
            ChunksState::Open => self.inner.size_hint(),
            ChunksState::Trailers(_) | ChunksState::Finished => SizeHint::with_exact(0),
            ChunksState::Failed(_) => SizeHint::new(),
        }
    }
}

impl ChunksState {
    fn failed(error: BodyError) -> Self {
        Self::Failed(Some(Box::new(error)))
    }
}

#[cfg(feature = "stream")]
impl<B: Body<Error: Into<BoxError>>> Stream for BodyChunks<B> {
    type Item = Result<Bytes, BodyError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let chunk = ready!(self.as_mut().poll_chunk(cx));
        Poll::Ready(chunk.or_else(|| self.take_trailers().map(|_| Ok(Bytes::new()))))
    }
}

#[cfg(feature = "stream")]
impl<B> Utf8Body<B> {
    /// Turns the body into a stream of text, which continues after the text that has been returned.
    ///
    /// Trailers are dropped. Errors in UTF-8 are [`StreamError::Utf8`](crate::stream::StreamError::Utf8), and
    /// all others [`StreamError::Inner`](crate::stream::StreamError::Inner). Both convert into a
    /// [`BodyError`] with the status. An error that ends the body is the last item.
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
        let after_error = |chunks: &BodyChunks<B>| match chunks.has_failed() {
            true => AfterError::End,
            false => AfterError::Gap,
        };
        Utf8Stream::continuing(self.chunks, self.text, after_error)
    }

    /// Turns the body into a stream of its lines; see [`Utf8Stream::lines`]. Trailers are dropped. If the charset is not UTF-8,
    /// offsets count bytes of the converted text.
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
