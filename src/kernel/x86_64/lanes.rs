//! Lanes of 16 and 32 bits, with SSE4.1 and with AVX2.

use core::arch::x86_64::*;

use super::avx2::Bytes32;
use super::sse41::Bytes16;
use crate::kernel::generic::{Lanes, Part, REVERSE_THREES, arithmetic, lanewise, one_part};

/// Methods that shift each lane by a constant.
macro_rules! shifts {
    ($($method:ident: $instruction:ident,)*) => {$(
        #[inline(always)]
        fn $method<const N: i32>(self) -> Self {
            // SAFETY: vectors exist only where the machine has their instructions.
            Self(unsafe { $instruction::<N>(self.0) })
        }
    )*};
}

impl Lanes for Bytes16 {
    one_part!();
    lanewise! {
        equal: _mm_cmpeq_epi8,
        equal_16: _mm_cmpeq_epi16,
        greater: _mm_cmpgt_epi8,
        greater_32: _mm_cmpgt_epi32,
        wrapping_add_16: _mm_add_epi16,
        narrow_32: _mm_packus_epi32,
    }
    shifts! {
        shl_16: _mm_slli_epi16,
        shr_16: _mm_srli_epi16,
        shl_32: _mm_slli_epi32,
        shr_32: _mm_srli_epi32,
    }
    arithmetic! {
        fn splat_16(self, value: u16) -> Self {
            Self(_mm_set1_epi16(value as i16))
        }
        fn splat_32(self, value: u32) -> Self {
            Self(_mm_set1_epi32(value as i32))
        }
        fn select(self, yes: Self, no: Self) -> Self {
            Self(_mm_blendv_epi8(no.0, yes.0, self.0))
        }
        fn intersects(self, other: Self) -> bool {
            _mm_testz_si128(self.0, other.0) == 0
        }
        fn bits(self) -> u32 {
            _mm_movemask_epi8(self.0) as u32
        }
        fn bits_16(self) -> u32 {
            _mm_movemask_epi8(_mm_packs_epi16(self.0, _mm_setzero_si128())) as u32
        }
        fn interleave(self, high: Self) -> [Self; 2] {
            [Self(_mm_unpacklo_epi8(self.0, high.0)), Self(_mm_unpackhi_epi8(self.0, high.0))]
        }
        fn narrow_16(self) -> Self {
            Self(_mm_packus_epi16(self.0, self.0))
        }
    }

    #[inline(always)]
    fn widen(self) -> [Self; 2] {
        self.interleave(self.zero())
    }
}

impl Part for Bytes16 {
    arithmetic! {
        fn interleave_16(self, high: Self) -> [Self; 2] {
            [Self(_mm_unpacklo_epi16(self.0, high.0)), Self(_mm_unpackhi_epi16(self.0, high.0))]
        }
    }

    #[inline(always)]
    fn shuffle(self, indexes: &[u8; 16]) -> Self {
        // SAFETY: there are the 16 indexes that are loaded; `self` proves SSE4.1.
        Self(unsafe { _mm_shuffle_epi8(self.0, _mm_loadu_si128(indexes.as_ptr().cast())) })
    }

    #[inline(always)]
    fn three_byte_units(self, bytes: &[u8; 24]) -> Self {
        /// Like `REVERSE_THREES`, for the four characters from byte 12 on, in a vector that starts at byte 8.
        const BACK: [u8; 16] = [6, 5, 4, 0x80, 9, 8, 7, 0x80, 12, 11, 10, 0x80, 15, 14, 13, 0x80];
        // SAFETY: 16 bytes each are within the 24; `self` proves SSE4.1.
        let (front, back) = unsafe {
            let bytes = bytes.as_ptr();
            (_mm_loadu_si128(bytes.cast()), _mm_loadu_si128(bytes.add(8).cast()))
        };
        let front = Self(front).shuffle(&REVERSE_THREES).join_three();
        front.narrow_32(Self(back).shuffle(&BACK).join_three())
    }
}

impl Bytes16 {
    arithmetic! {
        // In lanes of 32 bits, the value of a character of three bytes, which are there last first: the
        // six bits of the last, 40 times those of the middle, 1000 times the four of the first.
        fn join_three(self) -> Self {
            let bits = _mm_and_si128(self.0, _mm_set1_epi32(0x000F_3F3F));
            let pairs = _mm_maddubs_epi16(bits, _mm_set1_epi32(0x0001_4001));
            Self(_mm_madd_epi16(pairs, _mm_set1_epi32(0x1000_0001)))
        }
    }
}

impl Lanes for Bytes32 {
    type Part = Bytes16;
    type Groups = [Bytes16; 4];
    type Parts = [Bytes16; 2];

    lanewise! {
        equal: _mm256_cmpeq_epi8,
        equal_16: _mm256_cmpeq_epi16,
        greater: _mm256_cmpgt_epi8,
        greater_32: _mm256_cmpgt_epi32,
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
        fn bits(self) -> u32 {
            _mm256_movemask_epi8(self.0) as u32
        }
        fn bits_16(self) -> u32 {
            // Each half is packed twice, in itself.
            let mask = _mm256_movemask_epi8(_mm256_packs_epi16(self.0, self.0)) as u32;
            mask & 0xFF | mask >> 8 & 0xFF00
        }
        // (Interleaving works within halves, so the results are put in order.)
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
        // (Packing works within each half.)
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
