//! How do chunks become items of text, and when does a source that is always ready let other tasks run?

use std::future::poll_fn;
use std::mem;
use std::task::{Context, Poll};

use bytes::Bytes;
use bytestring::ByteString;

use crate::decoder::{ErrorMode, Utf8Decoder, Utf8Error, free_if_empty};

/// Decodes a stream, chunk by chunk, into items of text.
#[derive(Clone, Debug)]
pub(crate) struct ChunkText<D = Utf8Decoder> {
    pub(crate) decoder: D,
    pub(crate) mode: ErrorMode,
    /// The rest of the current chunk.
    ///
    /// Invariant: empty between calls of [`next`](Self::next), except in [`ErrorMode::Fatal`].
    pub(crate) chunk: Bytes,
}

impl ChunkText {
    /// Uses the default options and [`ErrorMode::Fatal`].
    pub(crate) fn new() -> Self {
        Self { decoder: Utf8Decoder::new(), mode: ErrorMode::Fatal, chunk: Bytes::new() }
    }

    /// Returns the next item of the chunk: in [`ErrorMode::Fatal`] the next piece or error, in the other modes
    /// the text of the whole chunk.
    pub(crate) fn next(&mut self) -> Result<Option<ByteString>, Utf8Error> {
        if self.mode == ErrorMode::Fatal {
            return self.decoder.take_piece(&mut self.chunk).transpose();
        }
        let item = self.decoder.take_repaired(&mut self.chunk, self.mode);
        let item = item.inspect_err(|_| free_if_empty(&mut self.chunk))?;
        let incomplete = mem::take(&mut self.chunk);
        if !incomplete.is_empty() {
            self.decoder.hold(&incomplete);
        }
        Ok(item)
    }

    /// Ends the stream. Returns the next item or error that the end decides, then `None`.
    pub(crate) fn end(&mut self) -> Result<Option<ByteString>, Utf8Error> {
        let mut text = String::new();
        self.decoder.finish_to_string(self.mode, &mut text)?;
        Ok((!text.is_empty()).then(|| text.into()))
    }
}

/// The number of times that one poll uses a source or sink that is always ready.
pub(crate) const MAX_TURNS: usize = 32;

/// Wakes the task and returns `Pending`, so that other tasks run before the source is polled again.
pub(crate) fn coop_yield<T>(cx: &mut Context<'_>) -> Poll<T> {
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// Counts the items that a future has taken since it was last pending.
#[derive(Debug, Default)]
pub(crate) struct Turns(usize);

impl Turns {
    /// Waits for the next item. After [`MAX_TURNS`] items, lets other tasks run first.
    pub(crate) async fn next<T>(&mut self, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
        poll_fn(|cx| {
            if self.0 == MAX_TURNS {
                self.0 = 0;
                return coop_yield(cx);
            }
            let polled = poll(cx);
            self.0 = if polled.is_ready() { self.0 + 1 } else { 0 };
            polled
        })
        .await
    }
}
