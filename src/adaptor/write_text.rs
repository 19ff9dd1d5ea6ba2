//! How do texts and UTF-16 units become the bytes that a writer writes? It does no I/O; both `Utf8Writer`s share it.

use std::fmt;
use std::io;

use bytestring::ByteString;

use crate::adaptor::{CAPACITY, Outgoing};
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
        fmt::write(&mut formatted, arguments).map_err(|_| formatting_failed())?;
        Ok(formatted.ended?)
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
