use std::fmt;

use bytes::{Buf, Bytes};
use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_16BE, UTF_16LE};

use crate::core::mode::ErrorMode;
use crate::payload::http::LegacyError;

/// An encoding other than UTF-8.
pub(super) type LegacyEncoding = &'static Encoding;

/// Finds the encoding with this label; those that must not be decoded are none.
pub(super) fn for_label(label: &[u8]) -> Option<LegacyEncoding> {
    Encoding::for_label_no_replacement(label)
}

/// A body in another encoding, block by block to UTF-8.
///
/// Between calls it holds what is left of one chunk, and what `encoding_rs` keeps of a character
/// that was cut. An initial U+FEFF is text here. In UTF-16 it also decides the byte order, whatever
/// the label says: there is no U+FFFE in text.
pub(super) struct Legacy {
    encoding: LegacyEncoding,
    decoder: Decoder,
    chunk: Bytes,
    state: State,
    /// Bytes that have gone into the decoder.
    position: u64,
    /// The last of these, the latest at the end; enough for an error that is told some bytes late.
    recent: [u8; 6],
    /// An error whose text before it has been handed out, and it has not.
    due: Option<LegacyError>,
    /// Bytes of text that have been handed out.
    written: u64,
    errors: u64,
    first: Option<(u64, LegacyError)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The stream is at its first byte, or has ended.
    Idle,
    Open,
    /// The stream has ended; the decoder has not been told all of it.
    Ending,
}

impl Legacy {
    pub(super) fn boxed(encoding: LegacyEncoding) -> Box<Self> {
        Box::new(Self {
            encoding,
            decoder: encoding.new_decoder_without_bom_handling(),
            chunk: Bytes::new(),
            state: State::Idle,
            position: 0,
            recent: [0; 6],
            due: None,
            written: 0,
            errors: 0,
            first: None,
        })
    }

    /// Takes the next chunk, when the last one has been decoded. An empty one changes nothing.
    pub(super) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty());
        if !chunk.is_empty() {
            self.state = State::Open;
            self.chunk = chunk;
        }
    }

    /// Takes note of the end of the stream. A second call changes nothing.
    pub(super) fn finish(&mut self) {
        if self.state == State::Open {
            self.state = State::Ending;
        }
    }

    /// Whether there is nothing to come but what new chunks bring.
    pub(super) fn is_idle(&self) -> bool {
        self.state == State::Idle && self.due.is_none()
    }

    pub(super) fn error_count(&self) -> u64 {
        self.errors
    }

    /// The first error, and where in the text it stands.
    pub(super) fn first_error(&self) -> Option<(u64, LegacyError)> {
        self.first
    }

    /// Returns the next block of text; `None` when the chunk, or the stream, has been decoded.
    pub(super) fn next(&mut self, mode: ErrorMode) -> Result<Option<Bytes>, LegacyError> {
        if let Some(error) = self.due.take() {
            return Err(error);
        }
        let mut text = String::new();
        while text.len() < BLOCK && self.due.is_none() {
            if self.state == State::Idle || (self.chunk.is_empty() && self.state == State::Open) {
                break;
            }
            if text.capacity() == 0 {
                text.reserve_exact(BLOCK.min(3 * self.chunk.len()) + 16);
            }
            match self.decode(&mut text) {
                DecoderResult::OutputFull => break,
                DecoderResult::InputEmpty if self.state == State::Ending => {
                    self.decoder = self.decoder.encoding().new_decoder_without_bom_handling();
                    self.state = State::Idle;
                }
                DecoderResult::InputEmpty => {}
                DecoderResult::Malformed(len, behind) => {
                    let error = self.error(len.into(), behind.into());
                    self.errors += 1;
                    self.first.get_or_insert((self.written + text.len() as u64, error));
                    match mode.repair(&error.to_utf8()) {
                        Some(repair) => text.push_str(&repair),
                        None => self.due = Some(error),
                    }
                }
            }
        }
        if text.is_empty() {
            return self.due.take().map_or(Ok(None), Err);
        }
        self.written += text.len() as u64;
        Ok(Some(text.into()))
    }

    /// Decodes as far as `text` has room.
    fn decode(&mut self, text: &mut String) -> DecoderResult {
        let encoding = self.decoder.encoding();
        let order_is_open = self.position < 2 && (encoding == UTF_16LE || encoding == UTF_16BE);
        let window = match order_is_open {
            true => self.chunk.len().min(2 - self.position as usize),
            false => self.chunk.len(),
        };
        let last = self.state == State::Ending;
        let (result, read) =
            self.decoder.decode_to_string_without_replacement(&self.chunk[..window], text, last);
        self.consume(read);
        if order_is_open && text == "\u{FFFE}" {
            let other = if encoding == UTF_16LE { UTF_16BE } else { UTF_16LE };
            self.decoder = other.new_decoder_without_bom_handling();
            text.replace_range(.., "\u{FEFF}");
        }
        result
    }

    fn consume(&mut self, len: usize) {
        let latest = &self.chunk[len.saturating_sub(self.recent.len())..len];
        self.recent.rotate_left(latest.len());
        let kept = self.recent.len() - latest.len();
        self.recent[kept..].copy_from_slice(latest);
        self.chunk.advance(len);
        self.position += len as u64;
    }

    /// The error of `len` bytes, `behind` bytes before the last that was consumed.
    fn error(&self, len: usize, behind: usize) -> LegacyError {
        let end = self.recent.len() - behind;
        let at = self.position - (len + behind) as u64;
        LegacyError::new(self.encoding.name(), at, &self.recent[end - len..end])
    }
}

impl fmt::Debug for Legacy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Legacy")
            .field("encoding", &self.encoding.name())
            .field("chunk", &self.chunk)
            .field("state", &self.state)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

/// A block of text has about so many bytes at the most.
const BLOCK: usize = 16 * 1024;
