use std::io;
use std::mem;
#[cfg(feature = "codec")]
use std::num::NonZeroU32;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::scanner::Step;
use crate::core::text::{Ending, ReadBuffer};
use crate::stream::read::State;

/// What has been read.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) buffer: ReadBuffer,
    /// Keeps no bytes: the buffer does.
    pub(super) decoder: Utf8Decoder,
    pub(super) mode: ErrorMode,
    /// Comes before what is in the buffer.
    pub(super) repaired: Repaired,
}

/// Text that has been repaired, and for that copied.
#[derive(Clone, Debug, Default)]
pub(super) struct Repaired {
    text: String,
    /// Bytes of it that have been consumed.
    done: usize,
    /// So many bytes it stands for; they lie in front of the buffer's rest. None where that is not
    /// known.
    #[cfg(feature = "codec")]
    stands_for: Option<NonZeroU32>,
    #[cfg(feature = "codec")]
    mode: ErrorMode,
}

impl Content {
    pub(super) fn new() -> Self {
        Self {
            buffer: ReadBuffer::new(),
            decoder: Utf8Decoder::new(),
            mode: ErrorMode::Fatal,
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
    #[cfg(feature = "codec")]
    pub(super) fn go_behind(&mut self, bytes: usize) {
        if bytes > 0 {
            self.decoder.scanner.close_start();
            self.decoder.scanner.skip(bytes);
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
        let scanner = &mut self.decoder.scanner;
        if !scanner.is_plain() {
            return None;
        }
        let mut state = State::Looking;
        let len = self.buffer.accept(|rest| {
            let (text, ending) = scanner.step_plain(rest);
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
        let Self { buffer, decoder, mode, repaired } = self;
        buffer.pass(error.bytes().len());
        let repair = mode.repair(&error).ok_or(error)?;
        repaired.done = 0;
        repaired.text.clear();
        repaired.text.push_str(&repair);
        let read = decoder.decode_lossy(buffer.rest(), *mode, &mut repaired.text);
        let read = read.map_err(|(_, error)| error)?;
        buffer.pass(read);
        #[cfg(feature = "codec")]
        {
            let len = u32::try_from(error.bytes().len() + read);
            repaired.stands_for = len.ok().and_then(NonZeroU32::new);
            repaired.mode = *mode;
        }
        Ok(!repaired.text.is_empty())
    }

    /// Has repaired text that has not been consumed be bytes again, that have not been looked at.
    /// Returns what is left of a repair of which a part has been consumed, or all that is repaired
    /// where nothing is known of the bytes.
    #[cfg(feature = "codec")]
    pub(super) fn take_back_repairs(&mut self) -> String {
        let Self { buffer, decoder: Utf8Decoder { scanner, tally, .. }, repaired, .. } = self;
        let Repaired { text, done, stands_for, mode } = mem::take(repaired);
        let Some(len) = stands_for.filter(|_| done < text.len()) else {
            return text[done..].to_owned();
        };
        let (behind, mut ahead) = (*scanner, *scanner);
        ahead.seek(behind.position().saturating_sub(len.get().into()));
        if ahead.position() == 0 {
            // A signature is looked for again.
            ahead.reset();
        }
        *scanner = ahead;
        let len = len.get() as usize;
        buffer.take_back(len);
        let bytes = &buffer.rest()[..len];
        let (mut read, mut used, mut taken_back) = (0, 0, 0);
        let (mut left, mut begun) = (done, String::new());
        while read < len {
            let error = match ahead.step(&bytes[read..]) {
                Step::Text(text) => {
                    if left > 0 {
                        used = read + text.len().min(left);
                        left = left.saturating_sub(text.len());
                    }
                    read += text.len();
                    continue;
                }
                Step::Silent(len) => {
                    read += len;
                    continue;
                }
                Step::Error(error) => error,
                Step::Hold => match ahead.finish(&bytes[read..]) {
                    Some(error) => error,
                    None => break,
                },
            };
            read += error.bytes().len();
            if left == 0 {
                taken_back += 1;
                continue;
            }
            let repair = mode.repair(&error);
            let repair = repair.as_deref().unwrap_or_default();
            begun.push_str(repair.get(left..).unwrap_or_default());
            left = left.saturating_sub(repair.len());
            used = read;
        }
        tally.forget(taken_back);
        if used > 0 {
            let base = scanner.position();
            *scanner = behind;
            scanner.seek(base + used as u64);
            buffer.pass(used);
        }
        begun
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
