//! The level of wasm32: simd128, vectors of 16 bytes. The algorithm is in `generic`.
//!
//! A machine rejects a whole module for one instruction that it lacks, so there is no detection at run time: the
//! level exists if the build has the target feature.

#![allow(unused_unsafe)] // instructions need no proof there

use core::arch::wasm32::*;
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

// In V8, blocks in a loop take up to 40 % less than halves without one. One loop for all lengths takes 5 % more for ASCII.
operations!("simd128", Bytes16,
    33..=64 => validate_blocks::<Bytes16, 4>,
    65..=128 => validate_blocks::<Bytes16, 8>,
    129..=256 => validate_blocks::<Bytes16, 16>,
);

generic::conversions!("simd128", Bytes16, Bytes16);

/// 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Bytes16(pub(super) v128);

impl Bytes16 {
    /// The counterpart of the tokens of other levels. It proves nothing here.
    pub(super) const fn token() {}
}

/// Loads 16 bytes.
#[inline(always)]
pub(super) fn load_16(bytes: &[u8; 16]) -> v128 {
    // SAFETY: there are the 16 bytes that are loaded.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

impl Vector for Bytes16 {
    const LEN: usize = 16;

    type Token = ();

    lanewise! {
        or: v128_or,
        and: v128_and,
        xor: v128_xor,
        wrapping_add: u8x16_add,
        saturating_add: i8x16_add_sat,
        saturating_sub: u8x16_sub_sat,
        average: u8x16_avgr,
        max: u8x16_max,
        min: u8x16_min,
    }

    #[inline(always)]
    unsafe fn load((): (), at: *const u8) -> Self {
        // SAFETY: the caller promises that 16 bytes can be read.
        Self(unsafe { v128_load(at.cast()) })
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the caller promises that 16 bytes can be written.
        unsafe { v128_store(at.cast(), self.0) };
    }

    arithmetic! {
        fn splat(self, byte: u8) -> Self {
            Self(u8x16_splat(byte))
        }
        fn prev<const N: usize>(self, before: Self) -> Self {
            const { assert!(matches!(N, 1..=3)) };
            // Indexes from 16 on are those of the second vector.
            macro_rules! from {
                ($($index:literal)*) => { u8x16_shuffle::<$($index),*>(before.0, self.0) };
            }
            Self(match N {
                1 => from!(15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30),
                2 => from!(14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29),
                _ => from!(13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28),
            })
        }
        fn movemask(self) -> u64 {
            u8x16_bitmask(self.0).into()
        }
        fn lookup_16(self, table: &[u8; 16]) -> Self {
            // An index of 16 or more would pick zero.
            Self(u8x16_swizzle(load_16(table), v128_and(self.0, u8x16_splat(0x0F))))
        }
    }
}

impl Vector16 for Bytes16 {
    #[inline(always)]
    fn from_bytes((): (), bytes: &[u8; 16]) -> Self {
        Self(load_16(bytes))
    }

    #[inline(always)]
    fn from_words((): (), [low, high]: [u64; 2]) -> Self {
        Self(u64x2(low, high))
    }

    arithmetic! {
        fn shift_up(self, n: usize) -> Self {
            let mut indexes = [0; 16];
            indexes.copy_from_slice(&generic::SHIFT_UP[16 - n..][..16]);
            Self(u8x16_swizzle(self.0, load_16(&indexes)))
        }
    }
}

/// Methods that shift each lane by a constant.
macro_rules! shifts {
    ($($method:ident: $instruction:ident,)*) => {$(
        #[inline(always)]
        fn $method<const N: i32>(self) -> Self {
            Self($instruction(self.0, N as u32))
        }
    )*};
}

impl Lanes for Bytes16 {
    one_part!();
    lanewise! {
        cmpeq: u8x16_eq,
        cmpeq_16: u16x8_eq,
        cmpgt: i8x16_gt,
        cmpgt_32: i32x4_gt,
        wrapping_add_16: u16x8_add,
        narrow_32: u16x8_narrow_i32x4,
    }
    shifts! {
        shl_16: u16x8_shl,
        shr_16: u16x8_shr,
        shl_32: u32x4_shl,
        shr_32: u32x4_shr,
    }
    arithmetic! {
        fn splat_16(self, value: u16) -> Self {
            Self(u16x8_splat(value))
        }
        fn splat_32(self, value: u32) -> Self {
            Self(u32x4_splat(value))
        }
        fn select(self, yes: Self, no: Self) -> Self {
            // Of a mask the comparison is left out by the compiler.
            Self(v128_bitselect(yes.0, no.0, i8x16_lt(self.0, i8x16_splat(0))))
        }
        fn intersects(self, other: Self) -> bool {
            v128_any_true(v128_and(self.0, other.0))
        }
        fn bitmask(self) -> u32 {
            u8x16_bitmask(self.0).into()
        }
        fn bitmask_16(self) -> u32 {
            u16x8_bitmask(self.0).into()
        }
        fn interleave(self, high: Self) -> [Self; 2] {
            macro_rules! from {
                ($($index:literal)*) => { Self(u8x16_shuffle::<$($index),*>(self.0, high.0)) };
            }
            [
                from!(0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23),
                from!(8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31),
            ]
        }
        fn narrow_16(self) -> Self {
            Self(u8x16_narrow_i16x8(self.0, self.0))
        }
        fn widen(self) -> [Self; 2] {
            [Self(u16x8_extend_low_u8x16(self.0)), Self(u16x8_extend_high_u8x16(self.0))]
        }
    }
}

impl Part for Bytes16 {
    arithmetic! {
        fn shuffle(self, indexes: &[u8; 16]) -> Self {
            Self(u8x16_swizzle(self.0, load_16(indexes)))
        }
        fn interleave_16(self, high: Self) -> [Self; 2] {
            [
                Self(u16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(self.0, high.0)),
                Self(u16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(self.0, high.0)),
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

impl Bytes16 {
    /// In lanes of 32 bits, the value of a character of three bytes, which are there last first.
    #[inline(always)]
    fn join_three(self) -> Self {
        let last = self.and(self.splat_32(0x3F));
        let middle = self.shr_32::<2>().and(self.splat_32(0x3F << 6));
        let first = self.shr_32::<4>().and(self.splat_32(0x0F << 12));
        last.or(middle).or(first)
    }
}
