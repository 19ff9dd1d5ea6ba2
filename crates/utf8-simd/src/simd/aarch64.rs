//! The level of aarch64: NEON, vectors of 16 bytes. The algorithm is in `generic`.

use core::arch::aarch64::*;
use core::mem::MaybeUninit;

use crate::simd::generic::{
    self, Lanes, Part, SECOND_BY_LEAD, Vector, Vector16, Verdict, arithmetic, first, first_mut,
    lanewise, one_part, operations,
};
pub(in crate::simd) use crate::simd::reference::{find_outside, join_pairs, split_pairs, unmask};
use crate::simd::{
    BLOCK_ERRORS_LEN, BlockErrors, HIGH_BITS, RepairedPrefix, Validated, reference, table,
};

operations!("neon", NeonBytes, NeonBytes,
    validate_halves::<NeonBytes, 32>,
    129..=256 => validate_blocks::<NeonBytes, 256>,
    65..=128 => validate_halves::<NeonBytes, 64>,
);

/// 16 bytes.
///
/// Invariant: exists only where the machine has NEON.
#[derive(Clone, Copy)]
pub(super) struct NeonBytes(pub(super) uint8x16_t);

impl NeonBytes {
    #[inline]
    #[target_feature(enable = "neon")]
    pub(super) fn zero() -> Self {
        Self(vdupq_n_u8(0))
    }
}

#[inline]
#[target_feature(enable = "neon")]
pub(super) fn load_16(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: there are the 16 bytes that are loaded.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_16(vector: uint8x16_t, to: &mut [MaybeUninit<u8>; 16]) {
    // SAFETY: there is room for the 16 bytes that are stored.
    unsafe { vst1q_u8(to.as_mut_ptr().cast(), vector) };
}

impl Vector for NeonBytes {
    const LEN: usize = 16;
    const MASK_BITS: u32 = 4;
    const TESTS_ALL_LEADS: bool = true;

    arithmetic! { "neon":
        fn load(_any: NeonBytes, bytes: &[u8]) -> NeonBytes {
            NeonBytes(load_16(first(bytes)))
        }
        fn store(vector: NeonBytes, bytes: &mut [MaybeUninit<u8>]) -> () {
            store_16(vector.0, first_mut(bytes));
        }
        fn splat(_vector: NeonBytes, byte: u8) -> NeonBytes {
            NeonBytes(vdupq_n_u8(byte))
        }
        fn splat_word(_vector: NeonBytes, word: u32) -> NeonBytes {
            NeonBytes(vreinterpretq_u8_u32(vdupq_n_u32(word)))
        }
        fn saturating_add(vector: NeonBytes, other: NeonBytes) -> NeonBytes {
            let sum = vqaddq_s8(vreinterpretq_s8_u8(vector.0), vreinterpretq_s8_u8(other.0));
            NeonBytes(vreinterpretq_u8_s8(sum))
        }
        fn signed_min(vector: NeonBytes, other: NeonBytes) -> NeonBytes {
            let least = vminq_s8(vreinterpretq_s8_u8(vector.0), vreinterpretq_s8_u8(other.0));
            NeonBytes(vreinterpretq_u8_s8(least))
        }
        fn prev<const N: usize>(vector: NeonBytes, before: NeonBytes) -> NeonBytes {
            const { assert!(matches!(N, 1..=3)) };
            NeonBytes(match N {
                1 => vextq_u8::<15>(before.0, vector.0),
                2 => vextq_u8::<14>(before.0, vector.0),
                _ => vextq_u8::<13>(before.0, vector.0),
            })
        }
        fn movemask(vector: NeonBytes) -> u64 {
            // All bits of each byte, and then four of them.
            let bytes = vreinterpretq_u16_u8(vcltzq_s8(vreinterpretq_s8_u8(vector.0)));
            vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(bytes)))
        }
        fn any_high_bit(vector: NeonBytes) -> bool {
            // The maxima of pairs are one operation for any vector pipeline; the maximum of all lanes is two, for half of
            // them (`benches/ARM.md`, UTF-8 to UTF-16).
            let pairs = vpmaxq_u8(vector.0, vector.0);
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(pairs)) & HIGH_BITS != 0
        }
        fn second_addends(vector: NeonBytes) -> NeonBytes {
            // An index of 32 or more, of what is below E0, picks zero.
            let from_e0 = &SECOND_BY_LEAD.0[32..];
            let [low, high] = [load_16(first(from_e0)), load_16(first(&from_e0[16..]))];
            NeonBytes(vqtbl2q_u8(uint8x16x2_t(low, high), vsubq_u8(vector.0, vdupq_n_u8(0xE0))))
        }
    }

    #[inline(always)]
    fn mask_of_64(bytes: impl Fn(usize) -> Self) -> u64 {
        let vectors = [bytes(0), bytes(16), bytes(32), bytes(48)];
        vectors[0].join_masks(vectors)
    }

    lanewise! { "neon", NeonBytes:
        or: vorrq_u8,
        and: vandq_u8,
        xor: veorq_u8,
        wrapping_add: vaddq_u8,
        saturating_sub: vqsubq_u8,
        average: vrhaddq_u8,
        max: vmaxq_u8,
        min: vminq_u8,
    }
}

impl Vector16 for NeonBytes {
    arithmetic! { "neon":
        fn words(_any: NeonBytes, words: [u64; 2]) -> NeonBytes {
            let [low, high] = words;
            NeonBytes(vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))))
        }
        fn shift_up(vector: NeonBytes, n: usize) -> NeonBytes {
            let mut indexes = [0; 16];
            indexes.copy_from_slice(&generic::SHIFT_UP[16 - n..][..16]);
            NeonBytes(vqtbl1q_u8(vector.0, load_16(&indexes)))
        }
    }
}

impl NeonBytes {
    arithmetic! { "neon":
        fn join_masks(_vector: NeonBytes, vectors: [NeonBytes; 4]) -> u64 {
            // Keeps one bit of each byte. Three sums of adjacent bytes join the bits of eight bytes in one.
            const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
            let bits = load_16(&BITS);
            let [a, b, c, d] = vectors
                .map(|vector| vandq_u8(vcltzq_s8(vreinterpretq_s8_u8(vector.0)), bits));
            let halves = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(halves, halves)))
        }
    }
}

/// How many bits are set in an index.
static COUNTS: [u8; 256] = table!(256, |index| (index as u8).count_ones() as u8);

impl Lanes for NeonBytes {
    one_part!();
    lanewise! { "neon", NeonBytes:
        cmpeq: vceqq_u8,
        narrow_16_with: vuzp1q_u8,
    }
    arithmetic! { "neon":
        fn cmpeq_16(vector: NeonBytes, other: NeonBytes) -> NeonBytes {
            of_16(vceqq_u16(vector.by_16(), other.by_16()))
        }
        fn cmpgt(vector: NeonBytes, other: NeonBytes) -> NeonBytes {
            NeonBytes(vcgtq_s8(vreinterpretq_s8_u8(vector.0), vreinterpretq_s8_u8(other.0)))
        }
        fn cmpgt_32(vector: NeonBytes, other: NeonBytes) -> NeonBytes {
            of_32(vcgtq_s32(vreinterpretq_s32_u8(vector.0), vreinterpretq_s32_u8(other.0)))
        }
        fn wrapping_add_16(vector: NeonBytes, other: NeonBytes) -> NeonBytes {
            of_16(vaddq_u16(vector.by_16(), other.by_16()))
        }
        fn shl_16<const N: i32>(vector: NeonBytes) -> NeonBytes {
            of_16(vshlq_n_u16::<N>(vector.by_16()))
        }
        fn shr_16<const N: i32>(vector: NeonBytes) -> NeonBytes {
            of_16(vshrq_n_u16::<N>(vector.by_16()))
        }
        fn shl_32<const N: i32>(vector: NeonBytes) -> NeonBytes {
            of_32(vshlq_n_u32::<N>(vector.by_32()))
        }
        fn shr_32<const N: i32>(vector: NeonBytes) -> NeonBytes {
            of_32(vshrq_n_u32::<N>(vector.by_32()))
        }
        fn splat_16(_vector: NeonBytes, value: u16) -> NeonBytes {
            of_16(vdupq_n_u16(value))
        }
        fn splat_32(_vector: NeonBytes, value: u32) -> NeonBytes {
            of_32(vdupq_n_u32(value))
        }
        fn select(vector: NeonBytes, yes: NeonBytes, no: NeonBytes) -> NeonBytes {
            NeonBytes(vbslq_u8(vcltzq_s8(vreinterpretq_s8_u8(vector.0)), yes.0, no.0))
        }
        fn select_16(vector: NeonBytes, yes: NeonBytes, no: NeonBytes) -> NeonBytes {
            // If `vector` is a comparison of such lanes, the compiler removes this one. Without it, the compiler splits the
            // selection into several instructions.
            let lanes = vcltzq_s16(vreinterpretq_s16_u8(vector.0));
            of_16(vbslq_u16(lanes, yes.by_16(), no.by_16()))
        }
        fn select_32(vector: NeonBytes, yes: NeonBytes, no: NeonBytes) -> NeonBytes {
            let lanes = vcltzq_s32(vreinterpretq_s32_u8(vector.0));
            of_32(vbslq_u32(lanes, yes.by_32(), no.by_32()))
        }
        fn intersects(vector: NeonBytes, other: NeonBytes) -> bool {
            vmaxvq_u32(vector.and(other).by_32()) != 0
        }
        fn any_from_16<const LEAST: u16>(vector: NeonBytes) -> bool {
            // As `any_high_bit`. If a vector is tested twice, the compiler computes the maxima once.
            const { assert!(LEAST.is_power_of_two()) };
            let pairs = vreinterpretq_u64_u16(vpmaxq_u16(vector.by_16(), vector.by_16()));
            vgetq_lane_u64::<0>(pairs) & (u64::from(LEAST.wrapping_neg()) * 0x0001_0001_0001_0001) != 0
        }
        fn any_from_32<const LEAST: u32>(vector: NeonBytes) -> bool {
            const { assert!(LEAST.is_power_of_two()) };
            vmaxvq_u32(vector.by_32()) & LEAST.wrapping_neg() != 0
        }
        fn sum(vector: NeonBytes) -> usize {
            vaddlvq_u8(vector.0).into()
        }
        fn bitmask(vector: NeonBytes) -> u32 {
            // Each byte of a half keeps a bit of its own. Their sum, of both halves at once. By pairwise
            // additions LLVM makes three instructions of each.
            let places = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
            let bits = vandq_u8(vcltzq_s8(vreinterpretq_s8_u8(vector.0)), places);
            let halves = vzip1q_u8(bits, vextq_u8::<8>(bits, bits));
            u32::from(vaddvq_u16(vreinterpretq_u16_u8(halves)))
        }
        fn expand_bitmask(_any: NeonBytes, bits: u32) -> NeonBytes {
            let places = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
            let [front, back, ..] = bits.to_le_bytes();
            NeonBytes(vtstq_u8(vcombine_u8(vdup_n_u8(front), vdup_n_u8(back)), places))
        }
        fn bitmask_16(vector: NeonBytes) -> u32 {
            let places = vcombine_u16(
                vcreate_u16(0x0008_0004_0002_0001),
                vcreate_u16(0x0080_0040_0020_0010),
            );
            let lanes = vcltzq_s16(vreinterpretq_s16_u8(vector.0));
            vaddlvq_u16(vandq_u16(lanes, places))
        }
        fn bitmask_16_with(vector: NeonBytes, other: NeonBytes) -> u32 {
            let [front, back] = [0x0008_0004_0002_0001, 0x0080_0040_0020_0010];
            let low = vcombine_u16(vcreate_u16(front), vcreate_u16(back));
            let high = vcombine_u16(vcreate_u16(front << 8), vcreate_u16(back << 8));
            let bits = vorrq_u16(vandq_u16(vector.by_16(), low), vandq_u16(other.by_16(), high));
            vaddlvq_u16(bits)
        }
        fn interleave(vector: NeonBytes, high: NeonBytes) -> [NeonBytes; 2] {
            [NeonBytes(vzip1q_u8(vector.0, high.0)), NeonBytes(vzip2q_u8(vector.0, high.0))]
        }
        fn two_bytes(vector: NeonBytes) -> NeonBytes {
            // The upper two bits of the second byte belong to the first: they are cleared.
            let both = vsliq_n_u16::<8>(vshrq_n_u16::<6>(vector.by_16()), vector.by_16());
            of_16(vorrq_u16(vandq_u16(both, vdupq_n_u16(0x3FFF)), vdupq_n_u16(0x80C0)))
        }
        fn narrow_16(vector: NeonBytes) -> NeonBytes {
            NeonBytes(vuzp1q_u8(vector.0, vector.0))
        }
        fn narrow_32(vector: NeonBytes, other: NeonBytes) -> NeonBytes {
            of_16(vuzp1q_u16(vector.by_16(), other.by_16()))
        }
        fn widen(vector: NeonBytes) -> [NeonBytes; 2] {
            let (front, back) = (vmovl_u8(vget_low_u8(vector.0)), vmovl_high_u8(vector.0));
            [of_16(front), of_16(back)]
        }
    }

    #[inline(always)]
    fn count(bits: u32) -> usize {
        // The instruction that counts bits is one of vectors, and the way there and back is long.
        let [low, high, _, _] = bits.to_le_bytes();
        usize::from(COUNTS[usize::from(low)]) + usize::from(COUNTS[usize::from(high)])
    }
}

impl Part for NeonBytes {
    arithmetic! { "neon":
        fn shuffle(vector: NeonBytes, indexes: &[u8; 16]) -> NeonBytes {
            NeonBytes(vqtbl1q_u8(vector.0, load_16(indexes)))
        }
        fn widen_16(vector: NeonBytes) -> [NeonBytes; 2] {
            let units = vector.by_16();
            [of_32(vmovl_u16(vget_low_u16(units))), of_32(vmovl_high_u16(units))]
        }
        fn interleave_16(vector: NeonBytes, high: NeonBytes) -> [NeonBytes; 2] {
            let (low, high) = (vector.by_16(), high.by_16());
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

impl NeonBytes {
    arithmetic! { "neon":
        // The values of eight characters of three bytes each: the first 16 bytes, and the last.
        fn join_three(_vector: NeonBytes, front: &[u8; 16], back: &[u8; 16]) -> NeonBytes {
            // In a lane of 16 bits: the third byte and the second; and the first. Bytes from 16 on are eight further in the two.
            const LAST: [u8; 16] = [2, 1, 5, 4, 8, 7, 11, 10, 14, 13, 25, 24, 28, 27, 31, 30];
            const FIRST: [u8; 16] =
                [0, 0x80, 3, 0x80, 6, 0x80, 9, 0x80, 12, 0x80, 15, 0x80, 26, 0x80, 29, 0x80];
            let bytes = uint8x16x2_t(load_16(front), load_16(back));
            let last = vreinterpretq_u16_u8(vqtbl2q_u8(bytes, load_16(&LAST)));
            let first = vreinterpretq_u16_u8(vqtbl2q_u8(bytes, load_16(&FIRST)));
            let bits = vbslq_u16(vdupq_n_u16(0x3F), last, vshrq_n_u16::<2>(last));
            // The lower four bits of the first byte replace the two upper bits of the second one; the others are shifted out.
            of_16(vsliq_n_u16::<12>(bits, first))
        }
        fn by_16(vector: NeonBytes) -> uint16x8_t {
            vreinterpretq_u16_u8(vector.0)
        }
        fn by_32(vector: NeonBytes) -> uint32x4_t {
            vreinterpretq_u32_u8(vector.0)
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn of_16(lanes: uint16x8_t) -> NeonBytes {
    NeonBytes(vreinterpretq_u8_u16(lanes))
}

#[inline]
#[target_feature(enable = "neon")]
fn of_32(lanes: uint32x4_t) -> NeonBytes {
    NeonBytes(vreinterpretq_u8_u32(lanes))
}
