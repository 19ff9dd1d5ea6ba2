//! The encodings of the WHATWG Encoding Standard.

use alloc::string::String;
use core::slice;

use encoding_rs::{Decoder, DecoderResult, Encoding};
use utf8_simd::valid_prefix;

use crate::decoder::AtEnd;

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
    if at_end != AtEnd::No || encoding.is_single_byte() {
        let mut replaced = feed(&mut decoder, bytes, at_end, &mut block, text);
        if at_end == AtEnd::Other {
            // A digit in what may be a character of GB18030 is text, unless the stream ends after it. LF continues no character.
            replaced += feed(&mut decoder, b"\n", AtEnd::Yes, &mut block, text);
            debug_assert!(text.ends_with('\n'));
            text.pop();
        }
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
