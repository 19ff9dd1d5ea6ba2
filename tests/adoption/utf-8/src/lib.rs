//! The API of utf-8 0.7, on top of `utf8-simd`.
#![forbid(unsafe_code)]

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

mod lossy {
    use crate::{DecodeError, Incomplete, REPLACEMENT_CHARACTER, decode};

    /// Decodes chunks into calls of a function, with U+FFFD for each ill-formed sequence. The end is the drop.
    #[derive(Debug)]
    pub struct LossyDecoder<F: FnMut(&str)> {
        push_str: F,
        incomplete: Incomplete,
    }

    impl<F: FnMut(&str)> LossyDecoder<F> {
        pub fn new(push_str: F) -> Self {
            Self { push_str, incomplete: Incomplete::empty() }
        }

        pub fn feed(&mut self, mut input: &[u8]) {
            if !self.incomplete.is_empty() {
                let Some((result, rest)) = self.incomplete.try_complete(input) else { return };
                (self.push_str)(result.unwrap_or(REPLACEMENT_CHARACTER));
                input = rest;
            }
            while !input.is_empty() {
                match decode(input) {
                    Ok(text) => return (self.push_str)(text),
                    Err(DecodeError::Incomplete { valid_prefix, incomplete_suffix }) => {
                        self.incomplete = incomplete_suffix;
                        return self.push_text(valid_prefix);
                    }
                    Err(DecodeError::Invalid { valid_prefix, remaining_input, .. }) => {
                        self.push_text(valid_prefix);
                        (self.push_str)(REPLACEMENT_CHARACTER);
                        input = remaining_input;
                    }
                }
            }
        }

        fn push_text(&mut self, text: &str) {
            if !text.is_empty() {
                (self.push_str)(text);
            }
        }
    }

    impl<F: FnMut(&str)> Drop for LossyDecoder<F> {
        fn drop(&mut self) {
            if !self.incomplete.is_empty() {
                (self.push_str)(REPLACEMENT_CHARACTER);
            }
        }
    }
}

mod read {
    use std::error::Error;
    use std::fmt;
    use std::io::{self, BufRead};

    use crate::{DecodeError, Incomplete, REPLACEMENT_CHARACTER, decode};

    /// Decodes what a reader has buffered, without copying it.
    #[derive(Debug)]
    pub struct BufReadDecoder<B: BufRead> {
        reader: B,
        /// How many of the reader's bytes the caller has had.
        returned: usize,
        incomplete: Incomplete,
    }

    #[derive(Debug)]
    pub enum BufReadDecoderError<'a> {
        InvalidByteSequence(&'a [u8]),
        Io(io::Error),
    }

    impl BufReadDecoderError<'_> {
        pub fn lossy(self) -> Result<&'static str, io::Error> {
            match self {
                Self::InvalidByteSequence(_) => Ok(REPLACEMENT_CHARACTER),
                Self::Io(error) => Err(error),
            }
        }
    }

    impl fmt::Display for BufReadDecoderError<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Self::InvalidByteSequence(bytes) => {
                    write!(f, "invalid byte sequence: {bytes:02x?}")
                }
                Self::Io(error) => write!(f, "underlying bytestream error: {error}"),
            }
        }
    }

    impl Error for BufReadDecoderError<'_> {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            match self {
                Self::InvalidByteSequence(_) => None,
                Self::Io(error) => Some(error),
            }
        }
    }

    /// What comes next.
    enum Next {
        Text(usize),
        Invalid(usize),
        /// The character that was begun: its bytes, and whether it is ill-formed.
        Completed(Incomplete, bool),
    }

    impl<B: BufRead> BufReadDecoder<B> {
        pub fn read_to_string_lossy(reader: B) -> io::Result<String> {
            let mut decoder = Self::new(reader);
            let mut text = String::new();
            while let Some(piece) = decoder.next_lossy() {
                text.push_str(piece?);
            }
            Ok(text)
        }

        pub fn new(reader: B) -> Self {
            Self { reader, returned: 0, incomplete: Incomplete::empty() }
        }

        pub fn next_lossy(&mut self) -> Option<io::Result<&str>> {
            self.next_strict().map(|result| result.or_else(|error| error.lossy()))
        }

        pub fn next_strict(&mut self) -> Option<Result<&str, BufReadDecoderError<'_>>> {
            match self.next() {
                Err(error) => Some(Err(BufReadDecoderError::Io(error))),
                Ok(None) => None,
                Ok(Some(next)) => Some(self.result(next)),
            }
        }

        fn next(&mut self) -> io::Result<Option<Next>> {
            loop {
                self.reader.consume(std::mem::take(&mut self.returned));
                let input = match self.reader.fill_buf() {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    result => result?,
                };
                if !self.incomplete.is_empty() {
                    let (taken, is_text) = match self.incomplete.complete(input) {
                        Some(completed) => completed,
                        None if input.is_empty() => (0, false),
                        None => {
                            self.returned = input.len();
                            continue;
                        }
                    };
                    self.returned = taken;
                    let sequence = std::mem::replace(&mut self.incomplete, Incomplete::empty());
                    return Ok(Some(Next::Completed(sequence, !is_text)));
                }
                if input.is_empty() {
                    return Ok(None);
                }
                let next = match decode(input) {
                    Ok(text) => Next::Text(text.len()),
                    Err(DecodeError::Invalid { valid_prefix: "", invalid_sequence, .. }) => {
                        Next::Invalid(invalid_sequence.len())
                    }
                    Err(DecodeError::Invalid { valid_prefix, .. }) => {
                        Next::Text(valid_prefix.len())
                    }
                    Err(DecodeError::Incomplete { valid_prefix: "", incomplete_suffix }) => {
                        self.returned = input.len();
                        self.incomplete = incomplete_suffix;
                        continue;
                    }
                    Err(DecodeError::Incomplete { valid_prefix, .. }) => {
                        Next::Text(valid_prefix.len())
                    }
                };
                return Ok(Some(next));
            }
        }

        fn result(&mut self, next: Next) -> Result<&str, BufReadDecoderError<'_>> {
            let (bytes, is_invalid) = match next {
                Next::Completed(sequence, is_invalid) => {
                    self.incomplete.buffer = sequence.buffer;
                    (&self.incomplete.buffer[..usize::from(sequence.buffer_len)], is_invalid)
                }
                Next::Text(len) | Next::Invalid(len) => {
                    self.returned = len;
                    // They are still in its buffer: this reads nothing.
                    let input = self.reader.fill_buf().map_err(BufReadDecoderError::Io)?;
                    (&input[..len], matches!(next, Next::Invalid(_)))
                }
            };
            if is_invalid {
                return Err(BufReadDecoderError::InvalidByteSequence(bytes));
            }
            utf8_simd::from_utf8(bytes).map_err(|_| BufReadDecoderError::InvalidByteSequence(bytes))
        }
    }
}
