//! simd128: vectors of 16 bytes. The algorithm is in `generic`.
//!
//! A machine rejects a whole module for one instruction that it lacks, so there is no detection at run time: the
//! tier exists if the build has the target feature.
#![allow(unused_unsafe)] // instructions need no proof there

use core::arch::wasm32::*;
use core::mem::MaybeUninit;

use crate::kernel::block_errors::{BLOCK, BlockErrors};
use crate::kernel::generic::{self, Look, Vector, Vector16, arithmetic, lanewise, tier};
use crate::kernel::reference;
pub(in crate::kernel) use crate::kernel::reference::{
    decode_short_chars, find_outside, join_pairs, split_pairs, unmask,
};
use crate::kernel::validated::Validated;

// In V8, blocks in a loop take up to 40 % less than halves without one. One loop for all lengths takes 5 % more for ASCII.
tier!("simd128", Bytes16,
    33..=64 => validate_blocks::<Bytes16, 4>,
    65..=128 => validate_blocks::<Bytes16, 8>,
    129..=256 => validate_blocks::<Bytes16, 16>,
);

generic::convert!("simd128", Bytes16, Bytes16);

/// 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Bytes16(pub(super) v128);

impl Bytes16 {
    /// The counterpart of the tokens of other tiers. It proves nothing here.
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
