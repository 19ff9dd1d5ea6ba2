//! How do texts and UTF-16 units become the bytes that a writer writes, and what if it is dropped before it wrote them?
//! It does no I/O; both `Utf8Writer`s share it.

use std::fmt;
use std::io;

use crate::decoder::encoder::Utf8Encoder;
use crate::decoder::mode::ErrorMode;
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

    /// Formats text. If the run of units before it ended with an unpaired surrogate, that error is returned after all
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

/// Writes one line to standard error when it is dropped with unwritten bytes, in debug builds, at most once per
/// process.
///
/// A forgotten `flush` loses the end of a text without an error, so it should be noticed in development. It must do
/// no harm where it is intended, as when a task is cancelled: a panic would abort a process that is already panicking
/// and could end a healthy task, and release builds do nothing. After an error of the inner writer, nothing is
/// written either: the program knows.
#[derive(Debug, Default)]
pub(crate) struct Unwritten {
    #[cfg(debug_assertions)]
    is_known: bool,
}

impl Unwritten {
    /// Notes that the writer has failed, or was taken apart: unwritten bytes are then not reported.
    #[inline]
    pub(crate) fn forgive(&mut self) {
        #[cfg(debug_assertions)]
        {
            self.is_known = true;
        }
    }

    /// Call it when the writer of type `name` is dropped with `len` unwritten bytes.
    #[cfg(debug_assertions)]
    pub(crate) fn drop_with(&self, len: usize, name: &str) {
        use std::io::{Write, stderr};
        use std::sync::atomic::{AtomicBool, Ordering};

        static IS_SAID: AtomicBool = AtomicBool::new(false);
        let is_expected = len == 0 || self.is_known || std::thread::panicking();
        if !is_expected && !IS_SAID.swap(true, Ordering::Relaxed) {
            let message = "flush it, or call `into_parts` to drop them without this message";
            // `eprintln!` would panic if standard error is closed.
            let _ignored =
                writeln!(stderr(), "{name} dropped with {len} unwritten bytes: {message}");
        }
    }
}
