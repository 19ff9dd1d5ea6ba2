//! Lanes of 16 and 32 bits, with NEON.

use core::arch::aarch64::*;

use super::neon::{Bytes16, load_16};
use crate::kernel::generic::{Lanes, Part, Vector, arithmetic, lanewise, one_part};

/// How many bits are set in an index.
static COUNTS: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        table[index] = (index as u8).count_ones() as u8;
        index += 1;
    }
    table
};

impl Lanes for Bytes16 {
    one_part!();
    lanewise! {
        equal: vceqq_u8,
    }
    arithmetic! {
        fn equal_16(self, other: Self) -> Self {
            of_16(vceqq_u16(self.by_16(), other.by_16()))
        }
        fn greater(self, other: Self) -> Self {
            Self(vcgtq_s8(vreinterpretq_s8_u8(self.0), vreinterpretq_s8_u8(other.0)))
        }
        fn greater_32(self, other: Self) -> Self {
            of_32(vcgtq_s32(vreinterpretq_s32_u8(self.0), vreinterpretq_s32_u8(other.0)))
        }
        fn wrapping_add_16(self, other: Self) -> Self {
            of_16(vaddq_u16(self.by_16(), other.by_16()))
        }
        fn shl_16<const N: i32>(self) -> Self {
            of_16(vshlq_n_u16::<N>(self.by_16()))
        }
        fn shr_16<const N: i32>(self) -> Self {
            of_16(vshrq_n_u16::<N>(self.by_16()))
        }
        fn shl_32<const N: i32>(self) -> Self {
            of_32(vshlq_n_u32::<N>(self.by_32()))
        }
        fn shr_32<const N: i32>(self) -> Self {
            of_32(vshrq_n_u32::<N>(self.by_32()))
        }
        fn splat_16(self, value: u16) -> Self {
            of_16(vdupq_n_u16(value))
        }
        fn splat_32(self, value: u32) -> Self {
            of_32(vdupq_n_u32(value))
        }
        fn select(self, yes: Self, no: Self) -> Self {
            // (Of a mask the comparison is left out by the compiler.)
            Self(vbslq_u8(vcltzq_s8(vreinterpretq_s8_u8(self.0)), yes.0, no.0))
        }
        fn intersects(self, other: Self) -> bool {
            vmaxvq_u32(self.and(other).by_32()) != 0
        }
        fn bits(self) -> u32 {
            // Each byte of a half keeps a bit of its own. Their sum, of both halves at once. (By pairwise
            // additions LLVM makes three instructions of each.)
            let places = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
            let bits = vandq_u8(vcltzq_s8(vreinterpretq_s8_u8(self.0)), places);
            let halves = vzip1q_u8(bits, vextq_u8::<8>(bits, bits));
            u32::from(vaddvq_u16(vreinterpretq_u16_u8(halves)))
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
        fn narrow_32(self, other: Self) -> Self {
            of_16(vuzp1q_u16(self.by_16(), other.by_16()))
        }
        fn widen(self) -> [Self; 2] {
            let (front, back) = (vmovl_u8(vget_low_u8(self.0)), vmovl_high_u8(self.0));
            [of_16(front), of_16(back)]
        }
    }

    #[inline(always)]
    fn count(bits: u32) -> usize {
        // (The instruction that counts bits is one of vectors, and the way there and back is long.)
        let [low, high, _, _] = bits.to_le_bytes();
        usize::from(COUNTS[usize::from(low)]) + usize::from(COUNTS[usize::from(high)])
    }
}

impl Part for Bytes16 {
    arithmetic! {
        fn shuffle(self, indexes: &[u8; 16]) -> Self {
            Self(vqtbl1q_u8(self.0, load_16(indexes)))
        }
        fn interleave_16(self, high: Self) -> [Self; 2] {
            let (low, high) = (self.by_16(), high.by_16());
            [of_16(vzip1q_u16(low, high)), of_16(vzip2q_u16(low, high))]
        }
    }

    #[inline(always)]
    fn three_byte_units(self, bytes: &[u8; 24]) -> Self {
        let ([front @ .., _, _, _, _, _, _, _, _], [_, _, _, _, _, _, _, _, back @ ..]) =
            (bytes, bytes);
        self.join_three(front, back)
    }
}

impl Bytes16 {
    arithmetic! {
        // The values of eight characters of three bytes each: the first 16 bytes, and the last.
        fn join_three(self, front: &[u8; 16], back: &[u8; 16]) -> Self {
            // Of the first bytes: 0, 3, 6 and 9; and 12 to 21, which are eight further in the two.
            let places = vcreate_u8(0x1D1A_1714_0906_0300);
            let bytes = uint8x16x2_t(load_16(front), load_16(back));
            let [one, two, six] = [vdup_n_u8(1), vdup_n_u8(2), vdup_n_u8(0x3F)];
            let first = vqtbl2_u8(bytes, places);
            let second = vand_u8(vqtbl2_u8(bytes, vadd_u8(places, one)), six);
            let third = vand_u8(vqtbl2_u8(bytes, vadd_u8(places, two)), six);
            // What is inserted loses its upper bits: E, and four of the six.
            let high = vsli_n_u8::<4>(vshr_n_u8::<2>(second), first);
            let low = vsli_n_u8::<6>(third, second);
            Self(vcombine_u8(vzip1_u8(low, high), vzip2_u8(low, high)))
        }
        fn by_16(self) -> uint16x8_t {
            vreinterpretq_u16_u8(self.0)
        }
        fn by_32(self) -> uint32x4_t {
            vreinterpretq_u32_u8(self.0)
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn of_16(lanes: uint16x8_t) -> Bytes16 {
    Bytes16(vreinterpretq_u8_u16(lanes))
}

#[inline]
#[target_feature(enable = "neon")]
fn of_32(lanes: uint32x4_t) -> Bytes16 {
    Bytes16(vreinterpretq_u8_u32(lanes))
}
