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

/// What has been read.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) buffer: ReadBuffer,
    /// Keeps no bytes: the buffer does.
    pub(super) decoder: Utf8Decoder,
    pub(super) mode: ErrorMode,
    /// How the errors of `repaired` were repaired.
    pub(super) repaired_in: ErrorMode,
    /// Comes before what is in the buffer.
    pub(super) repaired: Repaired,
}

/// Text that has been repaired, and for that copied.
#[derive(Clone, Debug, Default)]
pub(super) struct Repaired {
    text: String,
    /// Bytes of it that have been consumed.
    done: usize,
    /// How many bytes it stands for: those in front of the buffer's rest.
    stands_for: u32,
    /// How many errors there are among them.
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

    /// Passes over bytes that others decode.
    pub(super) fn go_behind(&mut self, bytes: usize) {
        if bytes > 0 {
            self.decoder.close_start();
            self.decoder.skip(bytes);
        }
    }

    /// Reads into the buffer, which has no text. Gives back memory where there is nothing to read.
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

    /// Decodes what is in the buffer where it begins with text and nothing else is to be said: the state
    /// behind that text.
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

    /// Decodes what is in the buffer, up to some text. Says whether there is any: otherwise what is
    /// left may be the beginning of what comes.
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

    /// Says what is wrong with the end. Says whether that makes text.
    pub(super) fn end(&mut self) -> Result<bool, Utf8Error> {
        while let Some(error) = self.decoder.finish_after(self.buffer.rest()) {
            if self.repair(error)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Repairs an error and, in one go with it, all that is behind it in the buffer. Says whether that
    /// makes text.
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
        // (No buffer is so large that they do not fit.)
        let fit = |count| u32::try_from(count).unwrap_or(u32::MAX);
        repaired.stands_for = fit((error.bytes().len() + read) as u64);
        repaired.errors = fit(decoder.error_count() - errors_before);
        self.repaired_in = self.mode;
        Ok(!self.repaired.text.is_empty())
    }

    /// Turns repaired text that has not been consumed into bytes again, which have not been looked at.
    /// A repair of which a part has been consumed is consumed whole.
    pub(super) fn take_back_repairs(&mut self) {
        let Self { buffer, decoder, repaired, .. } = self;
        let mut scanner = decoder.scanner();
        let Repaired { text, done, stands_for, errors } = mem::take(repaired);
        if done == text.len() {
            return;
        }
        let stands_for = stands_for as usize;
        buffer.take_back(stands_for);
        scanner.seek(scanner.position() - stands_for as u64);
        let mut taken_back = u64::from(errors);
        if scanner.position() == 0 {
            // A BOM is looked for again, and missed again.
            scanner.reset();
            taken_back = decoder.error_count();
        }
        // Passes over the bytes that the consumed text stands for.
        let bytes = buffer.rest();
        let (mut read, mut left) = (0, done);
        while left > 0 {
            let error = match scanner.step(&bytes[read..stands_for]) {
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
                Step::Hold => match scanner.finish(&bytes[read..stands_for]) {
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

/// What the rest of the buffer begins with, if it is not text.
enum Found {
    Hold,
    Silent(usize),
    Error(Utf8Error),
}
