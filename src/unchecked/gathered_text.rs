use core::ptr;

use bytes::{Buf, BytesMut};
use bytestring::ByteString;

/// Text in the buffer that it came in, and behind it bytes of which nothing has been said yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct GatheredText {
    bytes: BytesMut,
    /// Invariant: at most as many as there are bytes, and the first so many are well-formed UTF-8.
    text: usize,
}

impl GatheredText {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether `bytes` lie in memory where this ends.
    pub(crate) fn is_followed_by(&self, bytes: &[u8]) -> bool {
        ptr::eq(self.bytes.as_ptr_range().end, bytes.as_ptr())
    }

    /// Adds `bytes` behind what is there, without copying if they follow it in the same memory or
    /// nothing is there; and takes the text that `scan` finds at the start of what is then behind the
    /// text. Of that, `scan` says first how many bytes to pass over, which it may only where there is no
    /// text before them.
    ///
    /// Text that does not start there is none of ours, and is not taken.
    #[inline]
    pub(crate) fn extend(
        &mut self,
        mut bytes: BytesMut,
        scan: impl for<'a> FnOnce(&'a mut [u8]) -> (usize, &'a str),
    ) {
        // Scanned before it is moved: see `crate::core`, "Store forwarding"; bench `versus`, `websocket`.
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
        // SAFETY: the first `text` bytes are well-formed: that is the invariant. `extend` alone adds to
        // them, what `find_text` has found to be a `str` directly behind them, or at the start.
        unsafe { str::from_utf8_unchecked(text) }
    }

    /// What is behind the text.
    pub(crate) fn behind(&self) -> &[u8] {
        &self.bytes[self.text..]
    }

    /// Drops what is behind the text.
    pub(crate) fn truncate(&mut self) {
        self.bytes.truncate(self.text);
    }

    /// Returns the text, without copying it.
    pub(crate) fn into_text(mut self) -> ByteString {
        self.truncate();
        // SAFETY: what is left is the first `text` bytes, which are well-formed, as in `as_str`.
        unsafe { ByteString::from_bytes_unchecked(self.bytes.freeze()) }
    }
}

/// Says how many bytes of `bytes` are to be passed over, and how many then are the text that `scan`
/// finds there: none, where its text is not there.
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
