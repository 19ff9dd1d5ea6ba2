//! Damaged text to `char`s and to UTF-16, like `generic::damaged`: U+FFFD is stored over the units of ill-formed parts.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::any_from;
use super::units::{Planes, continuing, put_wide, store_units};
use crate::simd::generic::{OutputUnit, PATIENCE, Vector};
use crate::simd::x86_64::avx512::find::block_errors;
use crate::simd::x86_64::avx512::vector::{BLOCK, Bytes64, lanes, load};
use crate::simd::{RepairedPrefix, as_uninit};

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_damaged_chars(input: &[u8], out: &mut [u32]) -> RepairedPrefix {
    decode_damaged::<u32>(input, out)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_damaged_utf16(input: &[u8], out: &mut [u16]) -> RepairedPrefix {
    decode_damaged::<u16>(input, out)
}

/// Decodes blocks of damaged text; see [`Level::decode_damaged_utf16`](crate::simd::Level::decode_damaged_utf16).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn decode_damaged<U: OutputUnit>(input: &[u8], out: &mut [U::Item]) -> RepairedPrefix {
    // SAFETY: vectors are written, and `OutputUnit` allows any value.
    let out = unsafe { as_uninit(out) };
    let mut done = RepairedPrefix::default();
    let mut clean = 0;
    while clean < PATIENCE
        && let Some(bytes) = input[done.read..].first_chunk()
        && let Some(errors) = block_errors(bytes)
        && let Some(room) = out[done.written * U::SIZE..].get_mut(..BLOCK * U::SIZE)
    {
        let block = load(bytes);
        let ends = errors.ends(continuing(block));
        done.written += put_repaired::<U>(block, errors.bytes(), ends, room);
        done.read += errors.end;
        done.errors += errors.starts.count_ones() as usize;
        clean = if errors.starts == 0 { clean + 1 } else { 0 };
    }
    done
}

/// Writes the units that end at `ends` in `block`, U+FFFD for those of `ill_formed` bytes. Returns how many.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_repaired<U: OutputUnit>(
    block: __m512i,
    ill_formed: u64,
    ends: u64,
    room: &mut [MaybeUninit<u8>],
) -> usize {
    // Without the bytes after the last end: they may be ill-formed, and what `put_wide` makes of them would be no `char`.
    let inside = lanes(BLOCK - ends.leading_zeros() as usize);
    let text = Bytes64(_mm512_maskz_mov_epi8(!ill_formed & inside, block));
    let (units, needed) = if any_from(text.0, 0xF0) {
        let fours = _mm512_cmpge_epu8_mask(text.0, _mm512_set1_epi8(0xF0_u8 as i8));
        let pairs = if U::SIZE == 2 { fours << 2 } else { 0 };
        (put_wide::<U, false>(text.0, ends, room), ends | pairs)
    } else {
        let zero = Bytes64::zero();
        let (back1, back2) = (text.prev::<1>(zero), text.prev::<2>(zero));
        let units = ends.count_ones() as usize;
        Planes::of_three(text.0, back1.0, back2.0).compress(ends).put::<U>(units, room);
        (units, ends)
    };
    let replaced = _pext_u64(ill_formed, needed);
    let unit =
        if U::SIZE == 4 { _mm512_set1_epi32(0xFFFD) } else { _mm512_set1_epi16(0xFFFD_u16 as i16) };
    for i in 0..U::SIZE {
        store_units::<U>(unit, replaced >> (i * (BLOCK / U::SIZE)), &mut room[BLOCK * i..]);
    }
    units
}
