//! The units of characters that are not ASCII: those of UTF-16, and of characters below U+10000, for all bytes of a block at
//! once, other `char`s sixteen at a time.
//!
//! Characters below U+10000 are assembled at their last byte, and in UTF-16 others at their last two: a surrogate at each.
//! For `char`s of any length, the bytes of sixteen at a time are gathered by the indexes of the last bytes.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::simd::generic::{Aligned, OutputUnit, Vector, first_mut};
use crate::simd::table;
use crate::simd::x86_64::avx512::vector::{BLOCK, Bytes64, lanes, store, table};

/// The least byte, as a signed number, that is not a continuation byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn first_not_continuing() -> __m512i {
    _mm512_set1_epi8(0xC0_u8 as i8)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn continuing(bytes: __m512i) -> u64 {
    _mm512_cmplt_epi8_mask(bytes, first_not_continuing())
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn not_continuing(bytes: __m512i) -> u64 {
    _mm512_cmpge_epi8_mask(bytes, first_not_continuing())
}

/// Fills `out` with the first units of a vector, or its first 64 bytes with all of them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn fill<U: OutputUnit>(vector: __m512i, out: &mut [MaybeUninit<u8>]) {
    if let Some(all) = out.first_chunk_mut() {
        return store(vector, all);
    }
    store_units::<U>(vector, !0, out);
}

/// Writes the `selected` units of a vector, as far as `out` reaches.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn store_units<U: OutputUnit>(
    vector: __m512i,
    selected: u64,
    out: &mut [MaybeUninit<u8>],
) {
    let lanes = selected & lanes(out.len().min(BLOCK) / U::SIZE);
    // SAFETY: the mask lets through units that `out` has room for; the others are not accessed.
    unsafe {
        if U::SIZE == 4 {
            _mm512_mask_storeu_epi32(out.as_mut_ptr().cast(), lanes as u16, vector);
        } else {
            _mm512_mask_storeu_epi16(out.as_mut_ptr().cast(), lanes as u32, vector);
        }
    }
}

/// The low and the high byte of the character that ends at each byte of a block. After `compress`, those of
/// consecutive characters.
#[derive(Clone, Copy)]
pub(super) struct Planes {
    low: __m512i,
    high: __m512i,
}

/// By the low six bits of the byte before a continuation byte: the addend that puts its two lowest bits at
/// the top of the low byte, and removes the mark of the continuation byte.
static LOW: Aligned = Aligned(table!(64, |i| ((i as u8 & 0x03) << 6).wrapping_sub(0x80)));

/// By the same index: the four lowest bits of the high byte (three if it is a leading byte).
static HIGH: Aligned = Aligned(table!(64, |i| i as u8 >> 2 & 0x0F));

/// By the low six bits of the byte two before: the four highest bits of the high byte.
static HIGHEST: Aligned = Aligned(table!(64, |i| (i as u8 & 0x0F) << 4));

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

    /// Assembles characters of one to three bytes. Of four bytes, the two lower bytes of the value.
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
    pub(super) fn compress(self, ends: u64) -> Self {
        Self {
            low: _mm512_maskz_compress_epi8(ends, self.low),
            high: _mm512_maskz_compress_epi8(ends, self.high),
        }
    }

    /// Returns the `i`th vector of units.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    fn vector<U: OutputUnit>(self, i: usize) -> __m512i {
        if U::SIZE == 4 {
            let from = table(&INTERLEAVE_4[i]);
            _mm512_maskz_permutex2var_epi8(0x3333_3333_3333_3333, self.low, from, self.high)
        } else {
            let (first, second) =
                if U::IS_SWAPPED { (self.high, self.low) } else { (self.low, self.high) };
            _mm512_permutex2var_epi8(first, table(&INTERLEAVE_2[i]), second)
        }
    }

    /// Writes `units` units, at most 64, and zeros up to the end of a vector.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    pub(super) fn put<U: OutputUnit>(self, units: usize, out: &mut [MaybeUninit<u8>]) {
        for i in 0..U::SIZE {
            if i * (BLOCK / U::SIZE) >= units {
                break;
            }
            store(self.vector::<U>(i), first_mut(&mut out[BLOCK * i..]));
        }
    }

    /// Fills `out` with the first units, at most 64.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    pub(super) fn put_exactly<U: OutputUnit>(self, out: &mut [MaybeUninit<u8>]) {
        for i in 0..U::SIZE {
            let Some(out @ [_, ..]) = out.get_mut(BLOCK * i..) else { break };
            fill::<U>(self.vector::<U>(i), out);
        }
    }
}

/// For the `i`th vector of `char`s: the indexes of its bytes, where the low bytes precede the high ones.
static INTERLEAVE_4: [Aligned; 4] =
    [interleave(4, 0), interleave(4, 1), interleave(4, 2), interleave(4, 3)];
/// The same for UTF-16.
static INTERLEAVE_2: [Aligned; 2] = [interleave(2, 0), interleave(2, 1)];

const fn interleave(size: usize, vector: usize) -> Aligned {
    Aligned(table!(64, |i| {
        let high = if i % size == 1 { 64 } else { 0 };
        (high + vector * (64 / size) + i / size) as u8
    }))
}

/// By the low seven bits of a byte that is not ASCII: its payload bits, with bit 7 set if it begins a
/// character.
static PAYLOAD: [Aligned; 2] = [payload(0), payload(64)];

const fn payload(from: u8) -> Aligned {
    Aligned(table!(64, |i| match 0x80 + from + i as u8 {
        byte @ 0x80..=0xBF => byte & 0x3F,
        byte @ 0xC0..=0xDF => 0x80 | byte & 0x1F,
        byte @ 0xE0..=0xEF => 0x80 | byte & 0x0F,
        byte => 0x80 | byte & 0x07,
    }))
}

/// The indexes of the bytes of a block.
static PLACES: Aligned = Aligned(table!(64, |i| i as u8));

/// For the `i`th sixteen of the indexes at which characters end: each of them four times.
static SPREAD: [Aligned; 4] = [spread(0), spread(1), spread(2), spread(3)];

const fn spread(sixteen: usize) -> Aligned {
    Aligned(table!(64, |i| (16 * sixteen + i / 4) as u8))
}

/// Writes the characters that end at `ends` in `window`. Returns the number of units. With `EXACT`, `out` has room for no
/// more, and no excess is written.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn put_wide<U: OutputUnit, const EXACT: bool>(
    window: __m512i,
    ends: u64,
    out: &mut [MaybeUninit<u8>],
) -> usize {
    if U::SIZE == 2 {
        put_pairs::<U, EXACT>(window, ends, out)
    } else {
        put_chars::<EXACT>(window, ends, out)
    }
}

/// [`put_wide`] to UTF-16. Of a character of four bytes, the high surrogate is assembled at the third one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_pairs<U: OutputUnit, const EXACT: bool>(
    window: __m512i,
    ends: u64,
    out: &mut [MaybeUninit<u8>],
) -> usize {
    let (text, zero) = (Bytes64(window), Bytes64::zero());
    let [back1, back2, back3] =
        [text.prev::<1>(zero).0, text.prev::<2>(zero).0, text.prev::<3>(zero).0];
    let fourth = _mm512_mask_cmpge_epu8_mask(ends, back3, _mm512_set1_epi8(0xF0_u8 as i8));
    let third = fourth >> 1;
    let Planes { low, high } = Planes::of_three(window, back1, back2);
    // Low: DC00 | back1 << 6 & 3C0 | byte & 3F. Its low byte is that of other characters.
    let tag = _mm512_set1_epi8(0xDC_u8 as i8);
    let low_tag = _mm512_ternarylogic_epi64::<AND_OR>(high, _mm512_set1_epi8(0x03), tag);
    // High: D800 + (back2 << 8 & 700 | back1 << 2 & FC | byte >> 4 & 3) - 40
    let shifted = _mm512_add_epi8(back1, back1);
    let shifted = _mm512_add_epi8(_mm512_add_epi8(shifted, shifted), _mm512_set1_epi8(-0x40));
    let last_bits = _mm512_srli_epi16::<4>(window);
    let of_high = _mm512_ternarylogic_epi64::<AND_OR>(last_bits, _mm512_set1_epi8(0x03), shifted);
    let borrows = _mm512_testn_epi8_mask(back1, _mm512_set1_epi8(0x30));
    let high_tag = _mm512_sub_epi8(back2, _mm512_set1_epi8(0xF0_u8.wrapping_sub(0xD8) as i8));
    let high_tag = _mm512_mask_add_epi8(high_tag, borrows, high_tag, _mm512_set1_epi8(-1));
    let planes = Planes {
        low: _mm512_mask_mov_epi8(low, third, of_high),
        high: _mm512_mask_mov_epi8(_mm512_mask_mov_epi8(high, fourth, low_tag), third, high_tag),
    };
    let needed = ends | third;
    let units = needed.count_ones() as usize;
    if EXACT {
        planes.compress(needed).put_exactly::<U>(out);
    } else {
        planes.compress(needed).put::<U>(units, out);
    }
    units
}

/// [`put_wide`] to `char`s, sixteen at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_chars<const EXACT: bool>(window: __m512i, ends: u64, out: &mut [MaybeUninit<u8>]) -> usize {
    let chars = ends.count_ones() as usize;
    // ASCII is payload and begins a character: only bit 7 is added.
    let payload = _mm512_mask2_permutex2var_epi8(
        table(&PAYLOAD[0]),
        _mm512_or_si512(window, _mm512_set1_epi8(0x80_u8 as i8)),
        _mm512_movepi8_mask(window),
        table(&PAYLOAD[1]),
    );
    // The index after the last end is that of the last byte: a character, or the beginning of one, whose
    // value is lower. Both are valid `char`s.
    let places = _mm512_mask_compress_epi8(_mm512_set1_epi8(63), ends, table(&PLACES));
    for i in 0..4 {
        let Some(out @ [_, ..]) = out.get_mut(BLOCK * i..) else { break };
        if 16 * i >= chars {
            break;
        }
        let values = fetch(payload, places, i);
        if EXACT {
            fill::<u32>(values, out);
        } else {
            store(values, first_mut(out));
        }
    }
    chars
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
    let begin = _mm512_and_si512(bytes, _mm512_set1_epi8(0x80_u8 as i8));
    let below = _mm512_add_epi32(begin, _mm512_set1_epi32(-1));
    let bytes = _mm512_ternarylogic_epi64::<AND_NOT_AND>(bytes, begin, below);
    // Joins pairs of bytes, with a factor of 2^6; then both pairs, with 2^12.
    let halves = _mm512_maddubs_epi16(bytes, _mm512_set1_epi16(0x4001));
    _mm512_madd_epi16(halves, _mm512_set1_epi32(0x1000_0001))
}

/// `(a & b) | c`
const AND_OR: i32 = 0xEA;
/// `a & !b & c`
const AND_NOT_AND: i32 = 0x20;
