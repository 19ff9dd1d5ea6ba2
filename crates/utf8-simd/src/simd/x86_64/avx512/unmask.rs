//! Unmasking with AVX-512, alone and together with validation.
//!
//! The validator loads each block again one, two and three bytes earlier. Just after unmasking, these
//! loads would wait for the stores (a store-to-load forwarding stall). Therefore short input is tested in
//! registers: the bytes before those of a block are shuffled out of it and of the block before. For long input,
//! validation follows unmasking at a distance, in one pass over memory.
//!
//! All bytes are unmasked, even after an error. If an error is marked, the validator then finds the first.

use core::arch::x86_64::*;

use crate::simd::generic::{distance_to_line, first, first_mut};
use crate::simd::reference;
use crate::simd::results::Validated;
use crate::simd::x86_64::avx2::{load_32, store_32};
use crate::simd::x86_64::avx512::validate::{
    BACK, BLOCK, OR3, Place, Reach, STRIDE, any_high_bit, ends_complete, first_errors, high, lanes,
    load, load_start, load_within, prev, store, table, test, test_medium_bytes, test_narrow_bytes,
    validate,
};
use crate::simd::x86_64::sse41::{load_16, store_16};

/// The distance of validation after unmasking: several blocks more than the store buffer holds.
const DISTANCE: usize = 5 * STRIDE;
/// The length from which keeping the distance pays off.
const LONG: usize = DISTANCE + STRIDE;

/// Unmasks, like the reference, which the compiler vectorises here.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    reference::unmask(bytes, mask);
}

/// Unmasks and validates; see
/// [`Level::unmask_and_validate`](crate::simd::Level::unmask_and_validate).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn unmask_and_validate(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    match bytes.len() {
        0..=15 => {
            reference::unmask(bytes, mask);
            validate(bytes)
        }
        16..=64 => unmask_and_validate_up_to_64(bytes, mask),
        65..=128 => unmask_and_validate_up_to_128(bytes, mask),
        129..LONG => unmask_and_validate_blocks(bytes, mask),
        _ => unmask_and_validate_long(bytes, mask),
    }
}

/// A mask at some phase, repeated.
#[derive(Clone, Copy)]
struct Key(__m512i);

impl Key {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn new(mask: [u8; 4]) -> Self {
        Self(_mm512_set1_epi32(i32::from_ne_bytes(mask)))
    }

    /// The mask, rotated for a position `by` bytes later.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn ahead(mask: [u8; 4], by: usize) -> Self {
        Self::new(rotated(mask, by).to_le_bytes())
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn unmask(self, block: __m512i) -> __m512i {
        _mm512_xor_si512(block, self.0)
    }
}

/// 16 to 64 bytes in one register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmask_and_validate_up_to_64(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    debug_assert!((16..=64).contains(&bytes.len()));
    let len = bytes.len();
    let inside = lanes(len);
    let tail = tail(bytes, mask);
    let text = _mm512_maskz_mov_epi8(inside, Key::new(mask).unmask(load_start(bytes)));
    // The first and the last 16 or 32 bytes overlap. A masked store took longer than all the rest.
    if let Some(last) = bytes.last_chunk() {
        let key = _mm512_castsi512_si256(Key::ahead(mask, len - 32).0);
        let last = _mm256_xor_si256(load_32(last), key);
        store_32(_mm512_castsi512_si256(text), first_mut(bytes));
        store_32(last, last_mut(bytes));
    } else {
        let key = _mm512_castsi512_si128(Key::ahead(mask, len - 16).0);
        let last = _mm_xor_si128(load_16(last_mut(bytes)), key);
        store_16(_mm512_castsi512_si128(text), first_mut(bytes));
        store_16(last, last_mut(bytes));
    }
    if !any_high_bit(text) {
        return Validated::all(len);
    }
    let errors = _mm512_maskz_mov_epi8(inside, first_errors(text));
    stop(bytes, errors, tail)
}

/// 65 to 128 bytes in two registers that overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmask_and_validate_up_to_128(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    debug_assert!((65..=128).contains(&bytes.len()));
    let last_at = bytes.len() - BLOCK;
    let tail = tail(bytes, mask);
    let first = Key::new(mask).unmask(load_start(bytes));
    let last = Key::ahead(mask, last_at).unmask(load_within(bytes, last_at, 0));
    // Loaded before any of the bytes from `last_at` on are written.
    let [back1, back2, back3] = if last_at >= 3 {
        [
            Key::ahead(mask, last_at - 1).unmask(load_within(bytes, last_at, -1)),
            Key::ahead(mask, last_at - 2).unmask(load_within(bytes, last_at, -2)),
            Key::ahead(mask, last_at - 3).unmask(load_within(bytes, last_at, -3)),
        ]
    } else {
        prev(_mm512_setzero_si512(), last)
    };
    store(first, first_mut(bytes));
    store(last, last_mut(bytes));
    if !any_high_bit(_mm512_or_si512(first, last)) {
        return Validated::all(bytes.len());
    }
    let errors = test(last, back1, back2, back3, _mm512_setzero_si512());
    // With zeros before it, the first bytes of the block may be marked wrongly; the first block contains
    // them, too.
    let errors = if last_at >= 3 { errors } else { _mm512_maskz_mov_epi8(!0b111, errors) };
    stop(bytes, _mm512_or_si512(errors, first_errors(first)), tail)
}

/// 64 bytes and more in registers, one after another. The first block determines the test: usually it suffices for
/// the others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmask_and_validate_blocks(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    let tail = tail(bytes, mask);
    let first = Key::new(mask).unmask(load_start(bytes));
    let errors = if !any_high_bit(first) {
        unmask_and_test::<1>(bytes, mask)
    } else {
        match Reach::of(first) {
            Reach::Two => unmask_and_test::<2>(bytes, mask),
            Reach::Three => unmask_and_test::<3>(bytes, mask),
            Reach::Four => unmask_and_test::<4>(bytes, mask),
        }
    };
    stop(bytes, errors, tail)
}

/// Unmasks 64 bytes and more, and marks errors. Characters of more than `LONGEST` bytes are marked too.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmask_and_test<const LONGEST: usize>(bytes: &mut [u8], mask: [u8; 4]) -> __m512i {
    let key = Key::new(mask);
    let last_at = bytes.len() - BLOCK;
    let last = Key::ahead(mask, last_at).unmask(load_within(bytes, last_at, 0));
    let rest_at = bytes.len() / BLOCK * BLOCK;
    let inside = lanes(bytes.len() - rest_at);
    let rest = _mm512_maskz_mov_epi8(inside, key.unmask(load_within(bytes, rest_at, 0)));
    let zero = _mm512_setzero_si512();
    let (mut errors, mut before, mut greatest) = (zero, zero, zero);
    let mut test_next = |block, errors| {
        let [back1, back2, back3] = prev(before, block);
        before = block;
        greatest = _mm512_max_epu8(greatest, block);
        match LONGEST {
            1 => _mm512_or_si512(errors, block),
            2 => test_narrow_bytes(block, back1, errors),
            3 => test_medium_bytes(block, back1, back2, errors),
            _ => test(block, back1, back2, back3, errors),
        }
    };
    for block in bytes.as_chunks_mut::<BLOCK>().0 {
        let unmasked = key.unmask(load(block));
        store(unmasked, block);
        errors = test_next(unmasked, errors);
    }
    // What is truncated at the end is no error yet.
    errors = _mm512_or_si512(errors, _mm512_maskz_mov_epi8(inside, test_next(rest, zero)));
    if let Some(end) = bytes.last_chunk_mut() {
        store(last, end);
    }
    // The test for ASCII marks all other characters, and the full test covers all.
    let is_longer = match (LONGEST, Reach::of(greatest)) {
        (2, reach) => !matches!(reach, Reach::Two),
        (3, reach) => matches!(reach, Reach::Four),
        _ => false,
    };
    if is_longer { high() } else { errors }
}

/// Long inputs, in strides aligned to cache lines.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn unmask_and_validate_long(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    debug_assert!(bytes.len() >= STRIDE + BLOCK);
    let to_line = distance_to_line(bytes.as_ptr());
    let last = bytes.len() - STRIDE;
    let key = Key::ahead(mask, to_line);
    reference::unmask(&mut bytes[..to_line], mask);
    let mut unmasked = to_line;
    let mut at = if to_line < 4 { BLOCK } else { to_line };
    let mut errors = _mm512_setzero_si512();
    // Invariant: the bytes before `unmasked`, and no others, are unmasked. Those before `at` have been
    // tested, except the first block.
    loop {
        if let Some(stride) = bytes.get_mut(unmasked..unmasked + STRIDE) {
            for block in stride.as_chunks_mut().0 {
                store(key.unmask(load(block)), block);
            }
            unmasked += STRIDE;
            if unmasked < at + STRIDE + DISTANCE {
                continue;
            }
        } else if unmasked < bytes.len() {
            reference::unmask(&mut bytes[unmasked..], rotated(mask, unmasked).to_le_bytes());
            unmasked = bytes.len();
        }
        debug_assert!(at >= 4);
        // SAFETY: `at` is 4 or more, and at most the index of the last stride.
        errors = stride(first(unsafe { bytes.get_unchecked(at - 4..at + STRIDE) }), errors);
        if at == last {
            break;
        }
        at = (at + STRIDE).min(last);
    }
    let first_errors = first_errors(load(first(bytes)));
    if any_high_bit(_mm512_or_si512(errors, first_errors)) {
        validate(bytes)
    } else {
        Validated::all_but_tail(bytes)
    }
}

/// Adds to `errors` those of the 256 bytes after the first four of `bytes`, and of a character before them that ASCII
/// truncates.
///
/// Like the test of the validator, but with shuffles instead of some loads, since unmasking already uses the
/// load ports. The two functions are separate: a shared one was not inlined in either caller.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn stride(bytes: &[u8; 4 + STRIDE], errors: __m512i) -> __m512i {
    let [at_a, at_b, at_c, at_d] =
        [0, 1, 2, 3].map(|n| Place::<{ 4 + BLOCK }>(first(&bytes[n * BLOCK..])));
    let [a, b, c, d] = [at_a.back::<0>(), at_b.back::<0>(), at_c.back::<0>(), at_d.back::<0>()];
    let back3 = at_a.back::<3>();
    let greatest = _mm512_max_epu8(_mm512_max_epu8(a, b), _mm512_max_epu8(c, d));
    if !any_high_bit(greatest) {
        let before = u32::from_le_bytes(*first(bytes));
        return if ends_complete(before) { errors } else { high() };
    }
    let greatest = _mm512_max_epu8(greatest, back3);
    let zero = _mm512_setzero_si512();
    let [a, b, c, d] = match Reach::of(greatest) {
        Reach::Two => [
            test_narrow_bytes(a, at_a.back::<1>(), zero),
            test_narrow_bytes(b, at_b.back::<1>(), zero),
            test_narrow_bytes(c, at_c.back::<1>(), zero),
            test_narrow_bytes(d, at_d.back::<1>(), zero),
        ],
        Reach::Three => [
            test_medium_bytes(a, at_a.back::<1>(), at_a.back::<2>(), zero),
            test_medium_bytes(b, at_b.back::<1>(), at_b.back::<2>(), zero),
            test_medium_bytes(c, at_c.back::<1>(), at_c.back::<2>(), zero),
            test_medium_bytes(d, at_d.back::<1>(), at_d.back::<2>(), zero),
        ],
        Reach::Four => [
            test(a, at_a.back::<1>(), at_a.back::<2>(), back3, zero),
            test(b, back1(a, b), at_b.back::<2>(), at_b.back::<3>(), zero),
            test(c, back1(b, c), at_c.back::<2>(), at_c.back::<3>(), zero),
            test(d, back1(c, d), at_d.back::<2>(), at_d.back::<3>(), zero),
        ],
    };
    let abc = _mm512_ternarylogic_epi64::<OR3>(a, b, c);
    _mm512_ternarylogic_epi64::<OR3>(errors, abc, d)
}

/// `block` moved back by one byte; `before` is the byte before it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn back1(before: __m512i, block: __m512i) -> __m512i {
    _mm512_permutex2var_epi8(before, table(&BACK), block)
}

/// The last `N` bytes.
///
/// # Panics
///
/// If there are fewer.
#[inline(always)]
fn last_mut<const N: usize>(bytes: &mut [u8]) -> &mut [u8; N] {
    bytes.last_chunk_mut().expect("room for a whole vector")
}

/// Returns the last four bytes of `bytes`, unmasked.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
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

/// Returns the result for `bytes`, which are unmasked: the first error if one is marked, otherwise the
/// ending that `tail`, the last four bytes, determines.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn stop(bytes: &[u8], errors: __m512i, tail: u32) -> Validated {
    if any_high_bit(errors) {
        validate(bytes)
    } else if ends_complete(tail) {
        Validated::all(bytes.len())
    } else {
        Validated::all_but_tail(bytes)
    }
}
