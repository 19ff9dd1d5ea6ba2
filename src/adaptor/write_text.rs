//! How do texts and UTF-16 units become the bytes that a writer writes? It does no I/O; both `Utf8Writer`s share it.

use std::fmt;
use std::io;

use crate::core::encoder::Utf8Encoder;
use crate::core::mode::ErrorMode;
use crate::utf16::{Utf16Decoder, Utf16Error};

/// The state between two texts: whether a BOM is due, and a held surrogate. It holds no bytes: `out` takes them.
#[derive(Clone, Debug)]
pub(crate) struct WriteText {
    encoder: Utf8Encoder,
    utf16: Utf16Decoder,
    mode: ErrorMode,
}

impl WriteText {
    pub(crate) fn new() -> Self {
        Self { encoder: Utf8Encoder::new(), utf16: Utf16Decoder::new(), mode: ErrorMode::default() }
    }

    pub(crate) fn with_encoder(self, encoder: Utf8Encoder) -> Self {
        Self { encoder, ..self }
    }

    pub(crate) fn with_surrogate_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    pub(crate) fn utf16(&self) -> &Utf16Decoder {
        &self.utf16
    }

    /// Passes the bytes of `text` to `out`, and those that precede them.
    #[inline]
    pub(crate) fn push(
        &mut self,
        text: &str,
        mut out: impl FnMut(&[u8]),
    ) -> Result<(), Utf16Error> {
        let started = self.start(!text.is_empty(), &mut out);
        out(text.as_bytes());
        started
    }

    /// Starts a text or units, which follow even if this fails. A text that is not empty `ends_units`.
    #[inline]
    pub(crate) fn start(
        &mut self,
        ends_units: bool,
        mut out: impl FnMut(&[u8]),
    ) -> Result<(), Utf16Error> {
        let mut ended = Ok(());
        if ends_units && self.utf16.incomplete().is_some() {
            ended = self.end(Utf16Decoder::interrupt, &mut out);
        }
        let bom = self.encoder.take_bom();
        if !bom.is_empty() {
            out(bom);
        }
        ended
    }

    /// Encodes units, which continue the previous units, after [`start`](Self::start).
    pub(crate) fn push_utf16(
        &mut self,
        units: &[u16],
        out: impl FnMut(&[u8]),
    ) -> Result<(), Utf16Error> {
        self.utf16.push_all(units, self.mode, out)
    }

    /// Formats text. If the run of units before it ended with a lone surrogate, that error is returned after all
    /// text has been passed to `out`.
    pub(crate) fn push_fmt(
        &mut self,
        arguments: fmt::Arguments<'_>,
        out: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut formatted = Formatted { text: self, out, ended: Ok(()) };
        fmt::write(&mut formatted, arguments).map_err(|_| formatting_failed())?;
        Ok(formatted.ended?)
    }

    /// Ends the text: a held surrogate is an error, once, or is repaired.
    pub(crate) fn finish(&mut self, out: impl FnMut(&[u8])) -> Result<(), Utf16Error> {
        self.end(Utf16Decoder::finish, out)
    }

    #[cold]
    fn end(
        &mut self,
        end: fn(&mut Utf16Decoder) -> Result<(), Utf16Error>,
        mut out: impl FnMut(&[u8]),
    ) -> Result<(), Utf16Error> {
        let Err(error) = end(&mut self.utf16) else { return Ok(()) };
        out(error.repair(self.mode).ok_or(error)?.as_bytes());
        Ok(())
    }
}

/// Takes formatted text, piece by piece.
struct Formatted<'a, O> {
    text: &'a mut WriteText,
    out: O,
    ended: Result<(), Utf16Error>,
}

impl<O: FnMut(&[u8])> fmt::Write for Formatted<'_, O> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.ended = self.ended.and(self.text.push(text, &mut self.out));
        Ok(())
    }
}

/// The error if the inner writer accepts no bytes.
pub(crate) fn write_zero() -> io::Error {
    io::Error::new(io::ErrorKind::WriteZero, "the inner writer accepted 0 bytes")
}

/// The error if an argument of a formatted text fails.
pub(crate) fn formatting_failed() -> io::Error {
    io::Error::other("formatting failed: a `Display` implementation returned an error")
}
