//! The encodings of the WHATWG Encoding Standard. This is the only file that decodes with encoding_rs.

use alloc::string::String;
use core::fmt;
use core::slice;

use encoding_rs::{Decoder, DecoderResult, Encoding};
use encoding_rs::{UTF_16BE, UTF_16LE};
use utf8_simd::valid_prefix;

use crate::decoder::{AtEnd, Status, Utf8Error, Utf8ErrorKind};

/// Decodes `bytes` with a new decoder each time, so that no decoder keeps any of them. Returns the number of bytes read and
/// that of the U+FFFD written.
///
/// A decoder does not return the bytes it keeps, only whether it keeps any. So the last bytes
/// are pushed one by one, and the result ends where the decoder last kept none.
pub(super) fn decode(
    encoding: &'static Encoding,
    bytes: &[u8],
    at_end: AtEnd,
    text: &mut String,
) -> (usize, u64) {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut block = [0; BLOCK];
    if at_end == AtEnd::Yes || encoding.is_single_byte() {
        let replaced = feed(&mut decoder, bytes, AtEnd::Yes, &mut block, text);
        return (bytes.len(), replaced);
    }
    let (bulk, last) = bytes.split_at(bytes.len().saturating_sub(LAST));
    let mut neutral = (0, 0, text.len());
    let mut replaced = feed(&mut decoder, bulk, AtEnd::No, &mut block, text);
    for (at, byte) in last.iter().enumerate() {
        if keeps_nothing(&decoder) {
            neutral = (bulk.len() + at, replaced, text.len());
        }
        replaced += feed(&mut decoder, slice::from_ref(byte), AtEnd::No, &mut block, text);
    }
    if keeps_nothing(&decoder) {
        neutral = (bytes.len(), replaced, text.len());
    }
    let (read, replaced, text_len) = neutral;
    text.truncate(text_len);
    (read, replaced)
}

/// Twice the length of the longest character, minus one: some character ends among the last
/// bytes.
const LAST: usize = 7;

fn keeps_nothing(decoder: &Decoder) -> bool {
    decoder.latin1_byte_compatible_up_to(b"").is_some()
}

/// Decodes all of `bytes` and returns the number of U+FFFD written.
///
/// It decodes to `block` rather than to the spare capacity of `text`, because encoding_rs would
/// zero all of that in each call.
fn feed(
    decoder: &mut Decoder,
    bytes: &[u8],
    at_end: AtEnd,
    block: &mut [u8; BLOCK],
    text: &mut String,
) -> u64 {
    let last = at_end == AtEnd::Yes;
    let (mut rest, mut replaced) = (bytes, 0);
    loop {
        let (result, read, written) = decoder.decode_to_utf8_without_replacement(rest, block, last);
        text.push_str(valid_prefix(&block[..written]).0);
        rest = &rest[read..];
        match result {
            DecoderResult::InputEmpty => return replaced,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                text.push(char::REPLACEMENT_CHARACTER);
                replaced += 1;
            }
        }
    }
}

const BLOCK: usize = 1024;

/// Decodes a stream; see [`LegacyDecoder`](crate::fallback::legacy_decoder::LegacyDecoder).
pub(crate) struct WhatwgDecoder {
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
