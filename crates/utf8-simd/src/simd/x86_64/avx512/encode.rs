//! `char`s to UTF-8 with AVX-512: every character is expanded to the number of bytes that the longest
//! needs, then unused bytes are removed (`vpcompressb`).
//!
//! Each step encodes 64 characters. The largest of them determines the path:
//!
//! ```text
//! below U+0080   the low bytes
//! below U+0800   two bytes each:  110vvvvv 10vvvvvv, or the value and nothing
//! others         four bytes each: the bits of the value in sixes (vpmultishiftqb), and the marks of
//!                its length over them; a byte without a mark has a clear bit 7 and is removed
//! ```
//!
//! Whole vectors are stored while later stores are certain to overwrite the excess. Near the end of the
//! characters or of the output, only the needed bytes are stored.

use core::arch::x86_64::*;

use crate::simd::generic::{as_bytes, first};
use crate::simd::reference;
use crate::simd::x86_64::avx512::vector::{self, BLOCK, lanes, load_start, store};
use crate::simd::x86_64::sse41::{AnyByte, store_16};

const LANES: usize = 16;
const GROUP: usize = 4 * LANES;

/// Encodes to UTF-8; see [`Level::encode_chars`](crate::simd::Level::encode_chars).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn encode_chars(chars: &[char], out: &mut [u8]) -> (usize, usize) {
    let room = out.len();
    let (mut rest, mut place) = (chars, &mut *out);
    // Invariant: the characters before `rest` are in the bytes before `place`. A step stores at most 256 bytes, and
    // later steps overwrite the excess: enough characters follow, and they fill the output except for at most three
    // bytes.
    while rest.len() >= GROUP + BLOCK
        && place.len() >= 4 * BLOCK + 3
        && let Some((chars, more)) = rest.split_first_chunk()
        && let Some(out) = place.first_chunk_mut()
    {
        let len = group(chars, out);
        (rest, place) = (more, &mut place[len..]);
    }
    // A short text is often all ASCII. Row `from-chars/ascii/64`.
    while let Some((chars, more)) = rest.split_first_chunk()
        && let Some(out) = place.first_chunk_mut()
        && put_ascii(load(chars), out)
    {
        (rest, place) = (more, &mut place[GROUP..]);
    }
    let (mut read, left) = (chars.len() - rest.len(), place.len());
    let mut written = room - left;
    while read < chars.len() {
        let count = (chars.len() - read).min(LANES);
        let (bytes, marks) = in_four::<true>(load_start(as_bytes(&chars[read..])));
        let keep = marks & lanes(4 * count);
        let len = keep.count_ones() as usize;
        if len > room - written {
            break;
        }
        store_first(_mm512_maskz_compress_epi8(keep, bytes), len, &mut out[written..]);
        read += count;
        written += len;
    }
    let (more_read, more_written) =
        reference::convert::encode_each(&chars[read..], &mut out[written..]);
    (read + more_read, written + more_written)
}

/// Encodes 64 characters. Returns the number of bytes; later bytes may be overwritten.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn group(chars: &[char; GROUP], out: &mut [u8; 4 * BLOCK]) -> usize {
    let [a, b, c, d] = load(chars);
    if let Some(out) = out.first_chunk_mut()
        && put_ascii([a, b, c, d], out)
    {
        return GROUP;
    }
    let all = any_of([a, b, c, d]);
    let mut len = 0;
    if _mm512_cmpge_epu32_mask(all, _mm512_set1_epi32(0x800)) == 0 {
        for [a, b] in [[a, b], [c, d]] {
            let (bytes, keep) = in_two(a, b);
            put(_mm512_maskz_compress_epi8(keep, bytes), out, len);
            len += keep.count_ones() as usize;
        }
    } else {
        for values in [a, b, c, d] {
            let (bytes, keep) = in_four::<true>(values);
            put(_mm512_maskz_compress_epi8(keep, bytes), out, len);
            len += keep.count_ones() as usize;
        }
    }
    len
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn load(chars: &[char; GROUP]) -> [__m512i; 4] {
    let bytes = as_bytes(chars);
    [0, 1, 2, 3].map(|n| vector::load(first(&bytes[n * BLOCK..])))
}

/// The bitwise or. The bounds are powers of two: all values are below one if their bitwise or is.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn any_of([a, b, c, d]: [__m512i; 4]) -> __m512i {
    _mm512_ternarylogic_epi64::<OR3>(_mm512_or_si512(a, b), c, d)
}

/// Encodes 64 characters if they are ASCII. Returns whether they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_ascii(chars: [__m512i; 4], out: &mut [u8; GROUP]) -> bool {
    if _mm512_cmpge_epu32_mask(any_of(chars), _mm512_set1_epi32(0x80)) != 0 {
        return false;
    }
    for (values, room) in chars.into_iter().zip(out.as_chunks_mut().0) {
        store_16(_mm512_cvtepi32_epi8(values), room);
    }
    true
}

/// Writes a vector from index `at` on: at most 64 bytes for each vector before it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put(bytes: __m512i, out: &mut [u8; 4 * BLOCK], at: usize) {
    if let Some(room) = out[at..].first_chunk_mut() {
        store(bytes, room);
    }
}

/// Stores the first `len` bytes of a block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) fn store_first<B: AnyByte>(block: __m512i, len: usize, to: &mut [B]) {
    let to = &mut to[..len];
    // SAFETY: the mask lets through `len` bytes at most, for which there is room, and they may have any value.
    unsafe { _mm512_mask_storeu_epi8(to.as_mut_ptr().cast(), lanes(len), block) };
}

/// Encodes 32 characters below U+0800 in two bytes each. Returns them, and which bytes are needed.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn in_two(a: __m512i, b: __m512i) -> (__m512i, u64) {
    let halves = _mm512_inserti64x4::<1>(
        _mm512_castsi256_si512(_mm512_cvtepi32_epi16(a)),
        _mm512_cvtepi32_epi16(b),
    );
    units_in_two(halves)
}

/// Encodes 32 units below U+0800 in two bytes each. Returns them, and which bytes are needed.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn units_in_two(halves: __m512i) -> (__m512i, u64) {
    let two = _mm512_cmpge_epu16_mask(halves, _mm512_set1_epi16(0x80));
    // 00000vvv vvwwwwww: vvvvv to the low byte, wwwwww to the high one.
    let low = _mm512_srli_epi16::<6>(halves);
    let high = _mm512_slli_epi16::<8>(halves);
    let bytes = _mm512_ternarylogic_epi64::<OR_AND>(low, high, _mm512_set1_epi16(0x3F00));
    let bytes = _mm512_mask_add_epi16(halves, two, bytes, _mm512_set1_epi16(0x80C0_u16 as i16));
    // The low byte is always needed; the high one if it is a continuation byte, otherwise it is zero.
    (bytes, _mm512_cmple_epi8_mask(bytes, _mm512_set1_epi16(0xFF7F_u16 as i16)))
}

/// Encodes 16 characters in four bytes each. Returns them, and which bytes are needed. Without `ASTRAL`, all of them are below
/// U+1_0000.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn in_four<const ASTRAL: bool>(values: __m512i) -> (__m512i, u64) {
    let two = _mm512_cmpge_epu32_mask(values, _mm512_set1_epi32(0x80));
    let three = _mm512_cmpge_epu32_mask(values, _mm512_set1_epi32(0x800));
    // The last byte of a character is the highest of its lane, whatever the length.
    let marks = _mm512_set1_epi32(0x8000_0000_u32 as i32);
    let marks = _mm512_mask_mov_epi32(marks, two, _mm512_set1_epi32(0x80C0_0000_u32 as i32));
    let marks = _mm512_mask_mov_epi32(marks, three, _mm512_set1_epi32(0x8080_E000_u32 as i32));
    let marks = if ASTRAL {
        let four = _mm512_cmpge_epu32_mask(values, _mm512_set1_epi32(0x1_0000));
        _mm512_mask_mov_epi32(marks, four, _mm512_set1_epi32(0x8080_80F0_u32 as i32))
    } else {
        marks
    };
    // The eight bits from bit 18, 12, 6 and 0 on of either half.
    let sixes = _mm512_set1_epi64(0x20_26_2C_32_00_06_0C_12);
    let sixes = _mm512_multishift_epi64_epi8(sixes, values);
    let bytes = _mm512_ternarylogic_epi64::<AND_OR>(sixes, _mm512_set1_epi8(0x3F), marks);
    // ASCII has seven bits, and no mark.
    let bytes = _mm512_mask_slli_epi32::<24>(bytes, !two, values);
    (bytes, _mm512_movepi8_mask(marks))
}

/// `a | b | c`
pub(super) const OR3: i32 = 0xFE;
/// `a | (b & c)`
pub(super) const OR_AND: i32 = 0xF8;
/// `(a & b) | c`
const AND_OR: i32 = 0xEA;
