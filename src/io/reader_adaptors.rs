//! How are the lines, the bytes and the `char`s of a `Utf8Reader` read?

use std::io::{self, BufRead, Read};
use std::iter::FusedIterator;

use crate::adaptor::legacy::after_error;
use crate::adaptor::{CharsetStep, NextLine};
use crate::decoder::TextPosition;
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
    /// Returns the next line, borrowed. Nothing is allocated once the buffers are as large as the lines. Returns `None` at the end. Like
    /// the iterator otherwise.
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
        Some(self.find()?.map(|found| self.lines.line(found)))
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
                    Err(error) => {
                        self.lines.fail(after_error(&error));
                        return Some(Err(StreamError::Inner(error)));
                    }
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
        Some(self.find()?.map(|found| self.lines.owned(found)))
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
        let len = self.fill_buf()?.read(buffer)?;
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

impl<R: Read> Utf8Reader<R> {
    /// Returns an iterator over the `char`s. Dropping it loses nothing: the reader continues with the next
    /// `char`.
    ///
    /// # Errors
    ///
    /// The iterator yields the errors of [`next_str`](Self::next_str), and continues after them.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut reader = Utf8Reader::new(&b"n\xC3\xA9\xFF!"[..]);
    /// let chars: Vec<_> = reader.chars().map(|next| next.unwrap_or('?')).collect();
    /// assert_eq!(chars, ['n', 'é', '?', '!']);
    /// ```
    pub fn chars(&mut self) -> Chars<'_, R> {
        Chars { reader: self }
    }

    /// Returns an iterator over the `char`s and errors, each with its line, column and offset. `position` is
    /// that of the next item, and moves past each one.
    ///
    /// A new [`TextPosition`] counts lines and columns from here. To continue later, pass it again; if you consume
    /// text in between, [`push`](TextPosition::push) that. The offset is always that in the stream: repairs have
    /// that of their ill-formed part. Dropping the iterator loses nothing.
    ///
    /// # Errors
    ///
    /// The iterator yields the errors of [`next_str`](Self::next_str), and continues after them.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::TextPosition;
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut reader = Utf8Reader::new(&b"key = 1\r\nk\xC3\xA9y \xFF 2"[..]);
    /// let mut errors = Vec::new();
    /// for (at, next) in reader.chars_with_positions(&mut TextPosition::new()) {
    ///     match next {
    ///         Ok('=') => assert_eq!((at.line, at.column, at.offset), (1, 5, 4)),
    ///         Ok(_) => {}
    ///         Err(error) => errors.push(format!("{at}: {error}")),
    ///     }
    /// }
    /// let message = "line 2, column 5: invalid UTF-8 in the stream at byte 14: invalid byte (ff)";
    /// assert_eq!(errors, [message]);
    /// ```
    pub fn chars_with_positions<'a>(
        &'a mut self,
        position: &'a mut TextPosition,
    ) -> CharPositions<'a, R> {
        CharPositions { reader: self, position }
    }
}

/// The `char`s of a [`Utf8Reader`]; see [`Utf8Reader::chars`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless iterated"]
pub struct Chars<'a, R> {
    reader: &'a mut Utf8Reader<R>,
}

impl<R: Read> Iterator for Chars<'_, R> {
    type Item = Result<char, StreamError<io::Error>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.reader.next_char().transpose()
    }
}

/// The `char`s of a [`Utf8Reader`] with their positions; see [`Utf8Reader::chars_with_positions`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless iterated"]
pub struct CharPositions<'a, R> {
    reader: &'a mut Utf8Reader<R>,
    /// That of the next item, except for the offset.
    position: &'a mut TextPosition,
}

impl<R: Read> Iterator for CharPositions<'_, R> {
    type Item = (TextPosition, Result<char, StreamError<io::Error>>);

    fn next(&mut self) -> Option<Self::Item> {
        let Self { reader, position } = self;
        let (offset, item) = match reader.fill() {
            Ok(()) => reader.text.next_indexed().map(|(offset, next)| (offset, Ok(next)))?,
            Err(error) => (reader.text.position(), Err(error)),
        };
        Some((StreamError::position_of(position, offset, &item), item))
    }
}
