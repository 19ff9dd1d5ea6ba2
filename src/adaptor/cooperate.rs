//! Cooperative scheduling: an adaptor whose source is always ready lets other tasks run.

#[cfg(feature = "http-body")]
use std::future::poll_fn;
use std::task::{Context, Poll};

/// The number of consecutive chunks without text after which a poll returns `Pending`.
pub(crate) const SILENT_CHUNKS: usize = 32;

/// Wakes the task and returns `Pending`, so that other tasks run before the source is polled again.
pub(crate) fn give_way<T>(cx: &mut Context<'_>) -> Poll<T> {
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// Counts consecutive empty items.
#[cfg(feature = "http-body")]
#[derive(Debug, Default)]
pub(crate) struct Silence(usize);

#[cfg(feature = "http-body")]
impl Silence {
    pub(crate) fn note(&mut self, len: usize) {
        self.0 = if len == 0 { self.0 + 1 } else { 0 };
    }

    /// Waits for the next item. After [`SILENT_CHUNKS`] empty items, lets other tasks run first.
    pub(crate) async fn next<T>(&mut self, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
        poll_fn(|cx| {
            if self.0 < SILENT_CHUNKS {
                return poll(cx);
            }
            self.0 = 0;
            give_way(cx)
        })
        .await
    }
}
