//! What is in a block, with AVX-512: the first byte outside a range, the end of a line and the text before it, and all
//! ill-formed parts. Comparisons return masks.
//!
//! The end of a line is found and the text before it validated in one pass. The length of lines is hard to predict, and a
//! branch misprediction costs as much as several blocks. Therefore several blocks are tested at once, and masks show which
//! of them contains the end.

use core::arch::x86_64::*;
use core::ops::RangeInclusive;

use crate::simd::generic::{self, Tested, Vector, backs_of, first, test_full};
use crate::simd::results::BlockErrors;
use crate::simd::x86_64::avx512::vector::{
    BLOCK, Bytes64, STRIDE, lanes, load, load_start, load_within,
};

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
pub(in crate::simd) fn text_before(end: u8, input: &[u8]) -> usize {
    let found = |at| {
        let block = Bytes64(load_within(input, at, 0));
        block.movemask() | ends_in(end, block)
    };
    let (first, second) = (found(0), found(BLOCK));
    let mut at = if first == 0 { BLOCK } else { 0 };
    let mut found_here = if first == 0 { second } else { first };
    while found_here == 0 && at + BLOCK < input.len() {
        at += BLOCK;
        found_here = found(at);
    }
    let ascii = input.len().min(at + found_here.trailing_zeros() as usize);
    match input.get(ascii) {
        Some(&byte) if byte != end => wide(end, input).unwrap_or(ascii),
        _ => ascii,
    }
}

/// Finds the first `end`, if all bytes before it are well-formed.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn wide(end: u8, input: &[u8]) -> Option<usize> {
    let mut before = Bytes64::zero();
    let mut at = 0;
    while at < input.len() {
        let blocks = [0, 1, 2, 3].map(|i| Bytes64(load_within(input, at + i * BLOCK, 0)));
        let [a, b, c, d] = blocks;
        let ends = blocks.map(|block| ends_in(end, block));
        let errors = [errors(before, a), errors(a, b), errors(b, c), errors(c, d)];
        // An error counts up to the first `end`. One at `end` itself is a character that `end` truncates.
        let mut open = true;
        let mut wrong = 0;
        let mut len = 0;
        for (ends, errors) in ends.into_iter().zip(errors) {
            let up_to_end = ends ^ ends.wrapping_sub(1);
            wrong |= if open { errors & up_to_end } else { 0 };
            len += if open { ends.trailing_zeros() as usize } else { 0 };
            open &= ends == 0;
        }
        if wrong != 0 {
            return None;
        }
        if !open {
            return Some(at + len).filter(|&len| len < input.len());
        }
        before = d;
        at += STRIDE;
    }
    None
}

/// The errors of a block that follows another.
#[inline(always)]
fn errors(before: Bytes64, block: Bytes64) -> u64 {
    test_full(block, backs_of(block, before), Tested::with_errors(block.splat(0)))
        .marks()
        .movemask()
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn ends_in(end: u8, block: Bytes64) -> u64 {
    _mm512_cmpeq_epi8_mask(block.0, _mm512_set1_epi8(end as i8))
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn byte_masks(blocks: &[[u8; 64]], needles: [u8; 2], masks: &mut [u64]) {
    let [a, b] = needles.map(|needle| _mm512_set1_epi8(needle as i8));
    for (block, mask) in blocks.iter().zip(masks) {
        let block = load(block);
        *mask = _mm512_cmpeq_epi8_mask(block, a) | _mm512_cmpeq_epi8_mask(block, b);
    }
}

/// Finds the ill-formed parts; see [`Level::block_errors`](crate::simd::Level::block_errors).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn block_errors(block: &[u8; BLOCK]) -> Option<BlockErrors> {
    generic::block_errors(Bytes64::zero(), block)
}
