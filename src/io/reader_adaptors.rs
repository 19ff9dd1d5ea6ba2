//! How are the lines and the bytes of a `Utf8Reader` read?

use std::io::{self, BufRead, Read};
use std::iter::FusedIterator;

use crate::adaptor::{CharsetStep, NextLine};
use crate::io::utf8_reader::read;
use crate::io::{CharsetReader, StreamError, Utf8ByteReader, Utf8Lines, Utf8Reader};
use crate::lines::{Line, LineRef, decoder::FoundLine};

impl<R> Utf8Lines<Utf8Reader<R>> {
    /// Returns the reader, to read what follows the lines. Nothing is lost: bytes that were read but are in no
    /// line ([`rest`](Self::rest)) come first.
    ///
    /// Errors in all lines so far have been counted. Errors in an incomplete line are counted later. After a
    /// rejected line, the reader continues in the middle of that line. If a CR ended the last line, an LF after
    /// it is skipped, even if it arrives later. If the inner reader has already reported its end, it is read
    /// once more before the end is returned.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut lines = Utf8Reader::new("DATA\r\nžluť\r\n.\r\n".as_bytes()).into_lines();
    /// assert_eq!(lines.next().unwrap().unwrap(), "DATA");
    /// let mut reader = lines.into_reader();
    /// assert_eq!(reader.next_str().unwrap(), Some("žluť\r\n.\r\n"));
    /// ```
    pub fn into_reader(self) -> Utf8Reader<R> {
        self.source.continuing(self.lines.into_unread())
    }
}

impl<R: Read> Utf8Lines<Utf8Reader<R>> {
    /// Returns the next line, borrowed: nothing is allocated. Returns `None` at the end. Like the iterator otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut lines = Utf8Reader::new("GET /žluť\nGET /tea\n".as_bytes()).into_lines();
    /// let mut longest = 0;
    /// while let Some(line) = lines.next_line() {
    ///     longest = longest.max(line?.len());
    /// }
    /// assert_eq!(longest, 11);
    /// # Ok::<_, utf8_codec::io::StreamError<std::io::Error>>(())
    /// ```
    #[inline(always)]
    pub fn next_line(&mut self) -> Option<Result<LineRef<'_>, StreamError<io::Error>>> {
        if let Some(found) = self.lines.next_usual() {
            return Some(Ok(self.lines.line(found)));
        }
        Some(match self.find()? {
            Ok(found) => Ok(self.lines.line(found)),
            Err(error) => Err(error),
        })
    }

    /// Reads up to the end of the next line.
    #[inline(never)]
    fn find(&mut self) -> Option<Result<FoundLine, StreamError<io::Error>>> {
        loop {
            match self.lines.next() {
                NextLine::Line(line) => return Some(line.map_err(StreamError::Line)),
                NextLine::End => return None,
                NextLine::Read => match self.source.read_raw(self.lines.buffer()) {
                    Ok(0) => self.lines.finish(),
                    Ok(_) => {}
                    Err(error) => return Some(Err(StreamError::Inner(error))),
                },
            }
        }
    }
}

impl<R: Read> Iterator for Utf8Lines<Utf8Reader<R>> {
    type Item = Result<Line, StreamError<io::Error>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(found) = self.lines.next_usual() {
            return Some(Ok(self.lines.owned(found)));
        }
        Some(match self.find()? {
            Ok(found) => Ok(self.lines.owned(found)),
            Err(error) => Err(error),
        })
    }
}

impl<R: Read> FusedIterator for Utf8Lines<Utf8Reader<R>> {}

impl<R> Utf8ByteReader<Utf8Reader<R>> {
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

impl<R: Read> BufRead for Utf8ByteReader<Utf8Reader<R>> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let text = self.inner.peek_str()?.unwrap_or_default();
        Ok(self.read.rest(text))
    }

    /// # Panics
    ///
    /// If `amount` is more than `fill_buf` returned.
    fn consume(&mut self, amount: usize) {
        self.read.consume(amount, &mut self.inner.text);
    }
}

impl<R: Read> Read for Utf8ByteReader<Utf8Reader<R>> {
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

impl<R: Read> Read for CharsetReader<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if room.is_empty() {
            return Ok(0);
        }
        loop {
            match self.bytes.next()? {
                CharsetStep::Ready => return Ok(self.bytes.take(room)),
                CharsetStep::Pass => return read(&mut self.reader, room),
                CharsetStep::Read => {
                    let len = read(&mut self.reader, self.bytes.room())?;
                    self.bytes.fill(len);
                }
                CharsetStep::End => return Ok(0),
            }
        }
    }
}
