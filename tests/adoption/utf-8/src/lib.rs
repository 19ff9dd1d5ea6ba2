//! The API of utf-8 0.7, on top of `utf8-simd`.
#![forbid(unsafe_code)]

mod lossy;
mod read;

use std::error::Error;
use std::fmt;

use utf8_simd::{PrefixEnd, valid_prefix};

pub use lossy::LossyDecoder;
pub use read::{BufReadDecoder, BufReadDecoderError};

pub const REPLACEMENT_CHARACTER: &str = "\u{FFFD}";

/// Why the input is not text to its end.
#[derive(Clone, Copy, Debug)]
pub enum DecodeError<'a> {
    Invalid { valid_prefix: &'a str, invalid_sequence: &'a [u8], remaining_input: &'a [u8] },
    Incomplete { valid_prefix: &'a str, incomplete_suffix: Incomplete },
}

/// The text is that of utf-8, which programs can search.
impl fmt::Display for DecodeError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { valid_prefix, invalid_sequence, remaining_input } => write!(
                f,
                "found invalid byte sequence {invalid_sequence:02x?} after {} valid bytes, followed by {} more unprocessed bytes",
                valid_prefix.len(),
                remaining_input.len()
            ),
            Self::Incomplete { valid_prefix, incomplete_suffix } => write!(
                f,
                "found incomplete byte sequence {incomplete_suffix:02x?} after {} bytes",
                valid_prefix.len()
            ),
        }
    }
}

impl Error for DecodeError<'_> {}

/// Returns the whole input as text.
#[inline]
pub fn decode(input: &[u8]) -> Result<&str, DecodeError<'_>> {
    let (text, end) = valid_prefix(input);
    let rest = &input[text.len()..];
    match end {
        PrefixEnd::Input => Ok(text),
        PrefixEnd::Incomplete(_) => Err(DecodeError::Incomplete {
            valid_prefix: text,
            incomplete_suffix: Incomplete::new(rest),
        }),
        PrefixEnd::IllFormed(len) => Err(DecodeError::Invalid {
            valid_prefix: text,
            invalid_sequence: &rest[..len],
            remaining_input: &rest[len..],
        }),
    }
}

/// The bytes of a character that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Incomplete {
    pub buffer: [u8; 4],
    pub buffer_len: u8,
}

impl Incomplete {
    pub fn empty() -> Self {
        Self { buffer: [0; 4], buffer_len: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.buffer_len == 0
    }

    /// # Panics
    ///
    /// If there are more than four bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut incomplete = Self::empty();
        incomplete.buffer[..bytes.len()].copy_from_slice(bytes);
        incomplete.buffer_len = bytes.len() as u8;
        incomplete
    }

    /// Completes the character, or shows that it is ill-formed, and returns the rest of the input. The text is that of four
    /// bytes at most. `None` if all of the input is a part of the character.
    #[allow(clippy::type_complexity)]
    pub fn try_complete<'input>(
        &mut self,
        input: &'input [u8],
    ) -> Option<(Result<&str, &[u8]>, &'input [u8])> {
        let (taken, is_text) = self.complete(input)?;
        let sequence = self.take();
        let result = if is_text {
            utf8_simd::from_utf8(sequence).map_err(|_| sequence)
        } else {
            Err(sequence)
        };
        Some((result, &input[taken..]))
    }

    /// Fills the buffer, and keeps there the text, or the ill-formed sequence, that it starts with. Returns how many bytes
    /// of the input are a part of that, and whether it is text.
    fn complete(&mut self, input: &[u8]) -> Option<(usize, bool)> {
        let held = usize::from(self.buffer_len);
        let filled = self.buffer.len().min(held + input.len());
        self.buffer[held..filled].copy_from_slice(&input[..filled - held]);
        let (text, end) = valid_prefix(&self.buffer[..filled]);
        let (len, is_text) = match end {
            _ if !text.is_empty() => (text.len(), true),
            PrefixEnd::IllFormed(len) => (len, false),
            PrefixEnd::Input | PrefixEnd::Incomplete(_) => (filled, false),
        };
        self.buffer_len = len as u8;
        (is_text || matches!(end, PrefixEnd::IllFormed(_))).then_some((len - held, is_text))
    }

    fn take(&mut self) -> &[u8] {
        let len = usize::from(std::mem::take(&mut self.buffer_len));
        &self.buffer[..len]
    }
}
