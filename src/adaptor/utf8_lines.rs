//! How are lines read from a reader or a stream, and when is a line complete? It does no I/O: `io` and `stream` do.

use std::mem;

use bytes::{Buf, Bytes, BytesMut};
use bytestring::ByteString;
use pin_project_lite::pin_project;
use utf8_simd::text::take_valid_prefix;

use crate::adaptor::{AfterError, ChunkText, SourceState};
use crate::decoder::Utf8Decoder;
use crate::lines::{
    Delimiter, Line, LineError, LineRef, LongLines,
    decoder::{Block, BlockCursor, FoundLine, LineDecoder, Place},
};

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
    /// It is at most 456 bytes larger than its source. An empty chunk changes nothing. The end of
    /// the source ends the last line. The iterator and the stream are fused.
    ///
    /// # Errors
    ///
    /// [`StreamError::Line`] for a rejected line. [`StreamError::Inner`] for an error of the source.
    /// A reader (also that of `Utf8Stream::from_reader`) loses nothing when it fails, so there the line continues, unless the kind of
    /// the error is [`InvalidData`](std::io::ErrorKind::InvalidData), `UnexpectedEof` or `Other`: such a reader can have skipped bytes,
    /// as a [`CharsetReader`](crate::io::CharsetReader) and a [`Utf8ByteReader`](crate::io::Utf8ByteReader) skip an ill-formed part. A
    /// reader that always fails yields errors indefinitely. After such an error, and when another source fails, text may be missing at
    /// that point, so the current line is rejected as well, and the rest of it is skipped in bounded memory. The lines continue after
    /// every error.
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
        // What follows the last error of `source`.
        pub(crate) after_error: fn(&S) -> AfterError,
    }
}

impl<S> Utf8Lines<S> {
    /// The lines of the unread bytes, then those of `source`.
    pub(crate) fn continuing(
        source: S,
        (unread, state): (ChunkText, SourceState),
        after_error: fn(&S) -> AfterError,
    ) -> Self {
        let ChunkText { decoder, mode, chunk } = unread;
        let mut lines = ReadLines { block: (ByteString::new(), chunk), state, ..ReadLines::new() };
        lines.decoder.machine.set_decoder(decoder);
        lines.decoder.machine.set_error_mode(mode);
        Self { source, lines, after_error }
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

    /// Sets the maximum length of a line, in bytes as received, without the delimiter and a BOM that is removed. Call it
    /// before the first line.
    pub fn with_max_length(mut self, max_length: usize) -> Self {
        self.lines.decoder.machine.set_max_length(max_length);
        self
    }

    /// Sets what happens to a line that is longer than the limit. The default is [`LongLines::Reject`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    /// use utf8_codec::lines::LongLines;
    ///
    /// let lines = Utf8Reader::new(&b"one\nnot so short\nthree\n"[..]).into_lines();
    /// let lines = lines.with_max_length(5).with_long_lines(LongLines::Cut).map(Result::unwrap);
    /// let shipped: Vec<_> =
    ///     lines.map(|line| format!("{line}{}", if line.is_cut() { " [cut]" } else { "" })).collect();
    /// assert_eq!(shipped, ["one", "not s [cut]", "three"]);
    /// ```
    pub fn with_long_lines(mut self, long_lines: LongLines) -> Self {
        self.lines.decoder.machine.set_long_lines(long_lines);
        self
    }

    /// Keeps the bytes of a rejected line, to store it elsewhere. Its error is returned once the line has ended, not as soon as the
    /// problem is known, and [`rejected`](Self::rejected) returns its bytes until the next line is rejected. If the lines become text
    /// before, they drop it with its error. An error of the source has no line; inside a rejected line it is returned first, and the
    /// bytes after it are kept too.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let reader = Utf8Reader::new(&b"one\nt\xFFo\nthree\n"[..]);
    /// let mut lines = reader.into_lines().keep_rejected();
    /// let mut quarantined = Vec::new();
    /// while let Some(line) = lines.next_line() {
    ///     if line.is_err() {
    ///         quarantined.extend_from_slice(lines.rejected());
    ///     }
    /// }
    /// assert_eq!(quarantined, b"t\xFFo\n");
    /// ```
    pub fn keep_rejected(mut self) -> Self {
        self.lines.decoder.machine.keep_rejected();
        self
    }

    /// Returns the bytes of the last rejected line, with its delimiter: at most as many as the limit and the delimiter have, from its
    /// first on. With [`Delimiter::any_newline`], an LF after a CR is not included. Empty unless
    /// [`keep_rejected`](Self::keep_rejected) is set.
    pub fn rejected(&self) -> &[u8] {
        self.lines.decoder.machine.rejected()
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
        self.lines.rest()
    }

    /// Returns the inner decoder, for its error count, whether a BOM was removed, and how many
    /// bytes were skipped. Its position is the offset up to which [`rest`](Self::rest) has been
    /// scanned. When a line is returned, its errors have been counted and those of the next line have
    /// not. In a rejected line, errors are counted up to the byte that caused the rejection.
    pub fn decoder(&self) -> &Utf8Decoder {
        self.lines.decoder.machine.decoder()
    }
}

/// Lines, and the bytes that are in no line yet.
///
/// The iterator or stream does this loop:
///
/// ```text
/// match lines.next() {
///     NextLine::Line(found) => deliver lines.line(found)
///     NextLine::Read        => append bytes to lines.buffer(), or pass a chunk to lines.push(), or lines.finish() at the end
///     NextLine::End         => deliver the end
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ReadLines {
    decoder: LineDecoder,
    block: (ByteString, Bytes),
    cursor: BlockCursor,
    /// Where a reader puts bytes. Empty while lines of the block are left.
    buffer: BytesMut,
    state: SourceState,
    /// Whether a chunk is being converted, or its conversion has panicked.
    #[cfg(feature = "stream")]
    is_converting: bool,
}

/// What an adaptor does next.
pub(crate) enum NextLine {
    /// Deliver the line, or its error.
    Line(Result<FoundLine, LineError>),
    /// Read more bytes.
    Read,
    /// Deliver the end.
    End,
}

impl ReadLines {
    pub(crate) fn new() -> Self {
        let decoder = LineDecoder::new();
        let cursor = decoder.cursor();
        Self {
            decoder,
            block: (ByteString::new(), Bytes::new()),
            cursor,
            buffer: BytesMut::new(),
            state: SourceState::Open,
            #[cfg(feature = "stream")]
            is_converting: false,
        }
    }

    fn set_delimiter(&mut self, delimiter: Delimiter) {
        self.decoder.machine.set_delimiter(delimiter);
        self.cursor = self.decoder.cursor_at(self.cursor.at());
    }

    /// Returns the bytes that are in no line yet, with their decoder and error mode, and the state of the source.
    pub(crate) fn into_unread(mut self) -> (ChunkText, SourceState) {
        let chunk = Bytes::copy_from_slice(self.rest());
        self.decoder.expect_lf_after(&self.block.0[..self.cursor.at()]);
        let (decoder, mode, _) = self.decoder.machine.into_parts();
        (ChunkText { decoder, mode, chunk }, self.state)
    }

    /// Returns the bytes that are in no line yet.
    fn rest(&self) -> &[u8] {
        let rest = &self.block.1[self.cursor.at()..];
        match self.decoder.incomplete() {
            [] if rest.is_empty() => &self.buffer,
            [] => rest,
            incomplete => incomplete,
        }
    }

    /// Returns where the adaptor appends bytes.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Passes a chunk to decode. All lines so far have been taken.
    #[cfg(feature = "stream")]
    #[inline]
    pub(crate) fn push(&mut self, chunk: impl Into<Bytes>) {
        debug_assert!(self.block.1.is_empty());
        self.is_converting = true;
        self.block.1 = chunk.into();
        self.is_converting = false;
    }

    /// Rejects the current line if the conversion of the last chunk has panicked: then the chunk is missing.
    #[cfg(feature = "stream")]
    #[inline]
    pub(crate) fn skip_lost_chunk(&mut self) {
        if mem::take(&mut self.is_converting) {
            self.fail(AfterError::Gap);
        }
    }

    /// The fast path of [`next`](Self::next) for a line that is [usual](LineDecoder::find_usual).
    #[inline(always)]
    pub(crate) fn next_usual(&mut self) -> Option<FoundLine> {
        self.decoder.find_usual(&self.block.0, &mut self.cursor)
    }

    /// Finds the next line, or returns what to do if there is none.
    pub(crate) fn next(&mut self) -> NextLine {
        if !self.buffer.is_empty() {
            self.block.1 = self.buffer.split().freeze();
        }
        if let Some(found) = self.decoder.find_line(&mut self.block, &mut self.cursor) {
            if !self.decoder.incomplete().is_empty() {
                self.join_rest();
            }
            return NextLine::Line(found);
        }
        match self.state {
            SourceState::Open => NextLine::Read,
            SourceState::Ending => match self.decoder.find_last_line() {
                Some(found) => {
                    NextLine::Line(found.map(|info| FoundLine { place: Place::Decoder, info }))
                }
                None => {
                    self.state = SourceState::Ended;
                    NextLine::End
                }
            },
            SourceState::Ended => NextLine::End,
        }
    }

    /// A line that is rejected or cut has left bytes in the decoder, and is not in the block. They precede the rest of the block.
    #[cold]
    fn join_rest(&mut self) {
        let rest = &self.block.1[self.cursor.at()..];
        let joined = [&self.decoder.take_incomplete(), rest].concat();
        self.block = (ByteString::new(), joined.into());
        self.cursor = self.decoder.cursor();
    }

    /// Returns a line that has been found.
    #[inline(always)]
    pub(crate) fn line(&self, found: FoundLine) -> LineRef<'_> {
        self.decoder.line(&self.block.0, found)
    }

    /// Returns a line that has been found. It shares the memory of the block.
    #[inline]
    pub(crate) fn owned(&mut self, found: FoundLine) -> Line {
        let text = match found.place {
            Place::Block(range) => self.block.0.slice_ref(&self.block.0[range]),
            Place::Decoder => mem::take(&mut self.decoder.machine.repaired).into(),
        };
        Line::new(text, found.info)
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
    pub(crate) fn fail(&mut self, after_error: AfterError) {
        if after_error != AfterError::Next {
            self.decoder.reject_line();
        }
    }

    /// Frees memory, because the source is pending.
    #[inline]
    pub(crate) fn shrink(&mut self) {
        self.buffer = BytesMut::new();
        self.decoder.shrink();
    }
}

impl Block for (ByteString, Bytes) {
    #[inline]
    fn text(&self) -> &str {
        &self.0
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.1
    }

    fn validate(&mut self) {
        self.1.advance(self.0.len());
        if self.1.is_empty() {
            *self = Self::default(); // frees the memory
        } else {
            (self.0, _) = take_valid_prefix(&mut self.1.clone());
        }
    }

    fn skip(&mut self, len: usize) {
        self.1.advance(len);
    }
}
