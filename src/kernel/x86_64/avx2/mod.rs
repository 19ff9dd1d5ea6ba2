//! AVX2: vectors of 32 bytes, and of 16 for inputs of up to 34; the algorithm is in `vector.rs`.

pub(in crate::kernel) mod pairs;

use core::arch::x86_64::*;

use super::sse41::Bytes16;
use crate::kernel::generic::{self as vector, Look, Vector};
use crate::kernel::{Stop, scalar};

/// 32 bytes.
///
/// Invariant: exists only where the machine has AVX2.
#[derive(Clone, Copy)]
struct Bytes32(__m256i);

impl Vector for Bytes32 {
    const LEN: usize = 32;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promises; the load asks for no alignment.
        Self(unsafe { _mm256_loadu_si256(at.cast()) })
    }

    #[inline(always)]
    fn each(self, byte: u8) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_set1_epi8(byte as i8) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_or_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_and_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_add_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn plus_signed(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_adds_epi8(self.0, other.0) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_subs_epu8(self.0, other.0) })
    }

    #[inline(always)]
    fn average(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_avg_epu8(self.0, other.0) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_max_epu8(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe { _mm256_min_epu8(self.0, other.0) })
    }

    #[inline(always)]
    fn pick_from(self, table: &[u8; 16]) -> Self {
        // SAFETY: the invariant of `Bytes32`; the table has the 16 bytes that are loaded.
        Self(unsafe {
            _mm256_shuffle_epi8(
                _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())),
                self.0,
            )
        })
    }

    #[inline(always)]
    fn back<const N: usize>(self, before: Self) -> Self {
        const { assert!(matches!(N, 1..=3)) };
        // SAFETY: the invariant of `Bytes32`.
        Self(unsafe {
            // `alignr` works within each half: the halves before those of this vector.
            let halves = _mm256_permute2x128_si256::<0x21>(before.0, self.0);
            match N {
                1 => _mm256_alignr_epi8::<15>(self.0, halves),
                2 => _mm256_alignr_epi8::<14>(self.0, halves),
                _ => _mm256_alignr_epi8::<13>(self.0, halves),
            }
        })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the caller's promise, and the invariant of `Bytes32`; the store asks for no alignment.
        unsafe { _mm256_storeu_si256(at.cast(), self.0) };
    }

    #[inline(always)]
    fn any_high(self) -> bool {
        // SAFETY: the invariant of `Bytes32`.
        unsafe { _mm256_movemask_epi8(self.0) != 0 }
    }

    #[inline(always)]
    fn first_high(self) -> Option<usize> {
        // SAFETY: the invariant of `Bytes32`.
        let mask = unsafe { _mm256_movemask_epi8(self.0) };
        (mask != 0).then_some(mask.trailing_zeros() as usize)
    }
}

/// Finds how far `input` is well-formed; see [`Kernel::validate`](super::Kernel::validate).
#[target_feature(enable = "avx2")]
pub(in crate::kernel) fn validate(input: &[u8]) -> Stop {
    // SAFETY: the lengths are those that are asked for, and this function has the instructions.
    let look = unsafe {
        match input.len() {
            0..=3 => return scalar::validate(input),
            4..=16 => vector::up_to_16::<Bytes16>(input),
            17..=32 => vector::up_to_32::<Bytes16>(input),
            33..=34 => vector::halves::<Bytes16, 2>(input),
            35..=64 => vector::halves::<Bytes32, 1>(input),
            65..=128 => vector::halves::<Bytes32, 2>(input),
            129..=256 => vector::halves::<Bytes32, 4>(input),
            _ => return long(input),
        }
    };
    answer(input, look)
}

/// 257 bytes and more.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn long(input: &[u8]) -> Stop {
    // SAFETY: there are 256 bytes and more, and this function has the instructions.
    let look = unsafe { vector::long::<Bytes32>(input) };
    answer(input, look)
}

/// Counts bytes; see [`Kernel::clean_len`](super::Kernel::clean_len).
#[target_feature(enable = "avx2")]
pub(in crate::kernel) fn clean_len(input: &[u8]) -> usize {
    // SAFETY: there is no `out`, and this function has the instructions.
    unsafe { vector::clean::<Bytes32>(input, core::ptr::null_mut()) }
}

/// Copies bytes; see [`Kernel::copy_clean`](super::Kernel::copy_clean).
///
/// # Safety
///
/// - `input.len()` bytes can be written at `out`.
#[target_feature(enable = "avx2")]
pub(in crate::kernel) unsafe fn copy_clean(input: &[u8], out: *mut u8) -> usize {
    // SAFETY: the caller's promise, and this function has the instructions.
    unsafe { vector::clean::<Bytes32>(input, out) }
}

/// Counts bytes, as [`Kernel::text_before`](super::Kernel::text_before) may, up to what is not ASCII.
#[target_feature(enable = "avx2")]
pub(in crate::kernel) fn ascii_before(end: u8, input: &[u8]) -> usize {
    // SAFETY: this function has the instructions.
    unsafe { vector::ascii_before::<Bytes32>(end, input) }
}

/// What has been found, looking closer where that is needed.
#[inline]
#[target_feature(enable = "avx2")]
fn answer(input: &[u8], look: Look) -> Stop {
    match look {
        Ok(stop) => stop,
        Err(from) => locate(input, from),
    }
}

#[cold]
#[inline(never)]
#[target_feature(enable = "avx2")]
fn locate(input: &[u8], from: usize) -> Stop {
    // SAFETY: this function has the instructions.
    unsafe { vector::locate::<Bytes32>(input, from) }
}
