//! UTF-16 units to UTF-8.

use core::mem::MaybeUninit;

/// Returns the character of a high surrogate and the next unit, if they are a pair.
pub(crate) fn surrogate_pair(high: u16, low: u16) -> Option<char> {
    let (high, low) = (u32::from(high).wrapping_sub(0xD800), u32::from(low).wrapping_sub(0xDC00));
    let is_pair = high < 0x400 && low < 0x400;
    is_pair.then(|| char::from_u32(0x1_0000 + (high << 10) + low)).flatten()
}

/// Encodes `units`; see [`Kernel::encode_utf16`](crate::kernel::Kernel::encode_utf16).
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
pub(in crate::kernel) fn encode_utf16(
    units: &[u16],
    out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while let Some(block) = units[read..].first_chunk::<BLOCK>() {
        let room = &mut out[written..];
        if block.iter().fold(0, |all, unit| all | unit) < 0x80 {
            let Some(room) = room.first_chunk_mut::<BLOCK>() else { break };
            for (unit, byte) in block.iter().zip(room) {
                byte.write(*unit as u8);
            }
            read += BLOCK;
            written += BLOCK;
        } else if block.iter().all(|unit| unit & 0xF800 != 0xD800) {
            let Some(room) = room.first_chunk_mut() else { break };
            read += BLOCK;
            written += encode_block(block, room);
        } else {
            let end = read + BLOCK;
            while read < end {
                let Some((used, len)) = encode_char(&units[read..], &mut out[written..]) else {
                    return (read, written);
                };
                read += used;
                written += len;
            }
        }
    }
    while let Some((used, len)) = encode_char(&units[read..], &mut out[written..]) {
        read += used;
        written += len;
    }
    (read, written)
}

/// Encodes units without surrogates. Returns the number of bytes.
#[inline]
fn encode_block(block: &[u16; BLOCK], out: &mut [MaybeUninit<u8>; 3 * BLOCK + 3]) -> usize {
    // Loops over arrays become vector instructions; `map` does not.
    let (mut encoded, mut lengths) = ([0; BLOCK], [0; BLOCK]);
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
fn encode_char(units: &[u16], out: &mut [MaybeUninit<u8>]) -> Option<(usize, usize)> {
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
            let value = u32::from(surrogate_pair(unit, *units.get(1)?)?);
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

const BLOCK: usize = 16;
