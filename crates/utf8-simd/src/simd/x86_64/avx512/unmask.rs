//! Unmasking with AVX-512, alone and together with validation.
//!
//! The validator loads each block again one, two and three bytes earlier. Just after unmasking, these
//! loads would wait for the stores (a store-to-load forwarding stall). Therefore short input is tested in
//! registers: the bytes before those of a block are shuffled out of it and of the block before. For long input,
//! validation follows unmasking at a distance, in one pass over memory.
//!
//! All bytes are unmasked, even after an error. If an error is marked, the validator then finds the first.

use core::arch::x86_64::*;

use crate::simd::generic::{
    Tested, Vector, any_wide, any_widest, backs_of, distance_to_line, first, first_marks,
    first_mut, load, store, test_by,
};
use crate::simd::x86_64::avx2::{load_32, store_32};
use crate::simd::x86_64::avx512::validate::{stride, validate};
use crate::simd::x86_64::avx512::vector::{BLOCK, Bytes64, STRIDE, lanes, load_start, load_within};
use crate::simd::x86_64::sse41::{load_16, store_16};
use crate::simd::{Validated, reference};

/// The distance of validation after unmasking: several blocks more than the store buffer holds.
const DISTANCE: usize = 5 * STRIDE;
/// The length from which keeping the distance pays off.
const LONG: usize = DISTANCE + STRIDE;

/// Unmasks, like the reference, which the compiler vectorises here.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    reference::unmask(bytes, mask);
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn unmask_and_validate(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    match bytes.len() {
        0..=15 => {
            reference::unmask(bytes, mask);
            validate(bytes)
        }
        16..=64 => unmask_and_validate_up_to_64(bytes, mask),
        65..LONG => unmask_and_validate_blocks(bytes, mask),
        _ => unmask_and_validate_long(bytes, mask),
    }
}

/// Returns a vector of the mask, rotated for a position `by` bytes later.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn key(mask: [u8; 4], by: usize) -> Bytes64 {
    Bytes64(_mm512_set1_epi32(rotated(mask, by).cast_signed()))
}

/// Returns the block at `at + by`, unmasked. Bytes outside `bytes` are not zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmasked(bytes: &[u8], mask: [u8; 4], at: usize, by: isize) -> Bytes64 {
    let key = key(mask, at.wrapping_add_signed(by));
    Bytes64(load_within(bytes, at, by)).xor(key)
}

/// 16 to 64 bytes in one register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmask_and_validate_up_to_64(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    debug_assert!((16..=64).contains(&bytes.len()));
    let len = bytes.len();
    let tail = tail(bytes, mask);
    let text = Bytes64(load_start(bytes)).xor(key(mask, 0)).only(lanes(len));
    // The first and the last 16 or 32 bytes overlap. A masked store took longer than all the rest.
    if let Some(last) = bytes.last_chunk() {
        let key = _mm512_castsi512_si256(key(mask, len - 32).0);
        let last = _mm256_xor_si256(load_32(last), key);
        store_32(_mm512_castsi512_si256(text.0), first_mut(bytes));
        store_32(last, last_mut(bytes));
    } else {
        let key = _mm512_castsi512_si128(key(mask, len - 16).0);
        let last = _mm_xor_si128(load_16(last_mut(bytes)), key);
        store_16(_mm512_castsi512_si128(text.0), first_mut(bytes));
        store_16(last, last_mut(bytes));
    }
    if !text.any_high_bit() {
        return Validated::all(len);
    }
    stop(bytes, first_marks(text).only(lanes(len)), tail)
}

/// 64 bytes and more in registers, one after another. The first block determines the test: usually it suffices for
/// the others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmask_and_validate_blocks(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    let tail = tail(bytes, mask);
    let first = unmasked(bytes, mask, 0, 0);
    let errors = if !first.any_high_bit() {
        unmask_and_test::<1>(bytes, mask)
    } else if !any_wide(first) {
        unmask_and_test::<2>(bytes, mask)
    } else if !any_widest(first) {
        unmask_and_test::<3>(bytes, mask)
    } else {
        unmask_and_test::<4>(bytes, mask)
    };
    stop(bytes, errors, tail)
}

/// Unmasks 64 bytes and more, and marks errors. Characters of more than `LONGEST` bytes are marked too.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmask_and_test<const LONGEST: usize>(bytes: &mut [u8], mask: [u8; 4]) -> Bytes64 {
    let key = key(mask, 0);
    let last_at = bytes.len() - BLOCK;
    let last = unmasked(bytes, mask, last_at, 0);
    let rest_at = bytes.len() / BLOCK * BLOCK;
    let inside = lanes(bytes.len() - rest_at);
    let rest = unmasked(bytes, mask, rest_at, 0).only(inside);
    let zero = Bytes64::zero();
    let (mut tested, mut before, mut greatest) = (Tested::with_errors(zero), zero, zero);
    let mut test_next = |block: Bytes64, tested| {
        let backs = backs_of(block, before);
        before = block;
        greatest = greatest.max(block);
        test_by::<_, LONGEST>(block, backs, tested)
    };
    for bytes in bytes.as_chunks_mut::<BLOCK>().0 {
        let block = load(key, bytes, 0).xor(key);
        store(block, bytes, 0);
        tested = test_next(block, tested);
    }
    // What is truncated at the end is no error yet.
    let errors = tested.errors.or(test_next(rest, Tested::with_errors(zero)).errors.only(inside));
    store(last, bytes, last_at);
    let is_longer = match LONGEST {
        2 => any_wide(greatest),
        3 => any_widest(greatest),
        // The test for ASCII marks all other characters, and the full test covers all.
        _ => false,
    };
    if is_longer { zero.splat(0x80) } else { errors }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmask_and_validate_long(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    debug_assert!(bytes.len() >= STRIDE + BLOCK);
    let to_line = distance_to_line(bytes.as_ptr());
    let last = bytes.len() - STRIDE;
    let key = key(mask, to_line);
    reference::unmask(&mut bytes[..to_line], mask);
    let mut unmasked = to_line;
    let mut at = if to_line < 3 { BLOCK } else { to_line };
    let mut errors = Bytes64::zero();
    // Invariant: the bytes before `unmasked`, and no others, are unmasked. Those before `at` have been
    // tested, except the first block.
    loop {
        if let Some(stride) = bytes.get_mut(unmasked..unmasked + STRIDE) {
            for block in stride.as_chunks_mut::<BLOCK>().0 {
                store(load(key, block, 0).xor(key), block, 0);
            }
            unmasked += STRIDE;
            if unmasked < at + STRIDE + DISTANCE {
                continue;
            }
        } else if unmasked < bytes.len() {
            reference::unmask(&mut bytes[unmasked..], rotated(mask, unmasked).to_le_bytes());
            unmasked = bytes.len();
        }
        debug_assert!(at >= 3);
        // SAFETY: `at` is 3 or more, and at most the index of the last stride.
        errors = stride(first(unsafe { bytes.get_unchecked(at - 3..at + STRIDE) }), errors);
        if at == last {
            break;
        }
        at = (at + STRIDE).min(last);
    }
    if errors.or(first_marks(load(errors, bytes, 0))).any_high_bit() {
        validate(bytes)
    } else {
        Validated::all_but_tail(bytes)
    }
}

#[inline(always)]
fn last_mut<const N: usize>(bytes: &mut [u8]) -> &mut [u8; N] {
    bytes.last_chunk_mut().expect("room for a whole vector")
}

/// Returns the last four bytes of `bytes`, unmasked.
#[inline(always)]
fn tail(bytes: &[u8], mask: [u8; 4]) -> u32 {
    let tail = bytes.last_chunk::<4>().map_or(0, |tail| u32::from_le_bytes(*tail));
    tail ^ rotated(mask, bytes.len())
}

/// Returns `mask` for a position `by` bytes later, its first byte lowest. To rotate the array by a variable
/// number took longer than all the rest of a short message.
#[inline]
fn rotated(mask: [u8; 4], by: usize) -> u32 {
    u32::from_le_bytes(mask).rotate_right(8 * (by % 4) as u32)
}

/// Whether no sequence extends beyond these four bytes, the first in the lowest bits.
#[inline(always)]
fn ends_complete(bytes: u32) -> bool {
    let [_, a, b, c] = bytes.to_le_bytes();
    a < 0xF0 && b < 0xE0 && c < 0xC0
}

/// Returns the result for `bytes`, which are unmasked: the first error if one is marked, otherwise the
/// ending that `tail`, the last four bytes, determines.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn stop(bytes: &[u8], errors: Bytes64, tail: u32) -> Validated {
    if errors.any_high_bit() {
        validate(bytes)
    } else if ends_complete(tail) {
        Validated::all(bytes.len())
    } else {
        Validated::all_but_tail(bytes)
    }
}
