//! Decoding `Bytes` into owned text that shares their memory, and the text of one item.

use core::iter::FusedIterator;
use core::mem;

use bytes::{Buf, Bytes};
use bytestring::ByteString;
use utf8_simd::text::{SplitTo, take_text_with};
use utf8_simd::{PrefixEnd, valid_prefix};

use crate::decoder::{ErrorMode, Step, Utf8Decoder, Utf8Error};

/// Owned pieces, without copying.
impl Utf8Decoder {
    /// Decodes the next chunk of the stream like [`push`](Self::push), into text that shares the chunk's
    /// memory.
    ///
    /// The iterator is lazy: bytes it has not reached are not consumed, and do not count in
    /// [`position`](Self::position). Only a split character is copied. A small piece keeps the memory of the
    /// whole chunk alive; `ByteString::from(&*piece)` copies it. At the end of the stream, call
    /// [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// The iterator yields an `Err` for each ill-formed part, and continues after it.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use utf8_codec::Utf8Decoder;
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut text = String::new();
    /// for chunk in [&b"Zeich\xE2\x82"[..], b"\xAC", b"n"] {
    ///     for piece in decoder.push_bytes(Bytes::from_static(chunk)) {
    ///         text.push_str(&piece.unwrap());
    ///     }
    /// }
    /// decoder.finish().unwrap();
    /// assert_eq!(text, "Zeich€n");
    /// ```
    pub fn push_bytes(&mut self, chunk: Bytes) -> OwnedPieces<'_> {
        OwnedPieces { decoder: self, chunk }
    }

    /// Removes the next piece from `chunk` and returns it, like the iterator of [`push_bytes`].
    ///
    /// [`push_bytes`]: Self::push_bytes
    pub(crate) fn take_piece(
        &mut self,
        chunk: &mut Bytes,
    ) -> Option<Result<ByteString, Utf8Error>> {
        if !self.partial.is_empty() {
            let split = self.take_split(chunk);
            free_if_empty(chunk);
            if split.is_some() {
                return split;
            }
        }
        if chunk.is_empty() {
            return None;
        }
        let piece = self.take_next(chunk);
        match &piece {
            Some(Ok(_)) => {}
            Some(Err(_)) => free_if_empty(chunk),
            None => self.hold(&mem::take(chunk)),
        }
        piece
    }

    /// Completes what is held with the start of `src`, if anything is held.
    fn take_split<B: AsRef<[u8]> + Buf>(
        &mut self,
        src: &mut B,
    ) -> Option<Result<ByteString, Utf8Error>> {
        let mut rest = src.as_ref();
        let len = rest.len();
        let split = self.partial.take(&mut self.scanner, &mut rest);
        let used = len - rest.len();
        src.advance(used);
        split.map(|split| match split {
            Ok(c) => Ok(ByteString::from(&*c.encode_utf8(&mut [0; 4]))),
            Err(error) => Err(self.stats.note(error)),
        })
    }
}

/// The owned pieces of one chunk, in order; see [`Utf8Decoder::push_bytes`].
#[derive(Debug)]
#[must_use = "iterators are lazy: bytes are consumed as pieces are taken"]
pub struct OwnedPieces<'a> {
    decoder: &'a mut Utf8Decoder,
    chunk: Bytes,
}

impl Iterator for OwnedPieces<'_> {
    type Item = Result<ByteString, Utf8Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.decoder.take_piece(&mut self.chunk)
    }
}

impl FusedIterator for OwnedPieces<'_> {}

/// Frees a chunk of which no byte is left: an empty `Bytes` keeps its memory alive.
pub(crate) fn free_if_empty(chunk: &mut Bytes) {
    if chunk.is_empty() {
        *chunk = Bytes::new();
    }
}

/// For callers that keep the undecoded bytes in a buffer of their own. The decoder holds nothing.
impl Utf8Decoder {
    /// Removes the next piece from `src`. If there is none, at most three bytes are left, which can still become a sequence.
    #[inline(always)]
    pub(crate) fn take_next<B: SplitTo + Buf>(
        &mut self,
        src: &mut B,
    ) -> Option<Result<ByteString, Utf8Error>> {
        debug_assert!(self.partial.is_empty());
        if self.scanner.is_on_fast_path() {
            let (text, end) = take_text_with(src, valid_prefix);
            self.scanner.accept(text.len(), end);
            if !text.is_empty() {
                return Some(Ok(text));
            }
            if !matches!(end, PrefixEnd::IllFormed(_)) {
                return None;
            }
        }
        self.take_next_slowly(src)
    }

    // Separate from the fast path: see `crate::decoder`, "Store forwarding"; scenario `framed`.
    #[inline(never)]
    fn take_next_slowly<B: SplitTo + Buf>(
        &mut self,
        src: &mut B,
    ) -> Option<Result<ByteString, Utf8Error>> {
        loop {
            let (text, step) = take_text_with(src, |bytes| self.scanner.step(bytes).split());
            match step {
                Step::Text(()) => return Some(Ok(text)),
                Step::Skip(len) => src.advance(len),
                Step::Error(error) => {
                    src.advance(error.bytes().len());
                    return Some(Err(self.stats.note(error)));
                }
                Step::NeedMore => return None,
            }
        }
    }

    /// Decodes `src` and repairs each error. The text before the first error is not copied; the rest is
    /// decoded in one loop.
    ///
    /// Leaves at most three bytes in `src`, which can still become a sequence. In [`ErrorMode::Fatal`] it stops
    /// at the first error.
    pub(crate) fn take_repaired<B: SplitTo + Buf>(
        &mut self,
        src: &mut B,
        mode: ErrorMode,
    ) -> Result<Option<ByteString>, Utf8Error> {
        // Text is copied only from the first repair on, and not for one at the end that is empty.
        let (mut clean, mut repaired) = (ByteString::new(), String::new());
        loop {
            let piece = match self.take_split(src) {
                None if src.has_remaining() => self.take_next(src),
                split => split,
            };
            match piece {
                None => break,
                Some(Ok(text)) if clean.is_empty() && repaired.is_empty() => clean = text,
                Some(Ok(text)) => {
                    repaired.push_str(&mem::take(&mut clean));
                    repaired.push_str(&text);
                }
                Some(Err(error)) => {
                    let repair = self.repair(mode, &error).ok_or(error)?;
                    let goes_on = src.has_remaining() && self.partial.is_empty();
                    if goes_on || !repair.is_empty() {
                        repaired.push_str(&mem::take(&mut clean));
                    }
                    repaired.push_str(&repair);
                    if goes_on {
                        let read = self.decode_lossy(src.as_ref(), mode, &mut repaired);
                        src.advance(read.map_err(|(_, error)| error)?);
                        break;
                    }
                }
            }
        }
        let text = if repaired.is_empty() { clean } else { repaired.into() };
        Ok((!text.is_empty()).then_some(text))
    }
}
