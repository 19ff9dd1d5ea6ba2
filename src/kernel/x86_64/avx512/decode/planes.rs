//! Characters below U+10000, assembled at their last byte, for all bytes of a block at once.

use core::arch::x86_64::*;

use crate::kernel::x86_64::avx512::decode::units::{continuing, first_not_continuing, store_units};
use crate::kernel::x86_64::avx512::validate::{Aligned, BLOCK, store, table};

/// The low and the high byte of the character that ends at each byte of a block. After `squeeze`, those of
/// consecutive characters.
#[derive(Clone, Copy)]
pub(super) struct Planes {
    low: __m512i,
    high: __m512i,
}

/// By the low six bits of the byte before a continuation byte: the addend that puts its two lowest bits at
/// the top of the low byte, and removes the mark of the continuation byte.
static LOW: Aligned = Aligned({
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = ((i as u8 & 0x03) << 6).wrapping_sub(0x80);
        i += 1;
    }
    table
});

/// By the same index: the four lowest bits of the high byte (three if it is a leading byte).
static HIGH: Aligned = Aligned({
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = i as u8 >> 2 & 0x0F;
        i += 1;
    }
    table
});

/// By the low six bits of the byte two before: the four highest bits of the high byte.
static HIGHEST: Aligned = Aligned({
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = (i as u8 & 0x0F) << 4;
        i += 1;
    }
    table
});

impl Planes {
    /// Assembles characters of one and two bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    pub(super) fn of_two(block: __m512i, back1: __m512i) -> Self {
        let continuing = continuing(block);
        let add = _mm512_permutexvar_epi8(back1, table(&LOW));
        let low = _mm512_mask_add_epi8(block, continuing, block, add);
        let high = _mm512_maskz_permutexvar_epi8(continuing, back1, table(&HIGH));
        Self { low, high }
    }

    /// Assembles characters of one to three bytes. (Of four bytes, the two lower bytes of the value.)
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    pub(super) fn of_three(block: __m512i, back1: __m512i, back2: __m512i) -> Self {
        let Self { low, high } = Self::of_two(block, back1);
        let third = _mm512_mask_cmplt_epi8_mask(continuing(block), back1, first_not_continuing());
        let highest = _mm512_maskz_permutexvar_epi8(third, back2, table(&HIGHEST));
        Self { low, high: _mm512_or_si512(high, highest) }
    }

    /// Moves the lanes at `ends` to the front, with zeros after them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    pub(super) fn squeeze(self, ends: u64) -> Self {
        Self {
            low: _mm512_maskz_compress_epi8(ends, self.low),
            high: _mm512_maskz_compress_epi8(ends, self.high),
        }
    }

    /// Returns the `i`th vector of units of `SIZE` bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    fn vector<const SIZE: usize>(self, i: usize) -> __m512i {
        if SIZE == 4 {
            let from = table(&INTERLEAVE_4[i]);
            _mm512_maskz_permutex2var_epi8(0x3333_3333_3333_3333, self.low, from, self.high)
        } else {
            _mm512_permutex2var_epi8(self.low, table(&INTERLEAVE_2[i]), self.high)
        }
    }

    /// Writes `units` units, and zeros up to the end of a vector.
    ///
    /// # Safety
    ///
    /// - 64 units of `SIZE` bytes can be written at `out`, and `units` is at most 64.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    pub(super) unsafe fn put<const SIZE: usize>(self, units: usize, out: *mut u8) {
        for i in 0..SIZE {
            if i * (BLOCK / SIZE) >= units {
                break;
            }
            // SAFETY: `SIZE` vectors are 64 units.
            unsafe { store(self.vector::<SIZE>(i), out.add(BLOCK * i)) };
        }
    }

    /// Writes `units` units and no excess.
    ///
    /// # Safety
    ///
    /// - `units` units of `SIZE` bytes can be written at `out`, and are at most 64.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    pub(super) unsafe fn put_exactly<const SIZE: usize>(self, units: usize, out: *mut u8) {
        for i in 0..SIZE {
            let before = i * (BLOCK / SIZE);
            if before >= units {
                break;
            }
            // SAFETY: as many units are left as are after those written.
            unsafe {
                store_units::<SIZE>(self.vector::<SIZE>(i), units - before, out.add(BLOCK * i));
            }
        }
    }
}

/// For the `i`th vector of `char`s: the indexes of its bytes, where the low bytes precede the high ones.
static INTERLEAVE_4: [Aligned; 4] =
    [interleave(4, 0), interleave(4, 1), interleave(4, 2), interleave(4, 3)];
/// The same for UTF-16.
static INTERLEAVE_2: [Aligned; 2] = [interleave(2, 0), interleave(2, 1)];

const fn interleave(size: usize, vector: usize) -> Aligned {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        let high = if i % size == 1 { 64 } else { 0 };
        table[i] = (high + vector * (64 / size) + i / size) as u8;
        i += 1;
    }
    Aligned(table)
}
