//! How are lines read from a stream of text?

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BytesMut;
use futures::Stream;
use pin_project_lite::pin_project;

use crate::adaptor::cooperate::{SILENT_CHUNKS, give_way};

pin_project! {
    /// The source of [`text_lines`](crate::stream::Utf8StreamExt::text_lines). It skips empty
    /// items, and does not poll the inner stream after its end.
    #[derive(Clone, Debug)]
    pub struct Texts<S> {
        #[pin]
        inner: S,
        ended: bool,
    }
}

impl<S> Texts<S> {
    pub(super) fn new(inner: S) -> Self {
        Self { inner, ended: false }
    }
}

impl<S, T, E> Texts<S>
where
    S: Stream<Item = Result<T, E>>,
    T: AsRef<str>,
{
    /// Appends the next non-empty text to `buffer`.
    pub(super) fn poll_text(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<Option<Result<(), E>>> {
        let mut this = self.project();
        if *this.ended {
            return Poll::Ready(None);
        }
        for _ in 0..SILENT_CHUNKS {
            match ready!(this.inner.as_mut().poll_next(cx)) {
                Some(Ok(text)) => {
                    let text = text.as_ref();
                    if !text.is_empty() {
                        buffer.extend_from_slice(text.as_bytes());
                        return Poll::Ready(Some(Ok(())));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    *this.ended = true;
                    return Poll::Ready(None);
                }
            }
        }
        give_way(cx)
    }
}
