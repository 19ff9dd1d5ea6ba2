//! Validation, and the loads and stores that other operations share.
//!
//! The test of a block is that of `generic`, in fewer instructions: `vpternlogd` combines three vectors, and `vpermb` picks
//! an addend by the low six bits of the byte before, which number the leading bytes C0..=FF. `vpavgb` runs on four ports of a
//! Zen 4 where a saturating subtraction runs on two.
//!
//! A block depends only on the bytes before it, so blocks can overlap: the last block of an input is aligned to its end. The
//! maximum of 256 bytes decides whether they are ASCII, need the full test, or a shorter one.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::vector::{BLOCK, Bytes64, STRIDE, load_start};
use crate::simd::generic::{
    self, Tested, Vector, Verdict, any_wide, any_widest, backs_of, distance_to_line, error_near,
    first, first_marks, load, test_by,
};
use crate::simd::results::Validated;
use crate::simd::x86_64::avx2::{Bytes32, load_32};

/// Strides between two tests of the accumulated errors.
const GROUP: usize = 4;

/// Finds how far `input` is well-formed; see [`Level::validate`](crate::simd::Level::validate).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn validate(input: &[u8]) -> Validated {
    // Not in the order of lengths, because each comparison that fails is a jump.
    let look = match input.len() {
        64 => validate_block(input),
        320.. => return validate_long(input),
        ..64 => return validate_up_to_63(input),
        67..=128 => generic::validate_halves::<_, 64>(Bytes64::zero(), input),
        129..=256 => generic::validate_halves::<_, 128>(Bytes64::zero(), input),
        257.. => generic::validate_blocks::<_, 319>(Bytes64::zero(), input),
        // A block begins three bytes after the start or later.
        _ => generic::validate_halves::<_, 64>(Bytes32::zero(), input),
    };
    match look {
        Ok(found) => found,
        Err(from) => locate_error(input, from),
    }
}

#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn locate_error(input: &[u8], from: usize) -> Validated {
    generic::locate_error(Bytes64::zero(), input, from)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn valid_prefix_len(input: &[u8]) -> usize {
    generic::valid_prefix_len(Bytes64::zero(), input)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn copy_valid_prefix(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    generic::copy_valid_prefix(Bytes64::zero(), input, out)
}

/// Up to 63 bytes in one register, with zeros before and after them.
///
/// The test for ASCII has no branch on the length: the length of messages is hard to predict.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn validate_up_to_63(input: &[u8]) -> Validated {
    debug_assert!(input.len() < BLOCK);
    let text = Bytes64(load_start(input));
    if !text.any_high_bit() {
        return Validated::all(input.len());
    }
    // The zeros after the input mark an incomplete sequence as an error.
    let marks = match input.len() {
        ..32 => first_marks_of_half(_mm512_castsi512_si256(text.0)).into(),
        _ => first_marks(text).movemask(),
    };
    if marks == 0 {
        return Validated::all(input.len());
    }
    match _bzhi_u64(marks, input.len() as u32) {
        0 => Validated::all_but_tail(input),
        inside => error_near(input, inside.trailing_zeros() as usize),
    }
}

/// [`first_marks`] of half a block, as a mask.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn first_marks_of_half(text: __m256i) -> u32 {
    let [back1, back2, back3] = backs_of(Bytes32(text), Bytes32::zero()).map(|back| back.0);
    let after_lead = _mm256_avg_epu8(back1, _mm256_set1_epi8(0x3F));
    let third = _mm256_avg_epu8(back2, _mm256_set1_epi8(0x1F));
    let fourth = _mm256_avg_epu8(back3, _mm256_set1_epi8(0x0F));
    let here = _mm256_adds_epi8(text, _mm256_set1_epi8(0x40));
    let second = Bytes64(_mm512_castsi256_si512(back1)).second_addends();
    let pair = _mm256_add_epi8(here, _mm512_castsi512_si256(second.0));
    let wanted = _mm256_ternarylogic_epi64::<0xFE>(after_lead, third, fourth);
    let errors = _mm256_xor_si256(wanted, here);
    let errors = _mm256_ternarylogic_epi64::<0xF4>(errors, after_lead, pair);
    _mm256_movemask_epi8(errors) as u32
}

/// 64 bytes, loaded in two halves. If they were just copied, in smaller parts, the load of a whole block would wait for the
/// stores. Rows `read/ascii/64`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn validate_block(input: &[u8]) -> Verdict {
    let (low, high) = (load_32(first(input)), load_32(first(&input[BLOCK / 2..])));
    if _mm256_movemask_epi8(_mm256_or_si256(low, high)) == 0 {
        return Ok(Validated::all(BLOCK));
    }
    let text = Bytes64(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high));
    generic::conclude(input, generic::test_first(text), text, text)
}

/// 320 bytes and more in strides aligned to cache lines; the last stride is aligned to the end of the
/// input.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn validate_long(input: &[u8]) -> Validated {
    debug_assert!(input.len() >= STRIDE + BLOCK);
    let to_line = distance_to_line(input.as_ptr());
    let last = input.len() - STRIDE;
    let any = Bytes64::zero();
    let mut at = 0;
    // Skips leading ASCII, which has no errors.
    // SAFETY: `at` is at most the index of the last stride.
    while generic::is_ascii(any, first(unsafe { input.get_unchecked(at..at + STRIDE) })) {
        if at == last {
            return Validated::all(input.len());
        }
        at = if at == 0 { STRIDE - BLOCK + to_line } else { at + STRIDE }.min(last);
    }
    if let Some(found) = generic::stray_after_ascii(any, input, at) {
        return found;
    }
    let mut errors = any;
    if at == 0 {
        errors = first_marks(load(any, input, 0));
        if errors.any_high_bit() {
            return locate_error(input, 0);
        }
        at = if to_line < 3 { BLOCK } else { to_line };
    }
    let mut tested = at;
    let mut strides = 0;
    // Invariant: all bytes before `at` have been tested; no error is marked before `tested`.
    loop {
        // SAFETY: `at` is 3 or more, and at most the index of the last stride.
        errors = stride(first(unsafe { input.get_unchecked(at - 3..at + STRIDE) }), errors);
        // The first test is early, so that dense errors do not cost a whole group each.
        if strides % GROUP == 0 || at == last {
            if errors.any_high_bit() {
                return locate_error(input, tested);
            }
            if at == last {
                return Validated::all_but_tail(input);
            }
            tested = at;
        }
        strides += 1;
        at = (at + STRIDE).min(last);
    }
}

/// Adds to `errors` those of the 256 bytes after the first three of `bytes`.
// Always inlined: a call would return the errors through memory, once for each stride. Rows `event-stream-4k/cjk/1460`.
#[inline(always)]
pub(super) fn stride(bytes: &[u8; 3 + STRIDE], errors: Bytes64) -> Bytes64 {
    let block = |n: usize, back: usize| load(errors, bytes, 3 + n * BLOCK - back);
    let [a, b, c, d] = [block(0, 0), block(1, 0), block(2, 0), block(3, 0)];
    // Includes the bytes before, whose sequences can extend into this stride.
    let greatest = a.max(b).max(c.max(d)).max(block(0, 3));
    if !greatest.any_high_bit() {
        return errors;
    }
    if !any_wide(greatest) {
        test_stride::<2>(bytes, errors)
    } else if !any_widest(greatest) {
        test_stride::<3>(bytes, errors)
    } else {
        test_stride::<4>(bytes, errors)
    }
}

/// [`stride`] for characters of at most `LONGEST` bytes.
#[inline(always)]
fn test_stride<const LONGEST: usize>(bytes: &[u8; 3 + STRIDE], errors: Bytes64) -> Bytes64 {
    let a = test_block::<LONGEST>(first(bytes), errors);
    let b = test_block::<LONGEST>(first(&bytes[BLOCK..]), errors);
    let c = test_block::<LONGEST>(first(&bytes[2 * BLOCK..]), errors);
    let d = test_block::<LONGEST>(first(&bytes[3 * BLOCK..]), errors);
    errors.or3(a.or3(b, c), d)
}

/// The errors of a block after three bytes.
#[inline(always)]
fn test_block<const LONGEST: usize>(bytes: &[u8; 3 + BLOCK], any: Bytes64) -> Bytes64 {
    let backs = [load(any, bytes, 2), load(any, bytes, 1), load(any, bytes, 0)];
    let none = Tested::with_errors(any.splat(0));
    test_by::<_, LONGEST>(load(any, bytes, 3), backs, none).errors
}
