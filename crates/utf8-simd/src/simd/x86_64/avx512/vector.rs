//! The vector of AVX-512: 64 bytes, their loads and stores.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::simd::generic::{
    Aligned, SECOND_BY_LEAD, Vector, arithmetic, first, first_mut, lanewise,
};
use crate::simd::table;
use crate::simd::x86_64::sse41::AnyByte;

pub(super) const BLOCK: usize = 64;
/// The bytes tested for ASCII together.
pub(super) const STRIDE: usize = 4 * BLOCK;

/// 64 bytes.
///
/// Invariant: exists only where the machine has the extensions of AVX-512 that the level requires.
#[derive(Clone, Copy)]
pub(super) struct Bytes64(pub(super) __m512i);

impl Bytes64 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
    pub(super) fn zero() -> Self {
        Self(_mm512_setzero_si512())
    }

    arithmetic! { "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2":
        // The bytes of a mask, with zeros elsewhere.
        pub(super) fn only(vector: Bytes64, lanes: u64) -> Bytes64 {
            Bytes64(_mm512_maskz_mov_epi8(lanes, vector.0))
        }
    }
}

/// For each byte of a vector, the index of the byte before it; indexes below 64 are in the vector before.
static BACK: Aligned = Aligned(table!(64, |i| 63 + i as u8));

/// Methods of a vector that are one instruction on three vectors.
macro_rules! ternary {
    ($($method:ident: $table:literal,)*) => {
        arithmetic! { "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2": $(
            fn $method(vector: Bytes64, a: Bytes64, b: Bytes64) -> Bytes64 {
                Bytes64(_mm512_ternarylogic_epi64::<$table>(vector.0, a.0, b.0))
            }
        )* }
    };
}

impl Vector for Bytes64 {
    const LEN: usize = 64;
    const TESTS_ALL_LEADS: bool = true;
    const HAS_TERNARY: bool = true;

    arithmetic! { "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2":
        fn load(_any: Bytes64, bytes: &[u8]) -> Bytes64 {
            Bytes64(load(first(bytes)))
        }
        fn store(vector: Bytes64, bytes: &mut [MaybeUninit<u8>]) -> () {
            store(vector.0, first_mut(bytes));
        }
        fn splat(_vector: Bytes64, byte: u8) -> Bytes64 {
            Bytes64(_mm512_set1_epi8(byte as i8))
        }
        fn splat_word(_vector: Bytes64, word: u32) -> Bytes64 {
            Bytes64(_mm512_set1_epi32(word as i32))
        }
        fn prev<const N: usize>(vector: Bytes64, before: Bytes64) -> Bytes64 {
            let back = _mm512_sub_epi8(table(&BACK), _mm512_set1_epi8(N as i8 - 1));
            Bytes64(_mm512_permutex2var_epi8(before.0, back, vector.0))
        }
        fn movemask(vector: Bytes64) -> u64 {
            _mm512_movepi8_mask(vector.0)
        }
        fn at_least(vector: Bytes64, least: u8) -> Bytes64 {
            let mask = _mm512_cmpge_epu8_mask(vector.0, _mm512_set1_epi8(least as i8));
            Bytes64(_mm512_movm_epi8(mask))
        }
        // `kortest` saves the two cycles of moving the mask to a register.
        fn any_high_bit(vector: Bytes64) -> bool {
            let mask = _mm512_test_epi8_mask(vector.0, _mm512_set1_epi8(0x80_u8 as i8));
            _kortestz_mask64_u8(mask, mask) == 0
        }
        // Selects by the low six bits, which number the bytes from C0 on.
        fn second_addends(vector: Bytes64) -> Bytes64 {
            Bytes64(_mm512_permutexvar_epi8(vector.0, table(&SECOND_BY_LEAD)))
        }
    }

    ternary! {
        or3: 0xFE,
        or_xor: 0xF6,
        or_and_not: 0xF4,
    }

    lanewise! { "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2", Bytes64:
        or: _mm512_or_si512,
        and: _mm512_and_si512,
        xor: _mm512_xor_si512,
        wrapping_add: _mm512_add_epi8,
        saturating_add: _mm512_adds_epi8,
        saturating_sub: _mm512_subs_epu8,
        average: _mm512_avg_epu8,
        max: _mm512_max_epu8,
        min: _mm512_min_epu8,
        signed_min: _mm512_min_epi8,
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn load(block: &[u8; BLOCK]) -> __m512i {
    // SAFETY: a block is 64 bytes; the load requires no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn table(table: &Aligned) -> __m512i {
    load(&table.0)
}

/// Loads the block at the start of `bytes`, with zeros after their end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn load_start(bytes: &[u8]) -> __m512i {
    let inside = lanes(bytes.len().min(BLOCK));
    // SAFETY: the mask lets through the lanes of `bytes`; the others are not accessed.
    unsafe { _mm512_maskz_loadu_epi8(inside, bytes.as_ptr().cast()) }
}

/// Loads the block at the start of `bytes`, like [`load_start`], without a mask if that is possible.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn first_block(bytes: &[u8]) -> __m512i {
    match bytes.first_chunk() {
        Some(block) => load(block),
        None => load_start(bytes),
    }
}

/// Loads the block at `at + by`, with zeros for the bytes outside `bytes`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn load_within(bytes: &[u8], at: usize, by: isize) -> __m512i {
    let from = at as isize + by;
    debug_assert!((-64..=(bytes.len() + STRIDE) as isize).contains(&from));
    let inside = lanes((bytes.len() as isize - from).clamp(0, 64) as usize);
    let before = lanes((-from).clamp(0, 64) as usize);
    // SAFETY: the mask lets through the lanes from the first byte of `bytes` to the last; the others
    // are not accessed.
    unsafe {
        _mm512_maskz_loadu_epi8(inside & !before, bytes.as_ptr().wrapping_offset(from).cast())
    }
}

/// A mask of the first `count` lanes; `count` can exceed 64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn lanes(count: usize) -> u64 {
    debug_assert!(count <= 128);
    _bzhi_u64(!0, count as u32)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn store<B: AnyByte>(block: __m512i, to: &mut [B; BLOCK]) {
    // SAFETY: a block is 64 bytes, which may have any value; the store requires no alignment.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), block) }
}
