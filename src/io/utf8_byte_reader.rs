//! How is the text of a `Utf8Reader` read as bytes?

use std::io::{self, BufRead, Read};

use crate::adaptor::read_text::ReadBytes;
use crate::io::Utf8Reader;

/// A [`Read`] and [`BufRead`] of well-formed UTF-8; see [`Utf8Reader::into_byte_reader`].
///
/// All bytes together are well-formed. A read may end in the middle of a character if the caller's buffer ends
/// there. `fill_buf` returns whole characters, unless some bytes of the first one have been consumed. The byte
/// reader holds the same data as the `Utf8Reader`.
///
/// # Errors
///
/// An error of the reader is returned unchanged. An ill-formed part is
/// [`InvalidData`](io::ErrorKind::InvalidData), or [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the
/// stream ends inside a character, with the [`Utf8Error`](crate::Utf8Error) as its source. The text before an
/// error is read first. The next read continues after the error.
///
/// # Examples
///
/// ```
/// use std::io::{BufRead, Read};
/// use utf8_codec::io::Utf8Reader;
///
/// let file = (&b"status: gr\xC3"[..]).chain(&b"\xBCn\nbody: \xFF"[..]);
/// let mut reader = Utf8Reader::new(file).into_byte_reader();
/// let mut line = String::new();
/// reader.read_line(&mut line)?;
/// assert_eq!(line, "status: grün\n");
///
/// let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
/// assert_eq!(error.to_string(), "invalid UTF-8 at byte 20: invalid byte (ff)");
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "readers do nothing unless read"]
pub struct Utf8ByteReader<R> {
    inner: Utf8Reader<R>,
    read: ReadBytes,
}

impl<R> Utf8ByteReader<R> {
    pub(super) fn new(inner: Utf8Reader<R>) -> Self {
        Self { inner, read: ReadBytes::default() }
    }

    /// Returns the inner `Utf8Reader`, for example for its decoder's error count and first error.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::Read;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let reader = Utf8Reader::new(&b"\xFF."[..]).with_error_mode(ErrorMode::Skip);
    /// let mut reader = reader.into_byte_reader();
    /// reader.read_to_end(&mut Vec::new())?;
    /// assert_eq!(reader.get_ref().decoder().error_count(), 1);
    /// # Ok::<_, std::io::Error>(())
    /// ```
    pub fn get_ref(&self) -> &Utf8Reader<R> {
        &self.inner
    }

    /// Consumes the adaptor and returns the `Utf8Reader`. Nothing is lost: it continues with the text that has
    /// not been read. If a character was read in part, it continues with the whole character.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::Read;
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut reader = Utf8Reader::new("5 €".as_bytes()).into_byte_reader();
    /// let mut bytes = [0; 3];
    /// reader.read_exact(&mut bytes).unwrap();
    /// assert_eq!(&bytes, b"5 \xE2");
    /// assert_eq!(reader.into_inner().next_str().unwrap(), Some("€"));
    /// ```
    pub fn into_inner(mut self) -> Utf8Reader<R> {
        self.inner.consume(self.read.whole_chars(self.inner.as_str()));
        self.inner
    }
}

impl<R: Read> BufRead for Utf8ByteReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let text = self.inner.peek_str()?.unwrap_or_default();
        Ok(self.read.rest(text))
    }

    /// # Panics
    ///
    /// If `amount` is more than `fill_buf` returned.
    fn consume(&mut self, amount: usize) {
        self.read.consume(amount, self.inner.text_mut());
    }
}

impl<R: Read> Read for Utf8ByteReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let bytes = self.fill_buf()?;
        let len = bytes.len().min(buffer.len());
        buffer[..len].copy_from_slice(&bytes[..len]);
        self.consume(len);
        Ok(len)
    }
}
