//! What is in a block, with AVX-512: the first byte outside a range, the end of a line of ASCII, and all ill-formed parts.
//! Comparisons return masks.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use core::ops::RangeInclusive;

use crate::simd::generic::{self, Vector, first};
use crate::simd::results::BlockErrors;
use crate::simd::x86_64::avx512::vector::{BLOCK, Bytes64, STRIDE, lanes, load, load_start};

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn find_outside(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
    let (start, width) = (*range.start(), range.end().wrapping_sub(*range.start()));
    let start = _mm512_set1_epi8(start as i8);
    let width = _mm512_set1_epi8(width as i8);
    let outside = |block| _mm512_cmpgt_epu8_mask(_mm512_sub_epi8(block, start), width);

    let mut rest = bytes;
    while let Some((stride, after)) = rest.split_first_chunk::<STRIDE>() {
        let blocks = [0, 1, 2, 3].map(|n| load(first(&stride[n * BLOCK..])));
        let [a, b, c, d] = blocks.map(|block| _mm512_sub_epi8(block, start));
        let greatest = _mm512_max_epu8(_mm512_max_epu8(a, b), _mm512_max_epu8(c, d));
        if _mm512_cmpgt_epu8_mask(greatest, width) != 0 {
            break;
        }
        rest = after;
    }
    while !rest.is_empty() {
        let len = rest.len().min(BLOCK);
        let found = outside(load_start(rest)) & lanes(len);
        if found != 0 {
            return Some(bytes.len() - rest.len() + found.trailing_zeros() as usize);
        }
        rest = &rest[len..];
    }
    None
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn ascii_before(ends: [u8; 2], input: &[u8]) -> usize {
    if input.len() >= BLOCK {
        return generic::ascii_before(Bytes64::zero(), ends, input);
    }
    let block = Bytes64(load_start(input));
    let found = block.movemask() | ends_in(ends, block);
    input.len().min(found.trailing_zeros() as usize)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn copy_before(
    ends: [u8; 2],
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    generic::copy_before(Bytes64::zero(), ends, input, out)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn ends_in(needles: [u8; 2], block: Bytes64) -> u64 {
    let [a, b] = needles.map(|needle| _mm512_set1_epi8(needle as i8));
    _mm512_cmpeq_epi8_mask(block.0, a) | _mm512_cmpeq_epi8_mask(block.0, b)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn byte_masks(blocks: &[[u8; 64]], needles: [u8; 2], masks: &mut [u64]) {
    for (block, mask) in blocks.iter().zip(masks) {
        *mask = ends_in(needles, Bytes64(load(block)));
    }
}

/// Finds the ill-formed parts; see [`Level::block_errors`](crate::simd::Level::block_errors).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn block_errors(block: &[u8; BLOCK]) -> Option<BlockErrors> {
    generic::block_errors(Bytes64::zero(), block)
}
