//! How is a stream in another charset decoded to UTF-8, block by block?

use std::fmt;
use std::io;

use bytes::{Buf, Bytes};

use crate::adaptor::AfterError;
use crate::adaptor::charset::{Charset, CharsetDecoder};
use crate::decoder::{
    AtEnd, ErrorMode, Status, Utf8Error, Utf8ErrorKind, Utf8Options, fmt_bytes, free_if_empty,
};
use crate::utf16::unpaired;

/// Decodes a stream in a charset other than UTF-8.
///
/// Between calls it holds the rest of one chunk, and the beginning of a split character. An initial
/// U+FEFF is text.
#[derive(Debug)]
pub(crate) struct Legacy {
    decoder: CharsetDecoder,
    chunk: Bytes,
    state: LegacyState,
    /// An error that has not been returned. The text before it has been.
    due: Option<LegacyError>,
    /// The number of bytes of text returned so far.
    written: u64,
    errors: u64,
    first: Option<(u64, LegacyError)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LegacyState {
    /// The stream is at its first byte, or has ended.
    Idle,
    Open,
    /// The stream has ended. The decoder has not been finished.
    Ending,
}

impl Legacy {
    /// Returns `None` for UTF-8.
    pub(crate) fn boxed(charset: Charset) -> Option<Box<Self>> {
        let decoder = CharsetDecoder::new(charset)?;
        Some(Box::new(Self {
            decoder,
            chunk: Bytes::new(),
            state: LegacyState::Idle,
            due: None,
            written: 0,
            errors: 0,
            first: None,
        }))
    }

    /// Takes the next chunk, after the previous one has been decoded. An empty chunk changes
    /// nothing.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty());
        if !chunk.is_empty() {
            self.state = LegacyState::Open;
            self.chunk = chunk;
        }
    }

    /// Records the end of the stream. A second call changes nothing.
    pub(crate) fn finish(&mut self) {
        if self.state == LegacyState::Open {
            self.state = LegacyState::Ending;
        }
    }

    /// Returns whether nothing more follows without new chunks.
    pub(crate) fn is_idle(&self) -> bool {
        self.state == LegacyState::Idle && self.due.is_none()
    }

    pub(crate) fn charset(&self) -> Charset {
        self.decoder.charset()
    }

    /// Returns the number of errors, without one that has been found but not returned.
    pub(crate) fn error_count(&self) -> u64 {
        self.errors - u64::from(self.due.is_some())
    }

    /// Returns the first of these errors, and its offset in the text.
    pub(crate) fn first_error(&self) -> Option<(u64, LegacyError)> {
        self.first.filter(|_| self.error_count() > 0)
    }

    /// Returns the next block of text, or `None` once the chunk, or the stream, has been decoded.
    pub(crate) fn next(&mut self, mode: ErrorMode) -> Result<Option<Bytes>, LegacyError> {
        if let Some(error) = self.due.take() {
            return Err(error);
        }
        let mut text = String::new();
        while text.len() < BLOCK && self.due.is_none() && self.decode(mode, &mut text) {}
        if text.is_empty() {
            return self.due.take().map_or(Ok(None), Err);
        }
        self.written += text.len() as u64;
        Ok(Some(text.into()))
    }

    /// Appends text of the chunk to `text`. Returns whether there may be more.
    fn decode(&mut self, mode: ErrorMode, text: &mut String) -> bool {
        let at_end = match self.state {
            LegacyState::Ending => AtEnd::Yes,
            LegacyState::Open if !self.chunk.is_empty() => AtEnd::No,
            LegacyState::Open | LegacyState::Idle => return false,
        };
        if text.capacity() == 0 {
            text.reserve_exact((3 * self.chunk.len().min(BLOCK)).min(BLOCK) + 16);
        }
        let (read, status) = self.decoder.decode(&self.chunk, at_end, text);
        self.chunk.advance(read);
        free_if_empty(&mut self.chunk);
        match status {
            Status::Full | Status::TooSmall { .. } => return false,
            Status::Done if at_end == AtEnd::Yes => self.state = LegacyState::Idle,
            Status::Done => {}
            Status::IllFormed(error) => self.repair(error, mode, text),
        }
        true
    }

    /// Counts an error, and repairs it unless it is due.
    fn repair(&mut self, error: Utf8Error, mode: ErrorMode, text: &mut String) {
        let repair_mode = match (self.decoder.charset(), mode) {
            (Charset::Utf16(_), ErrorMode::Latin1 | ErrorMode::Windows1252) => {
                ErrorMode::Replacement
            }
            _ => mode,
        };
        let repair = repair_mode.repair(&error, Utf8Options::new());
        let error = LegacyError { encoding: self.decoder.charset().name(), error };
        self.errors += 1;
        self.first.get_or_insert((self.written + text.len() as u64, error));
        match repair {
            Some(repair) => text.push_str(&repair),
            None => self.due = Some(error),
        }
    }
}

/// The size of a block of text, in bytes. It can be exceeded by one character or repair.
const BLOCK: usize = 16 * 1024;

/// An ill-formed part in a charset other than UTF-8. It holds no heap memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LegacyError {
    pub(crate) encoding: &'static str,
    pub(crate) error: Utf8Error,
}

impl fmt::Display for LegacyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid {} at byte {}: ", self.encoding, self.error.valid_up_to())?;
        fmt_ill_formed(self.encoding, self.error.bytes(), f)
    }
}

/// What follows `error` of a reader: the next bytes, if it is an error of the connection. If it is one of the data, the reader, or one
/// inside it, can have skipped some, as [`CharsetReader`](crate::io::CharsetReader) and
/// [`Utf8ByteReader`](crate::io::Utf8ByteReader) skip an ill-formed part. An error of any kind can be wrapped in one of kind `Other`.
#[cold]
pub(crate) fn after_error(error: &io::Error) -> AfterError {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
            AfterError::Gap
        }
        _ => AfterError::Next,
    }
}

/// Writes the error, as far as `bytes` determine it, and the bytes.
pub(crate) fn fmt_ill_formed(
    encoding: &str,
    bytes: &[u8],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match (encoding, bytes) {
        ("UTF-16BE", &[high, low]) => f.write_str(unpaired(u16::from_be_bytes([high, low])))?,
        ("UTF-16LE", &[low, high]) => f.write_str(unpaired(u16::from_le_bytes([low, high])))?,
        ("UTF-16BE" | "UTF-16LE", _) => write!(f, "{}", Utf8ErrorKind::Incomplete)?,
        _ => f.write_str("ill-formed bytes")?,
    }
    fmt_bytes(bytes, None, f)
}

impl std::error::Error for LegacyError {}
