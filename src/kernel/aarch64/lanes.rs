//! Lanes of 16 and 32 bits, with NEON.

use core::arch::aarch64::*;

use super::neon::{Bytes16, load_16};
use crate::kernel::generic::{Lanes, Part, Vector, arithmetic, lanewise};

/// The same bits, as lanes of 16 or 32 bits.
macro_rules! as_lanes {
    (u16: $bytes:expr) => {
        vreinterpretq_u16_u8($bytes.0)
    };
    (u32: $bytes:expr) => {
        vreinterpretq_u32_u8($bytes.0)
    };
    (s32: $bytes:expr) => {
        vreinterpretq_s32_u8($bytes.0)
    };
}

/// Methods that are one instruction, of lanes of 16 or 32 bits.
macro_rules! of_lanes {
    ($($method:ident: $instruction:ident, $lane:ident, $back:ident;)*) => {$(
        #[inline(always)]
        fn $method(self, other: Self) -> Self {
            // SAFETY: vectors exist only where the machine has NEON.
            Self(unsafe { $back($instruction(as_lanes!($lane: self), as_lanes!($lane: other))) })
        }
    )*};
}

/// Methods that shift each lane by a constant.
macro_rules! shifts {
    ($($method:ident: $instruction:ident, $lane:ident, $back:ident;)*) => {$(
        #[inline(always)]
        fn $method<const N: i32>(self) -> Self {
            // SAFETY: vectors exist only where the machine has NEON.
            Self(unsafe { $back($instruction::<N>(as_lanes!($lane: self))) })
        }
    )*};
}

impl Lanes for Bytes16 {
    type Part = Self;
    type Groups = [Self; 2];
    type Parts = [Self; 1];

    lanewise! {
        equal: vceqq_u8,
    }
    of_lanes! {
        equal_16: vceqq_u16, u16, vreinterpretq_u8_u16;
        greater_32: vcgtq_s32, s32, vreinterpretq_u8_u32;
        wrapping_add_16: vaddq_u16, u16, vreinterpretq_u8_u16;
        narrow_32: vuzp1q_u16, u16, vreinterpretq_u8_u16;
    }
    shifts! {
        shl_16: vshlq_n_u16, u16, vreinterpretq_u8_u16;
        shr_16: vshrq_n_u16, u16, vreinterpretq_u8_u16;
        shl_32: vshlq_n_u32, u32, vreinterpretq_u8_u32;
        shr_32: vshrq_n_u32, u32, vreinterpretq_u8_u32;
    }
    arithmetic! {
        fn splat_16(self, value: u16) -> Self {
            Self(vreinterpretq_u8_u16(vdupq_n_u16(value)))
        }
        fn splat_32(self, value: u32) -> Self {
            Self(vreinterpretq_u8_u32(vdupq_n_u32(value)))
        }
        fn greater(self, other: Self) -> Self {
            Self(vcgtq_s8(vreinterpretq_s8_u8(self.0), vreinterpretq_s8_u8(other.0)))
        }
        fn select(self, yes: Self, no: Self) -> Self {
            // (Of a mask the comparison is left out by the compiler.)
            Self(vbslq_u8(vcltzq_s8(vreinterpretq_s8_u8(self.0)), yes.0, no.0))
        }
        fn intersects(self, other: Self) -> bool {
            vmaxvq_u32(as_lanes!(u32: Vector::and(self, other))) != 0
        }
        fn bits(self) -> u32 {
            // A bit of its own for each byte of a half, and then their sum.
            let places = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
            let bits = vandq_u8(vcltzq_s8(vreinterpretq_s8_u8(self.0)), places);
            let pairs = vpaddq_u8(bits, bits);
            let fours = vpaddq_u8(pairs, pairs);
            let eights = vpaddq_u8(fours, fours);
            u32::from(vgetq_lane_u16::<0>(vreinterpretq_u16_u8(eights)))
        }
        fn bits_16(self) -> u32 {
            let places = vcombine_u16(
                vcreate_u16(0x0008_0004_0002_0001),
                vcreate_u16(0x0080_0040_0020_0010),
            );
            let lanes = vcltzq_s16(vreinterpretq_s16_u8(self.0));
            u32::from(vaddvq_u16(vandq_u16(lanes, places)))
        }
        fn interleave(self, high: Self) -> [Self; 2] {
            [Self(vzip1q_u8(self.0, high.0)), Self(vzip2q_u8(self.0, high.0))]
        }
        fn narrow_16(self) -> Self {
            Self(vuzp1q_u8(self.0, self.0))
        }
        fn widen(self) -> [Self; 2] {
            let (front, back) = (vmovl_u8(vget_low_u8(self.0)), vmovl_high_u8(self.0));
            [Self(vreinterpretq_u8_u16(front)), Self(vreinterpretq_u8_u16(back))]
        }
    }

    #[inline(always)]
    fn interleave_16(self, high: Self) -> [Self; 2] {
        Part::interleave_16(self, high)
    }

    #[inline(always)]
    fn parts(self) -> [Self; 1] {
        [self]
    }
}

impl Part for Bytes16 {
    lanewise! {
        or: vorrq_u8,
    }
    arithmetic! {
        fn zero(self) -> Self {
            Self(vdupq_n_u8(0))
        }
        fn interleave_16(self, high: Self) -> [Self; 2] {
            let (low, high) = (as_lanes!(u16: self), as_lanes!(u16: high));
            [
                Self(vreinterpretq_u8_u16(vzip1q_u16(low, high))),
                Self(vreinterpretq_u8_u16(vzip2q_u16(low, high))),
            ]
        }
        fn shuffle(self, indexes: &[u8; 16]) -> Self {
            Self(vqtbl1q_u8(self.0, load_16(indexes)))
        }
    }

    #[inline(always)]
    unsafe fn store(self, out: *mut u8) {
        // SAFETY: the caller promises that 16 bytes can be written; `self` proves NEON.
        unsafe { vst1q_u8(out, self.0) };
    }

    #[inline(always)]
    fn three_byte_units(self, bytes: &[u8; 24]) -> Self {
        // SAFETY: there are the 24 bytes that are loaded; `self` proves NEON.
        let uint8x8x3_t(first, second, third) = unsafe { vld3_u8(bytes.as_ptr()) };
        self.join_three([first, second, third])
    }
}

impl Bytes16 {
    arithmetic! {
        // The values of eight characters of three bytes each, by their first bytes, second and third.
        fn join_three(self, bytes: [uint8x8_t; 3]) -> Self {
            let six = vdup_n_u8(0x3F);
            let [first, second, third] = bytes;
            // The upper two bits of the second are shifted out, with the E of the first.
            let upper = vsli_n_u8::<4>(vshr_n_u8::<2>(vand_u8(second, six)), first);
            let lower = vsli_n_u8::<6>(vand_u8(third, six), second);
            Self(vcombine_u8(vzip1_u8(lower, upper), vzip2_u8(lower, upper)))
        }
    }
}
