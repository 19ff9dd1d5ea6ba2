//! How is a body decoded that is in a legacy encoding?

use std::fmt;

pub(super) use encoding_rs::Encoding;
use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE};

use crate::decoder::{AtEnd, Status, Utf8Error, Utf8ErrorKind};

/// Decodes a stream in an encoding of the WHATWG Encoding Standard, and reports each ill-formed part.
///
/// Between calls it keeps the beginning of a split character. An initial U+FEFF is text. In UTF-16
/// it also determines the byte order, whatever the name of the encoding, since U+FFFE does not
/// occur in text. After the end of a stream it can decode another. Offsets keep counting.
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

    /// Returns the encoding. The byte order of UTF-16 is that of the BOM, once it has been decoded.
    pub(super) fn encoding(&self) -> &'static Encoding {
        self.decoder.encoding()
    }

    /// Decodes `bytes` and appends the text to `text`, as far as its capacity allows. Returns the
    /// number of bytes decoded.
    ///
    /// With [`AtEnd::Yes`], [`Status::Done`] ends the stream. [`Status::IllFormed`] is returned after an ill-formed part,
    /// one to four bytes, which one U+FFFD replaces.
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        at_end: AtEnd,
        text: &mut String,
    ) -> (usize, Status) {
        let mut total = 0;
        loop {
            let encoding = self.encoding();
            let order_is_open = self.position < 2 && (encoding == UTF_16LE || encoding == UTF_16BE);
            let rest = &bytes[total..];
            let window = match order_is_open {
                true => rest.len().min(2 - self.position as usize),
                false => rest.len(),
            };
            let (before, is_part) = (text.len(), window < rest.len());
            let last = at_end == AtEnd::Yes && !is_part;
            let (result, read) =
                self.decoder.decode_to_string_without_replacement(&rest[..window], text, last);
            if order_is_open && &text[before..] == "\u{FFFE}" {
                let other = if encoding == UTF_16LE { UTF_16BE } else { UTF_16LE };
                self.decoder = other.new_decoder_without_bom_handling();
                text.replace_range(before.., "\u{FEFF}");
            } else if last && result == DecoderResult::InputEmpty {
                self.decoder = encoding.new_decoder_without_bom_handling();
            }
            self.consume(&rest[..read]);
            total += read;
            match result {
                DecoderResult::InputEmpty if is_part => {}
                DecoderResult::InputEmpty => return (total, Status::Done),
                DecoderResult::OutputFull => return (total, Status::Full),
                DecoderResult::Malformed(len, late) => {
                    return (total, Status::IllFormed(self.error(len.into(), late.into())));
                }
            }
        }
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
