//! What does a `Utf8Reader` hold, and how is it decoded?

use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use super::State;
use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::scanner::Step;
use crate::core::text::{Ending, ReadBuffer};

/// What has been read: text, repaired text and bytes that have not been decoded.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) buffer: ReadBuffer,
    /// Holds no bytes. The buffer does.
    pub(super) decoder: Utf8Decoder,
    pub(super) mode: ErrorMode,
    /// The error mode in which `repaired` was repaired.
    pub(super) repaired_in: ErrorMode,
    /// Precedes the content of the buffer.
    pub(super) repaired: Repaired,
}

/// Text with repairs, which is a copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Repaired {
    text: String,
    /// The number of its bytes that have been consumed.
    done: usize,
    /// The number of bytes it was decoded from: those before the rest of the buffer.
    source_len: u32,
    /// The number of errors in those bytes.
    errors: u32,
}

impl Content {
    pub(super) fn new() -> Self {
        Self {
            buffer: ReadBuffer::new(),
            decoder: Utf8Decoder::new(),
            mode: ErrorMode::Fatal,
            repaired_in: ErrorMode::Fatal,
            repaired: Repaired::default(),
        }
    }

    #[inline]
    pub(super) fn as_str(&self) -> &str {
        if self.repaired.is_done() { self.buffer.as_str() } else { self.repaired.as_str() }
    }

    pub(super) fn consume(&mut self, len: usize) {
        if self.repaired.is_done() {
            return self.buffer.consume(len);
        }
        let text = self.repaired.as_str();
        assert!(text.is_char_boundary(len), "{len} is not a character boundary of {text:?}");
        self.repaired.done += len;
    }

    #[inline]
    pub(super) fn take(&mut self) -> &str {
        if self.repaired.is_done() {
            return self.buffer.take();
        }
        let from = mem::replace(&mut self.repaired.done, self.repaired.text.len());
        &self.repaired.text[from..]
    }

    #[inline]
    pub(super) fn next_char(&mut self) -> Option<char> {
        if self.repaired.is_done() {
            return self.buffer.next_char();
        }
        let next = self.repaired.as_str().chars().next()?;
        self.repaired.done += next.len_utf8();
        Some(next)
    }

    /// Skips bytes that are decoded elsewhere.
    pub(super) fn skip_raw(&mut self, bytes: usize) {
        if bytes > 0 {
            self.decoder.close_start();
            self.decoder.skip(bytes);
        }
    }

    /// Reads into the buffer, which holds no text. Frees memory if the reader is pending.
    #[inline]
    pub(super) fn poll_read<R: AsyncRead>(
        &mut self,
        reader: Pin<&mut R>,
        cx: &mut Context<'_>,
        capacity: usize,
    ) -> Poll<io::Result<usize>> {
        let mut room = ReadBuf::new(self.buffer.room(capacity));
        let poll = reader.poll_read(cx, &mut room);
        let read = room.filled().len();
        match poll {
            Poll::Ready(Ok(())) => {
                self.buffer.fill(read);
                Poll::Ready(Ok(read))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.buffer.shrink();
                self.repaired = Repaired::default();
                Poll::Pending
            }
        }
    }

    /// Decodes the content of the buffer if it begins with text and no special case applies.
    /// Returns the state after that text.
    #[inline]
    pub(super) fn look_plainly(&mut self) -> Option<State> {
        let decoder = &mut self.decoder;
        let mut state = State::Looking;
        let len = self.buffer.accept(|rest| {
            let Some((text, ending)) = decoder.step_plain(rest) else { return "" };
            if ending == Ending::End {
                state = State::Reading;
            }
            text
        });
        (len > 0).then_some(state)
    }

    /// Decodes the content of the buffer up to some text. Returns whether there is any. If not, the
    /// rest may be the beginning of a sequence.
    pub(super) fn look(&mut self) -> Result<bool, Utf8Error> {
        loop {
            let mut found = Found::Hold;
            let decoder = &mut self.decoder;
            let len = self.buffer.accept(|rest| match decoder.step(rest) {
                Step::Text(text) => text,
                Step::Silent(len) => {
                    found = Found::Silent(len);
                    ""
                }
                Step::Error(error) => {
                    found = Found::Error(error);
                    ""
                }
                Step::Hold => "",
            });
            match found {
                Found::Hold => return Ok(len > 0),
                Found::Silent(len) => self.buffer.pass(len),
                Found::Error(error) => return self.repair(error),
            }
        }
    }

    /// Reports or repairs the errors at the end of the stream. Returns whether a repair has text.
    pub(super) fn end(&mut self) -> Result<bool, Utf8Error> {
        while let Some(error) = self.decoder.finish_after(self.buffer.rest()) {
            if self.repair(error)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Repairs an error, and decodes the rest of the buffer with all errors repaired. Returns
    /// whether there is any text.
    #[cold]
    fn repair(&mut self, error: Utf8Error) -> Result<bool, Utf8Error> {
        let Self { buffer, decoder, mode, repaired, .. } = self;
        buffer.pass(error.bytes().len());
        let repair = mode.repair(&error).ok_or(error)?;
        let errors_before = decoder.error_count() - 1;
        repaired.done = 0;
        repaired.text.clear();
        repaired.text.push_str(&repair);
        let read = decoder.decode_lossy(buffer.rest(), *mode, &mut repaired.text);
        let read = read.map_err(|(_, error)| error)?;
        buffer.pass(read);
        // No buffer is large enough for these to overflow.
        let fit = |count| u32::try_from(count).unwrap_or(u32::MAX);
        repaired.source_len = fit((error.bytes().len() + read) as u64);
        repaired.errors = fit(decoder.error_count() - errors_before);
        self.repaired_in = self.mode;
        Ok(!self.repaired.text.is_empty())
    }

    /// Turns repaired text that has not been consumed into bytes again, as if they had not been
    /// decoded. A repair that was consumed in part is consumed completely.
    pub(super) fn take_back_repairs(&mut self) {
        let Self { buffer, decoder, repaired, .. } = self;
        let mut scanner = decoder.scanner();
        let Repaired { text, done, source_len, errors } = mem::take(repaired);
        if done == text.len() {
            return;
        }
        let source_len = source_len as usize;
        buffer.take_back(source_len);
        scanner.seek(scanner.position() - source_len as u64);
        let mut taken_back = u64::from(errors);
        if scanner.position() == 0 {
            // The BOM is looked for again. The result is the same.
            scanner.reset();
            taken_back = decoder.error_count();
        }
        // Skips the bytes of the consumed text.
        let bytes = buffer.rest();
        let (mut read, mut left) = (0, done);
        while left > 0 {
            let error = match scanner.step(&bytes[read..source_len]) {
                Step::Text(text) => {
                    let used = text.len().min(left);
                    scanner.unread(text.len() - used);
                    (read, left) = (read + used, left - used);
                    continue;
                }
                Step::Silent(len) => {
                    read += len;
                    continue;
                }
                Step::Error(error) => error,
                Step::Hold => match scanner.finish(&bytes[read..source_len]) {
                    Some(error) => error,
                    None => break,
                },
            };
            read += error.bytes().len();
            let repair = self.repaired_in.repair(&error).map_or(0, |repair| repair.len());
            left = left.saturating_sub(repair);
            taken_back = taken_back.saturating_sub(1);
        }
        buffer.pass(read);
        decoder.continue_from(scanner);
        decoder.forget(taken_back);
    }
}

impl Repaired {
    #[inline]
    fn is_done(&self) -> bool {
        self.done == self.text.len()
    }

    #[inline]
    fn as_str(&self) -> &str {
        &self.text[self.done..]
    }
}

/// The beginning of the rest of the buffer, if it is not text.
enum Found {
    Hold,
    Silent(usize),
    Error(Utf8Error),
}
