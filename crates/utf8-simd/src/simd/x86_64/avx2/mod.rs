//! AVX2: vectors of 32 bytes, and of 16 for inputs of up to 34 bytes and the ends of conversions. The algorithm is in
//! `generic`.

mod pairs;

use core::arch::x86_64::*;
use core::mem::MaybeUninit;
use core::ops::RangeInclusive;

use super::sse41::{AnyByte, Bytes16, load_16, shifts};
use crate::simd::generic::{
    self, BIT_BYTES, BIT_PLACES, Lanes, SECOND, Vector, Verdict, arithmetic, first, first_mut,
    lanewise, operations,
};
pub(in crate::simd) use crate::simd::reference::unmask;
use crate::simd::{BLOCK_ERRORS_LEN, BlockErrors, RepairedPrefix, Validated, reference};
pub(in crate::simd) use pairs::{join_pairs, split_pairs};

operations!("avx2,popcnt", Bytes32, Bytes16,
    validate_halves::<Bytes32, 32>,
    129..=256 => validate_halves::<Bytes32, 128>,
    65..=128 => validate_halves::<Bytes32, 64>,
    33..=34 => validate_halves::<Bytes16, 32>,
);

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

impl Bytes32 {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn zero() -> Self {
        Self(_mm256_set1_epi8(0))
    }

    /// The quarters in the order 0, 2, 1, 3, whose low and high parts `unpack` takes. It widens on two ports of an Intel processor,
    /// `vpmovzx` on one.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn quarters(self) -> __m256i {
        _mm256_permute4x64_epi64::<0b11_01_10_00>(self.0)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load_32(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: there are the 32 bytes that are loaded; the load requires no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn store_32<B: AnyByte>(vector: __m256i, to: &mut [B; 32]) {
    // SAFETY: there is room for the 32 bytes that are stored, and they may have any value; the store requires no alignment.
    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), vector) };
}

impl Vector for Bytes32 {
    const LEN: usize = 32;

    arithmetic! { "avx2":
        fn load(_any: Bytes32, bytes: &[u8]) -> Bytes32 {
            Bytes32(load_32(first(bytes)))
        }
        fn store(vector: Bytes32, bytes: &mut [MaybeUninit<u8>]) -> () {
            store_32(vector.0, first_mut(bytes));
        }
        fn splat(_vector: Bytes32, byte: u8) -> Bytes32 {
            Bytes32(_mm256_set1_epi8(byte as i8))
        }
        fn splat_word(_vector: Bytes32, word: u32) -> Bytes32 {
            Bytes32(_mm256_set1_epi32(word as i32))
        }
        fn prev<const N: usize>(vector: Bytes32, before: Bytes32) -> Bytes32 {
            const { assert!(matches!(N, 1..=3)) };
            // `alignr` works within each half: the halves before those of this vector.
            let halves = _mm256_permute2x128_si256::<0x21>(before.0, vector.0);
            Bytes32(match N {
                1 => _mm256_alignr_epi8::<15>(vector.0, halves),
                2 => _mm256_alignr_epi8::<14>(vector.0, halves),
                _ => _mm256_alignr_epi8::<13>(vector.0, halves),
            })
        }
        fn movemask(vector: Bytes32) -> u64 {
            u64::from(_mm256_movemask_epi8(vector.0) as u32)
        }
        fn second_addends(vector: Bytes32) -> Bytes32 {
            let leads = vector.leads();
            let table = _mm256_broadcastsi128_si256(load_16(&SECOND));
            Bytes32(_mm256_shuffle_epi8(table, leads.0)).wrapping_add(leads)
        }
    }

    lanewise! { "avx2", Bytes32:
        or: _mm256_or_si256,
        and: _mm256_and_si256,
        xor: _mm256_xor_si256,
        wrapping_add: _mm256_add_epi8,
        saturating_add: _mm256_adds_epi8,
        saturating_sub: _mm256_subs_epu8,
        average: _mm256_avg_epu8,
        max: _mm256_max_epu8,
        min: _mm256_min_epu8,
        signed_min: _mm256_min_epi8,
    }
}

impl Lanes for Bytes32 {
    type Part = Bytes16;
    type Groups = [Bytes16; 4];
    type Parts = [Bytes16; 2];

    lanewise! { "avx2", Bytes32:
        cmpeq: _mm256_cmpeq_epi8,
        cmpeq_16: _mm256_cmpeq_epi16,
        cmpgt: _mm256_cmpgt_epi8,
        cmpgt_32: _mm256_cmpgt_epi32,
        wrapping_add_16: _mm256_add_epi16,
    }
    shifts! { "avx2", Bytes32:
        shl_16: _mm256_slli_epi16,
        shr_16: _mm256_srli_epi16,
        shl_32: _mm256_slli_epi32,
        shr_32: _mm256_srli_epi32,
    }
    arithmetic! { "avx2":
        fn splat_16(_vector: Bytes32, value: u16) -> Bytes32 {
            Bytes32(_mm256_set1_epi16(value as i16))
        }
        fn splat_32(_vector: Bytes32, value: u32) -> Bytes32 {
            Bytes32(_mm256_set1_epi32(value as i32))
        }
        fn select(vector: Bytes32, yes: Bytes32, no: Bytes32) -> Bytes32 {
            Bytes32(_mm256_blendv_epi8(no.0, yes.0, vector.0))
        }
        fn intersects(vector: Bytes32, other: Bytes32) -> bool {
            _mm256_testz_si256(vector.0, other.0) == 0
        }
        fn sum(vector: Bytes32) -> usize {
            let sums = _mm256_sad_epu8(vector.0, Bytes32::zero().0);
            let both = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
            (_mm_cvtsi128_si64(both) + _mm_extract_epi64::<1>(both)) as usize
        }
        fn expand_bitmask(_any: Bytes32, bits: u32) -> Bytes32 {
            let [from, places] = [&BIT_BYTES, &BIT_PLACES].map(|table| load_32(table));
            let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits as i32), from);
            Bytes32(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, places), places))
        }
        fn bitmask_16(vector: Bytes32) -> u32 {
            // Each half is packed twice, in itself.
            let mask = _mm256_movemask_epi8(_mm256_packs_epi16(vector.0, vector.0)) as u32;
            mask & 0xFF | mask >> 8 & 0xFF00
        }
        // Interleaving works within halves, so the results are put in order.
        fn interleave(vector: Bytes32, high: Bytes32) -> [Bytes16; 4] {
            let low = Bytes32(_mm256_unpacklo_epi8(vector.0, high.0)).parts();
            let high = Bytes32(_mm256_unpackhi_epi8(vector.0, high.0)).parts();
            [low[0], high[0], low[1], high[1]]
        }
        fn interleave_16(vector: Bytes32, high: Bytes32) -> [Bytes16; 4] {
            let low = Bytes32(_mm256_unpacklo_epi16(vector.0, high.0)).parts();
            let high = Bytes32(_mm256_unpackhi_epi16(vector.0, high.0)).parts();
            [low[0], high[0], low[1], high[1]]
        }
        fn parts(vector: Bytes32) -> [Bytes16; 2] {
            let front = _mm256_castsi256_si128(vector.0);
            [Bytes16(front), Bytes16(_mm256_extracti128_si256::<1>(vector.0))]
        }
        // Packing works within each half.
        fn narrow_32(vector: Bytes32, other: Bytes32) -> Bytes32 {
            let packed = _mm256_packus_epi32(vector.0, other.0);
            Bytes32(_mm256_permute4x64_epi64::<0b11_01_10_00>(packed))
        }
        fn narrow_16(vector: Bytes32) -> Bytes16 {
            let [front, back] = vector.parts();
            Bytes16(_mm_packus_epi16(front.0, back.0))
        }
        fn narrow_16_with(vector: Bytes32, other: Bytes32) -> Bytes32 {
            let packed = _mm256_packus_epi16(vector.0, other.0);
            Bytes32(_mm256_permute4x64_epi64::<0b11_01_10_00>(packed))
        }
        fn load_widened(_any: Bytes32, bytes: &[u8]) -> Bytes32 {
            Bytes32(_mm256_cvtepu8_epi16(load_16(first(bytes))))
        }
        fn widen(vector: Bytes32) -> [Bytes32; 2] {
            let (quarters, zero) = (vector.quarters(), Bytes32::zero().0);
            [_mm256_unpacklo_epi8(quarters, zero), _mm256_unpackhi_epi8(quarters, zero)].map(Bytes32)
        }
        fn widen_16(vector: Bytes32) -> [Bytes32; 2] {
            let (quarters, zero) = (vector.quarters(), Bytes32::zero().0);
            [_mm256_unpacklo_epi16(quarters, zero), _mm256_unpackhi_epi16(quarters, zero)].map(Bytes32)
        }
    }
}
