//! How is text read from a `std::io::Read` without copying it?

use std::io::{self, Read};
use std::mem;

use bytes::BytesMut;

use crate::adaptor::{Advance, AfterError, ChunkText, ReadText, SourceState, StreamError};
use crate::decoder::{ErrorMode, Utf8Decoder, Utf8Options};
use crate::io::{Utf8ByteReader, Utf8Lines};

/// Reads text from a [`Read`] without copying it.
///
/// [`next_str`](Self::next_str) returns the text received so far as a `&str` borrowed from the internal
/// buffer. An incomplete sequence, at most three bytes, stays in the buffer and is returned with the bytes
/// after it. The boundaries of the returned text depend on the reads. The text does not. The reader needs no
/// [`BufReader`](io::BufReader) between it and its source.
///
/// # Memory
///
/// The first read allocates a buffer of 65,536 bytes (64 KiB), or of the size [set](Self::with_capacity). With
/// repairs, the text of one buffer is copied. Nothing else accumulates.
///
/// # Errors
///
/// [`StreamError::Utf8`] for each ill-formed part in [`ErrorMode::Fatal`], the default. The text before it is
/// returned first, and the next call continues after it. [`StreamError::Inner`] in every mode if the reader
/// fails, or claims to have read more bytes than there was room for. No text is lost, and the next call reads
/// again; [lines](crate::io::Utf8Lines#errors) are rejected after some kinds of errors. A read of no bytes is the end. The reader is
/// not read after it.
/// [`Interrupted`](io::ErrorKind::Interrupted) is not an error: the read is repeated.
///
/// # Examples
///
/// ```
/// use std::io::Read;
/// use utf8_codec::io::Utf8Reader;
///
/// let file = (&b"snowman: \xE2\x98"[..]).chain(&b"\x83."[..]);
/// let mut reader = Utf8Reader::new(file);
/// assert_eq!(reader.next_str()?, Some("snowman: "));
/// assert_eq!(reader.next_str()?, Some("☃."));
/// assert_eq!(reader.next_str()?, None);
/// # Ok::<_, utf8_codec::io::StreamError<std::io::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "readers do nothing unless read"]
pub struct Utf8Reader<R> {
    reader: R,
    pub(super) text: ReadText,
}

/// With reads of 8 KiB, the lines of a file take a third longer.
const CAPACITY: usize = 64 * 1024;

impl<R> Utf8Reader<R> {
    /// Reads from `reader`, with the default options, in [`ErrorMode::Fatal`].
    pub fn new(reader: R) -> Self {
        Self { reader, text: ReadText::new().with_capacity(CAPACITY) }
    }

    /// Sets the size of the buffer, in bytes, at least 4 and at most 16 MiB (2^24); other sizes are clamped. One
    /// read returns at most this many bytes. Call it before the first read.
    pub fn with_capacity(self, capacity: usize) -> Self {
        Self { text: self.text.with_capacity(capacity), ..self }
    }

    /// Sets how the stream begins and what it may contain. Call it before the first read.
    ///
    /// Once the first character of the stream has been decoded, it continues with the same offsets: the rejected characters apply to the
    /// bytes that have not been decoded, and the other options have no effect.
    pub fn with_options(mut self, options: Utf8Options) -> Self {
        self.text.decoder = self.text.decoder.with_options(options);
        self
    }

    /// Sets what replaces ill-formed parts. You can call it at any time. It applies to the bytes that have not
    /// been decoded.
    ///
    /// From the first repair in a read, the text is copied and returned in one piece, which can be four times
    /// as long as the bytes read ([`ErrorMode::Escape`]).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut reader = Utf8Reader::new(&b"caf\xE9!"[..]).with_error_mode(ErrorMode::Latin1);
    /// assert_eq!(reader.next_str().unwrap(), Some("caf"));
    /// assert_eq!(reader.next_str().unwrap(), Some("é!"));
    /// ```
    pub fn with_error_mode(mut self, mode: ErrorMode) -> Self {
        self.text.mode = mode;
        self
    }

    /// Returns the text that has been decoded but not consumed. It is empty if more bytes must be read first.
    pub fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Returns the bytes that have been read but not decoded.
    pub fn rest(&self) -> &[u8] {
        self.text.rest()
    }

    /// Consumes the first `len` bytes of [`as_str`](Self::as_str), the text that
    /// [`peek_str`](Self::peek_str) returns.
    ///
    /// # Panics
    ///
    /// If `len` is not a character boundary of that text.
    pub fn consume(&mut self, len: usize) {
        self.text.consume(len);
    }

    /// Returns the reader.
    pub fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Returns the reader mutably. Bytes that you read from it are missing from the text.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Consumes the adaptor and returns the reader.
    ///
    /// Bytes that were read but not consumed are lost: [`as_str`](Self::as_str), and after it
    /// [`rest`](Self::rest). To continue without a `Utf8Reader`, copy both first, and clone the
    /// [`decoder`](Self::decoder), which continues with `rest`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut reader = Utf8Reader::new(&b"200 ok\n\xE2\x82 more"[..]).with_capacity(9);
    /// assert_eq!(reader.next_str().unwrap(), Some("200 ok\n"));
    /// assert_eq!(reader.rest(), b"\xE2\x82");
    /// assert_eq!(reader.into_inner(), b" more");
    /// ```
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// Returns a [`Read`] and [`BufRead`](io::BufRead) of well-formed UTF-8.
    pub fn into_byte_reader(self) -> Utf8ByteReader<Self> {
        Utf8ByteReader::new(self)
    }

    /// Returns the inner decoder, for the position in the stream, the error count, the first error, whether a
    /// BOM was removed, and how many bytes were skipped. It holds no bytes; see [`rest`](Self::rest).
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.text.decoder
    }

    /// Returns an iterator over the lines, with the options, the error mode and the buffer size of this
    /// reader. The first line begins after the text that has been consumed. Repaired text that has not been
    /// consumed is decoded again from its bytes. If a repair of several characters was consumed in part, the
    /// first line begins after its ill-formed part. In [`ErrorMode::Skip`](crate::ErrorMode::Skip) the parts skipped between that
    /// text and the line belong to the line only if they have been read with it.
    pub fn into_lines(mut self) -> Utf8Lines<Self> {
        let unread = self.text.take_unread();
        Utf8Lines::continuing(self, unread, |_| AfterError::Next)
    }

    /// Continues with the unread bytes.
    pub(super) fn continuing(mut self, (unread, state): (ChunkText, SourceState)) -> Self {
        self.text.restore(unread, state);
        self
    }
}

impl<R: Read> Utf8Reader<R> {
    /// Consumes and returns all text that has been decoded. If there is none, reads more. Returns `None` at the
    /// end. The text is never empty.
    #[inline]
    pub fn next_str(&mut self) -> Result<Option<&str>, StreamError<io::Error>> {
        self.fill()?;
        Ok(self.text.next_text())
    }

    /// Returns the next text without consuming it; `None` at the end.
    ///
    /// # Errors
    ///
    /// The same as [`next_str`](Self::next_str). Each error is returned once.
    #[inline]
    pub fn peek_str(&mut self) -> Result<Option<&str>, StreamError<io::Error>> {
        self.fill()?;
        Ok(self.text.peek_text())
    }

    /// Consumes and returns the next `char`; `None` at the end.
    #[inline]
    pub fn next_char(&mut self) -> Result<Option<char>, StreamError<io::Error>> {
        if let Some(next) = self.text.next_char() {
            return Ok(Some(next));
        }
        self.fill()?;
        Ok(self.text.next_char())
    }

    /// Collects the text up to the end, at most `max_length` bytes of it.
    ///
    /// The limit applies to the text: repairs count, a removed BOM and skipped bytes do not.
    ///
    /// # Errors
    ///
    /// [`StreamError::TooLong`] as soon as the text is longer than `max_length`; otherwise the first error of
    /// the stream. The text so far is dropped. [`append_text`](Self::append_text) keeps it.
    #[doc(alias = "read_to_string")]
    pub fn collect_text(&mut self, max_length: usize) -> Result<String, StreamError<io::Error>> {
        let mut text = String::new();
        self.append_text(&mut text, max_length)?;
        Ok(text)
    }

    /// Appends the text up to the end to `text`, up to `max_length` bytes in total. If `text` is longer already, only an empty rest
    /// is no error.
    ///
    /// # Errors
    ///
    /// The same as [`collect_text`](Self::collect_text). The text before the error is in `text`. Text that
    /// would exceed the limit has not been consumed.
    pub fn append_text(
        &mut self,
        text: &mut String,
        max_length: usize,
    ) -> Result<(), StreamError<io::Error>> {
        loop {
            self.fill()?;
            if !self.text.append_to(text, max_length)? {
                return Ok(());
            }
        }
    }

    /// Reads until there is text or the end is reached.
    #[inline]
    pub(super) fn fill(&mut self) -> Result<(), StreamError<io::Error>> {
        if self.text.has_text() { Ok(()) } else { self.read_text() }
    }

    #[inline(never)]
    fn read_text(&mut self) -> Result<(), StreamError<io::Error>> {
        while self.text.advance()? == Advance::Read {
            let read = self.read()?;
            if self.text.fill(read) {
                break;
            }
        }
        Ok(())
    }

    /// Reads into `bytes`, which is empty, without decoding. Returns how many bytes were read, 0 at the end.
    pub(super) fn read_raw(&mut self, bytes: &mut BytesMut) -> io::Result<usize> {
        debug_assert!(bytes.is_empty());
        // Taken, so that a reader that panics leaves no zeros.
        let mut room = mem::take(bytes);
        room.resize(self.text.capacity(), 0);
        let read = read(&mut self.reader, &mut room);
        room.truncate(read.as_ref().map_or(0, |&read| read));
        self.text.skip_raw(room.len());
        *bytes = room;
        read
    }

    /// Reads into the buffer, which holds no text. Returns how many bytes were read, 0 at the end.
    fn read(&mut self) -> io::Result<usize> {
        read(&mut self.reader, self.text.whole_room())
    }
}

/// Reads into `room`. Returns how many bytes were read, 0 at the end.
pub(super) fn read(reader: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(room) {
            Ok(read) if read > room.len() => {
                let message = format!("reader claims {read} bytes in a buffer of {}", room.len());
                return Err(io::Error::other(message));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
