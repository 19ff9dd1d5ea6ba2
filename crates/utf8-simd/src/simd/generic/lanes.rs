//! The vector operations that the conversions need, besides those of validation, and the tables of their shuffles.

use super::vector::{Vector, Vector16};
use crate::simd::table;

/// A vector seen as lanes of 8, 16 and 32 bits, in little-endian order.
///
/// Comparisons set all bits of a lane, or none.
pub(in crate::simd) trait Lanes: Vector {
    /// 16 bytes of a vector: the unit of a table shuffle.
    type Part: Part;
    /// As many parts as a vector has bytes divided by 8.
    type Groups: AsRef<[Self::Part]>;
    /// As many parts as a vector has bytes divided by 16.
    type Parts: AsRef<[Self::Part]>;

    fn splat_16(self, value: u16) -> Self;
    fn splat_32(self, value: u32) -> Self;
    fn cmpeq(self, other: Self) -> Self;
    fn cmpeq_16(self, other: Self) -> Self;
    /// Whether signed bytes of `self` are greater.
    fn cmpgt(self, other: Self) -> Self;
    /// Whether signed lanes of `self` are greater.
    fn cmpgt_32(self, other: Self) -> Self;
    fn wrapping_add_16(self, other: Self) -> Self;
    fn shl_16<const N: i32>(self) -> Self;
    fn shr_16<const N: i32>(self) -> Self;
    fn shl_32<const N: i32>(self) -> Self;
    fn shr_32<const N: i32>(self) -> Self;
    /// Bytes of `yes` where bit 7 of `self` is set, of `no` elsewhere.
    fn select(self, yes: Self, no: Self) -> Self;
    /// Lanes of 16 bits of `yes` where all bits of `self` are set, of `no` where none is.
    #[inline(always)]
    fn select_16(self, yes: Self, no: Self) -> Self {
        self.select(yes, no)
    }
    /// As `select_16`, of lanes of 32 bits.
    #[inline(always)]
    fn select_32(self, yes: Self, no: Self) -> Self {
        self.select(yes, no)
    }
    fn intersects(self, other: Self) -> bool;
    /// Whether any lane of 16 bits is at least `LEAST`, a power of two.
    #[inline(always)]
    fn any_from_16<const LEAST: u16>(self) -> bool {
        const { assert!(LEAST.is_power_of_two()) };
        self.intersects(self.splat_16(LEAST.wrapping_neg()))
    }
    /// As `any_from_16`, of lanes of 32 bits.
    #[inline(always)]
    fn any_from_32<const LEAST: u32>(self) -> bool {
        const { assert!(LEAST.is_power_of_two()) };
        self.intersects(self.splat_32(LEAST.wrapping_neg()))
    }
    /// The sum of the bytes.
    fn sum(self) -> usize;
    /// Bit 7 of each byte, as one bit.
    #[inline(always)]
    fn bitmask(self) -> u32 {
        const { assert!(Self::MASK_BITS == 1) };
        self.movemask() as u32
    }
    /// The inverse: all bits of each byte whose bit is set, of the lowest `LEN`.
    fn expand_bitmask(self, bits: u32) -> Self;
    /// Bit 15 of each lane of 16 bits, as one bit.
    fn bitmask_16(self) -> u32;
    /// As `bitmask_16`, of the lanes of `self` and then of those of `other`. Each lane has all bits set, or none.
    #[inline(always)]
    fn bitmask_16_with(self, other: Self) -> u32 {
        self.bitmask_16() | other.bitmask_16() << (Self::LEN / 2)
    }
    /// How many bits are set, of the lowest `LEN`.
    #[inline(always)]
    fn count(bits: u32) -> usize {
        bits.count_ones() as usize
    }
    /// The bytes of `self`, each followed by that of `high`.
    fn interleave(self, high: Self) -> Self::Groups;
    /// The lanes of 16 bits of `self`, each followed by that of `high`.
    fn interleave_16(self, high: Self) -> Self::Groups;
    /// In lanes of 16 bits: the UTF-8 of characters from 80 to 7FF.
    #[inline(always)]
    fn two_bytes(self) -> Self {
        let last = self.and(self.splat_16(0x3F)).or(self.splat_16(0x80));
        self.shr_16::<6>().or(self.splat_16(0xC0)).or(last.shl_16::<8>())
    }
    fn parts(self) -> Self::Parts;
    /// The lanes of 32 bits of `self` and `other`, which are below 1_0000, as lanes of 16 bits.
    fn narrow_32(self, other: Self) -> Self;
    /// The lanes of 16 bits, which are below 100, as the first `LEN / 2` bytes.
    fn narrow_16(self) -> Self::Part;
    /// The lanes of 16 bits of `self` and `other`, which are below 100, as bytes.
    fn narrow_16_with(self, other: Self) -> Self;
    /// Loads `LEN / 2` bytes as lanes of 16 bits.
    fn load_widened(self, bytes: &[u8]) -> Self;
    /// The bytes as lanes of 16 bits.
    fn widen(self) -> [Self; 2];
    /// The lanes of 16 bits as lanes of 32 bits.
    fn widen_16(self) -> [Self; 2];
}

/// The items of [`Lanes`] that are the same for every vector of 16 bytes, which is one part.
macro_rules! one_part {
    () => {
        type Part = Self;
        type Groups = [Self; 2];
        type Parts = [Self; 1];

        #[inline(always)]
        fn interleave_16(self, high: Self) -> [Self; 2] {
            Part::interleave_16(self, high)
        }

        #[inline(always)]
        fn load_widened(self, bytes: &[u8]) -> Self {
            let [front, _] = self.words([u64::from_le_bytes(*first(bytes)), 0]).widen();
            front
        }

        #[inline(always)]
        fn widen_16(self) -> [Self; 2] {
            Part::widen_16(self)
        }

        #[inline(always)]
        fn parts(self) -> [Self; 1] {
            [self]
        }
    };
}
pub(in crate::simd) use one_part;

/// 16 bytes.
pub(in crate::simd) trait Part: Vector16 {
    /// The bytes that `indexes` number; 0 where an index is 80 or more.
    fn shuffle(self, indexes: &[u8; 16]) -> Self;
    /// The lanes of 16 bits of `self`, each followed by that of `high`.
    fn interleave_16(self, high: Self) -> [Self; 2];
    /// The lanes of 16 bits as lanes of 32 bits.
    #[inline(always)]
    fn widen_16(self) -> [Self; 2] {
        Part::interleave_16(self, self.splat(0))
    }
    /// The UTF-16 units of eight characters of three bytes each.
    fn three_byte_units(self, bytes: &[u8; 24]) -> Self;
}

/// For `shuffle`: indexes that reverse the bytes of four characters of three bytes each into lanes of 32 bits.
#[cfg(any(all(target_arch = "x86_64", target_feature = "sse2"), target_arch = "wasm32"))]
pub(in crate::simd) const REVERSE_THREES: [u8; 16] =
    [2, 1, 0, 0x80, 5, 4, 3, 0x80, 8, 7, 6, 0x80, 11, 10, 9, 0x80];

// For `expand_bitmask`: which byte of the bits, and which bit of it, each byte of a vector expands.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(in crate::simd) static BIT_BYTES: [u8; 32] = table!(32, |i| i as u8 / 8);
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(in crate::simd) static BIT_PLACES: [u8; 32] = table!(32, |i| 1 << (i % 8));

// Shuffles that move the needed bytes to the front. The index of a table encodes which bytes are needed.

/// By eight bits: which of eight lanes of 16 bits are needed.
pub(super) static UNITS: [[u8; 16]; 256] = table!(256, |bits| indexes(8, bits, [0, 2]));

/// By eight bits: of which of eight lanes of 16 bits the first byte is needed, and no other.
pub(super) static ONE_BYTE: [[u8; 16]; 256] = table!(256, |bits| indexes(8, bits, [0, 1]));

/// By eight bits: of which of eight lanes of 16 bits only the first byte is needed.
pub(super) static ONE_OR_TWO: [[u8; 16]; 256] = table!(256, |bits| indexes(8, bits, [2, 1]));

/// By two bits for each of four lanes of 32 bits: three bytes are needed, less one for each set bit.
pub(super) static ONE_TO_THREE: [[u8; 16]; 256] =
    table!(256, |bits| indexes(4, bits, [3, 2, 2, 1]));

/// By a number of two bits for each of four lanes of 32 bits: one byte is needed, and that many more.
pub(super) static ONE_TO_FOUR: [[u8; 16]; 256] = table!(256, |bits| indexes(4, bits, [1, 2, 3, 4]));

/// Returns the indexes of the needed bytes of `lanes` lanes. The bits of each lane, from the lowest on, select an entry of
/// `needed`: how many of its bytes are needed.
const fn indexes<const N: usize>(lanes: usize, mut bits: usize, needed: [usize; N]) -> [u8; 16] {
    let mut indexes = [0x80; 16]; // no byte
    let (mut lane, mut len) = (0, 0);
    while lane < lanes {
        let mut i = 0;
        while i < needed[bits % N] {
            indexes[len] = (lane * (16 / lanes) + i) as u8;
            (len, i) = (len + 1, i + 1);
        }
        (lane, bits) = (lane + 1, bits / N);
    }
    indexes
}
