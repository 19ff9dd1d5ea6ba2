//! SSE4.1: vectors of 16 bytes; the algorithm is in `vector.rs`.

use core::arch::x86_64::*;

use crate::kernel::generic::{self as vector, Look, Vector, Vector16};
use crate::kernel::{Stop, scalar};

/// 16 bytes.
///
/// Invariant: exists only where the machine has SSE4.1.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Bytes16(__m128i);

impl Vector for Bytes16 {
    const LEN: usize = 16;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promises; the load asks for no alignment.
        Self(unsafe { _mm_loadu_si128(at.cast()) })
    }

    #[inline(always)]
    fn each(self, byte: u8) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_set1_epi8(byte as i8) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_or_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_and_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_xor_si128(self.0, other.0) })
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_add_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn plus_signed(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_adds_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_subs_epu8(self.0, other.0) })
    }

    #[inline(always)]
    fn average(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_avg_epu8(self.0, other.0) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_max_epu8(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { _mm_min_epu8(self.0, other.0) })
    }

    #[inline(always)]
    fn pick_from(self, table: &[u8; 16]) -> Self {
        // SAFETY: the invariant of `Bytes16`; the table has the 16 bytes that are loaded.
        Self(unsafe { _mm_shuffle_epi8(_mm_loadu_si128(table.as_ptr().cast()), self.0) })
    }

    #[inline(always)]
    fn back<const N: usize>(self, before: Self) -> Self {
        const { assert!(matches!(N, 1..=3)) };
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe {
            match N {
                1 => _mm_alignr_epi8::<15>(self.0, before.0),
                2 => _mm_alignr_epi8::<14>(self.0, before.0),
                _ => _mm_alignr_epi8::<13>(self.0, before.0),
            }
        })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the caller's promise, and the invariant of `Bytes16`; the store asks for no alignment.
        unsafe { _mm_storeu_si128(at.cast(), self.0) };
    }

    #[inline(always)]
    fn any_high(self) -> bool {
        // SAFETY: the invariant of `Bytes16`.
        unsafe { _mm_movemask_epi8(self.0) != 0 }
    }

    #[inline(always)]
    fn first_high(self) -> Option<usize> {
        // SAFETY: the invariant of `Bytes16`.
        let mask = unsafe { _mm_movemask_epi8(self.0) };
        (mask != 0).then_some(mask.trailing_zeros() as usize)
    }
}

impl Vector16 for Bytes16 {
    #[inline(always)]
    unsafe fn from_words([low, high]: [u64; 2]) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm_set_epi64x(high as i64, low as i64) })
    }

    #[inline(always)]
    unsafe fn up(self, n: usize) -> Self {
        debug_assert!(n <= 16);
        // SAFETY: the invariant of `Bytes16`; as `n` is 16 at most, 16 bytes can be read.
        Self(unsafe {
            _mm_shuffle_epi8(self.0, _mm_loadu_si128(vector::UP.as_ptr().add(16 - n).cast()))
        })
    }
}

/// Finds how far `input` is well-formed; see [`Kernel::validate`](super::Kernel::validate).
#[target_feature(enable = "sse4.1")]
pub(in crate::kernel) fn validate(input: &[u8]) -> Stop {
    // SAFETY: the lengths are those that are asked for, and this function has the instructions.
    let look = unsafe {
        match input.len() {
            0..=3 => return scalar::validate(input),
            4..=16 => vector::up_to_16::<Bytes16>(input),
            17..=32 => vector::up_to_32::<Bytes16>(input),
            33..=64 => vector::halves::<Bytes16, 2>(input),
            65..=128 => vector::halves::<Bytes16, 4>(input),
            129..=256 => vector::blocks::<Bytes16>(input),
            _ => return long(input),
        }
    };
    answer(input, look)
}

/// 257 bytes and more.
#[inline(never)]
#[target_feature(enable = "sse4.1")]
fn long(input: &[u8]) -> Stop {
    // SAFETY: there are 256 bytes and more, and this function has the instructions.
    let look = unsafe { vector::long::<Bytes16>(input) };
    answer(input, look)
}

/// Counts bytes; see [`Kernel::clean_len`](super::Kernel::clean_len).
#[target_feature(enable = "sse4.1")]
pub(in crate::kernel) fn clean_len(input: &[u8]) -> usize {
    // SAFETY: there is no `out`, and this function has the instructions.
    unsafe { vector::clean::<Bytes16>(input, core::ptr::null_mut()) }
}

/// Copies bytes; see [`Kernel::copy_clean`](super::Kernel::copy_clean).
///
/// # Safety
///
/// - `input.len()` bytes can be written at `out`.
#[target_feature(enable = "sse4.1")]
pub(in crate::kernel) unsafe fn copy_clean(input: &[u8], out: *mut u8) -> usize {
    // SAFETY: the caller's promise, and this function has the instructions.
    unsafe { vector::clean::<Bytes16>(input, out) }
}

/// Counts bytes, as [`Kernel::text_before`](super::Kernel::text_before) may, up to what is not ASCII.
#[target_feature(enable = "sse4.1")]
pub(in crate::kernel) fn ascii_before(end: u8, input: &[u8]) -> usize {
    // SAFETY: this function has the instructions.
    unsafe { vector::ascii_before::<Bytes16>(end, input) }
}

/// What has been found, looking closer where that is needed.
#[inline]
#[target_feature(enable = "sse4.1")]
fn answer(input: &[u8], look: Look) -> Stop {
    match look {
        Ok(stop) => stop,
        Err(from) => locate(input, from),
    }
}

#[cold]
#[inline(never)]
#[target_feature(enable = "sse4.1")]
fn locate(input: &[u8], from: usize) -> Stop {
    // SAFETY: this function has the instructions.
    unsafe { vector::locate::<Bytes16>(input, from) }
}
