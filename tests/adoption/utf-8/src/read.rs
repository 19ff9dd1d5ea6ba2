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
            Self::InvalidByteSequence(bytes) => write!(f, "invalid byte sequence: {bytes:02x?}"),
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
                Err(DecodeError::Invalid { valid_prefix, .. }) => Next::Text(valid_prefix.len()),
                Err(DecodeError::Incomplete { valid_prefix: "", incomplete_suffix }) => {
                    self.returned = input.len();
                    self.incomplete = incomplete_suffix;
                    continue;
                }
                Err(DecodeError::Incomplete { valid_prefix, .. }) => Next::Text(valid_prefix.len()),
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
