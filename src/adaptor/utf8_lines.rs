//! How are lines read from a reader or a stream, and when is a line complete? It does no I/O: `io` and `stream` do.

use bytes::BytesMut;
use pin_project_lite::pin_project;

use crate::adaptor::SourceState;
use crate::adaptor::read_text::Unread;
use crate::decoder::utf8_decoder::Utf8Decoder;
use crate::lines::machine::LineMachine;
use crate::lines::{Delimiter, Line, LineError};

pin_project! {
    /// Lines of a reader, of a stream of chunks, or of a stream of text, each with its number and offset.
    ///
    /// Over an [`io::Utf8Reader`](crate::io::Utf8Reader) it is an iterator; its method `into_lines` returns it.
    /// Otherwise it is a `Stream`: `stream::Utf8Stream::lines`, `stream::Utf8Reader::into_lines` and
    /// `Utf8StreamExt::text_lines` return it. It has the options and the error mode of that reader or stream.
    ///
    /// In [`Fatal`](crate::ErrorMode::Fatal) mode, the default, an invalid line yields one error as
    /// soon as the problem is known, and the next line is unaffected. The other modes repair
    /// ill-formed parts and keep every line, except lines that are too long; each line has the
    /// number of its errors and the offset of the first.
    ///
    /// It buffers the incomplete line, the delimiter and one read or chunk. A line has at most 65,536 bytes
    /// (64 KiB) unless [`with_max_length`](Self::with_max_length) sets another limit.
    /// Over a `stream::Utf8Reader` it holds no heap memory while the reader is pending between two lines.
    /// It is at most 216 bytes larger than its source. An empty chunk changes nothing. The end of
    /// the source ends the last line. The iterator and the stream are fused.
    ///
    /// # Errors
    ///
    /// [`StreamError::Line`] for a rejected line. [`StreamError::Inner`] for an error of the source.
    /// A reader (also that of `Utf8Stream::from_reader`) loses nothing when it fails, so there the line continues; a
    /// reader that always fails yields errors indefinitely. When another source fails, text may be missing at that point, so the
    /// current line is rejected as well, and the rest of it is skipped in bounded memory. The lines continue
    /// after every error.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of `next()` loses nothing.
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
    /// let error = "line 2 is not valid UTF-8: truncated character (e9, followed by 0d) at byte 20 of the stream";
    /// assert_eq!(seen, ["GET /café", error, "GET /tea"]);
    /// ```
    ///
    /// [`StreamError::Line`]: crate::io::StreamError::Line
    /// [`StreamError::Inner`]: crate::io::StreamError::Inner
    #[derive(Clone, Debug)]
    #[must_use = "lines are read only as they are taken"]
    pub struct Utf8Lines<S> {
        #[pin]
        pub(crate) source: S,
        pub(crate) lines: ReadLines,
    }
}

impl<S> Utf8Lines<S> {
    /// The lines of the unread bytes, then those of `source`.
    pub(crate) fn continuing(source: S, unread: Unread, may_lose: bool) -> Self {
        Self { source, lines: ReadLines::continuing(unread, may_lose) }
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
        self.lines.machine.set_delimiter(delimiter);
        self
    }

    /// Sets the maximum length of a line, in bytes as received, without the BOM and the delimiter. Call it
    /// before the first line.
    pub fn with_max_length(mut self, max_length: usize) -> Self {
        self.lines.machine.set_max_length(max_length);
        self
    }

    /// Returns the source: the reader or the stream that the lines are read from.
    pub fn get_ref(&self) -> &S {
        &self.source
    }

    /// Consumes the adaptor and returns the source, without the bytes in [`rest`](Self::rest). For a `Utf8Reader`
    /// use `into_reader`, and for a stream of chunks `into_stream`: they lose nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let reader = Utf8Reader::new(&b"text follows\n\0\xFFbinary"[..]).with_capacity(15);
    /// let mut lines = reader.into_lines();
    /// assert_eq!(lines.next().unwrap().unwrap(), "text follows");
    /// assert_eq!(lines.rest(), b"\0\xFF");
    /// assert_eq!(lines.into_inner().into_inner(), b"binary");
    /// ```
    pub fn into_inner(self) -> S {
        self.source
    }

    /// Returns the bytes that have been read but are in no line yet, and in no delimiter. With
    /// [`Delimiter::any_newline`], the LF of the last line's CR LF may not have been read.
    pub fn rest(&self) -> &[u8] {
        &self.lines.buffer
    }

    /// Returns the inner decoder, for its error count, whether a BOM was removed, and how many
    /// bytes were skipped. Its position is the offset up to which [`rest`](Self::rest) has been
    /// scanned. When a line is returned, its errors have been counted and those of the next line have
    /// not. In a rejected line, errors are counted up to the byte that caused the rejection.
    pub fn decoder(&self) -> &Utf8Decoder {
        self.lines.machine.decoder()
    }
}

/// Lines, and the bytes that are in no line yet.
///
/// The iterator or stream does this loop:
///
/// ```text
/// if let Some(line) = lines.next_line() { deliver line }
/// if let Some(line) = lines.last_line() { deliver line }
/// if lines.has_ended()                  { deliver the end }
/// append bytes to lines.buffer(), or call lines.finish() at the end
/// ```
#[derive(Clone, Debug)]
pub(crate) struct ReadLines {
    machine: LineMachine,
    buffer: BytesMut,
    state: SourceState,
    /// Whether bytes may be missing after an error of the source.
    #[cfg_attr(
        not(feature = "stream"),
        allow(dead_code, reason = "a blocking reader loses nothing")
    )]
    may_lose: bool,
}

impl ReadLines {
    /// The lines of a source that may lose bytes when it fails.
    pub(crate) fn new() -> Self {
        let (machine, buffer) = (LineMachine::new(), BytesMut::new());
        Self { machine, buffer, state: SourceState::Open, may_lose: true }
    }

    /// The lines of the unread bytes come first.
    pub(crate) fn continuing(unread: Unread, may_lose: bool) -> Self {
        let Unread { bytes, decoder, mode, has_ended } = unread;
        let mut lines = Self { buffer: bytes, may_lose, ..Self::new() };
        lines.machine.set_decoder(decoder);
        lines.machine.set_error_mode(mode);
        if has_ended {
            lines.finish();
        }
        lines
    }

    /// Returns the bytes that are in no line yet.
    pub(crate) fn into_unread(self) -> Unread {
        let (decoder, mode, _) = self.machine.into_parts();
        Unread { bytes: self.buffer, decoder, mode, has_ended: self.state == SourceState::Ended }
    }

    /// Returns where the adaptor appends bytes.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Returns the next line, if it is complete.
    #[inline(always)]
    pub(crate) fn next_line(&mut self) -> Option<Result<Line, LineError>> {
        if self.state != SourceState::Open {
            return None;
        }
        self.machine.next_line(&mut self.buffer)
    }

    /// Returns the next line, if the source has ended. Not one function with `next_line`: see `crate::decoder`, "Store
    /// forwarding"; scenario `reader`, rows `read-lines`.
    #[inline(always)]
    pub(crate) fn last_line(&mut self) -> Option<Result<Line, LineError>> {
        if self.state != SourceState::Ending {
            return None;
        }
        let line = self.machine.finish_line(&mut self.buffer);
        if line.is_none() {
            self.state = SourceState::Ended;
        }
        line
    }

    /// Whether no line follows.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.state == SourceState::Ended
    }

    /// The source has ended. Lines may be left.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.state = SourceState::Ending;
    }

    /// The source has failed. If bytes may be missing, the current line is rejected.
    #[cfg(feature = "stream")]
    pub(crate) fn fail(&mut self) {
        if self.may_lose {
            self.machine.reject_line(&mut self.buffer);
        }
    }

    /// Returns the state of the source, and whether bytes may be missing after an error of it.
    #[cfg(feature = "stream")]
    pub(crate) fn source(&self) -> (SourceState, bool) {
        (self.state, self.may_lose)
    }

    /// Frees memory, because the source is pending.
    #[cfg(feature = "stream")]
    #[inline]
    pub(crate) fn shrink(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }
}
