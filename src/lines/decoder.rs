//! How do chunks become lines that are borrowed?

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use utf8_simd::{ByteFinder, head, valid_prefix};

use crate::decoder::{ErrorMode, Utf8Decoder, Utf8Options};
use crate::fallback::FallbackDecoder;
use crate::lines::{
    Delimiter, LineError, LineInfo, LineRef, LongLines,
    machine::{LineAction, LineMachine, LineStep},
};

/// Decodes chunks to lines that borrow their text. It does no I/O.
///
/// The text of a line is part of the chunk. Only the bytes of a line that a chunk cuts, and repaired lines, are copied, to a
/// buffer that the decoder reuses. In the steady state nothing is allocated. Line ends are found in 64 bytes at once, and the
/// text of a chunk is validated as a whole.
///
/// The lines, their numbers, offsets, errors and limits are those of
/// [`Utf8LinesCodec`](crate::codec::Utf8LinesCodec#errors), however the stream is cut.
///
/// # Memory
///
/// It holds the incomplete line, at most twice the limit and the delimiter, and the last repaired line. With
/// [`keep_rejected`](Self::keep_rejected) also the last rejected line, at most the same.
///
/// # Examples
///
/// ```
/// use utf8_codec::lines::LineDecoder;
///
/// let mut decoder = LineDecoder::new();
/// let mut seen = Vec::new();
/// for chunk in [&b"GET /caf\xC3"[..], b"\xA9\r\nGET /caf\xE9\r\nGET", b" /tea"] {
///     let mut lines = decoder.push(chunk);
///     while let Some(line) = lines.next_line() {
///         seen.push(match line {
///             Ok(line) => format!("{}: {line}", line.number),
///             Err(error) => error.to_string(),
///         });
///     }
/// }
/// while let Some(line) = decoder.finish_line() {
///     seen.push(format!("the last: {}", line.unwrap()));
/// }
/// let error = "line 2 is not valid UTF-8: truncated character (e9, followed by 0d) at byte 20 of the stream";
/// assert_eq!(seen, ["1: GET /café", error, "the last: GET /tea"]);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct LineDecoder {
    pub(crate) machine: LineMachine,
    /// The bytes of the line at the front that precede the chunk.
    open: Vec<u8>,
}

/// The lines of one chunk, from [`LineDecoder::push`].
#[derive(Debug)]
#[must_use = "lines are decoded only as they are taken"]
pub struct ChunkLines<'d, 'c> {
    decoder: &'d mut LineDecoder,
    block: (&'c str, &'c [u8]),
    cursor: BlockCursor,
}

/// A chunk: its first bytes, which are text, and all of it.
pub(crate) trait Block {
    fn text(&self) -> &str;
    fn bytes(&self) -> &[u8];
    /// Drops the text, and validates what follows, whose beginning becomes text.
    fn validate(&mut self);
    /// Drops the first bytes. There is no text.
    fn skip(&mut self, len: usize);
}

/// The place in the text of a [`Block`].
#[derive(Clone, Debug)]
pub(crate) struct BlockCursor {
    /// The text before this index has been consumed.
    at: usize,
    /// Finds the last byte of a delimiter.
    ends: ByteFinder,
    /// Whether the line at the index is one that [`LineDecoder::find_usual`] takes, if its end is in the text.
    is_usual: bool,
    /// Whether the characters of a line have to be checked.
    is_checked: bool,
}

/// A line that has been found.
#[derive(Debug)]
pub(crate) struct FoundLine {
    pub(crate) place: Place,
    pub(crate) info: LineInfo,
}

/// Where the text of a line is.
#[derive(Debug)]
pub(crate) enum Place {
    /// In the text of the block.
    Block(Range<usize>),
    /// In the decoder.
    Decoder,
}

impl LineDecoder {
    /// Creates a decoder with the default settings: lines of at most 65,536 bytes (64 KiB), ended by LF or CR LF, in
    /// [`ErrorMode::Fatal`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options, and starts a new stream.
    pub fn with_options(mut self, options: Utf8Options) -> Self {
        self.machine.set_options(options);
        self.open.clear();
        self
    }

    /// Sets what replaces ill-formed parts.
    pub fn with_error_mode(mut self, mode: ErrorMode) -> Self {
        self.machine.set_error_mode(mode);
        self
    }

    /// Sets what ends a line. Call it before the first chunk.
    pub fn with_delimiter(mut self, delimiter: Delimiter) -> Self {
        self.machine.set_delimiter(delimiter);
        self
    }

    /// Sets the limit on the length of a line, in bytes as they arrive, without the delimiter and a BOM that is
    /// removed.
    pub fn with_max_length(mut self, max_length: usize) -> Self {
        self.machine.set_max_length(max_length);
        self
    }

    /// Sets what happens to a line that is longer than the limit. The default is [`LongLines::Reject`].
    pub fn with_long_lines(mut self, long_lines: LongLines) -> Self {
        self.machine.set_long_lines(long_lines);
        self
    }

    /// Decodes ill-formed UTF-8 in a legacy encoding, like
    /// [`Utf8LinesCodec::with_fallback`](crate::codec::Utf8LinesCodec::with_fallback).
    pub fn with_fallback(mut self, decoder: FallbackDecoder) -> Self {
        self.machine.set_fallback(decoder.into_state());
        self
    }

    /// Keeps the bytes of a rejected line, to store it elsewhere. Its error is returned once the line has ended, not as soon as the
    /// problem is known, and [`rejected`](Self::rejected) returns its bytes until the next line is rejected.
    pub fn keep_rejected(mut self) -> Self {
        self.machine.keep_rejected();
        self
    }

    /// Returns the bytes of the last rejected line, with its delimiter: at most as many as the limit and the delimiter have, from its
    /// first on. With [`Delimiter::any_newline`], an LF after a CR is not included. Empty unless
    /// [`keep_rejected`](Self::keep_rejected) is set.
    pub fn rejected(&self) -> &[u8] {
        self.machine.rejected()
    }

    /// Starts a new stream with the same settings, at line 1 and offset 0.
    pub fn reset(&mut self) {
        self.machine.reset();
        self.open.clear();
    }

    /// Returns the inner decoder, for its error count, whether a BOM was removed, and how many bytes were skipped. Its
    /// position is the offset up to which the lines have been validated.
    pub fn decoder(&self) -> &Utf8Decoder {
        self.machine.decoder()
    }

    /// Returns the bytes of the incomplete line that the decoder holds.
    pub fn incomplete(&self) -> &[u8] {
        &self.open
    }

    /// Takes these bytes.
    #[cfg(feature = "std")]
    pub(crate) fn take_incomplete(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.open)
    }

    /// Decodes the next chunk of the stream. Take its lines until there is none: if `ChunkLines` is dropped before, the rest
    /// of the chunk is dropped with it, and its bytes do not count. With [`Delimiter::any_newline`], an LF that follows the dropped
    /// bytes may then belong to the CR before them.
    pub fn push<'d, 'c>(&'d mut self, chunk: &'c [u8]) -> ChunkLines<'d, 'c> {
        let cursor = self.cursor();
        ChunkLines { decoder: self, block: ("", chunk), cursor }
    }

    /// Ends the stream: the incomplete line is the last one. Returns it, and the error that only the end decides. Call it until
    /// it returns `None`.
    pub fn finish_line(&mut self) -> Option<Result<LineRef<'_>, LineError>> {
        let found = self.find_last_line()?;
        Some(found.map(|info| LineRef::new(&self.machine.repaired, info)))
    }

    /// Finds the next line of the incomplete bytes, which the end of the stream ends. The decoder keeps its text.
    pub(crate) fn find_last_line(&mut self) -> Option<Result<LineInfo, LineError>> {
        let mut used = 0;
        let item = loop {
            let (consumed, item) = self.machine.step(&self.open[used..], LineAction::End);
            used += consumed;
            match item {
                Some(item) => break item.map(|(text, info)| self.machine.keep(text, info)),
                None if consumed > 0 => {}
                None => {
                    self.open.clear();
                    return self.machine.finish().map(Err);
                }
            }
        };
        self.open.drain(..used);
        Some(item)
    }

    /// Returns a cursor for the start of a block.
    pub(crate) fn cursor(&self) -> BlockCursor {
        self.cursor_at(0)
    }

    /// Returns a cursor for index `at` of a block.
    pub(crate) fn cursor_at(&self, at: usize) -> BlockCursor {
        let [a, b] = self.machine.delimiter().last_bytes().unwrap_or_default();
        BlockCursor {
            at,
            ends: ByteFinder::new(a, b),
            is_usual: false,
            is_checked: self.machine.checks_characters(),
        }
    }

    /// The fast path of [`find_line`](Self::find_line): finds the next line of `text` if nothing but its end has to be found.
    #[inline(always)]
    pub(crate) fn find_usual(&mut self, text: &str, cursor: &mut BlockCursor) -> Option<FoundLine> {
        if !cursor.is_usual {
            return None;
        }
        let (bytes, start) = (text.as_bytes(), cursor.at);
        let last = loop {
            let last = cursor.ends.next(bytes)?;
            // Other lines have been taken without the finder.
            if last >= start {
                break last;
            }
        };
        let (content, next) = self.machine.delimiter().end_at(bytes, start, last)?;
        if cursor.is_checked && !self.machine.allows(text.get(start..content)?) {
            return None;
        }
        let info = self.machine.take_text(content - start, next - start)?;
        cursor.at = next;
        if next == bytes.len() {
            self.expect_lf_after(text);
        }
        Some(FoundLine { place: Place::Block(start..content), info })
    }

    /// Finds the next line of `block`. Returns `None` if there is none; then the block is empty.
    #[inline(never)]
    pub(crate) fn find_line<B: Block>(
        &mut self,
        block: &mut B,
        cursor: &mut BlockCursor,
    ) -> Option<Result<FoundLine, LineError>> {
        loop {
            let text = block.text();
            if cursor.at < text.len() {
                let at = cursor.at;
                if !cursor.is_usual && self.is_at_usual_line() {
                    cursor.is_usual = true;
                    if let Some(found) = self.find_usual(text, cursor) {
                        return Some(Ok(found));
                    }
                }
                cursor.is_usual = false;
                let (consumed, item) = self.feed(&text.as_bytes()[at..]);
                cursor.at += consumed;
                return Some(match item {
                    None => continue,
                    Some(Ok((Some(text), info))) => {
                        Ok(FoundLine { place: Place::Block(at..at + text.len()), info })
                    }
                    Some(Ok((None, info))) => Ok(FoundLine { place: Place::Decoder, info }),
                    Some(Err(error)) => Err(error),
                });
            }
            let is_over = block.bytes().len() == text.len();
            block.validate();
            *cursor = self.cursor();
            if is_over {
                return None;
            }
            if block.text().is_empty() {
                let (consumed, item) = self.feed(block.bytes());
                let item = item.map(|item| item.map(|(text, info)| self.machine.keep(text, info)));
                block.skip(consumed);
                if let Some(item) = item {
                    return Some(item.map(|info| FoundLine { place: Place::Decoder, info }));
                }
            }
        }
    }

    /// Returns a line that has been found in a block with this text.
    #[inline(always)]
    pub(crate) fn line<'t>(&'t self, text: &'t str, found: FoundLine) -> LineRef<'t> {
        let text = match found.place {
            Place::Block(range) => text.get(range).unwrap_or_default(),
            Place::Decoder => &self.machine.repaired,
        };
        LineRef::new(text, found.info)
    }

    /// Whether a line begins here that [`find_usual`](Self::find_usual) takes, if its end is in the text.
    fn is_at_usual_line(&self) -> bool {
        let has_last_byte = self.machine.delimiter().last_bytes().is_some();
        self.open.is_empty() && self.machine.is_at_plain_line() && has_last_byte
    }

    /// If the last line of `text`, which has been taken, ended with a CR, an LF may follow.
    pub(crate) fn expect_lf_after(&mut self, text: &str) {
        if let Some(&last) = text.as_bytes().last()
            && self.open.is_empty()
            && self.machine.delimiter().takes_lf_after(last)
        {
            self.machine.expect_lf();
        }
    }

    /// Passes the bytes of a chunk to the machine. Those of an incomplete line are kept.
    fn feed<'b>(&mut self, chunk: &'b [u8]) -> LineStep<'b> {
        /// More than most lines have left.
        const FEW: usize = 256;
        if self.open.is_empty() {
            let step = self.machine.step(chunk, LineAction::More);
            return match step {
                (0, None) => {
                    self.open.extend_from_slice(chunk);
                    (chunk.len(), None)
                }
                step => step,
            };
        }
        let before = self.open.len();
        let most = self.machine.most_incomplete().saturating_sub(before).max(1);
        // Longer than what can begin a delimiter.
        let few = FEW.max(self.machine.delimiter().as_str().len());
        let piece = head(chunk, before.max(few).min(most).min(chunk.len()));
        self.open.extend_from_slice(piece);
        let mut used = 0;
        loop {
            let (consumed, item) = self.machine.step(&self.open[used..], LineAction::More);
            used += consumed;
            match item {
                None if consumed == 0 => {
                    self.open.drain(..used);
                    return (piece.len(), None);
                }
                None => {}
                Some(item) => {
                    let item = item.map(|(text, info)| (None, self.machine.keep(text, info)));
                    // Bytes before the piece are left if an error in them has rejected the line.
                    let of_piece = used.saturating_sub(before);
                    self.open.truncate(before);
                    self.open.drain(..used.min(before));
                    return (of_piece, Some(item));
                }
            }
        }
    }

    /// Rejects the line at the front, because bytes of it may be missing.
    pub(crate) fn reject_line(&mut self) {
        self.machine.reject_line(&self.open);
        self.open.clear();
    }

    /// Frees the memory of lines that have been taken.
    pub(crate) fn shrink(&mut self) {
        if self.open.is_empty() {
            self.open = Vec::new();
        }
        self.machine.repaired = String::new();
    }
}

impl<'c> ChunkLines<'_, 'c> {
    /// Returns the next line, or the error that rejects it. Returns `None` if more bytes are needed; then all of the chunk has
    /// been consumed.
    ///
    /// # Errors
    ///
    /// A [`LineError`] for each rejected line. The lines continue after it.
    #[inline(always)]
    pub fn next_line(&mut self) -> Option<Result<LineRef<'_>, LineError>> {
        let Self { decoder, block, cursor } = self;
        let found = match decoder.find_usual(block.0, cursor) {
            Some(found) => found,
            None => match decoder.find_line(block, cursor)? {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            },
        };
        Some(Ok(decoder.line(block.0, found)))
    }

    /// Returns the bytes of the last rejected line; see [`LineDecoder::rejected`].
    pub fn rejected(&self) -> &[u8] {
        self.decoder.rejected()
    }

    /// Returns the bytes of the chunk after the lines that have been taken. After a line that is rejected or cut,
    /// [`incomplete`](LineDecoder::incomplete) bytes can precede them.
    pub fn rest(&self) -> &'c [u8] {
        &self.block.1[self.cursor.at..]
    }
}

impl BlockCursor {
    /// Returns the index up to which the text has been consumed.
    pub(crate) fn at(&self) -> usize {
        self.at
    }
}

impl<'c> Block for (&'c str, &'c [u8]) {
    #[inline]
    fn text(&self) -> &str {
        self.0
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.1
    }

    fn validate(&mut self) {
        self.1 = &self.1[self.0.len()..];
        (self.0, _) = valid_prefix(self.1);
    }

    fn skip(&mut self, len: usize) {
        self.1 = &self.1[len..];
    }
}
