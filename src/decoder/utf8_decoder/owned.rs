//! Decoding `Bytes` into owned text that shares their memory, and the text of one item.

use core::iter::FusedIterator;

use bytes::Bytes;
#[cfg(feature = "std")]
use bytes::{Buf, BytesMut};
use bytestring::ByteString;

use crate::decoder::error::Utf8Error;
#[cfg(feature = "std")]
use crate::decoder::mode::ErrorMode;
#[cfg(feature = "std")]
use crate::decoder::mode::Repair;
use crate::decoder::text::Ending;
use crate::decoder::utf8_decoder::Utf8Decoder;
use crate::decoder::utf8_decoder::input::{Input, take_fast_path, take_piece};
#[cfg(feature = "std")]
use crate::decoder::utf8_decoder::input::{Taken, take_step};

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
    #[must_use = "iterators are lazy: bytes are consumed as pieces are taken"]
    pub fn push_bytes(
        &mut self,
        chunk: Bytes,
    ) -> impl FusedIterator<Item = Result<ByteString, Utf8Error>> + use<'_> {
        OwnedPieces { decoder: self, chunk }
    }

    /// Removes the next piece from `chunk` and returns it, like the iterator of [`push_bytes`].
    ///
    /// [`push_bytes`]: Self::push_bytes
    pub(crate) fn take_piece(
        &mut self,
        chunk: &mut Bytes,
    ) -> Option<Result<ByteString, Utf8Error>> {
        if self.partial.is_empty()
            && let Some((text, _)) = self.take_fast_path(chunk)
            && !text.is_empty()
        {
            return Some(Ok(text));
        }
        self.take_piece_slowly(chunk)
    }

    #[inline(never)]
    fn take_piece_slowly(&mut self, chunk: &mut Bytes) -> Option<Result<ByteString, Utf8Error>> {
        let Self { scanner, partial, stats, .. } = self;
        take_piece(scanner, partial, stats, chunk, |c| {
            ByteString::from(&*c.encode_utf8(&mut [0; 4]))
        })
    }
}

/// The iterator of [`Utf8Decoder::push_bytes`].
struct OwnedPieces<'a> {
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

/// For callers that keep the undecoded bytes in a buffer of their own. The decoder holds nothing.
impl Utf8Decoder {
    /// The fast path of [`take_step`](Self::take_step). Removes the text that `src` begins with, which can be
    /// empty, and returns it and what follows it; returns `None` if the scanner is not on the fast path.
    #[inline(always)]
    pub(crate) fn take_fast_path<B: Input<Text = ByteString>>(
        &mut self,
        src: &mut B,
    ) -> Option<(ByteString, Ending)> {
        self.scanner.is_on_fast_path().then(|| take_fast_path(&mut self.scanner, src))
    }

    /// Removes what `src` begins with and returns it.
    #[cfg(feature = "codec")]
    #[inline(never)]
    pub(crate) fn take_step<B: Input<Text = ByteString>>(
        &mut self,
        src: &mut B,
    ) -> Taken<ByteString> {
        debug_assert!(self.partial.is_empty());
        let step = take_step(&mut self.scanner, src);
        if let Taken::Error(error) = step {
            self.stats.note(error);
        }
        step
    }

    /// Decodes `src` and repairs each error. The text before the first error is not copied; the rest is
    /// decoded in one loop.
    ///
    /// Leaves at most three bytes in `src`, which can still become a sequence. In [`ErrorMode::Fatal`] it stops
    /// at the first error.
    #[cfg(feature = "std")]
    pub(crate) fn take_repaired(
        &mut self,
        src: &mut BytesMut,
        mode: ErrorMode,
    ) -> Result<Item, Utf8Error> {
        let mut item = Item::new();
        loop {
            match take_step(&mut self.scanner, src) {
                Taken::NeedMore => return Ok(item),
                Taken::Text(text) => item.push(text),
                Taken::Error(error) => {
                    item.repair(self.repair(mode, &error), self.stats.note(error))?;
                    if src.is_empty() {
                        return Ok(item);
                    }
                    let read = self.decode_lossy(src, mode, item.repaired());
                    src.advance(read.map_err(|(_, error)| error)?);
                    return Ok(item);
                }
            }
        }
    }
}

/// The text of one item under construction: copied only from the first repair on.
#[cfg(feature = "std")]
pub(crate) struct Item {
    /// Text that shares the buffer's memory, up to the first repair.
    clean: ByteString,
    /// From the first repair on: a copy of `clean`, and everything after it.
    repaired: Option<String>,
}

#[cfg(feature = "std")]
impl Item {
    pub(crate) const fn new() -> Self {
        Self { clean: ByteString::new(), repaired: None }
    }

    pub(crate) fn push(&mut self, text: ByteString) {
        if self.clean.is_empty() && self.repaired.is_none() {
            self.clean = text;
        } else {
            self.repaired().push_str(&text);
        }
    }

    /// Appends `repair`, that of `error`, if there is one.
    pub(crate) fn repair(
        &mut self,
        repair: Option<Repair>,
        error: Utf8Error,
    ) -> Result<(), Utf8Error> {
        let repair = repair.ok_or(error)?;
        if !repair.is_empty() {
            self.repaired().push_str(&repair);
        }
        Ok(())
    }

    /// Returns the text so far as a copy, to append to.
    pub(crate) fn repaired(&mut self) -> &mut String {
        self.repaired.get_or_insert_with(|| String::from(&*self.clean))
    }

    pub(crate) fn into_text(self) -> ByteString {
        self.repaired.map_or(self.clean, ByteString::from)
    }

    /// Returns the text, or `None` if it is empty.
    #[cfg(any(feature = "codec", feature = "http-body", feature = "stream"))]
    pub(crate) fn into_item(self) -> Option<ByteString> {
        Some(self.into_text()).filter(|text| !text.is_empty())
    }
}
