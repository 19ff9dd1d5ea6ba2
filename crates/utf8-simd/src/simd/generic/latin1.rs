//! Latin-1 to UTF-8 and back, a block at a time. ASCII, the same in both, is copied. In other blocks:
//!
//! ```text
//! to UTF-8     each byte becomes the two bytes of its character:
//!                  C2 or C3, for 80..=BF and C0..=FF; and the byte without its bit 6
//!              of ASCII only the byte itself is needed
//! to Latin-1   a byte after C3 gets bit 6
//!              the leading bytes are not needed
//!              valid, if these are C2 and C3, and the continuation bytes are those after them
//! ```
//!
//! The needed bytes are moved to the front. Text is validated and converted in one pass.
//!
//! The last block overlaps the one before it, and writes its bytes once more.

use super::lanes::{Lanes, ONE_BYTE, ONE_OR_TWO, Part};
use super::vector::{Vector, Vector16, load, load_few, store};
use crate::simd::reference;

/// A block that is converted.
pub(in crate::simd) trait Latin1Block: Vector {
    /// The number of bytes that [`to_latin1`](Self::to_latin1) may overwrite.
    const ROOM: usize;

    /// Bit 7 of each byte, as one bit.
    fn bits(self) -> u64;

    /// Encodes the block to UTF-8. Returns the number of bytes. May overwrite twice as many as the block has.
    fn to_utf8(self, room: &mut [u8]) -> usize;

    /// Decodes the block if it is valid and all of its characters are in Latin-1. Returns its leading bytes, as a mask: all others
    /// are written; otherwise `None`, and `room` is unchanged. `back1` is the block that begins a byte earlier.
    fn to_latin1(self, back1: Self, room: &mut [u8]) -> Option<u64>;
}

/// Encodes Latin-1; see [`Level::encode_latin1`](crate::simd::Level::encode_latin1).
#[inline(always)]
pub(in crate::simd) fn encode_latin1<V: Latin1Block, Short: Latin1Block + Vector16>(
    (any, short): (V, Short),
    bytes: &[u8],
    out: &mut [u8],
) -> (usize, usize) {
    let (mut read, mut written) = encode_blocks(any, bytes, out);
    if read < bytes.len() {
        let (more, len) = encode_blocks(short, &bytes[read..], &mut out[written..]);
        (read, written) = (read + more, written + len);
    }
    if read == bytes.len() {
        return (read, written);
    }
    let (bytes, out) = (&bytes[read..], &mut out[written..]);
    let (more, len) = match (load_few(short, bytes), out.first_chunk_mut::<32>()) {
        (Some(block), Some(room)) => {
            // Each of the zeros after the input became a byte.
            (bytes.len(), block.to_utf8(room) - (Short::LEN - bytes.len()))
        }
        _ => reference::encode_latin1(bytes, out),
    };
    (read + more, written + len)
}

/// Encodes blocks. Leaves what is shorter than a block, and what might not fit.
#[inline(always)]
pub(in crate::simd) fn encode_blocks<V: Latin1Block>(
    any: V,
    bytes: &[u8],
    out: &mut [u8],
) -> (usize, usize) {
    let (mut at, mut written) = (0, 0);
    while bytes.len() >= V::LEN {
        let (mut rest, mut place) = (&bytes[at..], &mut out[written..]);
        while rest.len() >= V::LEN && place.len() >= 2 * V::LEN {
            let block = load(any, rest, 0);
            if !block.any_high_bit() {
                let ascii = copy_ascii(block, rest, place);
                (rest, place) = (&rest[ascii..], &mut place[ascii..]);
                continue;
            }
            let len = block.to_utf8(&mut place[..2 * V::LEN]);
            (rest, place) = (&rest[V::LEN..], &mut place[len..]);
        }
        let (left, room) = (rest.len(), place.len());
        (at, written) = (bytes.len() - left, out.len() - room);
        if left == 0 || left >= V::LEN {
            break;
        }
        // The last block. Some of its bytes are written again.
        let again = V::LEN - left;
        at -= again;
        let high = load(any, bytes, at).bits() & ((1 << again) - 1);
        written -= again + high.count_ones() as usize;
    }
    (at, written)
}

/// Decodes UTF-8; see [`Level::decode_latin1`](crate::simd::Level::decode_latin1).
#[inline(always)]
pub(in crate::simd) fn decode_latin1<V: Latin1Block, Short: Latin1Block>(
    (any, short): (V, Short),
    bytes: &[u8],
    out: &mut [u8],
) -> (usize, usize) {
    let (mut read, mut written) = decode_blocks(any, bytes, out);
    if read < bytes.len() {
        let (more, len) = decode_blocks(short, &bytes[read..], &mut out[written..]);
        (read, written) = (read + more, written + len);
    }
    if read == bytes.len() {
        return (read, written);
    }
    let (more, len) = reference::decode_latin1(&bytes[read..], &mut out[written..]);
    (read + more, written + len)
}

/// Decodes blocks. Leaves what is shorter than a block, what might not fit, and a block that cannot be decoded as a whole.
#[inline(always)]
pub(in crate::simd) fn decode_blocks<V: Latin1Block>(
    any: V,
    bytes: &[u8],
    out: &mut [u8],
) -> (usize, usize) {
    // `split` is 1 if the byte before `at` is a leading byte.
    let (mut at, mut written, mut split) = (0, 0, 0);
    while bytes.len() >= V::LEN {
        let (mut rest, mut place) = (&bytes[at..], &mut out[written..]);
        while rest.len() >= V::LEN && place.len() >= V::LEN {
            let block = load(any, rest, 0);
            if split == 0 && !block.any_high_bit() {
                let ascii = copy_ascii(block, rest, place);
                (rest, place) = (&rest[ascii..], &mut place[ascii..]);
                continue;
            }
            let back1 = match bytes.len() - rest.len() {
                0 => block.prev::<1>(block.splat(0)),
                at => load(any, bytes, at - 1),
            };
            let Some(room) = place.get_mut(..V::ROOM) else { break };
            let Some(leads) = block.to_latin1(back1, room) else { break };
            split = (leads >> (V::LEN - 1)) as usize;
            (rest, place) = (&rest[V::LEN..], &mut place[V::LEN - leads.count_ones() as usize..]);
        }
        let (left, room) = (rest.len(), place.len());
        (at, written) = (bytes.len() - left, out.len() - room);
        if left == 0 || left >= V::LEN {
            break;
        }
        // The last block. Some of its bytes are written again.
        let again = V::LEN - left;
        at -= again;
        let leads = load(any, bytes, at).at_least(0xC0).bits() & ((1 << again) - 1);
        written -= again - leads.count_ones() as usize;
        split = usize::from(at > 0 && bytes[at - 1] >= 0xC0);
    }
    (at - split, written)
}

/// Copies ASCII, as far as it fits: the first block, of a long input only the bytes up to a multiple of a block in `out`, then four
/// blocks at a time. Returns its length.
#[inline(always)]
fn copy_ascii<V: Vector>(first: V, bytes: &[u8], out: &mut [u8]) -> usize {
    /// From this length on, stores that cross no cache lines are faster: the first block overlaps the one after it. Rows
    /// `from-latin-1/ascii/65536` of `benches/heads`.
    const LONG: usize = 4096;
    store(first, out, 0);
    let stride = 4 * V::LEN;
    let mut len = match bytes.len() {
        LONG.. => V::LEN - out.as_ptr().addr() % V::LEN,
        _ => V::LEN,
    };
    for (bytes, out) in bytes[len..].chunks_exact(stride).zip(out[len..].chunks_exact_mut(stride)) {
        let (a, b) = (load(first, bytes, 0), load(first, bytes, V::LEN));
        let (c, d) = (load(first, bytes, 2 * V::LEN), load(first, bytes, 3 * V::LEN));
        if a.or3(b, c.or(d)).any_high_bit() {
            break;
        }
        store(a, out, 0);
        store(b, out, V::LEN);
        store(c, out, 2 * V::LEN);
        store(d, out, 3 * V::LEN);
        len += stride;
    }
    len
}

impl<V: Lanes> Latin1Block for V {
    const ROOM: usize = V::LEN + 8;

    #[inline(always)]
    fn bits(self) -> u64 {
        self.bitmask().into()
    }

    #[inline(always)]
    fn to_utf8(self, room: &mut [u8]) -> usize {
        let room = &mut room[..2 * V::LEN];
        // A comparison is -1.
        let lead = self.splat(0xC3).wrapping_add(self.splat(0xC0).cmpgt(self));
        let first = self.select(lead, self);
        let ascii = !self.bitmask();
        let mut written = 0;
        for (group, part) in
            first.interleave(self.and(self.splat(0xBF))).as_ref().iter().enumerate()
        {
            let index = ascii >> (8 * group) & 0xFF;
            store(part.shuffle(&ONE_OR_TWO[index as usize]), room, written);
            written += 16 - V::count(index);
        }
        written
    }

    #[inline(always)]
    fn to_latin1(self, back1: Self, room: &mut [u8]) -> Option<u64> {
        let (c2, even) = (self.splat(0xC2), self.splat(0xFE));
        let known = self.and(even).cmpeq(c2).xor(self.at_least(0xC0));
        let after = back1.and(even).cmpeq(c2).xor(self.splat(0xC0).cmpgt(self));
        if known.or(after).any_high_bit() {
            return None;
        }
        let room = &mut room[..V::LEN + 8];
        let bytes = self.or(back1.cmpeq(self.splat(0xC3)).and(self.splat(0x40)));
        let leads = self.at_least(0xC0).bitmask();
        let mut written = 0;
        for (group, part) in bytes.interleave(bytes).as_ref().iter().enumerate() {
            let index = !leads >> (8 * group) & 0xFF;
            store(part.shuffle(&ONE_BYTE[index as usize]), room, written);
            written += V::count(index);
        }
        Some(leads.into())
    }
}
