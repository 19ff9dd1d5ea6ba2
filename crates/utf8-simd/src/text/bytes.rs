//! Text in the buffers of the crate `bytes`: split off without a copy, or gathered from pieces.

use core::{mem, ptr};

use bytes::{Buf, BytesMut};
use bytestring::ByteString;

use super::front_len;
use crate::validate::{PrefixEnd, valid_prefix};

/// Splits the longest well-formed prefix off `bytes`, without copying it, and returns why it ended, like
/// [`valid_prefix`].
///
/// # Examples
///
/// ```
/// use bytes::BytesMut;
/// use utf8_simd::{PrefixEnd, text::take_valid_prefix};
///
/// let mut chunk = BytesMut::from(&b"10 \xE2\x82\xAC or \xFF"[..]);
/// let (text, end) = take_valid_prefix(&mut chunk);
/// assert_eq!((&*text, end), ("10 € or ", PrefixEnd::IllFormed(1)));
/// assert_eq!(&chunk[..], b"\xFF");
/// ```
#[inline]
pub fn take_valid_prefix<B: SplitTo>(bytes: &mut B) -> (ByteString, PrefixEnd) {
    take_text_with(bytes, valid_prefix)
}

/// Splits off the text that `scan` finds at the start of `bytes`, without copying it.
///
/// Text that does not start at the first byte of `bytes` is not part of `bytes`; the result is then empty.
#[inline]
pub fn take_text<B: SplitTo>(
    bytes: &mut B,
    scan: impl for<'a> FnOnce(&'a [u8]) -> &'a str,
) -> ByteString {
    take_text_with(bytes, |bytes| (scan(bytes), ())).0
}

/// Like [`take_text`], and also returns what `scan` has found besides, such as why the text ended.
#[inline]
pub fn take_text_with<B: SplitTo, T>(
    bytes: &mut B,
    scan: impl for<'a> FnOnce(&'a [u8]) -> (&'a str, T),
) -> (ByteString, T) {
    let all: &[u8] = bytes.as_ref();
    let (text, found) = scan(all);
    let len = front_len(text, all);
    if len == 0 {
        // An empty split would change the reference count.
        return (ByteString::new(), found);
    }
    let taken = bytes.split_to_bytes(len);
    assert_eq!(taken.len(), len, "what was asked for has been split off");
    // SAFETY: the first `len` bytes of `bytes` are those of `text`, a `str`: `front_len` has compared addresses and
    // lengths. Both implementations of `SplitOff` split off these bytes. Nothing can have changed them since,
    // as `bytes` is borrowed mutably.
    (unsafe { ByteString::from_bytes_unchecked(taken) }, found)
}

/// Returns the part of `bytes` that `text` borrows, without copying it.
///
/// # Panics
///
/// If `text` is not empty and not a part of `bytes`, in the same memory.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use utf8_simd::{from_utf8, text::slice_text};
///
/// let chunk = Bytes::from_static(b"\xFFtext\xFF");
/// assert_eq!(slice_text(&chunk, from_utf8(&chunk[1..5])?), "text");
/// # Ok::<(), utf8_simd::Utf8Error>(())
/// ```
#[inline]
pub fn slice_text(bytes: &bytes::Bytes, text: &str) -> ByteString {
    if text.is_empty() {
        return ByteString::new();
    }
    // `slice_ref` does the same in a call, and its result is read in wider parts than it was written in. Rows `event-stream`.
    let at = text.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
    let slice = bytes.slice(at..at.saturating_add(text.len()));
    assert!(ptr::eq(&*slice, text.as_bytes()), "the text is a part of the bytes");
    // SAFETY: `slice` has the address and the length of `text`, a `str`: the same memory. It is shared, so nothing changes it.
    unsafe { ByteString::from_bytes_unchecked(slice) }
}

/// [`Bytes`](bytes::Bytes) and [`BytesMut`]: buffers that can be split without copying. No other type implements it.
pub trait SplitTo: AsRef<[u8]> + sealed::SplitOff {}

impl<B: AsRef<[u8]> + sealed::SplitOff> SplitTo for B {}

mod sealed {
    use bytes::{Bytes, BytesMut};

    /// Nobody can name this, so nobody else can implement it: [`take_text_with`](super::take_text_with) relies on it.
    pub trait SplitOff {
        /// Splits off the first `n` bytes of `as_ref`, at most all, unchanged.
        // `Buf::copy_to_bytes` does the same, but is a call: its result is written in narrower parts than it is then read
        // in, which takes 20 ns (rows `codec`, `lines`).
        fn split_to_bytes(&mut self, n: usize) -> Bytes;
    }

    impl SplitOff for Bytes {
        #[inline(always)]
        fn split_to_bytes(&mut self, n: usize) -> Bytes {
            self.split_to(n)
        }
    }

    impl SplitOff for BytesMut {
        #[inline(always)]
        fn split_to_bytes(&mut self, n: usize) -> Bytes {
            self.split_to(n).freeze()
        }
    }
}

/// The text of a message that arrives in pieces, gathered without copying if the pieces are adjacent: text in the buffer
/// in which it arrived, followed by bytes that are not validated yet.
#[derive(Clone, Debug, Default)]
pub struct GatheredText {
    bytes: BytesMut,
    /// Invariant: at most the length of the buffer; the first `text` bytes are well-formed UTF-8.
    text: usize,
}

impl GatheredText {
    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether `bytes` directly follow this buffer in memory.
    pub fn is_followed_by(&self, bytes: &[u8]) -> bool {
        ptr::eq(self.bytes.as_ptr_range().end, bytes.as_ptr())
    }

    /// Appends `bytes`, without copying if they follow in the same memory or the buffer is empty. Then adds to
    /// the text what `scan` finds at the start of the bytes after it. `scan` also returns the number of bytes
    /// to skip first, which is 0 unless there is no text yet.
    ///
    /// A text that `scan` returns from another address is ignored, and so is what it finds if it returns bytes to skip after
    /// text.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes to skip than `scan` returns; with debug assertions, if there are any after text.
    #[inline]
    pub fn extend(
        &mut self,
        mut bytes: BytesMut,
        scan: impl for<'a> FnOnce(&'a mut [u8]) -> (usize, &'a str),
    ) {
        // Scanned before it is moved, which would be a store-to-load forwarding stall: `benches/versus`, `websocket`.
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

    /// Drops the bytes after the text, and appends a copy of `text`. If `growth` is not 0, the whole text is first copied to a
    /// buffer for `growth` more bytes than it has.
    ///
    /// # Panics
    ///
    /// If the capacity would exceed `isize::MAX` bytes.
    #[inline]
    pub fn push_copy(&mut self, text: &str, growth: usize) {
        self.truncate();
        if growth > 0 {
            let longer = BytesMut::with_capacity(self.text.saturating_add(growth));
            let shorter = mem::replace(&mut self.bytes, longer);
            if !shorter.is_empty() {
                self.bytes.extend_from_slice(&shorter);
            }
        }
        self.bytes.extend_from_slice(text.as_bytes());
        self.text += text.len();
    }

    /// Returns the number of bytes that the buffer can hold without growing.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Returns the text so far.
    pub fn as_str(&self) -> &str {
        let text = &self.bytes[..self.text];
        // SAFETY: by the invariant, the first `text` bytes are well-formed. Only `extend` and `push_copy` add to
        // them: bytes that `find_text` has found to be a `str`, directly after them or at the start, and a copy of a `str`.
        unsafe { str::from_utf8_unchecked(text) }
    }

    /// Returns the bytes after the text.
    pub fn after_text(&self) -> &[u8] {
        &self.bytes[self.text..]
    }

    /// Drops the bytes after the text.
    pub fn truncate(&mut self) {
        self.bytes.truncate(self.text);
    }

    /// Returns the text, without copying it.
    pub fn into_text(mut self) -> ByteString {
        self.truncate();
        // SAFETY: only the first `text` bytes are left, which are well-formed by the invariant.
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
    let from = all.start.addr().checked_add(silent);
    let is_there = Some(range.start.addr()) == from && range.end <= all.end;
    (silent, if is_there { text.len() } else { 0 })
}
