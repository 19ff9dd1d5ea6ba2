//! SSE4.1: vectors of 16 bytes. The algorithm is in `generic`.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::simd::generic::{
    self, Lanes, Look, Part, REVERSE_THREES, Vector, Vector16, arithmetic, lanewise, one_part,
    operations,
};
use crate::simd::reference;
pub(in crate::simd) use crate::simd::reference::{
    decode_short_chars, find_outside, join_pairs, split_pairs, unmask,
};
use crate::simd::results::{BLOCK, BlockErrors, Validated};

operations!("sse4.1", Bytes16,
    33..=64 => validate_halves::<Bytes16, 2>,
    65..=128 => validate_halves::<Bytes16, 4>,
    129..=256 => validate_blocks::<Bytes16, 16>,
);

generic::conversions!("sse4.1,popcnt", Bytes16, Bytes16);

/// 16 bytes.
///
/// Invariant: exists only where the machine has SSE4.1.
#[derive(Clone, Copy)]
pub(super) struct Bytes16(pub(super) __m128i);

/// Proves that the machine has SSE4.1.
#[derive(Clone, Copy)]
pub(super) struct HasSse41(());

impl Bytes16 {
    #[inline]
    #[target_feature(enable = "sse4.1")]
    pub(super) fn token() -> HasSse41 {
        HasSse41(())
    }
}

impl Vector for Bytes16 {
    const LEN: usize = 16;

    type Token = HasSse41;

    #[inline(always)]
    unsafe fn load(_: HasSse41, at: *const u8) -> Self {
        // SAFETY: the caller promises that 16 bytes can be read; the token proves SSE4.1.
        Self(unsafe { _mm_loadu_si128(at.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the caller promises that 16 bytes can be written; `self` proves SSE4.1.
        unsafe { _mm_storeu_si128(at.cast(), self.0) };
    }

    arithmetic! {
        fn splat(self, byte: u8) -> Self {
            Self(_mm_set1_epi8(byte as i8))
        }
        fn prev<const N: usize>(self, before: Self) -> Self {
            const { assert!(matches!(N, 1..=3)) };
            Self(match N {
                1 => _mm_alignr_epi8::<15>(self.0, before.0),
                2 => _mm_alignr_epi8::<14>(self.0, before.0),
                _ => _mm_alignr_epi8::<13>(self.0, before.0),
            })
        }
        fn movemask(self) -> u64 {
            u64::from(_mm_movemask_epi8(self.0) as u32)
        }
    }

    lanewise! {
        or: _mm_or_si128,
        and: _mm_and_si128,
        xor: _mm_xor_si128,
        wrapping_add: _mm_add_epi8,
        saturating_add: _mm_adds_epi8,
        saturating_sub: _mm_subs_epu8,
        average: _mm_avg_epu8,
        max: _mm_max_epu8,
        min: _mm_min_epu8,
    }

    #[inline(always)]
    fn lookup_16(self, table: &[u8; 16]) -> Self {
        // SAFETY: the table has the 16 bytes that are loaded; `self` proves SSE4.1.
        Self(unsafe { _mm_shuffle_epi8(_mm_loadu_si128(table.as_ptr().cast()), self.0) })
    }
}

impl Vector16 for Bytes16 {
    #[inline(always)]
    fn from_bytes(token: HasSse41, bytes: &[u8; 16]) -> Self {
        // SAFETY: these are 16 bytes.
        unsafe { Self::load(token, bytes.as_ptr()) }
    }

    #[inline(always)]
    fn from_words(_: HasSse41, [low, high]: [u64; 2]) -> Self {
        // SAFETY: the token proves SSE4.1.
        Self(unsafe { _mm_set_epi64x(high as i64, low as i64) })
    }

    #[inline(always)]
    fn shift_up(self, n: usize) -> Self {
        assert!(n <= 16);
        // SAFETY: from `16 - n` on the table has 16 bytes or more; `self` proves SSE4.1.
        Self(unsafe {
            let indexes = generic::SHIFT_UP.as_ptr().add(16 - n);
            _mm_shuffle_epi8(self.0, _mm_loadu_si128(indexes.cast()))
        })
    }
}

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
pub(super) use shifts;

impl Lanes for Bytes16 {
    one_part!();
    lanewise! {
        cmpeq: _mm_cmpeq_epi8,
        cmpeq_16: _mm_cmpeq_epi16,
        cmpgt: _mm_cmpgt_epi8,
        cmpgt_32: _mm_cmpgt_epi32,
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
        fn bitmask(self) -> u32 {
            _mm_movemask_epi8(self.0) as u32
        }
        fn bitmask_16(self) -> u32 {
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
