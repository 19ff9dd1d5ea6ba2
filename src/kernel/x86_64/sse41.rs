//! SSE4.1: vectors of 16 bytes. The algorithm is in `generic`.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::kernel::block_errors::{BLOCK, BlockErrors};
use crate::kernel::generic::{self, Look, Vector, Vector16, arithmetic, lanewise, tier};
use crate::kernel::reference;
pub(in crate::kernel) use crate::kernel::reference::{
    decode_short_chars, find_outside, join_pairs, split_pairs, unmask,
};
use crate::kernel::validated::Validated;

tier!("sse4.1", Bytes16,
    33..=64 => validate_halves::<Bytes16, 2>,
    65..=128 => validate_halves::<Bytes16, 4>,
    129..=256 => validate_blocks::<Bytes16, 16>,
);

generic::convert!("sse4.1,popcnt", Bytes16, Bytes16);

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
