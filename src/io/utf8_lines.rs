//! How are lines read from a `Utf8Reader`?

use std::io::{self, Read};
use std::iter::FusedIterator;

use crate::adaptor::read_lines::ReadLines;
use crate::adaptor::read_text::Unread;
use crate::core::decoder::Utf8Decoder;
use crate::io::Utf8Reader;
use crate::lines::{Delimiter, Line, LinesError};

/// The lines of a reader, each with its number and offset; see [`Utf8Reader::into_lines`].
///
/// In [`Fatal`](crate::ErrorMode::Fatal) mode, the default, an invalid line yields one error, and the next line
/// is unaffected. The other modes repair ill-formed parts and keep every line, except lines that are too long.
///
/// It buffers the incomplete line, the delimiter and one read. A line has at most 65,536 bytes (64 KiB) unless
/// [`with_max_length`](Self::with_max_length) sets another limit. The end of the reader ends the last line. The
/// iterator is fused.
///
/// # Errors
///
/// [`LinesError::Line`] for a rejected line. [`LinesError::Inner`] if the reader fails. The iterator continues
/// after every error, and nothing is lost: after an error of the reader, the line continues. A reader that
/// always fails yields errors indefinitely.
///
/// # Examples
///
/// ```
/// use std::io::Read;
/// use utf8_codec::io::Utf8Reader;
///
/// let log = (&b"GET /caf\xC3"[..]).chain(&b"\xA9\r\nGET /caf\xE9\r\nGET /tea"[..]);
/// let mut seen = Vec::new();
/// for line in Utf8Reader::new(log).into_lines() {
///     seen.push(match line {
///         Ok(line) => line.to_string(),
///         Err(error) => error.to_string(),
///     });
/// }
/// let error = "line 2 is not valid UTF-8: truncated character (e9, followed by 0d) at byte 20";
/// assert_eq!(seen, ["GET /café", error, "GET /tea"]);
/// ```
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy: lines are read as they are taken"]
pub struct Utf8Lines<R> {
    source: Utf8Reader<R>,
    lines: ReadLines,
}

impl<R> Utf8Lines<R> {
    /// The lines of the unread bytes, then those that `source` reads.
    pub(super) fn new(source: Utf8Reader<R>, unread: Unread) -> Self {
        Self { source, lines: ReadLines::continuing(unread) }
    }

    /// Sets what ends a line. Call it before the first line.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    /// use utf8_codec::lines::Delimiter;
    ///
    /// let names = Utf8Reader::new(&b"a.txt\0b\nc.txt\0"[..]).into_lines(); // find -print0
    /// let names: Vec<_> = names.with_delimiter(Delimiter::nul()).map(Result::unwrap).collect();
    /// assert_eq!(names, ["a.txt", "b\nc.txt"]);
    /// ```
    pub fn with_delimiter(mut self, delimiter: Delimiter) -> Self {
        self.lines.set_delimiter(delimiter);
        self
    }

    /// Sets the maximum length of a line, in bytes as received, without the BOM and the delimiter. Call it
    /// before the first line.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut lines = Utf8Reader::new(&b"four\nfive!\n"[..]).into_lines().with_max_length(4);
    /// assert!(lines.next().unwrap().is_ok());
    /// assert!(lines.next().unwrap().is_err());
    /// ```
    pub fn with_max_length(mut self, max_length: usize) -> Self {
        self.lines.set_max_length(max_length);
        self
    }

    /// Returns the reader that the lines are read from.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let lines = Utf8Reader::new(&b"line\n"[..]).into_lines();
    /// assert_eq!(lines.get_ref().get_ref(), b"line\n");
    /// ```
    pub fn get_ref(&self) -> &Utf8Reader<R> {
        &self.source
    }

    /// Returns the bytes that have been read but are in no line yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut lines = Utf8Reader::new(&b"one\ntwo"[..]).into_lines();
    /// lines.next();
    /// assert_eq!(lines.rest(), b"two");
    /// ```
    pub fn rest(&self) -> &[u8] {
        self.lines.rest()
    }

    /// Returns the inner decoder, for its error count, whether a BOM was removed, and how many bytes were
    /// skipped. Its position is the offset up to which [`rest`](Self::rest) has been scanned.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut lines = Utf8Reader::new(&b"one\n"[..]).into_lines();
    /// lines.next();
    /// assert_eq!(lines.decoder().position(), 4);
    /// ```
    pub fn decoder(&self) -> &Utf8Decoder {
        self.lines.decoder()
    }

    /// Returns the reader, to read what follows the lines. Nothing is lost: bytes that were read but are in no
    /// line ([`rest`](Self::rest)) come first.
    ///
    /// Errors in all lines so far have been counted. Errors in an incomplete line are counted later. After a
    /// rejected line, the reader continues in the middle of that line. If a line can end with CR, the reader
    /// may continue with the LF of a CR LF. If the inner reader has already reported its
    /// end, it is read once more before the end is returned.
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

impl<R: Read> Iterator for Utf8Lines<R> {
    type Item = Result<Line, LinesError<io::Error>>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { source, lines } = self;
        loop {
            if let Some(line) = lines.next_line() {
                return Some(line.map_err(LinesError::Line));
            }
            if let Some(line) = lines.last_line() {
                return Some(line.map_err(LinesError::Line));
            }
            if lines.has_ended() {
                return None;
            }
            match source.read_raw(lines.buffer()) {
                Ok(0) => lines.finish(),
                Ok(_) => {}
                Err(error) => return Some(Err(LinesError::Inner(error))),
            }
        }
    }
}

impl<R: Read> FusedIterator for Utf8Lines<R> {}
