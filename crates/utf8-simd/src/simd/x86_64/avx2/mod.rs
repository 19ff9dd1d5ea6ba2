//! AVX2: vectors of 32 bytes, and of 16 for inputs of up to 34 bytes and the ends of conversions. The algorithm is in
//! `generic`.

mod pairs;

use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use core::ops::RangeInclusive;

use super::sse41::{Bytes16, shifts};
use crate::simd::generic::{self, Lanes, Look, Vector, arithmetic, lanewise, operations};
use crate::simd::reference;
pub(in crate::simd) use crate::simd::reference::{decode_short_chars, unmask};
use crate::simd::results::{BLOCK, BlockErrors, Validated};
pub(in crate::simd) use pairs::{join_pairs, split_pairs};

operations!("avx2", Bytes32,
    33..=34 => validate_halves::<Bytes16, 2>,
    35..=64 => validate_halves::<Bytes32, 1>,
    65..=128 => validate_halves::<Bytes32, 2>,
    129..=256 => validate_halves::<Bytes32, 4>,
);

generic::conversions!("avx2,popcnt", Bytes32, Bytes16);

/// Finds a byte, like the reference, which the compiler vectorises here.
#[target_feature(enable = "avx2")]
pub(in crate::simd) fn find_outside(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
    reference::find_outside_by_blocks(bytes, range)
}

/// 32 bytes.
///
/// Invariant: exists only where the machine has AVX2.
#[derive(Clone, Copy)]
pub(super) struct Bytes32(pub(super) __m256i);

/// Proves that the machine has AVX2.
#[derive(Clone, Copy)]
pub(super) struct HasAvx2(());

impl Bytes32 {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn token() -> HasAvx2 {
        HasAvx2(())
    }
}

impl Vector for Bytes32 {
    const LEN: usize = 32;

    type Token = HasAvx2;

    #[inline(always)]
    unsafe fn load(_: HasAvx2, at: *const u8) -> Self {
        // SAFETY: the caller promises that 32 bytes can be read; the token proves AVX2.
        Self(unsafe { _mm256_loadu_si256(at.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the caller promises that 32 bytes can be written; `self` proves AVX2.
        unsafe { _mm256_storeu_si256(at.cast(), self.0) };
    }

    arithmetic! {
        fn splat(self, byte: u8) -> Self {
            Self(_mm256_set1_epi8(byte as i8))
        }
        fn prev<const N: usize>(self, before: Self) -> Self {
            const { assert!(matches!(N, 1..=3)) };
            // `alignr` works within each half: the halves before those of this vector.
            let halves = _mm256_permute2x128_si256::<0x21>(before.0, self.0);
            Self(match N {
                1 => _mm256_alignr_epi8::<15>(self.0, halves),
                2 => _mm256_alignr_epi8::<14>(self.0, halves),
                _ => _mm256_alignr_epi8::<13>(self.0, halves),
            })
        }
        fn movemask(self) -> u64 {
            u64::from(_mm256_movemask_epi8(self.0) as u32)
        }
    }

    lanewise! {
        or: _mm256_or_si256,
        and: _mm256_and_si256,
        xor: _mm256_xor_si256,
        wrapping_add: _mm256_add_epi8,
        saturating_add: _mm256_adds_epi8,
        saturating_sub: _mm256_subs_epu8,
        average: _mm256_avg_epu8,
        max: _mm256_max_epu8,
        min: _mm256_min_epu8,
    }

    #[inline(always)]
    fn lookup_16(self, table: &[u8; 16]) -> Self {
        // SAFETY: the table has the 16 bytes that are loaded; `self` proves AVX2.
        Self(unsafe {
            let table = _mm_loadu_si128(table.as_ptr().cast());
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), self.0)
        })
    }
}

impl Lanes for Bytes32 {
    type Part = Bytes16;
    type Groups = [Bytes16; 4];
    type Parts = [Bytes16; 2];

    lanewise! {
        cmpeq: _mm256_cmpeq_epi8,
        cmpeq_16: _mm256_cmpeq_epi16,
        cmpgt: _mm256_cmpgt_epi8,
        cmpgt_32: _mm256_cmpgt_epi32,
        wrapping_add_16: _mm256_add_epi16,
    }
    shifts! {
        shl_16: _mm256_slli_epi16,
        shr_16: _mm256_srli_epi16,
        shl_32: _mm256_slli_epi32,
        shr_32: _mm256_srli_epi32,
    }
    arithmetic! {
        fn splat_16(self, value: u16) -> Self {
            Self(_mm256_set1_epi16(value as i16))
        }
        fn splat_32(self, value: u32) -> Self {
            Self(_mm256_set1_epi32(value as i32))
        }
        fn select(self, yes: Self, no: Self) -> Self {
            Self(_mm256_blendv_epi8(no.0, yes.0, self.0))
        }
        fn intersects(self, other: Self) -> bool {
            _mm256_testz_si256(self.0, other.0) == 0
        }
        fn bitmask(self) -> u32 {
            _mm256_movemask_epi8(self.0) as u32
        }
        fn bitmask_16(self) -> u32 {
            // Each half is packed twice, in itself.
            let mask = _mm256_movemask_epi8(_mm256_packs_epi16(self.0, self.0)) as u32;
            mask & 0xFF | mask >> 8 & 0xFF00
        }
        // Interleaving works within halves, so the results are put in order.
        fn interleave(self, high: Self) -> [Bytes16; 4] {
            let low = Self(_mm256_unpacklo_epi8(self.0, high.0)).parts();
            let high = Self(_mm256_unpackhi_epi8(self.0, high.0)).parts();
            [low[0], high[0], low[1], high[1]]
        }
        fn interleave_16(self, high: Self) -> [Bytes16; 4] {
            let low = Self(_mm256_unpacklo_epi16(self.0, high.0)).parts();
            let high = Self(_mm256_unpackhi_epi16(self.0, high.0)).parts();
            [low[0], high[0], low[1], high[1]]
        }
        fn parts(self) -> [Bytes16; 2] {
            let front = _mm256_castsi256_si128(self.0);
            [Bytes16(front), Bytes16(_mm256_extracti128_si256::<1>(self.0))]
        }
        // Packing works within each half.
        fn narrow_32(self, other: Self) -> Self {
            let packed = _mm256_packus_epi32(self.0, other.0);
            Self(_mm256_permute4x64_epi64::<0b11_01_10_00>(packed))
        }
        fn narrow_16(self) -> Bytes16 {
            let [front, back] = self.parts();
            Bytes16(_mm_packus_epi16(front.0, back.0))
        }
        fn widen(self) -> [Self; 2] {
            let [front, back] = self.parts();
            [Self(_mm256_cvtepu8_epi16(front.0)), Self(_mm256_cvtepu8_epi16(back.0))]
        }
    }
}
