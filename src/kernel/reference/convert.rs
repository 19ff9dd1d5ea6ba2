//! Text to `char`s and UTF-16, and back.
//!
//! Text is a `str`, so it is well-formed. The implementation of a tier returns the same results, writes
//! the same units, and leaves the other units unchanged.

use super::validate::ascii_len;

/// Counts the characters of `text`.
pub(in crate::kernel) fn count_chars(text: &str) -> usize {
    text.chars().count()
}

/// Decodes to `char`s.
pub(in crate::kernel) fn decode_chars(text: &str, out: &mut [char]) -> (usize, usize) {
    decode(text, out)
}

/// Decodes to UTF-16 units.
pub(in crate::kernel) fn decode_utf16(text: &str, out: &mut [u16]) -> (usize, usize) {
    decode(text, out)
}

/// The unit of the output.
pub(in crate::kernel) trait Unit: Copy + From<u8> {
    /// Writes `c` to the start of `out`. Returns the number of units, or `None` if it does not fit.
    fn put(c: char, out: &mut [Self]) -> Option<usize>;
}

impl Unit for char {
    #[inline]
    fn put(c: char, out: &mut [Self]) -> Option<usize> {
        *out.first_mut()? = c;
        Some(1)
    }
}

impl Unit for u16 {
    #[inline]
    fn put(c: char, out: &mut [Self]) -> Option<usize> {
        let len = c.len_utf16();
        c.encode_utf16(out.get_mut(..len)?);
        Some(len)
    }
}

/// Decodes `text` into `out`: ASCII in strides, other characters one by one.
pub(in crate::kernel) fn decode<U: Unit>(text: &str, out: &mut [U]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    loop {
        let (bytes, room) = (&text.as_bytes()[read..], &mut out[written..]);
        let ascii = ascii_len(&bytes[..bytes.len().min(room.len())]);
        for (unit, &byte) in room.iter_mut().zip(&bytes[..ascii]) {
            *unit = U::from(byte);
        }
        read += ascii;
        written += ascii;
        let mut chars = text[read..].chars();
        loop {
            let Some(c) = chars.next() else { return (read, written) };
            let Some(units) = U::put(c, &mut out[written..]) else { return (read, written) };
            read += c.len_utf8();
            written += units;
            if c.is_ascii() {
                break;
            }
        }
    }
}

/// Encodes `chars` into `out`, one after another.
pub(in crate::kernel) fn encode_chars(chars: &[char], out: &mut [u8]) -> (usize, usize) {
    let mut written = 0;
    for (read, c) in chars.iter().enumerate() {
        let Some(room) = out[written..].get_mut(..c.len_utf8()) else { return (read, written) };
        written += c.encode_utf8(room).len();
    }
    (chars.len(), written)
}

/// Decodes ASCII at the start of `bytes` to `char`s.
pub(in crate::kernel) fn decode_ascii_chars(bytes: &[u8], out: &mut [char]) -> usize {
    decode_ascii(bytes, out)
}

/// Decodes ASCII at the start of `bytes` to UTF-16 units.
pub(in crate::kernel) fn decode_ascii_utf16(bytes: &[u8], out: &mut [u16]) -> usize {
    decode_ascii(bytes, out)
}

/// Decodes ASCII at the start of `bytes`, in whole blocks of 64 that fit. Returns the number of bytes.
///
/// A tier inlines it, so that the compiler uses its vectors.
#[inline(always)]
pub(in crate::kernel) fn decode_ascii<U: Unit>(bytes: &[u8], out: &mut [U]) -> usize {
    const BLOCK: usize = 64;
    #[inline(always)]
    fn by_blocks<U: Unit>(bytes: &[u8], out: &mut [U]) -> usize {
        let mut len = 0;
        for (from, to) in bytes.as_chunks::<BLOCK>().0.iter().zip(out.as_chunks_mut::<BLOCK>().0) {
            if from.iter().fold(0, |any, byte| any | byte) >= 0x80 {
                break;
            }
            for (to, &byte) in to.iter_mut().zip(from) {
                *to = U::from(byte);
            }
            len += BLOCK;
        }
        len
    }
    let first = by_blocks(&bytes[..bytes.len().min(BLOCK)], out);
    if first == 0 {
        return 0;
    }
    // Stores that cross no cache lines are faster (`benches/versus`, to-utf-16).
    let to_line = out.as_ptr().addr().wrapping_neg() % BLOCK / size_of::<U>();
    first.max(to_line + by_blocks(&bytes[to_line..], &mut out[to_line..]))
}

/// Decodes `bytes` if they are short ASCII and fit. Returns the number of units.
pub(in crate::kernel) fn decode_short_chars(bytes: &[u8], out: &mut [char]) -> Option<usize> {
    short_ascii(bytes, out)
}

/// Decodes `bytes` if they are short ASCII and fit. Returns the number of units.
pub(in crate::kernel) fn decode_short_utf16(bytes: &[u8], out: &mut [u16]) -> Option<usize> {
    short_ascii(bytes, out)
}

// Not inlined: the callers of a kernel contain a call of each tier's function.
#[inline(never)]
fn short_ascii<U: Unit>(bytes: &[u8], out: &mut [U]) -> Option<usize> {
    if bytes.len() > out.len().min(64) || !bytes.is_ascii() {
        return None;
    }
    for (unit, &byte) in out.iter_mut().zip(bytes) {
        *unit = U::from(byte);
    }
    Some(bytes.len())
}
