//! NEON: vectors of 16 bytes; the algorithm is in `vector.rs`.

use core::arch::aarch64::*;

use crate::kernel::generic::{self as vector, Look, Vector, Vector16};
use crate::kernel::{Stop, scalar};

/// 16 bytes.
///
/// Invariant: exists only where the machine has NEON.
#[derive(Clone, Copy)]
struct Bytes16(uint8x16_t);

impl Vector for Bytes16 {
    const LEN: usize = 16;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promises; the load asks for no alignment.
        Self(unsafe { vld1q_u8(at) })
    }

    #[inline(always)]
    fn each(self, byte: u8) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { vdupq_n_u8(byte) })
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { vorrq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { vandq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { veorq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { vaddq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { vqsubq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn average(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { vrhaddq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { vmaxq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe { vminq_u8(self.0, other.0) })
    }

    #[inline(always)]
    fn plus_signed(self, other: Self) -> Self {
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe {
            let sum = vqaddq_s8(vreinterpretq_s8_u8(self.0), vreinterpretq_s8_u8(other.0));
            vreinterpretq_u8_s8(sum)
        })
    }

    #[inline(always)]
    fn pick_from(self, table: &[u8; 16]) -> Self {
        // An index of 16 or more would pick zero.
        // SAFETY: the invariant of `Bytes16`; the table has the 16 bytes that are loaded.
        Self(unsafe { vqtbl1q_u8(vld1q_u8(table.as_ptr()), vandq_u8(self.0, vdupq_n_u8(0x0F))) })
    }

    #[inline(always)]
    fn back<const N: usize>(self, before: Self) -> Self {
        const { assert!(matches!(N, 1..=3)) };
        // SAFETY: the invariant of `Bytes16`.
        Self(unsafe {
            match N {
                1 => vextq_u8::<15>(before.0, self.0),
                2 => vextq_u8::<14>(before.0, self.0),
                _ => vextq_u8::<13>(before.0, self.0),
            }
        })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the caller's promise, and the invariant of `Bytes16`; the store asks for no alignment.
        unsafe { vst1q_u8(at, self.0) };
    }

    #[inline(always)]
    fn any_high(self) -> bool {
        // SAFETY: the invariant of `Bytes16`.
        unsafe { vmaxvq_u8(self.0) >= 0x80 }
    }

    #[inline(always)]
    fn first_high(self) -> Option<usize> {
        // SAFETY: the invariant of `Bytes16`.
        let nibbles = unsafe {
            // All bits of each byte, and then four of them.
            let bytes = vreinterpretq_u16_u8(vcltzq_s8(vreinterpretq_s8_u8(self.0)));
            vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(bytes)))
        };
        (nibbles != 0).then_some(nibbles.trailing_zeros() as usize / 4)
    }
}

impl Vector16 for Bytes16 {
    #[inline(always)]
    unsafe fn from_words([low, high]: [u64; 2]) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))) })
    }

    #[inline(always)]
    unsafe fn up(self, n: usize) -> Self {
        debug_assert!(n <= 16);
        // SAFETY: the invariant of `Bytes16`; as `n` is 16 at most, 16 bytes can be read.
        Self(unsafe { vqtbl1q_u8(self.0, vld1q_u8(vector::UP.as_ptr().add(16 - n))) })
    }
}

/// Finds how far `input` is well-formed; see [`Kernel::validate`](super::Kernel::validate).
#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
fn long(input: &[u8]) -> Stop {
    // SAFETY: there are 256 bytes and more, and this function has the instructions.
    let look = unsafe { vector::long::<Bytes16>(input) };
    answer(input, look)
}

/// Counts bytes; see [`Kernel::clean_len`](super::Kernel::clean_len).
#[target_feature(enable = "neon")]
pub(in crate::kernel) fn clean_len(input: &[u8]) -> usize {
    // SAFETY: there is no `out`, and this function has the instructions.
    unsafe { vector::clean::<Bytes16>(input, core::ptr::null_mut()) }
}

/// Copies bytes; see [`Kernel::copy_clean`](super::Kernel::copy_clean).
///
/// # Safety
///
/// - `input.len()` bytes can be written at `out`.
#[target_feature(enable = "neon")]
pub(in crate::kernel) unsafe fn copy_clean(input: &[u8], out: *mut u8) -> usize {
    // SAFETY: the caller's promise, and this function has the instructions.
    unsafe { vector::clean::<Bytes16>(input, out) }
}

/// Counts bytes, as [`Kernel::text_before`](super::Kernel::text_before) may, up to what is not ASCII.
#[target_feature(enable = "neon")]
pub(in crate::kernel) fn ascii_before(end: u8, input: &[u8]) -> usize {
    // SAFETY: this function has the instructions.
    unsafe { vector::ascii_before::<Bytes16>(end, input) }
}

/// What has been found, looking closer where that is needed.
#[inline]
#[target_feature(enable = "neon")]
fn answer(input: &[u8], look: Look) -> Stop {
    match look {
        Ok(stop) => stop,
        Err(from) => locate(input, from),
    }
}

#[cold]
#[inline(never)]
#[target_feature(enable = "neon")]
fn locate(input: &[u8], from: usize) -> Stop {
    // SAFETY: this function has the instructions.
    unsafe { vector::locate::<Bytes16>(input, from) }
}
