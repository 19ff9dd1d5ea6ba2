//! How do text, `char`s and UTF-16 units reach a `std::io::Write`?

use std::fmt;
use std::io::{self, Write};
use std::mem;

use bytes::Bytes;

use crate::adaptor::{WriteItem, WriteText};
use crate::decoder::{ErrorMode, Utf8Encoder};
use crate::utf16::Utf16Decoder;

/// Writes text, `char`s and UTF-16 units to a [`Write`], as UTF-8.
///
/// It writes into a buffer. When the buffer is full, the next call writes it out first. [`flush`](Self::flush)
/// writes everything that is buffered, and [`finish`](Self::finish) ends the text. `write!` works too. It does
/// not implement `Write`, because arbitrary bytes need not be text.
///
/// Dropping it writes the buffered bytes and ignores errors, as [`BufWriter`](io::BufWriter) does: call `finish` or
/// `flush` first to see them. A held surrogate is lost. If the inner writer panicked in a write, dropping writes nothing.
///
/// A trailing high surrogate is held until the next unit arrives; `flush` keeps it. `finish` and any other text
/// that is not empty turn it into an unpaired surrogate. The [`ErrorMode`] decides what replaces an unpaired surrogate.
///
/// # Memory
///
/// It buffers at most its capacity, 8,192 bytes (8 KiB) unless set otherwise, plus the last text, which it
/// takes whole.
///
/// # Errors
///
/// An error of the inner writer, or [`WriteZero`](io::ErrorKind::WriteZero) if it accepts no bytes. Nothing is
/// lost. The call has not taken its text, and you can repeat it. [`Interrupted`](io::ErrorKind::Interrupted) is
/// not an error: the write is repeated.
///
/// In [`ErrorMode::Fatal`], the default, an error for the first unpaired surrogate that the call found. Its inner
/// error ([`get_ref`](io::Error::get_ref)) is a [`Utf16Error`](crate::utf16::Utf16Error). Unpaired surrogates are skipped and everything else
/// has been taken, so do not repeat that call.
///
/// # Examples
///
/// A surrogate pair split across calls, between texts:
///
/// ```
/// use utf8_codec::io::Utf8Writer;
///
/// let mut writer = Utf8Writer::new(Vec::new());
/// writer.write_str("waves: ")?;
/// writer.write_utf16(&[0xD83D])?;
/// writer.write_utf16(&[0xDC4B])?;
/// write!(writer, "{}", '!')?;
/// writer.finish()?;
/// assert_eq!(writer.into_inner(), "waves: 👋!".as_bytes());
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "writers do nothing unless written to"]
pub struct Utf8Writer<W: Write> {
    /// `None` only while it is taken apart.
    writer: Option<W>,
    text: WriteText,
    /// Whether the inner writer is writing, or has panicked.
    is_writing: bool,
}

impl<W: Write> Utf8Writer<W> {
    /// Writes to `writer`, without a BOM, in [`ErrorMode::Fatal`], with a capacity of 8,192 bytes (8 KiB).
    pub fn new(writer: W) -> Self {
        Self { writer: Some(writer), text: WriteText::new(), is_writing: false }
    }

    /// Sets the number of bytes, at least 1, that are buffered before they are written. Nothing is allocated
    /// in advance.
    pub fn with_capacity(mut self, capacity: usize) -> Self {
        self.text.capacity = capacity.max(1);
        self
    }

    /// Sets the encoder, which determines whether a BOM is written. Call it before the first text.
    ///
    /// The BOM is written before the first text, even if that is empty. If there is no text, no BOM is
    /// written.
    pub fn with_encoder(mut self, encoder: Utf8Encoder) -> Self {
        self.text.encoder = encoder;
        self
    }

    /// Sets what replaces unpaired surrogates.
    pub fn with_surrogate_mode(mut self, mode: ErrorMode) -> Self {
        self.text.mode = mode;
        self
    }

    /// Returns the number of buffered bytes.
    pub fn unwritten_len(&self) -> usize {
        self.text.outgoing.len()
    }

    /// Returns the inner UTF-16 decoder, for the number of units, the held surrogate, and the number of unpaired
    /// surrogates.
    pub fn utf16(&self) -> &Utf16Decoder {
        &self.text.utf16
    }

    /// Returns the inner writer.
    pub fn get_ref(&self) -> &W {
        self.writer.as_ref().expect(TAKEN)
    }

    /// Returns the inner writer mutably. Bytes that you write to it precede the buffered bytes, which may start
    /// in the middle of a character: flush first.
    pub fn get_mut(&mut self) -> &mut W {
        self.writer.as_mut().expect(TAKEN)
    }

    /// Consumes the adaptor and returns the inner writer. Buffered bytes are lost (see
    /// [`unwritten_len`](Self::unwritten_len)), and so is a held surrogate. [`into_parts`](Self::into_parts)
    /// returns the bytes.
    pub fn into_inner(self) -> W {
        self.into_parts().0
    }

    /// Consumes the adaptor and returns the inner writer and the bytes that have not been written.
    ///
    /// The bytes start where the writer stopped, perhaps within a character, and end between two characters. A
    /// held surrogate is lost; see [`utf16`](Self::utf16).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Writer;
    ///
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.write_str("written").unwrap();
    /// writer.flush().unwrap();
    /// writer.write_str("€").unwrap();
    /// assert_eq!(writer.into_parts(), (b"written".to_vec(), "€".into()));
    /// ```
    pub fn into_parts(mut self) -> (W, Bytes) {
        let writer = self.writer.take().expect(TAKEN);
        (writer, mem::take(&mut self.text.outgoing).into_bytes())
    }

    /// Copies `text` into the buffer, after writing that out if it is full.
    pub fn write_str(&mut self, text: &str) -> io::Result<()> {
        self.make_room()?;
        Ok(self.text.take(WriteItem::Str(text), false)?)
    }

    /// Writes one `char` to the buffer, after writing that out if it is full.
    pub fn write_char(&mut self, c: char) -> io::Result<()> {
        self.make_room()?;
        Ok(self.text.take(WriteItem::Char(c), false)?)
    }

    /// Encodes UTF-16 units into the buffer, after writing that out if it is full.
    ///
    /// # Errors
    ///
    /// See [above](Self#errors). If there are unpaired surrogates, all other units have been taken.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Writer;
    /// use utf8_codec::utf16::Utf16Error;
    ///
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// let error = writer.write_utf16(&[0x61, 0xDC00, 0x62]).unwrap_err();
    /// let error = error.get_ref().unwrap().downcast_ref::<Utf16Error>().unwrap();
    /// assert_eq!(error.offset(), 1);
    /// writer.flush()?;
    /// assert_eq!(writer.get_ref(), b"ab");
    /// # Ok::<_, std::io::Error>(())
    /// ```
    pub fn write_utf16(&mut self, units: &[u16]) -> io::Result<()> {
        self.make_room()?;
        Ok(self.text.take(WriteItem::Units(units), false)?)
    }

    /// Writes formatted text to the buffer, after writing that out if it is full: `write!` and `writeln!` call
    /// this.
    ///
    /// # Errors
    ///
    /// See [above](Self#errors). [`Other`](io::ErrorKind::Other) if a `Display` implementation fails; the text before
    /// the failure has been taken, so do not repeat the call.
    pub fn write_fmt(&mut self, arguments: fmt::Arguments<'_>) -> io::Result<()> {
        self.make_room()?;
        self.text.take_fmt(arguments)
    }

    /// Writes everything that is buffered, and flushes the inner writer. A held surrogate stays held.
    ///
    /// # Errors
    ///
    /// An error of the inner writer. Unwritten bytes are kept, and you can repeat the call.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_all()?;
        loop {
            match self.get_mut().flush() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Ends the text: a held surrogate becomes an unpaired surrogate, and everything is [flushed](Self::flush). You
    /// can call it again.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], an error for a held surrogate, once. The next call flushes. Errors of the inner
    /// writer as for [`flush`](Self::flush).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Writer;
    ///
    /// let mut writer = Utf8Writer::new(Vec::new());
    /// writer.write_utf16(&[0x61, 0xD83D]).unwrap();
    /// assert!(writer.finish().is_err()); // no low surrogate can follow
    /// writer.finish().unwrap();
    /// assert_eq!(writer.into_inner(), b"a");
    /// ```
    pub fn finish(&mut self) -> io::Result<()> {
        self.text.finish()?;
        self.flush()
    }

    fn make_room(&mut self) -> io::Result<()> {
        while self.text.is_full() {
            self.write_some()?;
        }
        Ok(())
    }

    fn write_all(&mut self) -> io::Result<()> {
        while self.unwritten_len() > 0 {
            self.write_some()?;
        }
        Ok(())
    }

    /// Writes some of the buffered bytes to the inner writer. There must be at least one.
    fn write_some(&mut self) -> io::Result<()> {
        let Self { writer, text, is_writing } = self;
        *is_writing = true;
        let written = writer.as_mut().expect(TAKEN).write(text.outgoing.first());
        *is_writing = false;
        match written {
            Ok(written) => text.advance(written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl<W: Write> Drop for Utf8Writer<W> {
    fn drop(&mut self) {
        if !self.is_writing {
            let _ignored = self.write_all();
        }
    }
}

/// Only a method that consumes the `Utf8Writer` takes its writer.
const TAKEN: &str = "the inner writer is there until the end";
