//! Continuation bytes, and storing units.

use core::arch::x86_64::*;

use crate::kernel::x86_64::avx512::validate::{BLOCK, lanes, store};

/// The least byte, as a signed number, that is not a continuation byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn first_not_continuing() -> __m512i {
    _mm512_set1_epi8(0xC0_u8 as i8)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn continuing(bytes: __m512i) -> u64 {
    _mm512_cmplt_epi8_mask(bytes, first_not_continuing())
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn not_continuing(bytes: __m512i) -> u64 {
    _mm512_cmpge_epi8_mask(bytes, first_not_continuing())
}

/// Writes the first `units` units of a vector, or all if it has fewer. A unit has `SIZE` bytes.
///
/// # Safety
///
/// - These units can be written at `out`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) unsafe fn store_units<const SIZE: usize>(vector: __m512i, units: usize, out: *mut u8) {
    if units >= BLOCK / SIZE {
        // SAFETY: all of the vector can be written.
        return unsafe { store(vector, out) };
    }
    let lanes = lanes(units);
    // SAFETY: the mask lets through the units that can be written; the others are not accessed.
    unsafe {
        if SIZE == 4 {
            _mm512_mask_storeu_epi32(out.cast(), lanes as u16, vector);
        } else {
            _mm512_mask_storeu_epi16(out.cast(), lanes as u32, vector);
        }
    }
}
