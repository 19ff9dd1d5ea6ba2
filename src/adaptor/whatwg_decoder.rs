//! How is a stream decoded with the tables of encoding_rs?

use std::fmt;

use encoding_rs::{Decoder, DecoderResult, Encoding};

use crate::decoder::{AtEnd, Status, Utf8Error, Utf8ErrorKind};

/// Decodes a stream in an encoding of the WHATWG Encoding Standard, and reports each ill-formed part.
///
/// Its contract is that of [`CharsetDecoder`](super::charset::CharsetDecoder).
pub(super) struct WhatwgDecoder {
    decoder: Decoder,
    /// The number of bytes decoded.
    position: u64,
    /// The last of these bytes, most recent last: an error may be reported some bytes late.
    recent: [u8; 6],
}

impl WhatwgDecoder {
    pub(super) fn new(encoding: &'static Encoding) -> Self {
        let decoder = encoding.new_decoder_without_bom_handling();
        Self { decoder, position: 0, recent: [0; 6] }
    }

    pub(super) fn encoding(&self) -> &'static Encoding {
        self.decoder.encoding()
    }

    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        at_end: AtEnd,
        text: &mut String,
    ) -> (usize, Status) {
        let last = at_end == AtEnd::Yes;
        let (result, read) = self.decoder.decode_to_string_without_replacement(bytes, text, last);
        self.consume(&bytes[..read]);
        let status = match result {
            DecoderResult::InputEmpty => {
                if last {
                    self.decoder = self.encoding().new_decoder_without_bom_handling();
                }
                Status::Done
            }
            DecoderResult::OutputFull => Status::Full,
            DecoderResult::Malformed(len, late) => {
                Status::IllFormed(self.error(len.into(), late.into()))
            }
        };
        (read, status)
    }

    fn consume(&mut self, bytes: &[u8]) {
        let latest = &bytes[bytes.len().saturating_sub(self.recent.len())..];
        self.recent.rotate_left(latest.len());
        let kept = self.recent.len() - latest.len();
        self.recent[kept..].copy_from_slice(latest);
        self.position += bytes.len() as u64;
    }

    /// Returns the error of the `len` bytes that end `late` bytes before the position.
    fn error(&self, len: usize, late: usize) -> Utf8Error {
        let end = self.recent.len() - late;
        let (offset, part) = (self.position - (len + late) as u64, &self.recent[end - len..end]);
        Utf8Error::new(offset, Utf8ErrorKind::InvalidByte, part, None)
    }
}

impl fmt::Debug for WhatwgDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhatwgDecoder")
            .field("encoding", &self.encoding().name())
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
