//! Unmasking with AVX-512, alone and in one pass with validation.
//!
//! The validator loads a block again one, two and three bytes earlier. Here those bytes may have been
//! unmasked in memory already, or not. So no block is written before all that overlap with it in the
//! same stride have been loaded, and unmasked in registers; and what stands before a stride is taken
//! from the register it was in. (Which also spares waiting for what has only just been written.)
//!
//! Everything is unmasked, whatever is found. If there is an error anywhere, the validator then looks
//! for the first.

use core::arch::x86_64::*;

use super::{
    Aligned, BACK, BLOCK, STRIDE, any_high, behind, ends_complete, first_errors, high, lanes, load,
    load_within, narrow_test, store, table, test,
};
use crate::kernel::{Stop, unmask};

/// Unmasks; see [`Kernel::unmask`](super::super::Kernel::unmask).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::kernel) fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    let key = Key::new(mask);
    let (blocks, rest) = bytes.as_chunks_mut::<BLOCK>();
    for block in blocks {
        let at = block.as_mut_ptr();
        // SAFETY: `block` has 64 bytes.
        unsafe { store(key.unmask(load(at)), at) };
    }
    unmask::unmask(rest, mask);
}

/// Unmasks and validates; see
/// [`Kernel::unmask_and_validate`](super::super::Kernel::unmask_and_validate).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::kernel) fn unmask_and_validate(bytes: &mut [u8], mask: [u8; 4]) -> Stop {
    match bytes.len() {
        0..=15 => {
            unmask::unmask(bytes, mask);
            super::validate(bytes)
        }
        16..=64 => up_to_64(bytes, mask),
        65..=128 => up_to_128(bytes, mask),
        _ => long(bytes, mask),
    }
}

/// A mask at some phase, over and over.
#[derive(Clone, Copy)]
struct Key(__m512i);

impl Key {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn new(mask: [u8; 4]) -> Self {
        Self(_mm512_set1_epi32(i32::from_ne_bytes(mask)))
    }

    /// The key for what stands `by` bytes further on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    fn ahead(mut mask: [u8; 4], by: usize) -> Self {
        mask.rotate_left(by % 4);
        Self::new(mask)
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
fn up_to_64(bytes: &mut [u8], mask: [u8; 4]) -> Stop {
    debug_assert!((16..=64).contains(&bytes.len()));
    let inside = lanes(bytes.len());
    let tail = tail(bytes, mask);
    let text = _mm512_maskz_mov_epi8(inside, Key::new(mask).unmask(load_within(bytes, 0, 0)));
    // SAFETY: the mask lets through `bytes.len()` lanes; the others are not accessed.
    unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), inside, text) };
    if !any_high(text) {
        return Stop::clean(bytes.len());
    }
    let errors = _mm512_maskz_mov_epi8(inside, first_errors(text));
    stop(bytes, errors, tail)
}

/// 65 to 128 bytes in two registers that overlap.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn up_to_128(bytes: &mut [u8], mask: [u8; 4]) -> Stop {
    debug_assert!((65..=128).contains(&bytes.len()));
    let last_at = bytes.len() - BLOCK;
    let tail = tail(bytes, mask);
    let first = Key::new(mask).unmask(load_within(bytes, 0, 0));
    let last = Key::ahead(mask, last_at).unmask(load_within(bytes, last_at, 0));
    // What is loaded from before `last_at` on, before any of it is written.
    let [back1, back2, back3] = if last_at >= 3 {
        [
            Key::ahead(mask, last_at - 1).unmask(load_within(bytes, last_at, -1)),
            Key::ahead(mask, last_at - 2).unmask(load_within(bytes, last_at, -2)),
            Key::ahead(mask, last_at - 3).unmask(load_within(bytes, last_at, -3)),
        ]
    } else {
        behind(_mm512_setzero_si512(), last)
    };
    let at = bytes.as_mut_ptr();
    // SAFETY: the first and the last 64 bytes are within `bytes`, which has more.
    unsafe {
        store(first, at);
        store(last, at.add(last_at));
    }
    if !any_high(_mm512_or_si512(first, last)) {
        return Stop::clean(bytes.len());
    }
    let errors = test(last, back1, back2, back3, _mm512_setzero_si512());
    // With zeros in front of it the block's first bytes may seem wrong; they are in the first as well.
    let errors = if last_at >= 3 { errors } else { _mm512_maskz_mov_epi8(!0b111, errors) };
    stop(bytes, _mm512_or_si512(errors, first_errors(first)), tail)
}

/// 129 bytes and more, in strides laid along cache lines.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn long(bytes: &mut [u8], mask: [u8; 4]) -> Stop {
    debug_assert!(bytes.len() > 2 * BLOCK);
    let tail = tail(bytes, mask);
    let len = bytes.len();
    // The bytes up to the first cache line, as a block that ends with them.
    let head = BLOCK - bytes.as_ptr() as usize % BLOCK;
    let key = Key::ahead(mask, head);
    let backs =
        [Key::ahead(mask, head + 3), Key::ahead(mask, head + 2), Key::ahead(mask, head + 1)];
    let inside = !lanes(BLOCK - head);
    let block = key.unmask(load_within(bytes, head, -(BLOCK as isize)));
    let mut before = _mm512_maskz_mov_epi8(inside, block);
    let at = bytes.as_mut_ptr().wrapping_add(head).wrapping_sub(BLOCK);
    // SAFETY: the mask lets through the last `head` lanes, from the first of the bytes on.
    unsafe { _mm512_mask_storeu_epi8(at.cast(), inside, before) };
    let mut errors = first_errors(before);
    let mut at = head;
    // Invariant: the bytes before `at`, and no others, are unmasked in memory and have been tested;
    // the last 64 of them, or zeros where there are fewer, are in `before`.
    while len - at >= STRIDE {
        // SAFETY: 256 bytes are left.
        (before, errors) =
            unsafe { stride(bytes.as_mut_ptr().add(at), before, key, backs, errors) };
        at += STRIDE;
    }
    while at < len {
        let inside = lanes((len - at).min(BLOCK));
        let block = _mm512_maskz_mov_epi8(inside, key.unmask(load_within(bytes, at, 0)));
        let [back1, back2, back3] = behind(before, block);
        let found = test(block, back1, back2, back3, _mm512_setzero_si512());
        errors = _mm512_or_si512(errors, _mm512_maskz_mov_epi8(inside, found));
        // SAFETY: the mask lets through the bytes that are left, 64 at the most.
        unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().add(at).cast(), inside, block) };
        before = block;
        at += BLOCK;
    }
    stop(bytes, errors, tail)
}

/// Unmasks 256 bytes, with `before` before them, and adds their errors to `errors`. Returns the last
/// 64 of them, and the errors.
///
/// # Safety
///
/// - 256 bytes can be read and written at `at`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn stride(
    at: *mut u8,
    before: __m512i,
    key: Key,
    backs: [Key; 3],
    errors: __m512i,
) -> (__m512i, __m512i) {
    // SAFETY: four blocks from `at` on can be read, as the caller promises.
    let [a, b, c, d] =
        unsafe { [load(at), load(at.add(64)), load(at.add(128)), load(at.add(192))] };
    let [a, b, c, d] = [key.unmask(a), key.unmask(b), key.unmask(c), key.unmask(d)];
    let greatest = _mm512_max_epu8(_mm512_max_epu8(a, b), _mm512_max_epu8(c, d));
    let errors = if !any_high(greatest) {
        // A character cut off by ASCII.
        let cut = _mm512_cmpgt_epu8_mask(before, table(&COMPLETE));
        _mm512_mask_mov_epi8(errors, cut, high())
    } else {
        let reaching = _mm512_maskz_mov_epi8(0b111 << 61, before);
        let greatest = _mm512_max_epu8(greatest, reaching);
        let wide = _mm512_cmpge_epu8_mask(greatest, _mm512_set1_epi8(0xE0_u8 as i8));
        // SAFETY: all loads are of 64 of the 256 bytes, none of which has been written.
        unsafe {
            if _kortestz_mask64_u8(wide, wide) == 1 {
                let back1 = _mm512_permutex2var_epi8(before, table(&BACK), a);
                let errors = narrow_test(a, back1, errors);
                let errors = narrow_test(b, backs[0].unmask(load(at.add(63))), errors);
                let errors = narrow_test(c, backs[0].unmask(load(at.add(127))), errors);
                narrow_test(d, backs[0].unmask(load(at.add(191))), errors)
            } else {
                let [back1, back2, back3] = behind(before, a);
                let errors = test(a, back1, back2, back3, errors);
                let errors = full(at.add(64), b, backs, errors);
                let errors = full(at.add(128), c, backs, errors);
                full(at.add(192), d, backs, errors)
            }
        }
    };
    // SAFETY: these are the 256 bytes.
    unsafe {
        store(a, at);
        store(b, at.add(64));
        store(c, at.add(128));
        store(d, at.add(192));
    }
    (d, errors)
}

/// Adds to `errors` those of `block`, which is still masked at `at`.
///
/// # Safety
///
/// - 64 bytes can be read at `at`, and 3 before it. None of them has been unmasked.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
unsafe fn full(at: *const u8, block: __m512i, backs: [Key; 3], errors: __m512i) -> __m512i {
    // SAFETY: all three loads are within the 67 bytes that the caller promises.
    let [back1, back2, back3] = unsafe { [load(at.sub(1)), load(at.sub(2)), load(at.sub(3))] };
    let [key1, key2, key3] = backs;
    test(block, key1.unmask(back1), key2.unmask(back2), key3.unmask(back3), errors)
}

/// The greatest bytes that a block may end with if no character reaches beyond it.
static COMPLETE: Aligned = Aligned({
    let mut table = [0xFF; 64];
    table[61] = 0xEF;
    table[62] = 0xDF;
    table[63] = 0xBF;
    table
});

/// The last four bytes of `bytes`, unmasked.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn tail(bytes: &[u8], mut mask: [u8; 4]) -> u32 {
    mask.rotate_left(bytes.len() % 4);
    let tail = bytes.last_chunk::<4>().map_or(0, |tail| u32::from_le_bytes(*tail));
    tail ^ u32::from_le_bytes(mask)
}

/// Says where `bytes`, unmasked now, stop: at the first error if one is marked, otherwise in or behind
/// `tail`, the last four.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn stop(bytes: &[u8], errors: __m512i, tail: u32) -> Stop {
    if any_high(errors) {
        super::validate(bytes)
    } else if ends_complete(tail) {
        Stop::clean(bytes.len())
    } else {
        Stop::clean_up_to_tail(bytes)
    }
}
