//! Latin-1 to UTF-8 and back with AVX-512: the needed bytes are moved to the front by `vpcompressb`. Long inputs take the loops of
//! `generic`, shorter ones than a block a masked load.

use core::arch::x86_64::*;

use super::encode_units::put;
use super::vector::{BLOCK, Bytes64, first_block};
use crate::simd::generic::{self, Latin1Block, Vector, arithmetic};
use crate::simd::reference;

/// Encodes Latin-1; see [`Level::encode_latin1`](crate::simd::Level::encode_latin1).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn encode_latin1(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    if bytes.len() <= BLOCK { encode_block(bytes, out) } else { encode_long(bytes, out) }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn encode_long(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = generic::encode_blocks(Bytes64::zero(), bytes, out);
    while read < bytes.len()
        && let (more @ 1.., len) = encode_block(&bytes[read..], &mut out[written..])
    {
        read += more;
        written += len;
    }
    (read, written)
}

/// Encodes a block or less, if it fits; otherwise as many characters as do.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn encode_block(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (block, count) = (first_block(bytes), bytes.len().min(BLOCK));
    let high = _mm512_movepi8_mask(block);
    let len = count + high.count_ones() as usize;
    if out.len() < len {
        return reference::encode_latin1(bytes, out);
    }
    if high == 0 {
        put(block, len, out);
    } else {
        let [front, back] = Bytes64(block).in_two(high);
        // Zeros after the input are a byte each.
        let len_front = len.min(32 + (high as u32).count_ones() as usize);
        put(front.0, len_front, out);
        if count > 32 {
            put(back.0, len - len_front, &mut out[len_front..]);
        }
    }
    (count, len)
}

/// Decodes UTF-8; see [`Level::decode_latin1`](crate::simd::Level::decode_latin1).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_latin1(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    if bytes.len() > BLOCK {
        return decode_long(bytes, out);
    }
    match decode_block(bytes, out) {
        (read, len) if read == bytes.len() => (read, len),
        _ => reference::decode_latin1(bytes, out),
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn decode_long(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (mut read, mut written) = generic::decode_blocks(Bytes64::zero(), bytes, out);
    while read < bytes.len()
        && let (more @ 1.., len) = decode_block(&bytes[read..], &mut out[written..])
    {
        read += more;
        written += len;
    }
    if read == bytes.len() {
        return (read, written);
    }
    let (more, len) = reference::decode_latin1(&bytes[read..], &mut out[written..]);
    (read + more, written + len)
}

/// Decodes a block or less, except for a leading byte at its end. Decodes nothing if it does not fit or cannot be decoded as a
/// whole.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn decode_block(bytes: &[u8], out: &mut [u8]) -> (usize, usize) {
    let (block, count) = (first_block(bytes), bytes.len().min(BLOCK));
    let block = Bytes64(block);
    if !block.any_high_bit() && out.len() >= count {
        put(block.0, count, out);
        return (count, count);
    }
    let back1 = block.prev::<1>(Bytes64::zero());
    let Some((decoded, leads)) = block.decoded(back1) else { return (0, 0) };
    let len = count - leads.count_ones() as usize;
    if out.len() < len {
        return (0, 0);
    }
    put(decoded.0, len, out);
    (count - (leads >> (BLOCK - 1)) as usize, len)
}

impl Bytes64 {
    arithmetic! { "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt":
        // The characters of either half in UTF-8. `high` are the bytes that are not ASCII.
        fn in_two(vector: Bytes64, high: u64) -> [Bytes64; 2] {
            const LEADS: u64 = u64::MAX / 3;
            // Interleaving works within lanes of 16 bytes: their low halves become the front.
            let halves = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
            let bytes = _mm512_permutexvar_epi64(halves, vector.0);
            let upper = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(0xC0_u8 as i8));
            let [c2, c3] = [0xC2, 0xC3].map(|lead: u8| _mm512_set1_epi8(lead as i8));
            let lead = _mm512_mask_mov_epi8(c2, upper, c3);
            let last = _mm512_mask_sub_epi8(bytes, upper, bytes, _mm512_set1_epi8(0x40));
            let front = _mm512_unpacklo_epi8(lead, last);
            let back = _mm512_unpackhi_epi8(lead, last);
            let needed = [_pdep_u64(high, LEADS) | !LEADS, _pdep_u64(high >> 32, LEADS) | !LEADS];
            [
                Bytes64(_mm512_maskz_compress_epi8(needed[0], front)),
                Bytes64(_mm512_maskz_compress_epi8(needed[1], back)),
            ]
        }
        // The characters in Latin-1, and the leading bytes as a mask; see `to_latin1`. A leading byte before the block is one of a
        // character in Latin-1.
        fn decoded(vector: Bytes64, back1: Bytes64) -> Option<(Bytes64, u64)> {
            let [c0, c2, c3] = [0xC0, 0xC2, 0xC3].map(|lead: u8| _mm512_set1_epi8(lead as i8));
            let others = _mm512_cmplt_epu8_mask(vector.0, c0);
            // Of C2, C3, C0, C1, C4, ... FF: 0, 1, 2, ... 63. Of other bytes: from 64 on.
            let kinds = _mm512_xor_si512(vector.0, c2);
            let unknown = _mm512_cmplt_epu8_mask(
                _mm512_sub_epi8(kinds, _mm512_set1_epi8(2)),
                _mm512_set1_epi8(0x3E),
            );
            let continuing = vector.movemask() & others;
            let misplaced = _mm512_cmpge_epu8_mask(back1.0, c0) ^ continuing;
            if unknown | misplaced != 0 {
                return None;
            }
            let after_c3 = _mm512_cmpeq_epi8_mask(back1.0, c3);
            let bytes = _mm512_mask_add_epi8(vector.0, after_c3, vector.0, _mm512_set1_epi8(0x40));
            Some((Bytes64(_mm512_maskz_compress_epi8(others, bytes)), !others))
        }
    }
}

impl Latin1Block for Bytes64 {
    const ROOM: usize = BLOCK;

    #[inline(always)]
    fn bits(self) -> u64 {
        self.movemask()
    }

    #[inline(always)]
    fn to_utf8(self, room: &mut [u8]) -> usize {
        let high = self.movemask();
        let [front, back] = self.in_two(high);
        let len = 32 + (high as u32).count_ones() as usize;
        generic::store(front, room, 0);
        generic::store(back, room, len);
        BLOCK + high.count_ones() as usize
    }

    #[inline(always)]
    fn to_latin1(self, back1: Self, room: &mut [u8]) -> Option<u64> {
        let (decoded, leads) = self.decoded(back1)?;
        generic::store(decoded, room, 0);
        Some(leads)
    }
}
