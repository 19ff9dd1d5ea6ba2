//! The text of a message that arrives in pieces, gathered without copying if the pieces are adjacent.

use core::ptr;

use bytes::{Buf, BytesMut};
use bytestring::ByteString;

/// Text in the buffer in which it arrived, followed by bytes that are not validated yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatheredText {
    bytes: BytesMut,
    /// Invariant: at most the length of the buffer; the first `text` bytes are well-formed UTF-8.
    text: usize,
}

impl GatheredText {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether `bytes` directly follow this buffer in memory.
    pub(crate) fn is_followed_by(&self, bytes: &[u8]) -> bool {
        ptr::eq(self.bytes.as_ptr_range().end, bytes.as_ptr())
    }

    /// Appends `bytes`, without copying if they follow in the same memory or the buffer is empty. Then adds to
    /// the text what `scan` finds at the start of the bytes after it. `scan` also returns the number of bytes
    /// to skip first, which is 0 unless there is no text yet.
    ///
    /// A text that `scan` returns from another address is ignored.
    #[inline]
    pub(crate) fn extend(
        &mut self,
        mut bytes: BytesMut,
        scan: impl for<'a> FnOnce(&'a mut [u8]) -> (usize, &'a str),
    ) {
        // Scanned before it is moved: see `crate::core`, "Store forwarding"; `benches/versus`, `websocket`.
        let (silent, len) = if self.bytes.is_empty() {
            let found = find_text(&mut bytes, scan);
            self.bytes = bytes;
            found
        } else {
            self.bytes.unsplit(bytes);
            find_text(&mut self.bytes[self.text..], scan)
        };
        debug_assert!(silent == 0 || self.text == 0);
        if silent == 0 {
            self.text += len;
        } else if self.text == 0 {
            self.bytes.advance(silent);
            self.text = len;
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        let text = &self.bytes[..self.text];
        // SAFETY: by the invariant, the first `text` bytes are well-formed. Only `extend` adds to them: bytes
        // that `find_text` has found to be a `str`, directly after them or at the start.
        unsafe { str::from_utf8_unchecked(text) }
    }

    /// Returns the bytes after the text.
    pub(crate) fn after_text(&self) -> &[u8] {
        &self.bytes[self.text..]
    }

    /// Drops the bytes after the text.
    pub(crate) fn truncate(&mut self) {
        self.bytes.truncate(self.text);
    }

    /// Returns the text, without copying it.
    pub(crate) fn into_text(mut self) -> ByteString {
        self.truncate();
        // SAFETY: only the first `text` bytes are left, which are well-formed, as in `as_str`.
        unsafe { ByteString::from_bytes_unchecked(self.bytes.freeze()) }
    }
}

/// Returns the number of bytes to skip, and the length of the text that `scan` finds after them. The length is
/// 0 if the text is at another address.
#[inline]
fn find_text(
    bytes: &mut [u8],
    scan: impl for<'a> FnOnce(&'a mut [u8]) -> (usize, &'a str),
) -> (usize, usize) {
    let all = bytes.as_ptr_range();
    let (silent, text) = scan(bytes);
    let range = text.as_bytes().as_ptr_range();
    let is_there = range.start.addr() == all.start.addr() + silent && range.end <= all.end;
    (silent, if is_there { text.len() } else { 0 })
}
