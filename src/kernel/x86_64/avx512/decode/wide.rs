//! Characters of any length: the bytes of sixteen characters at a time are gathered by the indexes of the last
//! bytes. For UTF-16, values become surrogates.

use core::arch::x86_64::*;

use crate::kernel::x86_64::avx512::decode::units::store_units;
use crate::kernel::x86_64::avx512::validate::{Aligned, BLOCK, high, lanes, table};

/// By the low seven bits of a byte that is not ASCII: its payload bits, with bit 7 set if it begins a
/// character.
static PAYLOAD: [Aligned; 2] = [payload(0), payload(64)];

const fn payload(from: u8) -> Aligned {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = match 0x80 + from + i as u8 {
            byte @ 0x80..=0xBF => byte & 0x3F,
            byte @ 0xC0..=0xDF => 0x80 | byte & 0x1F,
            byte @ 0xE0..=0xEF => 0x80 | byte & 0x0F,
            byte => 0x80 | byte & 0x07,
        };
        i += 1;
    }
    Aligned(table)
}

/// The indexes of the bytes of a block.
static PLACES: Aligned = Aligned({
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = i as u8;
        i += 1;
    }
    table
});

/// For the `i`th sixteen of the indexes at which characters end: each of them four times.
static SPREAD: [Aligned; 4] = [spread(0), spread(1), spread(2), spread(3)];

const fn spread(sixteen: usize) -> Aligned {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = (16 * sixteen + i / 4) as u8;
        i += 1;
    }
    Aligned(table)
}

/// Writes the characters that end at `ends` in `window`, and no excess with `EXACT`. Returns the number of
/// units.
///
/// # Safety
///
/// - [`most`](super::most) units of `SIZE` bytes can be written at `out`; with `EXACT`, those that count.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) unsafe fn put_wide<const SIZE: usize, const EXACT: bool>(
    window: __m512i,
    ends: u64,
    out: *mut u8,
) -> usize {
    let chars = ends.count_ones() as usize;
    // ASCII is payload and begins a character: only bit 7 is added.
    let payload = _mm512_mask2_permutex2var_epi8(
        table(&PAYLOAD[0]),
        _mm512_or_si512(window, high()),
        _mm512_movepi8_mask(window),
        table(&PAYLOAD[1]),
    );
    // The index after the last end is that of the last byte: a character, or the beginning of one, whose
    // value is lower. Both are valid `char`s.
    let places = _mm512_mask_compress_epi8(_mm512_set1_epi8(63), ends, table(&PLACES));
    let mut units = 0;
    for i in 0..4 {
        if 16 * i >= chars {
            break;
        }
        let left = chars - 16 * i;
        let values = fetch(payload, places, i);
        if SIZE == 4 {
            let stored = if EXACT { left } else { 16 };
            // SAFETY: the store ends at character `16 * i + stored`: at most `chars` with `EXACT`, else at most 64.
            unsafe { store_units::<4>(values, stored, out.add(BLOCK * i)) };
            continue;
        }
        let (pairs, keep) = to_pairs(values);
        let keep = keep & lanes(2 * left) as u32;
        let count = keep.count_ones() as usize;
        let squeezed = _mm512_maskz_compress_epi16(keep, pairs);
        let stored = if EXACT { count } else { 32 };
        // SAFETY: with `EXACT`, the store ends at unit `units + count`, and there is room for at least that many.
        // Without it, at most 57 units precede these 32: 89 of the 96 of `most`.
        unsafe { store_units::<2>(squeezed, stored, out.add(2 * units)) };
        units += count;
    }
    if SIZE == 4 { chars } else { units }
}

/// Assembles the characters that end at the `i`th sixteen of `places`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn fetch(payload: __m512i, places: __m512i, i: usize) -> __m512i {
    // In each lane of four bytes, the lowest first: the last byte, and the three before it.
    let places = _mm512_permutexvar_epi8(table(&SPREAD[i]), places);
    let places = _mm512_sub_epi8(places, _mm512_set1_epi32(0x0302_0100));
    let bytes = _mm512_permutexvar_epi8(places, payload);
    // The bits above the lowest bit 7 belong to the character before: bytes & !begin & (begin - 1).
    let begin = _mm512_and_si512(bytes, high());
    let below = _mm512_add_epi32(begin, _mm512_set1_epi32(-1));
    let bytes = _mm512_ternarylogic_epi64::<AND_NOT_AND>(bytes, begin, below);
    // Joins pairs of bytes, with a factor of 2^6; then both pairs, with 2^12.
    let halves = _mm512_maddubs_epi16(bytes, _mm512_set1_epi16(0x4001));
    _mm512_madd_epi16(halves, _mm512_set1_epi32(0x1000_0001))
}

/// Splits values from U+10000 on into surrogates. Returns the units, the first of each pair in the lower half
/// of its lane, and which of them count.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn to_pairs(values: __m512i) -> (__m512i, u32) {
    let supplementary = _mm512_cmpge_epu32_mask(values, _mm512_set1_epi32(0x1_0000));
    // D800 + ((value - 10000) >> 10) = (D800 - 40) + (value >> 10)
    let first = _mm512_add_epi32(_mm512_srli_epi32::<10>(values), _mm512_set1_epi32(0xD800 - 0x40));
    // DC00 + (value & 3FF), in the upper half
    let second = _mm512_slli_epi32::<16>(_mm512_and_si512(values, _mm512_set1_epi32(0x3FF)));
    let second = _mm512_or_si512(second, _mm512_set1_epi32(0xDC00_0000_u32 as i32));
    let pairs = _mm512_mask_or_epi32(values, supplementary, first, second);
    // Every first unit counts; a second one if it is a surrogate: then it is negative, otherwise zero.
    let bound = _mm512_set1_epi32(0xFFFF_7FFF_u32 as i32);
    (pairs, _mm512_cmple_epi16_mask(pairs, bound))
}

/// `a & !b & c`
const AND_NOT_AND: i32 = 0x20;
