//! How does a body that is too long keep the bytes within the limit?

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

pin_project! {
    /// A body that divides the frame that exceeds a limit.
    ///
    /// `Limited` rejects such a frame as a whole. Around this body it returns the bytes within the limit first, so that
    /// the text before the error does not depend on the frames.
    #[derive(Debug)]
    pub struct EndingAt<B> {
        #[pin]
        inner: B,
        // The number of bytes up to the limit.
        allowed: usize,
        // The bytes after it.
        excess: Bytes,
    }
}

impl<B> EndingAt<B> {
    pub(super) fn new(inner: B, max_length: usize) -> Self {
        Self { inner, allowed: max_length, excess: Bytes::new() }
    }
}

impl<B: Body<Data = Bytes>> Body for EndingAt<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let this = self.project();
        if !this.excess.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(mem::take(this.excess)))));
        }
        let frame = ready!(this.inner.poll_frame(cx)).transpose()?;
        Poll::Ready(frame.map(|frame| {
            Ok(frame.map_data(|mut data| {
                let within = data.split_to(data.len().min(*this.allowed));
                *this.allowed -= within.len();
                *this.excess = data;
                within
            }))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.excess.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
