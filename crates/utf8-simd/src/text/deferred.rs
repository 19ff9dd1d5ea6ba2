//! Text that arrives in pieces and is validated later, many bytes at once.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{Level, PrefixEnd, valid_prefix};

/// Text that grows by bytes, of which the last have not been validated yet.
///
/// For a unit that is only used whole: one validation takes less time than one of each piece, and no character is split.
///
/// # Examples
///
/// ```
/// use utf8_simd::{Level, text::DeferredText};
///
/// let mut line = DeferredText::with_capacity(16);
/// for piece in [&b"caf\xC3"[..], b"\xA9 au", b" lait\r\nca"] {
///     line.push_before(Level::detect(), *b"\r\n", piece);
/// }
/// line.validate();
/// assert!(line.rest().is_empty());
/// assert_eq!(line.into_text(), "café au lait");
/// ```
#[derive(Clone, Debug, Default)]
pub struct DeferredText {
    bytes: Vec<u8>,
    /// Invariant: within `bytes`; those before this index are well-formed UTF-8.
    valid: usize,
}

impl DeferredText {
    /// Creates an empty text with room for `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), valid: 0 }
    }

    /// Returns the number of bytes, validated or not.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether there are no bytes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the number of bytes, with those for which there is room.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Makes room for exactly `more` bytes.
    pub fn reserve_exact(&mut self, more: usize) {
        self.bytes.reserve_exact(more);
    }

    /// Frees the room that no bytes use.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Returns the bytes that have not been validated.
    #[inline]
    #[must_use]
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.valid..]
    }

    /// Removes the bytes that have not been validated.
    pub fn clear_rest(&mut self) {
        self.bytes.truncate(self.valid);
    }

    /// Appends bytes without validating them.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends text.
    #[inline]
    pub fn push_str(&mut self, text: &str) {
        let is_validated = self.valid == self.bytes.len();
        self.push(text.as_bytes());
        if is_validated {
            self.valid = self.bytes.len();
        }
    }

    /// Appends the bytes at the start of `input`, up to the first of `ends`, as far as there is room. Returns their number.
    /// Allocates nothing.
    #[inline]
    pub fn push_before(&mut self, level: Level, ends: [u8; 2], input: &[u8]) -> usize {
        let (copied, ascii) = level.copy_before(ends, input, self.bytes.spare_capacity_mut());
        if self.valid == self.bytes.len() {
            self.valid += ascii;
        }
        let len = self.bytes.len() + copied;
        // SAFETY: `Level::copy_before` promises that it has written that many bytes of the spare capacity, and that the
        // first `ascii` of them are ASCII. `tests/levels` checks every level.
        unsafe { self.bytes.set_len(len) };
        copied
    }

    /// Validates the bytes up to the first ill-formed or incomplete sequence, and returns why it ended there.
    #[inline]
    pub fn validate(&mut self) -> PrefixEnd {
        let (text, end) = valid_prefix(&self.bytes[self.valid..]);
        self.valid += text.len();
        end
    }

    /// Returns the text that has been validated, without the rest.
    #[must_use]
    pub fn into_text(mut self) -> String {
        self.bytes.truncate(self.valid);
        // SAFETY: the invariant of `valid`.
        unsafe { String::from_utf8_unchecked(self.bytes) }
    }
}
