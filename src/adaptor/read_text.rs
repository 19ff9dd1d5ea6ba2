//! What does a reader of text hold, and how is it decoded? It does no I/O; both `Utf8Reader`s share it.

use std::mem;

use bytes::Bytes;
#[cfg(feature = "stream")]
use bytes::BytesMut;
use utf8_simd::head;
use utf8_simd::text::{ReadBuffer, assert_char_boundary};

use crate::adaptor::{CAPACITY, ChunkText, MAX_CAPACITY, SourceState, StreamError};
use crate::decoder::{
    AtEnd, BOM, BomPolicy, ErrorMode, Scanner, Step, Utf8Decoder, Utf8Error, Utf8Options,
    append_within,
};

/// What has been read: text, repaired text and bytes that have not been decoded.
///
/// The adaptor does this loop, until there is text or the end:
///
/// ```text
/// match text.advance()? {
///     Advance::Text => deliver text.as_str()
///     Advance::Read => read into text.room(); text.fill(number of bytes, 0 at the end)
///     Advance::End  => deliver the end
/// }
/// ```
#[derive(Clone, Debug)]
pub(crate) struct ReadText {
    buffer: ReadBuffer,
    /// Holds no bytes. The buffer does.
    pub(crate) decoder: Utf8Decoder,
    pub(crate) mode: ErrorMode,
    /// The error mode and the options of `repaired`.
    repaired_in: (ErrorMode, Utf8Options),
    /// The length of the ill-formed part at the end of the located part of `repaired`, 0 if that ends with text.
    last_error_len: u8,
    /// How many of the errors left in `repaired` are rejections. It is here because it fits into padding.
    rejected_left: u32,
    state: ReadState,
    /// Precedes the content of the buffer. If some of it is left, the buffer has no text.
    repaired: RepairedText,
    /// At most [`MAX_CAPACITY`].
    capacity: u32,
}

/// What an adaptor does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advance {
    /// Deliver the text.
    Text,
    /// Read more bytes.
    Read,
    /// Deliver the end. There is no text.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadState {
    /// The bytes in the buffer have not been decoded.
    Decoding,
    /// The bytes in the buffer, at most three, are the beginning of an incomplete sequence.
    Reading,
    /// The reader has ended. The bytes in the buffer are incomplete.
    Ending,
    /// Everything has been returned.
    Ended,
}

/// Text with repairs, which is a copy. [`MAX_CAPACITY`] is too small for its numbers to overflow.
///
/// The offsets of its characters are not stored: [`locate`](ReadText::locate) finds them in the bytes it was decoded
/// from, which precede the rest of the buffer.
#[derive(Clone, Debug, Default)]
struct RepairedText {
    text: String,
    /// The number of bytes of the text that have been consumed.
    done: u32,
    /// The number of bytes of the text that have been located.
    located: u32,
    /// The number of bytes that the text after the located part was decoded from.
    source_left: u32,
    /// The number of errors in these bytes.
    errors_left: u32,
}

impl ReadText {
    pub(crate) fn new() -> Self {
        Self {
            buffer: ReadBuffer::new(),
            decoder: Utf8Decoder::new(),
            mode: ErrorMode::Fatal,
            repaired_in: (ErrorMode::Fatal, Utf8Options::new()),
            last_error_len: 0,
            rejected_left: 0,
            state: ReadState::Reading,
            repaired: RepairedText::default(),
            capacity: CAPACITY as u32,
        }
    }

    pub(crate) fn with_capacity(self, capacity: usize) -> Self {
        Self { capacity: capacity.clamp(4, MAX_CAPACITY) as u32, ..self }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// Returns the text that has been decoded but not consumed.
    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        if self.repaired.is_done() { self.buffer.as_str() } else { self.repaired.as_str() }
    }

    /// Whether there is text that has not been consumed.
    #[inline]
    pub(crate) fn has_text(&self) -> bool {
        !self.repaired.is_done() || self.buffer.has_text()
    }

    /// Returns the bytes that have been read but not decoded.
    pub(crate) fn rest(&self) -> &[u8] {
        self.buffer.rest()
    }

    /// Consumes the first `len` bytes of the text.
    ///
    /// # Panics
    ///
    /// If `len` is not a character boundary of the text.
    pub(crate) fn consume(&mut self, len: usize) {
        if self.repaired.is_done() {
            return self.buffer.consume(len);
        }
        assert_char_boundary(self.repaired.as_str(), len);
        self.repaired.done += len as u32;
    }

    /// Consumes and returns all the text.
    #[inline]
    pub(crate) fn take(&mut self) -> &str {
        if self.repaired.is_done() {
            return self.buffer.take();
        }
        let RepairedText { text, done, .. } = &mut self.repaired;
        let from = mem::replace(done, text.len() as u32);
        &text[from as usize..]
    }

    /// Returns the text, if there is any.
    #[inline]
    pub(crate) fn peek_text(&self) -> Option<&str> {
        Some(self.as_str()).filter(|text| !text.is_empty())
    }

    /// Consumes and returns all the text, if there is any.
    #[inline]
    pub(crate) fn next_text(&mut self) -> Option<&str> {
        Some(self.take()).filter(|text| !text.is_empty())
    }

    /// Moves all the text to the end of `text`, unless that would become longer than `max_length`. Returns whether
    /// there was any.
    pub(crate) fn append_to<E>(
        &mut self,
        text: &mut String,
        max_length: usize,
    ) -> Result<bool, StreamError<E>> {
        append_within(text, self.as_str(), max_length, || StreamError::TooLong { max_length })?;
        Ok(!self.take().is_empty())
    }

    /// Consumes and returns the first character of the text.
    #[inline]
    pub(crate) fn next_char(&mut self) -> Option<char> {
        if self.repaired.is_done() {
            return self.buffer.next_char();
        }
        let next = self.repaired.as_str().chars().next()?;
        self.repaired.done += next.len_utf8() as u32;
        Some(next)
    }

    /// Like [`next_char`](Self::next_char), with its offset in the stream. A repair has that of its ill-formed part.
    pub(crate) fn next_indexed(&mut self) -> Option<(u64, char)> {
        let is_repaired = !self.repaired.is_done();
        let next = self.next_char()?;
        let (len, end) = match is_repaired {
            true => (self.locate(), self.decoder.position() - u64::from(self.repaired.source_left)),
            false => (0, self.position()),
        };
        let len = if len > 0 { len } else { next.len_utf8() };
        Some((end - len as u64, next))
    }

    /// Returns the offset in the stream of the text in the buffer.
    pub(crate) fn position(&self) -> u64 {
        self.decoder.position() - self.buffer.as_str().len() as u64
    }

    /// Whether [`advance`](Self::advance) would return [`Advance::Read`] without decoding anything.
    #[inline]
    pub(crate) fn is_reading(&self) -> bool {
        self.state == ReadState::Reading
    }

    /// Returns where a reader puts more bytes. There is no text. The first reads are small.
    #[inline]
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.buffer.room(self.capacity())
    }

    /// Like `room`, but the first read is as large as the others.
    pub(crate) fn whole_room(&mut self) -> &mut [u8] {
        self.buffer.reserve(self.capacity());
        self.buffer.room(self.capacity())
    }

    /// Notes that `read` bytes have been put in the room, 0 at the end. Decodes them in the common case: text,
    /// perhaps followed by the beginning of a character. Returns whether there is text.
    #[inline(always)]
    pub(crate) fn fill(&mut self, read: usize) -> bool {
        self.buffer.fill(read);
        if read == 0 {
            self.state = ReadState::Ending;
            return false;
        }
        let decoder = &mut self.decoder;
        let found = self.buffer.try_accept(|rest| match decoder.step_fast_path(rest) {
            Some((text, _)) if !text.is_empty() => Ok(text),
            _ => Err(()),
        });
        // After such text, a plain scanner has seen the end of the buffer, or the beginning of a sequence.
        let is_done = found.is_ok() && self.decoder.scanner().is_on_fast_path();
        self.state = if is_done { ReadState::Reading } else { ReadState::Decoding };
        found.is_ok()
    }

    /// Frees memory, because the reader is pending.
    pub(crate) fn shrink(&mut self) {
        self.buffer.shrink();
        self.repaired = RepairedText::default();
    }

    /// Decodes up to some text, to the end, or until more bytes are needed. There is no text yet.
    pub(crate) fn advance(&mut self) -> Result<Advance, Utf8Error> {
        loop {
            match self.state {
                ReadState::Decoding => {
                    if self.decode()? {
                        return Ok(Advance::Text);
                    }
                    self.state = ReadState::Reading;
                }
                ReadState::Reading => return Ok(Advance::Read),
                ReadState::Ending => {
                    if self.end()? {
                        return Ok(Advance::Text);
                    }
                    self.state = ReadState::Ended;
                }
                ReadState::Ended => return Ok(Advance::End),
            }
        }
    }

    /// Decodes the content of the buffer up to some text. Returns whether there is any. If not, the
    /// rest may be the beginning of a sequence.
    fn decode(&mut self) -> Result<bool, Utf8Error> {
        loop {
            let decoder = &mut self.decoder;
            let step = self.buffer.try_accept(|rest| match decoder.step(rest).split() {
                (text, Step::Text(())) => Ok(text),
                (_, step) => Err(step),
            });
            match step {
                Ok(_) => return Ok(true),
                Err(Step::Skip(len)) => self.buffer.pass(len),
                Err(Step::Error(error)) => {
                    if self.repair(error)? {
                        return Ok(true);
                    }
                }
                Err(_) => return Ok(false),
            }
        }
    }

    /// Reports or repairs the errors at the end of the stream. Returns whether a repair has text.
    fn end(&mut self) -> Result<bool, Utf8Error> {
        while let Some(error) = self.decoder.finish_after(self.buffer.rest()) {
            if self.repair(error)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Repairs an error, and decodes the rest of the buffer, at most [`MAX_CAPACITY`] of it, with all errors repaired. Returns whether
    /// there is any text.
    #[cold]
    fn repair(&mut self, error: Utf8Error) -> Result<bool, Utf8Error> {
        let Self { buffer, decoder, mode, repaired, .. } = self;
        buffer.pass(error.bytes().len());
        let repair = decoder.repair(*mode, &error).ok_or(error)?;
        if error.bytes().is_empty() {
            return Ok(false);
        }
        let errors_before = decoder.error_count() - 1;
        let rejected = u64::from(error.is_rejection());
        let rejected_before = decoder.rejected_count() - rejected;
        repaired.text.clear();
        repaired.text.push_str(&repair);
        let front = head(buffer.rest(), buffer.rest().len().min(MAX_CAPACITY));
        let read = decoder.decode_lossy(front, *mode, &mut repaired.text);
        let read = read.map_err(|(_, error)| error)?;
        buffer.pass(read);
        (repaired.done, repaired.located) = (0, 0);
        repaired.source_left = (error.bytes().len() + read) as u32;
        repaired.errors_left = (decoder.error_count() - errors_before) as u32;
        self.rejected_left = (decoder.rejected_count() - rejected_before) as u32;
        self.repaired_in = (self.mode, self.decoder.scanner().options());
        Ok(!self.repaired.text.is_empty())
    }

    /// Locates the part of the repaired text that has been consumed. A repair that was consumed in part belongs to
    /// it completely. Returns the length of the ill-formed part at the end of it, 0 if it ends with text.
    ///
    /// All calls for one text together cost one pass over its bytes.
    fn locate(&mut self) -> usize {
        let Self { buffer, decoder, repaired, repaired_in: (mode, options), .. } = self;
        let mut source = buffer.rest_after(repaired.source_left as usize);
        source = &source[..repaired.source_left as usize];
        let mut scanner = Scanner::new(*options);
        scanner.seek(decoder.position() - source.len() as u64);
        if scanner.position() > 0 {
            scanner.close_start();
        }
        while repaired.located < repaired.done {
            let left = (repaired.done - repaired.located) as usize;
            // Enough to classify an ill-formed part.
            let window = &source[..source.len().min(left + 3)];
            // Where bytes are incomplete, the stream ends.
            match scanner.step_at(window, AtEnd::Yes) {
                Step::Text(text) => {
                    let len = text.len().min(left);
                    scanner.unread(text.len() - len);
                    self.last_error_len = 0;
                    repaired.located += len as u32;
                    source = &source[len..];
                }
                // A missing BOM is not part of the text.
                Step::Error(error) if error.bytes().is_empty() => {}
                Step::Error(error) => {
                    let len = error.bytes().len();
                    let repair = mode.repair(&error, *options);
                    self.last_error_len = len as u8;
                    repaired.located += repair.map_or(0, |repair| repair.len()) as u32;
                    repaired.errors_left -= 1;
                    self.rejected_left -= u32::from(error.is_rejection());
                    source = &source[len..];
                }
                Step::Skip(_) | Step::NeedMore => break,
            }
        }
        repaired.source_left = source.len() as u32;
        usize::from(self.last_error_len)
    }

    /// Takes the unread bytes, with the decoder and the error mode for them, and the state of the reader. After this, only
    /// bytes are read, until [`restore`](Self::restore).
    pub(crate) fn take_unread(&mut self) -> (ChunkText, SourceState) {
        let state = match self.state {
            ReadState::Decoding | ReadState::Reading => SourceState::Open,
            ReadState::Ending | ReadState::Ended => SourceState::Ending,
        };
        let mut taken = mem::replace(self, Self { state: self.state, ..Self::new() });
        // If the reader is returned without `restore`, it has the same settings, and the position after
        // everything read.
        self.capacity = taken.capacity;
        self.mode = taken.mode;
        self.decoder = taken.decoder.clone();
        self.skip_raw(taken.buffer.rest().len());
        let is_repaired = !taken.repaired.is_done();
        if is_repaired {
            taken.locate();
        }
        let Self { buffer, mut decoder, mode, repaired, repaired_in, rejected_left, .. } = taken;
        let (len, errors, rejected) = match is_repaired {
            true => (repaired.source_left as usize, repaired.errors_left, rejected_left),
            false => (buffer.as_str().len(), 0, 0),
        };
        let begins_stream = is_repaired && decoder.position() == len as u64;
        let (_, options) = repaired_in;
        let chunk = Bytes::copy_from_slice(buffer.rest_after(len));
        decoder.scanner_mut().unread(len);
        decoder.forget(errors.into(), rejected.into());
        if begins_stream && options.bom() == Some(BomPolicy::Forbid) && chunk.starts_with(&BOM) {
            decoder.scanner_mut().reopen(options); // it is rejected again
        }
        (ChunkText { decoder, mode, chunk }, state)
    }

    /// Continues with the unread bytes, which start at the position of their decoder.
    pub(crate) fn restore(&mut self, unread: ChunkText, state: SourceState) {
        let ChunkText { decoder, mode, chunk } = unread;
        let buffer = ReadBuffer::holding(&chunk, self.capacity());
        let state = match state {
            SourceState::Open | SourceState::Ending => ReadState::Decoding,
            SourceState::Ended => ReadState::Ended,
        };
        *self = Self { buffer, decoder, mode, state, capacity: self.capacity, ..Self::new() };
    }

    #[cfg(feature = "stream")]
    /// Appends `read` bytes, which have been put in the room, to `bytes`, which are decoded elsewhere.
    pub(crate) fn fill_raw(&mut self, read: usize, bytes: &mut BytesMut) {
        self.buffer.fill(read);
        bytes.extend_from_slice(self.buffer.rest());
        self.buffer.pass(read);
        self.skip_raw(read);
    }

    /// Notes that bytes have been read that are decoded elsewhere.
    pub(crate) fn skip_raw(&mut self, bytes: usize) {
        if bytes > 0 {
            self.decoder.scanner_mut().close_start();
            self.decoder.scanner_mut().skip(bytes);
        }
    }
}

impl RepairedText {
    #[inline]
    fn is_done(&self) -> bool {
        self.done as usize == self.text.len()
    }

    #[inline]
    fn as_str(&self) -> &str {
        &self.text[self.done as usize..]
    }
}
