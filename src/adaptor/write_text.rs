//! How do texts and UTF-16 units become the bytes that a writer writes, and which of them are next? It does no I/O; both
//! `Utf8Writer`s share it.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, IoSlice};

use bytes::{Buf, Bytes, BytesMut};
use bytestring::ByteString;

use crate::adaptor::CAPACITY;
use crate::decoder::{ErrorMode, Utf8Encoder};
use crate::utf16::{Utf16Decoder, Utf16Error};

/// What a writer has taken but not written, and the state between two texts: whether a BOM is due, and a held surrogate.
pub(crate) struct WriteText {
    pub(crate) outgoing: Outgoing,
    pub(crate) capacity: usize,
    pub(crate) encoder: Utf8Encoder,
    pub(crate) utf16: Utf16Decoder,
    /// That of unpaired surrogates.
    pub(crate) mode: ErrorMode,
}

/// What a writer takes.
#[derive(Debug)]
pub(crate) enum WriteItem<'a> {
    Char(char),
    Str(&'a str),
    Text(ByteString),
    Units(&'a [u16]),
}

/// Shorter texts are copied, which is faster than writing them as slices of their own.
pub(crate) const MIN_SHARED: usize = 256;

impl WriteText {
    pub(crate) fn new() -> Self {
        Self {
            outgoing: Outgoing::default(),
            capacity: CAPACITY,
            encoder: Utf8Encoder::new(),
            utf16: Utf16Decoder::new(),
            mode: ErrorMode::default(),
        }
    }

    /// Whether some bytes must be written before the next item is taken.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.outgoing.len() >= self.capacity
    }

    /// Takes `item`, even if the buffer is full. If the run of units before it ended with an unpaired surrogate, that
    /// error is returned after the item has been taken.
    #[inline]
    pub(crate) fn take(
        &mut self,
        item: WriteItem<'_>,
        is_vectored: bool,
    ) -> Result<(), Utf16Error> {
        // Units continue the previous units. Any other text that is not empty ends them.
        let ends_units = match &item {
            WriteItem::Units(_) => false,
            WriteItem::Char(_) => true,
            WriteItem::Str(text) => !text.is_empty(),
            WriteItem::Text(text) => !text.is_empty(),
        };
        if ends_units && self.utf16.incomplete().is_some() {
            return self.take_after_units(item, is_vectored);
        }
        let Self { outgoing, encoder, utf16, mode, capacity } = self;
        let bom = encoder.take_bom();
        if !bom.is_empty() {
            outgoing.copy(bom);
        }
        match item {
            WriteItem::Char(c) => outgoing.copy(c.encode_utf8(&mut [0; 4]).as_bytes()),
            WriteItem::Str(text) => outgoing.copy(text.as_bytes()),
            WriteItem::Text(text) => {
                let least = if is_vectored { MIN_SHARED } else { MIN_SHARED.max(*capacity) };
                match text.len() < least {
                    true => outgoing.copy(text.as_bytes()),
                    false => outgoing.share(text.into_bytes()),
                }
            }
            WriteItem::Units(units) => {
                outgoing.reserve(units.len());
                utf16.push_all(units, *mode, |bytes| outgoing.copy(bytes))?;
            }
        }
        Ok(())
    }

    #[cold]
    fn take_after_units(
        &mut self,
        item: WriteItem<'_>,
        is_vectored: bool,
    ) -> Result<(), Utf16Error> {
        let ended = self.end_units(Utf16Decoder::interrupt);
        self.take(item, is_vectored)?;
        ended
    }

    /// Takes formatted text, piece by piece.
    pub(crate) fn take_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        let mut formatted = Formatted { text: self, ended: Ok(()) };
        let done = fmt::write(&mut formatted, arguments);
        formatted.ended?;
        done.map_err(|_| formatting_failed())
    }

    /// Ends the text: a held surrogate is an error, once, or is repaired.
    pub(crate) fn finish(&mut self) -> Result<(), Utf16Error> {
        self.end_units(Utf16Decoder::finish)
    }

    #[cold]
    fn end_units(
        &mut self,
        end: fn(&mut Utf16Decoder) -> Result<(), Utf16Error>,
    ) -> Result<(), Utf16Error> {
        let Err(error) = end(&mut self.utf16) else { return Ok(()) };
        self.outgoing.copy(error.repair(self.mode).ok_or(error)?.as_bytes());
        Ok(())
    }

    /// Notes that the inner writer has accepted `written` bytes. It cannot have accepted more than there were.
    #[inline]
    pub(crate) fn advance(&mut self, written: usize) -> io::Result<()> {
        if written == 0 {
            let message = "the inner writer accepted 0 bytes";
            return Err(io::Error::new(io::ErrorKind::WriteZero, message));
        }
        let was_long = self.outgoing.len() / 2 > self.capacity;
        self.outgoing.advance(written);
        if was_long && self.outgoing.len() / 2 <= self.capacity {
            self.outgoing.shrink();
        }
        Ok(())
    }
}

/// Shows the number of buffered bytes, not the bytes.
impl fmt::Debug for WriteText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteText")
            .field("unwritten_len", &self.outgoing.len())
            .field("capacity", &self.capacity)
            .field("utf16", &self.utf16)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// Takes formatted text, piece by piece.
struct Formatted<'a> {
    text: &'a mut WriteText,
    ended: Result<(), Utf16Error>,
}

impl fmt::Write for Formatted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.ended = self.ended.and(self.text.take(WriteItem::Str(text), false));
        Ok(())
    }
}

/// The error if an argument of a formatted text fails.
pub(crate) fn formatting_failed() -> io::Error {
    io::Error::other("formatting failed: a `Display` implementation returned an error")
}

/// A queue of bytes: some copied into a buffer, some shared with their owners.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    /// Invariant: none of them is empty.
    pieces: VecDeque<Bytes>,
    /// Copied bytes after the pieces.
    copied: BytesMut,
    len: usize,
}

impl Outgoing {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn copy(&mut self, bytes: &[u8]) {
        if self.copied.capacity() - self.copied.len() < bytes.len() {
            // Reserves more than a few bytes at a time.
            self.copied.reserve(bytes.len().max(MIN_RESERVED));
        }
        self.copied.extend_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Reserves room for `bytes` more bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.copied.reserve(bytes);
    }

    pub(crate) fn share(&mut self, bytes: Bytes) {
        if bytes.is_empty() {
            return;
        }
        self.len += bytes.len();
        if !self.copied.is_empty() {
            self.pieces.push_back(self.copied.split().freeze());
        }
        self.pieces.push_back(bytes);
    }

    /// Returns the first piece of contiguous bytes. It is empty only if the queue is.
    pub(crate) fn first(&self) -> &[u8] {
        self.pieces.front().map_or(&self.copied, |piece| piece)
    }

    /// Returns whether there is at most one piece, of copied bytes.
    pub(crate) fn is_copied(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Fills `slices` with the first pieces, none of them empty. Returns how many were filled.
    pub(crate) fn fill_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let last = Some(&self.copied[..]).filter(|copied| !copied.is_empty());
        let pieces = self.pieces.iter().map(|piece| &piece[..]).chain(last);
        let mut filled = 0;
        for (slice, piece) in slices.iter_mut().zip(pieces) {
            *slice = IoSlice::new(piece);
            filled += 1;
        }
        filled
    }

    /// Removes the first `n` bytes, or all if there are fewer.
    pub(crate) fn advance(&mut self, n: usize) {
        let mut left = n.min(self.len);
        self.len -= left;
        while let Some(front) = self.pieces.front_mut() {
            if left < front.len() {
                front.advance(left);
                return;
            }
            left -= front.len();
            self.pieces.pop_front();
        }
        self.copied.advance(left);
    }

    /// Frees the memory that the copied bytes do not need.
    pub(crate) fn shrink(&mut self) {
        self.copied = BytesMut::from(&self.copied[..]);
    }

    /// Returns everything in one piece, copied unless it is contiguous.
    pub(crate) fn into_bytes(mut self) -> Bytes {
        if self.pieces.is_empty() {
            return self.copied.freeze();
        }
        if self.first().len() == self.len {
            return self.pieces.pop_front().unwrap_or_default();
        }
        let mut all = BytesMut::with_capacity(self.len);
        self.pieces.iter().for_each(|piece| all.extend_from_slice(piece));
        all.extend_from_slice(&self.copied);
        all.freeze()
    }
}

/// The minimum number of bytes to reserve.
const MIN_RESERVED: usize = 256;
