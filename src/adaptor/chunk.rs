use std::future::poll_fn;
use std::mem;
use std::task::{Context, Poll};

use bytes::Bytes;
use bytestring::ByteString;

use crate::core::decoder::Utf8Decoder;
use crate::core::decoder::buffer::Status;
use crate::core::decoder::item::Item;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;

/// Chunk by chunk to items.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) decoder: Utf8Decoder,
    pub(crate) mode: ErrorMode,
    /// Invariant: empty between calls of [`next`](Self::next), but for [`ErrorMode::Fatal`].
    pub(crate) chunk: Bytes,
}

impl Text {
    /// Returns the next item of the chunk: the next piece or error in [`ErrorMode::Fatal`], else
    /// all of it.
    pub(crate) fn next(&mut self) -> Result<Option<ByteString>, Utf8Error> {
        let mut item = Item::new();
        loop {
            let mut pieces = self.decoder.push_bytes(mem::take(&mut self.chunk));
            let piece = pieces.next();
            let rest = pieces.into_rest();
            match piece {
                piece if self.mode == ErrorMode::Fatal => {
                    self.chunk = rest;
                    return piece.transpose();
                }
                None => return Ok(item.into_item()),
                Some(Ok(text)) => {
                    item.push(text);
                    self.chunk = rest;
                }
                Some(Err(error)) => {
                    item.repair(self.mode, error)?;
                    if !rest.is_empty() {
                        let done = self.decoder.push_to_string(&rest, self.mode, item.repaired());
                        debug_assert_eq!(done.status, Status::Done);
                    }
                    return Ok(item.into_item());
                }
            }
        }
    }

    /// Returns what is to be said of the end, until there is nothing more.
    pub(crate) fn end(&mut self) -> Result<Option<ByteString>, Utf8Error> {
        let mut text = String::new();
        self.decoder.finish_to_string(self.mode, &mut text)?;
        Ok((!text.is_empty()).then(|| text.into()))
    }
}

/// Makes room for `more` bytes: doubles as a `String` does, but never beyond `limit`.
pub(crate) fn reserve(text: &mut String, more: usize, limit: usize) {
    let needed = text.len() + more;
    if needed > text.capacity() {
        let capacity = needed.max(text.capacity().saturating_mul(2)).min(limit);
        text.reserve_exact(capacity - text.len());
    }
}

/// Others have their turn: the source is ready again and again, and there is nothing to show for it.
pub(crate) fn give_way<T>(cx: &mut Context<'_>) -> Poll<T> {
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// So many chunks that yield nothing are taken in one poll, at the most.
pub(crate) const SILENT_CHUNKS: usize = 32;

/// How many items have come, one after another, with nothing in them.
#[derive(Debug, Default)]
pub(crate) struct Silence(usize);

impl Silence {
    pub(crate) fn note(&mut self, len: usize) {
        self.0 = if len == 0 { self.0 + 1 } else { 0 };
    }

    /// Waits for what comes next; gives way once before, when it has lasted.
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
