//! The level of wasm32: simd128, vectors of 16 bytes. The algorithm is in `generic`.
//!
//! A machine rejects a whole module for one instruction that it lacks, so there is no detection at run time: the
//! level exists if the build has the target feature.

#![allow(unused_unsafe)] // instructions need no proof there

use core::arch::wasm32::*;
use core::mem::MaybeUninit;

use crate::simd::generic::{
    self, Lanes, Part, REVERSE_THREES, SECOND, Vector, Vector16, Verdict, arithmetic, first,
    first_mut, lanewise, one_part, operations,
};
pub(in crate::simd) use crate::simd::reference::{find_outside, join_pairs, split_pairs, unmask};
use crate::simd::{BLOCK_ERRORS_LEN, BlockErrors, RepairedPrefix, Validated, reference};

// In V8, blocks in a loop take up to 40 % less than halves without one. One loop for all lengths takes 5 % more for ASCII.
operations!("simd128", Simd128Bytes, Simd128Bytes,
    validate_blocks::<Simd128Bytes, 64>,
    129..=256 => validate_blocks::<Simd128Bytes, 256>,
    65..=128 => validate_blocks::<Simd128Bytes, 128>,
);

/// 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Simd128Bytes(pub(super) v128);

impl Simd128Bytes {
    pub(super) fn zero() -> Self {
        Self(u8x16_splat(0))
    }
}

#[inline]
#[target_feature(enable = "simd128")]
fn load_16(bytes: &[u8; 16]) -> v128 {
    // SAFETY: there are the 16 bytes that are loaded.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "simd128")]
fn store_16(vector: v128, to: &mut [MaybeUninit<u8>; 16]) {
    // SAFETY: there is room for the 16 bytes that are stored.
    unsafe { v128_store(to.as_mut_ptr().cast(), vector) };
}

impl Vector for Simd128Bytes {
    const LEN: usize = 16;

    lanewise! { "simd128", Simd128Bytes:
        or: v128_or,
        and: v128_and,
        xor: v128_xor,
        wrapping_add: u8x16_add,
        saturating_add: i8x16_add_sat,
        saturating_sub: u8x16_sub_sat,
        average: u8x16_avgr,
        max: u8x16_max,
        min: u8x16_min,
        signed_min: i8x16_min,
    }

    arithmetic! { "simd128":
        fn load(_any: Simd128Bytes, bytes: &[u8]) -> Simd128Bytes {
            Simd128Bytes(load_16(first(bytes)))
        }
        fn store(vector: Simd128Bytes, bytes: &mut [MaybeUninit<u8>]) -> () {
            store_16(vector.0, first_mut(bytes));
        }
        fn splat(_vector: Simd128Bytes, byte: u8) -> Simd128Bytes {
            Simd128Bytes(u8x16_splat(byte))
        }
        fn splat_word(_vector: Simd128Bytes, word: u32) -> Simd128Bytes {
            Simd128Bytes(u32x4_splat(word))
        }
        fn prev<const N: usize>(vector: Simd128Bytes, before: Simd128Bytes) -> Simd128Bytes {
            const { assert!(matches!(N, 1..=3)) };
            // Indexes from 16 on are those of the second vector.
            macro_rules! from {
                ($($index:literal)*) => { u8x16_shuffle::<$($index),*>(before.0, vector.0) };
            }
            Simd128Bytes(match N {
                1 => from!(15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30),
                2 => from!(14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29),
                _ => from!(13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28),
            })
        }
        fn movemask(vector: Simd128Bytes) -> u64 {
            u8x16_bitmask(vector.0).into()
        }
        fn second_addends(vector: Simd128Bytes) -> Simd128Bytes {
            let leads = vector.leads();
            // An index of 16 or more would pick zero.
            let indexes = v128_and(leads.0, u8x16_splat(0x0F));
            Simd128Bytes(u8x16_swizzle(load_16(&SECOND), indexes)).wrapping_add(leads)
        }
    }
}

impl Vector16 for Simd128Bytes {
    arithmetic! { "simd128":
        fn words(_any: Simd128Bytes, words: [u64; 2]) -> Simd128Bytes {
            Simd128Bytes(u64x2(words[0], words[1]))
        }
        fn shift_up(vector: Simd128Bytes, n: usize) -> Simd128Bytes {
            let mut indexes = [0; 16];
            indexes.copy_from_slice(&generic::SHIFT_UP[16 - n..][..16]);
            Simd128Bytes(u8x16_swizzle(vector.0, load_16(&indexes)))
        }
    }
}

/// Methods of a vector that shift each lane by a constant.
macro_rules! shifts {
    ($feature:literal, $vector:ident: $($method:ident: $instruction:ident,)*) => {
        arithmetic! { $feature: $(
            fn $method<const N: i32>(a: $vector) -> $vector { $vector($instruction(a.0, N as u32)) }
        )* }
    };
}

impl Lanes for Simd128Bytes {
    one_part!();
    lanewise! { "simd128", Simd128Bytes:
        cmpeq: u8x16_eq,
        cmpeq_16: u16x8_eq,
        cmpgt: i8x16_gt,
        cmpgt_32: i32x4_gt,
        wrapping_add_16: u16x8_add,
        narrow_32: u16x8_narrow_i32x4,
        narrow_16_with: u8x16_narrow_i16x8,
    }
    shifts! { "simd128", Simd128Bytes:
        shl_16: u16x8_shl,
        shr_16: u16x8_shr,
        shl_32: u32x4_shl,
        shr_32: u32x4_shr,
    }
    arithmetic! { "simd128":
        fn splat_16(_vector: Simd128Bytes, value: u16) -> Simd128Bytes {
            Simd128Bytes(u16x8_splat(value))
        }
        fn splat_32(_vector: Simd128Bytes, value: u32) -> Simd128Bytes {
            Simd128Bytes(u32x4_splat(value))
        }
        fn select(vector: Simd128Bytes, yes: Simd128Bytes, no: Simd128Bytes) -> Simd128Bytes {
            // Of a mask the comparison is left out by the compiler.
            Simd128Bytes(v128_bitselect(yes.0, no.0, i8x16_lt(vector.0, i8x16_splat(0))))
        }
        fn intersects(vector: Simd128Bytes, other: Simd128Bytes) -> bool {
            v128_any_true(v128_and(vector.0, other.0))
        }
        fn sum(vector: Simd128Bytes) -> usize {
            let sums = u32x4_extadd_pairwise_u16x8(u16x8_extadd_pairwise_u8x16(vector.0));
            let [a, b] = [u32x4_extract_lane::<0>(sums), u32x4_extract_lane::<1>(sums)];
            let [c, d] = [u32x4_extract_lane::<2>(sums), u32x4_extract_lane::<3>(sums)];
            (a + b + c + d) as usize
        }
        fn expand_bitmask(_any: Simd128Bytes, bits: u32) -> Simd128Bytes {
            let places = u64x2_splat(0x8040_2010_0804_0201);
            let bytes = u8x16_swizzle(u32x4_splat(bits), u64x2(0, 0x0101_0101_0101_0101));
            Simd128Bytes(u8x16_eq(v128_and(bytes, places), places))
        }
        fn bitmask_16(vector: Simd128Bytes) -> u32 {
            u16x8_bitmask(vector.0).into()
        }
        fn interleave(vector: Simd128Bytes, high: Simd128Bytes) -> [Simd128Bytes; 2] {
            macro_rules! from {
                ($($index:literal)*) => { Simd128Bytes(u8x16_shuffle::<$($index),*>(vector.0, high.0)) };
            }
            [
                from!(0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23),
                from!(8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31),
            ]
        }
        fn narrow_16(vector: Simd128Bytes) -> Simd128Bytes {
            Simd128Bytes(u8x16_narrow_i16x8(vector.0, vector.0))
        }
        fn widen(vector: Simd128Bytes) -> [Simd128Bytes; 2] {
            [Simd128Bytes(u16x8_extend_low_u8x16(vector.0)), Simd128Bytes(u16x8_extend_high_u8x16(vector.0))]
        }
    }
}

impl Part for Simd128Bytes {
    arithmetic! { "simd128":
        fn shuffle(vector: Simd128Bytes, indexes: &[u8; 16]) -> Simd128Bytes {
            Simd128Bytes(u8x16_swizzle(vector.0, load_16(indexes)))
        }
        fn interleave_16(vector: Simd128Bytes, high: Simd128Bytes) -> [Simd128Bytes; 2] {
            [
                Simd128Bytes(u16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(vector.0, high.0)),
                Simd128Bytes(u16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(vector.0, high.0)),
            ]
        }
    }

    #[inline(always)]
    fn three_byte_units(self, bytes: &[u8; 24]) -> Self {
        let [mut front, mut back] = [[0; 16]; 2];
        front.copy_from_slice(&bytes[..16]);
        back[..12].copy_from_slice(&bytes[12..]);
        let [front, back] = [Self(load_16(&front)), Self(load_16(&back))];
        let front = Part::shuffle(front, &REVERSE_THREES).join_three();
        front.narrow_32(Part::shuffle(back, &REVERSE_THREES).join_three())
    }
}

impl Simd128Bytes {
    /// In lanes of 32 bits, the value of a character of three bytes, which are there last first.
    #[inline(always)]
    fn join_three(self) -> Self {
        let last = self.and(self.splat_32(0x3F));
        let middle = self.shr_32::<2>().and(self.splat_32(0x3F << 6));
        let first = self.shr_32::<4>().and(self.splat_32(0x0F << 12));
        last.or(middle).or(first)
    }
}
