//! How do text, `char`s and UTF-16 units reach a `std::io::Write`?

use std::fmt;
use std::io::{self, Write};
use std::mem;

use crate::adaptor::CAPACITY;
use crate::adaptor::write_text::{Unwritten, WriteText, write_zero};
use crate::decoder::encoder::Utf8Encoder;
use crate::decoder::mode::ErrorMode;
use crate::utf16::Utf16Decoder;

/// Writes text, `char`s and UTF-16 units to a [`Write`], as UTF-8.
///
/// It writes into a buffer. When the buffer is full, the next call writes it out first. [`flush`](Self::flush)
/// writes everything that is buffered, and [`finish`](Self::finish) ends the text. `write!` works too. It does
/// not implement `Write`, because arbitrary bytes need not be text.
///
/// **Dropping it writes nothing**, because an error would be lost: call `finish` or `flush`. In debug builds,
/// dropping it with unwritten bytes writes one line to standard error, at most once per process, unless the inner
/// writer has failed or the thread is panicking. [`unwritten_len`](Self::unwritten_len) returns the number of
/// unwritten bytes.
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
#[must_use = "writers do nothing unless written to"]
pub struct Utf8Writer<W> {
    writer: W,
    buffer: Buffer,
    capacity: usize,
    text: WriteText,
}

impl<W> Utf8Writer<W> {
    /// Writes to `writer`, without a BOM, in [`ErrorMode::Fatal`], with a capacity of 8,192 bytes (8 KiB).
    pub fn new(writer: W) -> Self {
        Self { writer, buffer: Buffer::default(), capacity: CAPACITY, text: WriteText::new() }
    }

    /// Sets the number of bytes, at least 1, that are buffered before they are written. Nothing is allocated
    /// in advance.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Writer;
    ///
    /// let mut writer = Utf8Writer::new(Vec::new()).with_capacity(3);
    /// writer.write_str("abc").unwrap();
    /// assert_eq!(writer.get_ref(), b"");
    /// writer.write_str("d").unwrap();
    /// assert_eq!((&writer.get_ref()[..], writer.unwritten_len()), (&b"abc"[..], 1));
    /// ```
    pub fn with_capacity(self, capacity: usize) -> Self {
        Self { capacity: capacity.max(1), ..self }
    }

    /// Sets the encoder, which determines whether a BOM is written.
    ///
    /// The BOM is written before the first text, even if that is empty. If there is no text, no BOM is
    /// written.
    pub fn with_encoder(self, encoder: Utf8Encoder) -> Self {
        Self { text: self.text.with_encoder(encoder), ..self }
    }

    /// Sets what replaces unpaired surrogates.
    pub fn with_surrogate_mode(self, mode: ErrorMode) -> Self {
        Self { text: self.text.with_surrogate_mode(mode), ..self }
    }

    /// Returns the number of buffered bytes.
    pub fn unwritten_len(&self) -> usize {
        self.buffer.unwritten().len()
    }

    /// Returns the inner UTF-16 decoder, for the number of units, the held surrogate, and the number of unpaired
    /// surrogates.
    pub fn utf16(&self) -> &Utf16Decoder {
        self.text.utf16()
    }

    /// Returns the inner writer.
    pub fn get_ref(&self) -> &W {
        &self.writer
    }

    /// Returns the inner writer mutably. Bytes that you write to it precede the buffered bytes, which may start
    /// in the middle of a character: flush first.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Consumes the adaptor and returns the inner writer. Buffered bytes are lost (see
    /// [`unwritten_len`](Self::unwritten_len)), and so is a held surrogate. [`into_parts`](Self::into_parts)
    /// returns the bytes.
    pub fn into_inner(mut self) -> W {
        self.buffer.state.forgive();
        self.writer
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
    /// assert_eq!(writer.into_parts(), (b"written".to_vec(), b"\xE2\x82\xAC".to_vec()));
    /// ```
    pub fn into_parts(self) -> (W, Vec<u8>) {
        (self.writer, self.buffer.take())
    }
}

impl<W: Write> Utf8Writer<W> {
    /// Copies `text` into the buffer, after writing that out if it is full.
    ///
    /// # Errors
    ///
    /// See [above](Self#errors).
    pub fn write_str(&mut self, text: &str) -> io::Result<()> {
        self.make_room()?;
        let buffer = &mut self.buffer.bytes;
        Ok(self.text.push(text, |bytes| buffer.extend_from_slice(bytes))?)
    }

    /// Writes one `char` to the buffer, after writing that out if it is full.
    ///
    /// # Errors
    ///
    /// See [above](Self#errors).
    pub fn write_char(&mut self, c: char) -> io::Result<()> {
        self.write_str(c.encode_utf8(&mut [0; 4]))
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
        let buffer = &mut self.buffer.bytes;
        self.text.start(false, |bytes| buffer.extend_from_slice(bytes))?;
        Ok(self.text.push_utf16(units, |bytes| buffer.extend_from_slice(bytes))?)
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
        let buffer = &mut self.buffer.bytes;
        self.text.push_fmt(arguments, |bytes| buffer.extend_from_slice(bytes))
    }

    /// Writes everything that is buffered, and flushes the inner writer. A held surrogate stays held.
    ///
    /// # Errors
    ///
    /// An error of the inner writer. Unwritten bytes are kept, and you can repeat the call.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_until_below(1)?;
        loop {
            match self.writer.flush() {
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
        let buffer = &mut self.buffer.bytes;
        self.text.finish(|bytes| buffer.extend_from_slice(bytes))?;
        self.flush()
    }

    /// Writes until fewer bytes are buffered than the capacity.
    fn make_room(&mut self) -> io::Result<()> {
        self.write_until_below(self.capacity)
    }

    /// Writes until fewer than `len` bytes are buffered.
    fn write_until_below(&mut self, len: usize) -> io::Result<()> {
        while self.unwritten_len() >= len {
            match self.writer.write(self.buffer.unwritten()) {
                Ok(0) => {
                    self.buffer.state.forgive();
                    return Err(write_zero());
                }
                // It cannot have written more than there is.
                Ok(written) => {
                    self.buffer.advance(
                        written.min(self.unwritten_len()),
                        self.capacity.saturating_mul(2),
                    );
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.buffer.state.forgive();
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

/// The bytes that have been taken but not written.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// The number of them that have been written.
    written: usize,
    state: Unwritten,
}

impl Buffer {
    fn unwritten(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    /// Notes that `written` more bytes have been written. Keeps a capacity of at most `room` when little is left.
    fn advance(&mut self, written: usize, room: usize) {
        self.written += written;
        // Moves the others to the front when they are the smaller part, so that this costs little.
        if self.written >= self.unwritten().len() {
            self.bytes.drain(..self.written);
            self.bytes.shrink_to(room);
            self.written = 0;
        }
    }

    /// Returns the unwritten bytes.
    fn take(mut self) -> Vec<u8> {
        self.bytes.drain(..self.written);
        self.written = 0;
        mem::take(&mut self.bytes)
    }
}

#[cfg(debug_assertions)]
impl Drop for Buffer {
    fn drop(&mut self) {
        self.state.drop_with(self.unwritten().len(), "io::Utf8Writer");
    }
}

/// Shows the number of buffered bytes, not the bytes.
impl<W: fmt::Debug> fmt::Debug for Utf8Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Utf8Writer")
            .field("writer", &self.writer)
            .field("unwritten_len", &self.unwritten_len())
            .field("capacity", &self.capacity)
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}
