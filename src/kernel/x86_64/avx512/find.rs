//! The first byte outside a range, with AVX-512.

use core::arch::x86_64::*;
use core::ops::RangeInclusive;

use crate::kernel::x86_64::avx512::validate::{BLOCK, STRIDE, lanes, load_at, load_within};

/// Finds a byte; see [`Kernel::find_outside`](crate::kernel::Kernel::find_outside).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::kernel) fn find_outside(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
    let (start, width) = (*range.start(), range.end().wrapping_sub(*range.start()));
    let start = _mm512_set1_epi8(start as i8);
    let width = _mm512_set1_epi8(width as i8);
    let outside = |block| _mm512_cmpgt_epu8_mask(_mm512_sub_epi8(block, start), width);

    let mut at = 0;
    while bytes.len() - at >= STRIDE {
        // SAFETY: there are 256 bytes and more.
        let blocks = [0, 1, 2, 3].map(|n| unsafe { load_at(bytes.as_ptr().add(at + n * BLOCK)) });
        let [a, b, c, d] = blocks.map(|block| _mm512_sub_epi8(block, start));
        let greatest = _mm512_max_epu8(_mm512_max_epu8(a, b), _mm512_max_epu8(c, d));
        if _mm512_cmpgt_epu8_mask(greatest, width) != 0 {
            break;
        }
        at += STRIDE;
    }
    while at < bytes.len() {
        let inside = lanes((bytes.len() - at).min(BLOCK));
        let found = outside(load_within(bytes, at, 0)) & inside;
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize);
        }
        at += BLOCK;
    }
    None
}
