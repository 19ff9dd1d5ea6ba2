//! Runs of whole characters, from UTF-16 units to UTF-8.

/// What one unit is by itself.
pub(super) enum Class {
    /// A character of the Basic Multilingual Plane.
    Char(char),
    /// A high surrogate, the first half of a pair.
    High,
    /// A low surrogate, the second half of a pair.
    Low,
}

pub(super) fn class(unit: u16) -> Class {
    match char::from_u32(unit.into()) {
        Some(c) => Class::Char(c),
        None if unit < 0xDC00 => Class::High,
        None => Class::Low,
    }
}

/// The character that a high surrogate and the unit behind it make, if they do.
pub(super) fn pair(high: u16, low: u16) -> Option<char> {
    let (high, low) = (u32::from(high).wrapping_sub(0xD800), u32::from(low).wrapping_sub(0xDC00));
    let is_pair = high < 0x400 && low < 0x400;
    is_pair.then(|| char::from_u32(0x1_0000 + (high << 10) + low)).flatten()
}

/// Encodes `units` into `out`, up to the first that is a lone surrogate or a high one at the end, and
/// as far as there is room for whole characters. Returns the units read and the bytes written; the
/// other bytes in `out` are as they were.
pub(super) fn encode(units: &[u16], out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    loop {
        let (units, out) = (&units[read..], &mut out[written..]);
        let ascii = encode_ascii(units, out);
        read += ascii;
        written += ascii;
        let (run, bytes) = encode_until_ascii(&units[ascii..], &mut out[ascii..]);
        if run == 0 {
            return (read, written);
        }
        read += run;
        written += bytes;
    }
}

/// Encodes the ASCII at the start of `units`, as far as there is room.
fn encode_ascii(units: &[u16], out: &mut [u8]) -> usize {
    const BLOCK: usize = 16;
    let len = units.len().min(out.len());
    let (units, out) = (&units[..len], &mut out[..len]);
    let mut done = 0;
    for (units, out) in units.as_chunks::<BLOCK>().0.iter().zip(out.as_chunks_mut::<BLOCK>().0) {
        if units.iter().fold(0, |all, unit| all | unit) >= 0x80 {
            break;
        }
        for (unit, byte) in units.iter().zip(out) {
            *byte = *unit as u8;
        }
        done += BLOCK;
    }
    for (unit, byte) in units[done..].iter().zip(&mut out[done..]) {
        if *unit >= 0x80 {
            break;
        }
        *byte = *unit as u8;
        done += 1;
    }
    done
}

/// Encodes characters one after another, up to one that is ASCII, this one included.
fn encode_until_ascii(units: &[u16], out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while let Some(&unit) = units.get(read) {
        let room = &mut out[written..];
        let (used, len) = match unit {
            0..0x80 => {
                let Some(byte) = room.first_mut() else { break };
                *byte = unit as u8;
                return (read + 1, written + 1);
            }
            0x80..0x800 => {
                let Some(room) = room.first_chunk_mut::<2>() else { break };
                *room = [0xC0 | (unit >> 6) as u8, continuation(unit.into())];
                (1, 2)
            }
            0xD800..=0xDFFF => {
                let Some(c) = units.get(read + 1).and_then(|&next| pair(unit, next)) else { break };
                let Some(room) = room.first_chunk_mut::<4>() else { break };
                c.encode_utf8(room);
                (2, 4)
            }
            _ => {
                let Some(room) = room.first_chunk_mut::<3>() else { break };
                let value = u32::from(unit);
                *room = [0xE0 | (value >> 12) as u8, continuation(value >> 6), continuation(value)];
                (1, 3)
            }
        };
        read += used;
        written += len;
    }
    (read, written)
}

/// The continuation byte of the lowest six bits.
fn continuation(value: u32) -> u8 {
    0x80 | (value & 0x3F) as u8
}
