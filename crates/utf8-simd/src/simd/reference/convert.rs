//! Text to `char`s and UTF-16, and back.
//!
//! Text is a `str`, so it is well-formed. The implementation of a level returns the same results, writes
//! the same units, and may overwrite later units.

use core::mem::MaybeUninit;

use super::ascii_len;
use crate::simd::{RepairedPrefix, bytes_to_multiple};

pub(in crate::simd) fn count_chars(text: &str) -> usize {
    text.chars().count()
}

pub(in crate::simd) fn count_utf16(text: &str) -> usize {
    count_units::<true>(text.as_bytes())
}

/// Counts the characters of well-formed bytes, or their UTF-16 units.
#[inline(always)]
pub(in crate::simd) fn count_units<const UTF16: bool>(bytes: &[u8]) -> usize {
    // A unit for each byte that begins a character, and another for the first of four bytes.
    let units = |&byte: &u8| usize::from(byte as i8 >= -0x40) + usize::from(UTF16 && byte >= 0xF0);
    bytes.iter().map(units).sum()
}

pub(in crate::simd) fn decode_chars(text: &str, out: &mut [u32]) -> (usize, usize) {
    if out.len() >= text.len() && !text.is_ascii() {
        // One by one, without bounds checks: 1.2 to 1.3 times as fast (`blocks/*` of `benches/versus`).
        return (
            text.len(),
            out.iter_mut().zip(text.chars()).map(|(to, c)| *to = c.into()).count(),
        );
    }
    decode(text, out)
}

pub(in crate::simd) fn decode_utf16(text: &str, out: &mut [u16]) -> (usize, usize) {
    if out.len() < text.len() || text.is_ascii() {
        return decode(text, out);
    }
    // As above: a character has no more units than bytes. Rows `to-utf-16/cyrillic` with level `portable`.
    let mut written = 0;
    for c in text.chars() {
        match u16::try_from(u32::from(c)) {
            Ok(unit) => out[written] = unit,
            Err(_) => {
                c.encode_utf16(&mut out[written..]);
                written += 1;
            }
        }
        written += 1;
    }
    (text.len(), written)
}

/// The unit of the output.
pub(in crate::simd) trait DecodedUnit: Copy + From<u8> {
    /// Writes `c` to the start of `out`. Returns the number of units, or `None` if it does not fit.
    fn put(c: char, out: &mut [Self]) -> Option<usize>;
}

impl DecodedUnit for u32 {
    #[inline]
    fn put(c: char, out: &mut [Self]) -> Option<usize> {
        *out.first_mut()? = c.into();
        Some(1)
    }
}

impl DecodedUnit for u16 {
    #[inline]
    fn put(c: char, out: &mut [Self]) -> Option<usize> {
        let len = c.len_utf16();
        c.encode_utf16(out.get_mut(..len)?);
        Some(len)
    }
}

/// Decodes `text` into `out`: ASCII in strides, other characters one by one.
pub(in crate::simd) fn decode<U: DecodedUnit>(text: &str, out: &mut [U]) -> (usize, usize) {
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

/// Encodes `chars` into `out`: blocks of which all fit, and the rest one after another.
pub(in crate::simd) fn encode_chars(chars: &[char], out: &mut [u8]) -> (usize, usize) {
    const BLOCK: usize = 8;
    let (mut read, mut written) = (0, 0);
    for block in chars.as_chunks::<BLOCK>().0 {
        let Some(room) = out[written..].first_chunk_mut::<{ 4 * BLOCK }>() else { break };
        written += match block.iter().fold(0, |all, &c| all | u32::from(c)) {
            0..0x80 => {
                for (c, byte) in block.iter().zip(room) {
                    *byte = *c as u8;
                }
                BLOCK
            }
            0x80..0x800 => encode_block_of(block, room, |value| {
                // Which of them are ASCII is unpredictable: no branch depends on it.
                let two = 0x80C0 | value >> 6 | (value & 0x3F) << 8;
                (if value < 0x80 { value } else { two }, 1 + usize::from(value >= 0x80))
            }),
            _ => encode_block_of(block, room, |value| match value {
                0..0x800 => (encode_unit(value), 1 + usize::from(value >= 0x80)),
                0x800..0x1_0000 => (encode_unit(value), 3),
                _ => (four_bytes(value), 4),
            }),
        };
        read += BLOCK;
    }
    let (more, len) = encode_each(&chars[read..], &mut out[written..]);
    (read + more, written + len)
}

/// Encodes `chars` into `out`, one after another: for the few that a vector level leaves.
pub(in crate::simd) fn encode_each(chars: &[char], out: &mut [u8]) -> (usize, usize) {
    let mut written = 0;
    for (read, c) in chars.iter().enumerate() {
        let Some(room) = out[written..].get_mut(..c.len_utf8()) else { return (read, written) };
        written += c.encode_utf8(room).len();
    }
    (chars.len(), written)
}

/// Encodes a block by a function that returns the bytes of a value, the first in the lowest bits, and their number. The next
/// character overwrites the excess.
#[inline(always)]
fn encode_block_of(block: &[char], room: &mut [u8], encode: impl Fn(u32) -> (u32, usize)) -> usize {
    let mut at = 0;
    for &c in block {
        let (bytes, len) = encode(c.into());
        room[at..at + 4].copy_from_slice(&bytes.to_le_bytes());
        at += len;
    }
    at
}

/// Encodes a scalar value from 10000 on in four bytes, the first in the lowest bits.
const fn four_bytes(value: u32) -> u32 {
    let (second, third) = (value >> 12 & 0x3F, value >> 6 & 0x3F);
    0x8080_80F0 | value >> 18 | second << 8 | third << 16 | (value & 0x3F) << 24
}

/// Decodes ASCII at the start of `bytes` to `char`s.
pub(in crate::simd) fn decode_ascii_chars(bytes: &[u8], out: &mut [u32]) -> usize {
    decode_ascii(bytes, out)
}

/// Decodes ASCII at the start of `bytes` to UTF-16 units.
pub(in crate::simd) fn decode_ascii_utf16(bytes: &[u8], out: &mut [u16]) -> usize {
    decode_ascii(bytes, out)
}

/// Decodes ASCII at the start of `bytes`, in whole strides of 64 that fit. Returns the number of bytes.
///
/// A level inlines it, so that the compiler uses its vectors.
#[inline(always)]
pub(in crate::simd) fn decode_ascii<U: DecodedUnit>(bytes: &[u8], out: &mut [U]) -> usize {
    const STRIDE: usize = 64;
    #[inline(always)]
    fn by_strides<U: DecodedUnit>(bytes: &[u8], out: &mut [U]) -> usize {
        let mut len = 0;
        for (from, to) in bytes.as_chunks::<STRIDE>().0.iter().zip(out.as_chunks_mut::<STRIDE>().0)
        {
            if from.iter().fold(0, |any, byte| any | byte) >= 0x80 {
                break;
            }
            for (to, &byte) in to.iter_mut().zip(from) {
                *to = U::from(byte);
            }
            len += STRIDE;
        }
        len
    }
    let first = by_strides(&bytes[..bytes.len().min(STRIDE)], out);
    if first == 0 {
        return 0;
    }
    // Stores that cross no cache lines are faster (`benches/versus`, to-utf-16).
    let to_line = bytes_to_multiple(out, STRIDE) / size_of::<U>();
    first.max(to_line + by_strides(&bytes[to_line..], &mut out[to_line..]))
}

/// Decodes nothing.
pub(in crate::simd) fn decode_damaged_chars(_input: &[u8], _out: &mut [u32]) -> RepairedPrefix {
    RepairedPrefix::default()
}

/// Decodes nothing.
pub(in crate::simd) fn decode_damaged_utf16(_input: &[u8], _out: &mut [u16]) -> RepairedPrefix {
    RepairedPrefix::default()
}

/// Decodes `bytes` if they are short ASCII and fit. Returns the number of units.
pub(in crate::simd) fn decode_short_chars(bytes: &[u8], out: &mut [u32]) -> Option<usize> {
    decode_short(bytes, out)
}

/// Decodes `bytes` if they are short ASCII and fit. Returns the number of units.
pub(in crate::simd) fn decode_short_utf16(bytes: &[u8], out: &mut [u16]) -> Option<usize> {
    decode_short(bytes, out)
}

/// Returns `None`: decoding to units and converting these is as fast.
pub(in crate::simd) fn decode_short_bytes<const SWAPPED: bool>(
    _bytes: &[u8],
    _out: &mut [[u8; 2]],
) -> Option<usize> {
    None
}

// Not inlined: the callers of a level contain a call of each level's function. The compiler knows that there are at most 64
// bytes: rows `to-chars/ascii/64`.
#[inline(never)]
fn decode_short<U: DecodedUnit>(bytes: &[u8], out: &mut [U]) -> Option<usize> {
    let is_done = bytes.len() <= 64 && decode_short_ascii(bytes, out, U::from);
    is_done.then_some(bytes.len())
}

/// Decodes `bytes` if they are ASCII and fit. Returns whether it did.
#[inline(always)]
pub(in crate::simd) fn decode_short_ascii<T>(
    bytes: &[u8],
    out: &mut [T],
    of: impl Fn(u8) -> T,
) -> bool {
    if bytes.len() > out.len() || !bytes.is_ascii() {
        return false;
    }
    for (unit, &byte) in out.iter_mut().zip(bytes) {
        *unit = of(byte);
    }
    true
}

/// Returns the character of a high surrogate and the next unit, if they are a pair.
pub fn surrogate_pair(high: u16, low: u16) -> Option<char> {
    let (high, low) = (u32::from(high).wrapping_sub(0xD800), u32::from(low).wrapping_sub(0xDC00));
    let is_pair = high < 0x400 && low < 0x400;
    is_pair.then(|| char::from_u32(0x1_0000 + (high << 10) + low)).flatten()
}

/// Encodes `units`; see [`Level::encode_utf16`](crate::simd::Level::encode_utf16).
///
/// ```text
/// while there is a block of 16 units, and room for its longest encoding:
///     all ASCII:        narrow it
///     no surrogates:    encode each unit in four bytes, without branches; advance by its length, so that
///                       the next unit overwrites the excess
///     with surrogates:  encode its characters one by one
/// encode the remaining units one by one
/// ```
///
/// Many scripts mix characters of one byte (spaces) and of two: a branch per character would often be
/// mispredicted.
pub(in crate::simd) fn encode_utf16(
    units: &[u16],
    out: &mut [MaybeUninit<u8>],
    mut replaced: Option<&mut u64>,
) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while let Some(block) = units[read..].first_chunk::<UNITS>() {
        let room = &mut out[written..];
        if block.iter().fold(0, |all, unit| all | unit) < 0x80 {
            let Some(room) = room.first_chunk_mut::<UNITS>() else { break };
            for (unit, byte) in block.iter().zip(room) {
                byte.write(*unit as u8);
            }
            read += UNITS;
            written += UNITS;
        } else if block.iter().all(|unit| unit & 0xF800 != 0xD800) {
            let Some(room) = room.first_chunk_mut() else { break };
            read += UNITS;
            written += encode_block(block, room);
        } else {
            let end = read + UNITS;
            while read < end {
                let (rest, room) = (&units[read..], &mut out[written..]);
                let Some((used, len)) = encode_char(rest, room, &mut replaced) else {
                    return (read, written);
                };
                read += used;
                written += len;
            }
        }
    }
    while let Some((used, len)) = encode_char(&units[read..], &mut out[written..], &mut replaced) {
        read += used;
        written += len;
    }
    (read, written)
}

/// Encodes units without surrogates. Returns the number of bytes.
#[inline]
fn encode_block(block: &[u16; UNITS], out: &mut [MaybeUninit<u8>; 3 * UNITS + 3]) -> usize {
    // Loops over arrays become vector instructions; `map` does not.
    let (mut encoded, mut lengths) = ([0; UNITS], [0; UNITS]);
    for (&unit, encoded) in block.iter().zip(&mut encoded) {
        *encoded = encode_unit(unit.into());
    }
    for (&unit, length) in block.iter().zip(&mut lengths) {
        *length = 1 + u8::from(unit >= 0x80) + u8::from(unit >= 0x800);
    }
    let len = usize::from(lengths.iter().sum::<u8>());
    // Four bytes are written for each unit; the next unit overwrites the excess.
    let mut at = 0;
    for (encoded, len) in encoded.iter().zip(lengths) {
        out[at..at + 4].copy_from_slice(&encoded.to_le_bytes().map(MaybeUninit::new));
        at += usize::from(len);
    }
    len
}

/// Encodes a unit that is not a surrogate in one to three bytes, the first in the lowest bits.
#[inline(always)]
fn encode_unit(unit: u32) -> u32 {
    let (first, second, third) = (unit >> 12, unit >> 6 & 0x3F, unit & 0x3F);
    let three = 0x0080_80E0 | first | second << 8 | third << 16;
    let two = 0x80C0 | unit >> 6 | third << 8;
    let long = if unit < 0x800 { two } else { three };
    if unit < 0x80 { unit } else { long }
}

/// Encodes the character at the start of `units`, if there is one and it fits. Returns the units read and
/// the bytes written.
#[inline]
fn encode_char(
    units: &[u16],
    out: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> Option<(usize, usize)> {
    let &unit = units.first()?;
    let value = u32::from(unit);
    Some(match unit {
        0..0x80 => {
            out.first_mut()?.write(unit as u8);
            (1, 1)
        }
        0x80..0x800 => {
            let bytes = [0xC0 | (value >> 6) as u8, continuation(value)];
            *out.first_chunk_mut()? = bytes.map(MaybeUninit::new);
            (1, 2)
        }
        0xD800..=0xDFFF => {
            let Some(c) = units.get(1).and_then(|next| surrogate_pair(unit, *next)) else {
                let replaced = replaced.as_deref_mut()?;
                *out.first_chunk_mut()? = [0xEF, 0xBF, 0xBD].map(MaybeUninit::new);
                *replaced += 1;
                return Some((1, 3));
            };
            let value = u32::from(c);
            let bytes = [
                0xF0 | (value >> 18) as u8,
                continuation(value >> 12),
                continuation(value >> 6),
                continuation(value),
            ];
            *out.first_chunk_mut()? = bytes.map(MaybeUninit::new);
            (2, 4)
        }
        _ => {
            let bytes = [0xE0 | (value >> 12) as u8, continuation(value >> 6), continuation(value)];
            *out.first_chunk_mut()? = bytes.map(MaybeUninit::new);
            (1, 3)
        }
    })
}

/// Returns the continuation byte of the lowest six bits.
#[inline]
fn continuation(value: u32) -> u8 {
    0x80 | (value & 0x3F) as u8
}

const UNITS: usize = 16;
