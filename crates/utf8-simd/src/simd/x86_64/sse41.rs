//! SSE4.1: vectors of 16 bytes. The algorithm is in `generic`.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::simd::generic::{
    self, BIT_BYTES, BIT_PLACES, Lanes, Part, REVERSE_THREES, SECOND, Vector, Vector16, Verdict,
    arithmetic, first, first_mut, lanewise, one_part, operations,
};
pub(in crate::simd) use crate::simd::reference::{find_outside, join_pairs, split_pairs, unmask};
use crate::simd::{BLOCK_ERRORS_LEN, BlockErrors, RepairedPrefix, Validated, reference};

operations!("sse4.1,popcnt", Bytes16, Bytes16,
    validate_halves::<Bytes16, 32>,
    129..=256 => validate_blocks::<Bytes16, 256>,
    65..=128 => validate_halves::<Bytes16, 64>,
);

/// 16 bytes.
///
/// Invariant: exists only where the machine has SSE4.1.
#[derive(Clone, Copy)]
pub(super) struct Bytes16(pub(super) __m128i);

impl Bytes16 {
    #[inline]
    #[target_feature(enable = "sse4.1")]
    pub(super) fn zero() -> Self {
        Self(_mm_set1_epi8(0))
    }
}

/// A byte into which any value can be written.
///
/// # Safety
///
/// - It is one byte, and any initialised value is valid.
pub(in crate::simd) unsafe trait AnyByte {}

// SAFETY: an integer.
unsafe impl AnyByte for u8 {}
// SAFETY: a byte, initialised or not.
unsafe impl AnyByte for MaybeUninit<u8> {}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn load_16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: there are the 16 bytes that are loaded; the load requires no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse4.1")]
pub(super) fn store_16<B: AnyByte>(vector: __m128i, to: &mut [B; 16]) {
    // SAFETY: there is room for the 16 bytes that are stored, and they may have any value; the store requires no alignment.
    unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), vector) };
}

impl Vector for Bytes16 {
    const LEN: usize = 16;

    arithmetic! { "sse4.1":
        fn load(_any: Bytes16, bytes: &[u8]) -> Bytes16 {
            Bytes16(load_16(first(bytes)))
        }
        fn store(vector: Bytes16, bytes: &mut [MaybeUninit<u8>]) -> () {
            store_16(vector.0, first_mut(bytes));
        }
        fn splat(_vector: Bytes16, byte: u8) -> Bytes16 {
            Bytes16(_mm_set1_epi8(byte as i8))
        }
        fn splat_word(_vector: Bytes16, word: u32) -> Bytes16 {
            Bytes16(_mm_set1_epi32(word as i32))
        }
        fn prev<const N: usize>(vector: Bytes16, before: Bytes16) -> Bytes16 {
            const { assert!(matches!(N, 1..=3)) };
            Bytes16(match N {
                1 => _mm_alignr_epi8::<15>(vector.0, before.0),
                2 => _mm_alignr_epi8::<14>(vector.0, before.0),
                _ => _mm_alignr_epi8::<13>(vector.0, before.0),
            })
        }
        fn movemask(vector: Bytes16) -> u64 {
            u64::from(_mm_movemask_epi8(vector.0) as u32)
        }
        fn second_addends(vector: Bytes16) -> Bytes16 {
            let leads = vector.leads();
            Bytes16(_mm_shuffle_epi8(load_16(&SECOND), leads.0)).wrapping_add(leads)
        }
    }

    lanewise! { "sse4.1", Bytes16:
        or: _mm_or_si128,
        and: _mm_and_si128,
        xor: _mm_xor_si128,
        wrapping_add: _mm_add_epi8,
        saturating_add: _mm_adds_epi8,
        saturating_sub: _mm_subs_epu8,
        average: _mm_avg_epu8,
        max: _mm_max_epu8,
        min: _mm_min_epu8,
        signed_min: _mm_min_epi8,
    }
}

impl Vector16 for Bytes16 {
    arithmetic! { "sse4.1":
        fn words(_any: Bytes16, words: [u64; 2]) -> Bytes16 {
            let [low, high] = words;
            Bytes16(_mm_set_epi64x(high as i64, low as i64))
        }
        fn shift_up(vector: Bytes16, n: usize) -> Bytes16 {
            Bytes16(_mm_shuffle_epi8(vector.0, load_16(first(&generic::SHIFT_UP[16 - n..]))))
        }
    }
}

/// Methods of a vector that shift each lane by a constant.
macro_rules! shifts {
    ($feature:literal, $vector:ident: $($method:ident: $instruction:ident,)*) => {
        arithmetic! { $feature: $(
            fn $method<const N: i32>(a: $vector) -> $vector { $vector($instruction::<N>(a.0)) }
        )* }
    };
}
pub(super) use shifts;

impl Lanes for Bytes16 {
    one_part!();
    lanewise! { "sse4.1", Bytes16:
        cmpeq: _mm_cmpeq_epi8,
        cmpeq_16: _mm_cmpeq_epi16,
        cmpgt: _mm_cmpgt_epi8,
        cmpgt_32: _mm_cmpgt_epi32,
        wrapping_add_16: _mm_add_epi16,
        narrow_32: _mm_packus_epi32,
        narrow_16_with: _mm_packus_epi16,
    }
    shifts! { "sse4.1", Bytes16:
        shl_16: _mm_slli_epi16,
        shr_16: _mm_srli_epi16,
        shl_32: _mm_slli_epi32,
        shr_32: _mm_srli_epi32,
    }
    arithmetic! { "sse4.1":
        fn splat_16(_vector: Bytes16, value: u16) -> Bytes16 {
            Bytes16(_mm_set1_epi16(value as i16))
        }
        fn splat_32(_vector: Bytes16, value: u32) -> Bytes16 {
            Bytes16(_mm_set1_epi32(value as i32))
        }
        fn select(vector: Bytes16, yes: Bytes16, no: Bytes16) -> Bytes16 {
            Bytes16(_mm_blendv_epi8(no.0, yes.0, vector.0))
        }
        fn intersects(vector: Bytes16, other: Bytes16) -> bool {
            _mm_testz_si128(vector.0, other.0) == 0
        }
        fn sum(vector: Bytes16) -> usize {
            let sums = _mm_sad_epu8(vector.0, _mm_setzero_si128());
            (_mm_cvtsi128_si64(sums) + _mm_extract_epi64::<1>(sums)) as usize
        }
        fn expand_bitmask(_any: Bytes16, bits: u32) -> Bytes16 {
            let [from, places] = [&BIT_BYTES, &BIT_PLACES].map(|table| load_16(first(table)));
            let bytes = _mm_shuffle_epi8(_mm_set1_epi32(bits as i32), from);
            Bytes16(_mm_cmpeq_epi8(_mm_and_si128(bytes, places), places))
        }
        fn bitmask_16(vector: Bytes16) -> u32 {
            _mm_movemask_epi8(_mm_packs_epi16(vector.0, _mm_setzero_si128())) as u32
        }
        fn interleave(vector: Bytes16, high: Bytes16) -> [Bytes16; 2] {
            [Bytes16(_mm_unpacklo_epi8(vector.0, high.0)), Bytes16(_mm_unpackhi_epi8(vector.0, high.0))]
        }
        fn narrow_16(vector: Bytes16) -> Bytes16 {
            Bytes16(_mm_packus_epi16(vector.0, vector.0))
        }
    }

    #[inline(always)]
    fn widen(self) -> [Self; 2] {
        self.interleave(self.splat(0))
    }
}

impl Part for Bytes16 {
    arithmetic! { "sse4.1":
        fn interleave_16(vector: Bytes16, high: Bytes16) -> [Bytes16; 2] {
            let (low, high) = (vector.0, high.0);
            [Bytes16(_mm_unpacklo_epi16(low, high)), Bytes16(_mm_unpackhi_epi16(low, high))]
        }
        fn shuffle(vector: Bytes16, indexes: &[u8; 16]) -> Bytes16 {
            Bytes16(_mm_shuffle_epi8(vector.0, load_16(indexes)))
        }
        fn three_byte_units(_vector: Bytes16, bytes: &[u8; 24]) -> Bytes16 {
            /// Like `REVERSE_THREES`, for the four characters from byte 12 on, in a vector that starts at byte 8.
            const BACK: [u8; 16] =
                [6, 5, 4, 0x80, 9, 8, 7, 0x80, 12, 11, 10, 0x80, 15, 14, 13, 0x80];
            let [front, back] = [load_16(first(bytes)), load_16(first(&bytes[8..]))];
            let front = Bytes16(front).shuffle(&REVERSE_THREES).join_three();
            front.narrow_32(Bytes16(back).shuffle(&BACK).join_three())
        }
    }
}

impl Bytes16 {
    arithmetic! { "sse4.1":
        // In lanes of 32 bits, the value of a character of three bytes, which are there last first: the
        // six bits of the last, 40 times those of the middle, 1000 times the four of the first.
        fn join_three(vector: Bytes16) -> Bytes16 {
            let bits = _mm_and_si128(vector.0, _mm_set1_epi32(0x000F_3F3F));
            let pairs = _mm_maddubs_epi16(bits, _mm_set1_epi32(0x0001_4001));
            Bytes16(_mm_madd_epi16(pairs, _mm_set1_epi32(0x1000_0001)))
        }
    }
}
