//! How is the length of a body limited, so that axum answers 413?

use std::mem;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::{Full, Limited};
use pin_project_lite::pin_project;

use crate::http::error::BoxError;

pin_project! {
    /// A body with a limit, whose error is that of http-body-util's [`Limited`].
    ///
    /// Of the frame that exceeds the limit, it returns the bytes within it first, so that the text before the error does not depend
    /// on the frames. Its [`size_hint`](Body::size_hint) is that of the inner body: a limit is no length.
    #[derive(Debug)]
    pub struct WithinLimit<B> {
        #[pin]
        inner: B,
        // The number of bytes up to the limit.
        allowed: u64,
        // The bytes after it.
        excess: Bytes,
    }
}

impl<B> WithinLimit<B> {
    /// Allows `max_length` bytes of `inner`.
    pub(super) fn new(inner: B, max_length: u64) -> Self {
        Self { inner, allowed: max_length, excess: Bytes::new() }
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>>> Body for WithinLimit<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.project();
        if !this.excess.is_empty() {
            let excess = Full::new(mem::take(this.excess));
            return pin!(Limited::new(excess, 0)).poll_frame(cx);
        }
        let frame = ready!(this.inner.poll_frame(cx)).transpose().map_err(Into::into)?;
        Poll::Ready(frame.map(|frame| {
            Ok(frame.map_data(|mut data| {
                let allowed = usize::try_from(*this.allowed).unwrap_or(usize::MAX);
                let within = data.split_to(data.len().min(allowed));
                *this.allowed -= within.len() as u64;
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
