//! Latin-1 to UTF-8 and back.

/// The bytes that are converted together.
const BLOCK: usize = 16;

/// Encodes Latin-1; see [`Level::encode_latin1`](crate::simd::Level::encode_latin1).
///
/// Without a branch for each byte: it would often be mispredicted.
pub(in crate::simd) fn encode_latin1(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while let Some(block) = bytes[read..].first_chunk::<BLOCK>() {
        let room = &mut out[written..];
        if block.is_ascii() {
            let Some(room) = room.first_chunk_mut() else { break };
            *room = *block;
            written += BLOCK;
        } else {
            let Some(room) = room.first_chunk_mut::<{ 2 * BLOCK }>() else { break };
            let mut len = 0;
            for &byte in block {
                let (first, second) = in_two(byte);
                room[len] = first;
                room[len + 1] = second;
                len += 1 + usize::from(byte >> 7);
            }
            written += len;
        }
        read += BLOCK;
    }
    for &byte in &bytes[read..] {
        let (first, second) = in_two(byte);
        match &mut out[written..] {
            [to, ..] if byte.is_ascii() => *to = byte,
            [to, next, ..] if !byte.is_ascii() => (*to, *next) = (first, second),
            _ => break,
        }
        read += 1;
        written += 1 + usize::from(byte >> 7);
    }
    (read, written)
}

/// Returns the bytes of a character; of ASCII the first is needed.
#[inline]
fn in_two(byte: u8) -> (u8, u8) {
    (if byte.is_ascii() { byte } else { 0xC0 | byte >> 6 }, byte & 0xBF)
}

/// Decodes UTF-8; see [`Level::decode_latin1`](crate::simd::Level::decode_latin1).
pub(in crate::simd) fn decode_latin1(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    loop {
        while let (Some(block), Some(room)) =
            (bytes[read..].first_chunk::<BLOCK>(), out[written..].first_chunk_mut())
            && block.is_ascii()
        {
            *room = *block;
            read += BLOCK;
            written += BLOCK;
        }
        for _ in 0..BLOCK {
            let (byte, len) = match bytes[read..] {
                [byte @ ..0x80, ..] => (byte, 1),
                [lead @ 0xC2..=0xC3, byte @ 0x80..0xC0, ..] => (lead << 6 | byte & 0x3F, 2),
                _ => return (read, written),
            };
            let Some(to) = out.get_mut(written) else { return (read, written) };
            *to = byte;
            read += len;
            written += 1;
        }
    }
}
