//! Between UTF-16 and UTF-32, between UTF-16 and Latin-1, and a few numbers to UTF-8, with AVX-512. Units that are not needed are
//! removed (`vpcompressd`, `vpcompressw`):
//!
//! ```text
//! from a pair     (high << 10) + low + const     in the lane of the high one; the low one is removed
//! to a pair       (c >> 10) + D7C0, c & 3FF | DC00
//!                                                the second one is removed, unless c > FFFF
//! ```
//!
//! Whole vectors are converted while enough input and room are left; masked loads and stores convert the rest.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::decode;
use super::encode::{OR_AND, OR3, in_four};
use super::encode_units::{self, UNITS, put};
use super::vector::{BLOCK, first_block, lanes, load, load_start, store};
use crate::simd::generic::{self, Bytes, as_bytes, first, first_mut};
use crate::simd::recode::Conversion;
use crate::simd::x86_64::avx2::{self, Bytes32, load_32, store_32};
use crate::simd::x86_64::sse41::Bytes16;
use crate::simd::{RecodeSteps, bytes_to_multiple};

/// From this number of bytes on, stores that cross no cache lines are faster: the first block overlaps the one after it. Rows
/// `utf-16-to-utf-32/*/65536` of `benches/heads`.
const LONG: usize = 4096;
const CHARS: usize = BLOCK / 4;

/// Converts units; see [`Level::recode`](crate::simd::Level::recode). UTF-16 in bytes is encoded as units are. Short inputs, and
/// conversions that have no loop here, take the steps of AVX2.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn recode<R: RecodeSteps>(
    items: &[R::From],
    out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    let bytes = as_bytes(items);
    match R::CONVERSION {
        Conversion::BytesToUtf8 { is_swapped, replaces } => {
            let (units, mut count) = (bytes.as_chunks().0, 0);
            let replaced = replaces.then_some(&mut count);
            return match is_swapped {
                true => encode_units::encode::<true>(units, out, replaced),
                false => encode_units::encode::<false>(units, out, replaced),
            };
        }
        Conversion::Latin1ToUtf16 if items.len() > BLOCK => return from_latin1(bytes, out),
        Conversion::Latin1ToUtf16 if items.len() > UNITS => {
            if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk())
                && let Some(out) = out.get_mut(..2 * items.len())
            {
                // The second one overlaps the first.
                store(_mm512_cvtepu8_epi16(load_32(first)), first_mut(out));
                let at = out.len() - BLOCK;
                store(_mm512_cvtepu8_epi16(load_32(last)), first_mut(&mut out[at..]));
                return (items.len(), items.len());
            }
        }
        Conversion::Utf16ToLatin1 if (UNITS..=2 * UNITS).contains(&items.len()) => {
            return match two_to_latin1(bytes, out) {
                0 => recode_any::<R>(items, out),
                len => (len, len),
            };
        }
        _ => {}
    }
    let any = (Bytes32::zero(), Bytes16::zero());
    match generic::recode_short::<Bytes32, Bytes16, R>(any, items, out) {
        Some(done) => done,
        None => recode_any::<R>(items, out),
    }
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn recode_any<R: RecodeSteps>(items: &[R::From], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let bytes = as_bytes(items);
    match R::CONVERSION {
        Conversion::Utf16ToUtf32 => to_utf32(bytes, out),
        Conversion::NumbersToUtf16 => to_utf16::<true>(bytes, out),
        Conversion::CharsToUtf16 => to_utf16::<false>(bytes, out),
        Conversion::Utf16ToLatin1 => to_latin1(bytes, out),
        Conversion::Latin1ToUtf16 => from_latin1(bytes, out),
        Conversion::NumbersToUtf8 if items.len() <= CHARS => few_to_utf8(bytes, out),
        Conversion::AsciiToBytes { is_swapped } => {
            let len = match is_swapped {
                true => decode::decode_ascii::<Bytes<true>>(bytes, out),
                false => decode::decode_ascii::<Bytes<false>>(bytes, out),
            };
            (len, len)
        }
        _ => avx2::recode_any::<R>(items, out),
    }
}

/// Converts UTF-16, given in bytes, up to an unpaired surrogate, an incomplete pair, or a block that does not fit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn to_utf32(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    if bytes.len() <= BLOCK {
        return few_to_utf32(bytes, out);
    }
    let (read, written) = blocks_to_utf32(bytes, out);
    if 2 * read == bytes.len() {
        return (read, written);
    }
    let (more, len) = few_to_utf32(&bytes[2 * read..], &mut out[4 * written..]);
    (read + more, written + len)
}

/// Converts blocks. Leaves a block or less, unless it stops at an unpaired surrogate or for lack of room.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn blocks_to_utf32(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let (all, room) = (bytes.len(), out.len());
    let (mut rest, mut place) = (bytes, out);
    // 1 if the first unit of `rest` is the second one of a pair, whose `char` is written already. So the offset of a block has no data
    // dependency on the units before it (rows `utf-16-to-utf-32/emoji/*`).
    let mut split = 0;
    if rest.len() >= LONG
        && let Some(to) = place.first_chunk_mut::<{ 2 * BLOCK }>()
        && let units = load(first(rest))
        && tagged(units, 0xF800, 0xD800) == 0
    {
        put_each([widen(units, 0), widen(units, 1)], to);
        let count = bytes_to_multiple(to, BLOCK) / 4;
        (rest, place) = (&rest[2 * count..], &mut place[4 * count..]);
    }
    while let Some(to) = place.first_chunk_mut::<{ 2 * BLOCK }>()
        && rest.len() >= BLOCK + 2
    {
        let units = load(first(rest));
        let surrogates = tagged(units, 0xF800, 0xD800);
        if surrogates == 0 {
            put_each([widen(units, 0), widen(units, 1)], to);
            (rest, place) = (&rest[BLOCK..], &mut place[2 * BLOCK..]);
            continue;
        }
        let next = load(first(&rest[2..]));
        let (lows, next_lows) = (tagged(units, 0xFC00, 0xDC00), tagged(next, 0xFC00, 0xDC00));
        let highs = surrogates & !lows;
        if highs != next_lows || lows & 1 != split {
            break;
        }
        split = highs >> (UNITS - 1);
        let mut len = 0;
        for half in [0, 1] {
            let chars = chars_of(widen(units, half), widen(next, half), half_of(highs, half));
            let kept = half_of(!lows, half);
            if let Some(to) = to[len..].first_chunk_mut() {
                store(_mm512_maskz_compress_epi32(kept, chars), to);
            }
            len += 4 * kept.count_ones() as usize;
        }
        (rest, place) = (&rest[BLOCK..], &mut place[len..]);
    }
    let (left, place) = (rest.len(), place.len());
    ((all - left) / 2 + split as usize, (room - place) / 4)
}

/// Converts the first block, or less, and the second half of a pair after it, up to an unpaired surrogate. Converts nothing if the
/// result does not fit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn few_to_utf32(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let units = first_block(bytes);
    let count = (bytes.len() / 2).min(UNITS);
    let surrogates = tagged(units, 0xF800, 0xD800);
    if surrogates == 0 {
        if out.len() < 4 * count {
            return (0, 0);
        }
        put(widen(units, 0), 4 * count.min(CHARS), out);
        if count > CHARS {
            put(widen(units, 1), 4 * (count - CHARS), &mut out[BLOCK..]);
        }
        return (count, count);
    }
    let next = load_start(bytes.get(2..).unwrap_or_default());
    let (lows, next_lows) = (tagged(units, 0xFC00, 0xDC00), tagged(next, 0xFC00, 0xDC00));
    let highs = surrogates & !lows;
    let unpaired = highs & !next_lows | lows & !(highs << 1);
    let count = count.min(unpaired.trailing_zeros() as usize);
    let split = (u64::from(highs) << 1 >> count & 1) as usize;
    let kept = !lows & lanes(count) as u32;
    let (front, back) =
        (half_of(kept, 0).count_ones() as usize, half_of(kept, 1).count_ones() as usize);
    if out.len() < 4 * (front + back) {
        return (0, 0);
    }
    let chars = chars_of(widen(units, 0), widen(next, 0), half_of(highs, 0));
    put(_mm512_maskz_compress_epi32(half_of(kept, 0), chars), 4 * front, out);
    if back > 0 {
        let chars = chars_of(widen(units, 1), widen(next, 1), half_of(highs, 1));
        put(_mm512_maskz_compress_epi32(half_of(kept, 1), chars), 4 * back, &mut out[4 * front..]);
    }
    (count + split, front + back)
}

/// Returns the `char`s of pairs, in the lanes of high surrogates, and other units as they are. `next` are the units after them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn chars_of(units: __m512i, next: __m512i, highs: u16) -> __m512i {
    let marks = _mm512_set1_epi32(0x1_0000 - (0xD800 << 10) - 0xDC00);
    let shifted = _mm512_mask_slli_epi32::<10>(units, highs, units);
    _mm512_mask_add_epi32(shifted, highs, shifted, _mm512_add_epi32(next, marks))
}

/// Converts numbers or `char`s, given in bytes, up to one that is no scalar value, or a block that does not fit. Without `TESTS`,
/// all are scalar values.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn to_utf16<const TESTS: bool>(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    if bytes.len() <= BLOCK {
        return few_to_utf16::<TESTS>(bytes, out);
    }
    let (mut read, mut written) = blocks_to_utf16::<TESTS>(bytes, out);
    while 4 * read < bytes.len()
        && let (more @ 1.., len) =
            few_to_utf16::<TESTS>(&bytes[4 * read..], &mut out[2 * written..])
    {
        read += more;
        written += len;
    }
    (read, written)
}

/// Converts pairs of blocks, up to a number that is no scalar value, or while there is room for two vectors.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn blocks_to_utf16<const TESTS: bool>(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let (all, room) = (bytes.len(), out.len());
    let (mut rest, mut place) = (bytes, out);
    if bytes.len() >= LONG
        && let Some(to) = place.first_chunk_mut::<{ 2 * BLOCK }>()
        && let chars = [load(first(rest)), load(first(&rest[BLOCK..]))]
        && let Some(units) = plain_units::<TESTS>(chars)
    {
        put_each([units], to);
        let count = bytes_to_multiple(to, BLOCK) / 2;
        (rest, place) = (&rest[4 * count..], &mut place[2 * count..]);
    }
    while let Some((blocks, more)) = rest.split_first_chunk::<{ 2 * BLOCK }>()
        && let Some(to) = place.first_chunk_mut::<{ 2 * BLOCK }>()
    {
        let chars = [load(first(blocks)), load(first(&blocks[BLOCK..]))];
        let len = if let Some(units) = plain_units::<TESTS>(chars) {
            put_each([units], to);
            UNITS
        } else {
            if TESTS && (not_scalar(chars[0]) | not_scalar(chars[1])) != 0 {
                break;
            }
            let [front, back] = [in_units(chars[0]), in_units(chars[1])];
            let len = front.1.count_ones() as usize;
            put_each([_mm512_maskz_compress_epi16(front.1, front.0)], to);
            if let Some(to) = to[2 * len..].first_chunk_mut() {
                store(_mm512_maskz_compress_epi16(back.1, back.0), to);
            }
            len + back.1.count_ones() as usize
        };
        (rest, place) = (more, &mut place[2 * len..]);
    }
    let (left, place) = (rest.len(), place.len());
    ((all - left) / 4, (room - place) / 2)
}

/// Returns the units of two blocks, if each number is one unit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn plain_units<const TESTS: bool>(chars: [__m512i; 2]) -> Option<__m512i> {
    let any = _mm512_or_si512(chars[0], chars[1]);
    if _mm512_test_epi32_mask(any, _mm512_set1_epi32(0xFFFF_0000_u32 as i32)) != 0 {
        return None;
    }
    let units = narrow_32(chars);
    (!TESTS || tagged(units, 0xF800, 0xD800) == 0).then_some(units)
}

/// Converts the first block, or less, if it fits, up to a number that is no scalar value.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn few_to_utf16<const TESTS: bool>(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let chars = first_block(bytes);
    let mut count = (bytes.len() / 4).min(CHARS);
    // A branch, so that the store does not wait for the mask: rows `utf-32-to-utf-16/*/16`.
    if TESTS && let others @ 1.. = not_scalar(chars) {
        count = count.min(others.trailing_zeros() as usize);
    }
    if _mm512_test_epi32_mask(chars, _mm512_set1_epi32(0xFFFF_0000_u32 as i32)) == 0 {
        if out.len() < 2 * count {
            return (0, 0);
        }
        put(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(chars)), 2 * count, out);
        return (count, count);
    }
    let (units, keep) = in_units(chars);
    let keep = keep & lanes(2 * count) as u32;
    let len = keep.count_ones() as usize;
    if out.len() < 2 * len {
        return (0, 0);
    }
    put(_mm512_maskz_compress_epi16(keep, units), 2 * len, out);
    (count, len)
}

/// Returns a unit or a pair for each scalar value, and which units are needed.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn in_units(chars: __m512i) -> (__m512i, u32) {
    let pairs = _mm512_cmpgt_epu32_mask(chars, _mm512_set1_epi32(0xFFFF));
    let high = _mm512_mask_srli_epi32::<10>(chars, pairs, chars);
    let marked =
        _mm512_mask_add_epi32(high, pairs, high, _mm512_set1_epi32(0xDC00_D7C0_u32 as i32));
    let low = _mm512_slli_epi32::<16>(chars);
    let ten_bits = _mm512_set1_epi32(0x3FF_0000);
    let units = _mm512_mask_ternarylogic_epi32::<OR_AND>(marked, pairs, low, ten_bits);
    (units, 0x5555_5555 | _pdep_u64(pairs.into(), 0xAAAA_AAAA) as u32)
}

/// Returns the lanes whose numbers are no scalar values.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn not_scalar(numbers: __m512i) -> u16 {
    let top = _mm512_and_si512(numbers, _mm512_set1_epi32(0xFFFF_F800_u32 as i32));
    _mm512_cmpeq_epi32_mask(top, _mm512_set1_epi32(0xD800))
        | _mm512_cmpgt_epu32_mask(numbers, _mm512_set1_epi32(0x10_FFFF))
}

/// Converts UTF-16, given in bytes, up to a unit above FF, or a block that does not fit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn to_latin1(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let mut read = blocks_to_latin1(bytes, out);
    while 2 * read < bytes.len()
        && let more @ 1.. = few_to_latin1(&bytes[2 * read..], &mut out[read..])
    {
        read += more;
    }
    (read, read)
}

/// Converts one to two blocks if no unit is above FF. The second one overlaps the first. Returns the number of units.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn two_to_latin1(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let count = bytes.len() / 2;
    let (Some(first), Some(last), Some(out)) =
        (bytes.first_chunk(), bytes.last_chunk(), out.get_mut(..count))
    else {
        return 0;
    };
    let (first, last) = (load(first), load(last));
    let any = _mm512_or_si512(first, last);
    if _mm512_test_epi16_mask(any, _mm512_set1_epi16(0xFF00_u16 as i16)) != 0 {
        return 0;
    }
    if let Some(out) = out.first_chunk_mut() {
        store_32(_mm512_cvtepi16_epi8(first), out);
    }
    if let Some(out) = out.last_chunk_mut() {
        store_32(_mm512_cvtepi16_epi8(last), out);
    }
    count
}

/// Converts four blocks at a time, then two. Returns the number of units.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn blocks_to_latin1(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let upper = _mm512_set1_epi16(0xFF00_u16 as i16);
    let mut len = 0;
    if bytes.len() >= LONG
        && let Some(to) = out.first_chunk_mut()
        && let Some(latin1) = narrow_two(first(bytes))
    {
        store(latin1, to);
        len = bytes_to_multiple(to, BLOCK);
    }
    let (rest, place) = (&bytes[2 * len..], &mut out[len..]);
    for (blocks, to) in rest.as_chunks::<{ 4 * BLOCK }>().0.iter().zip(place.as_chunks_mut().0) {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| load(first(&blocks[BLOCK * i..])));
        let any = _mm512_ternarylogic_epi64::<OR3>(_mm512_or_si512(a, b), c, d);
        if _mm512_test_epi16_mask(any, upper) != 0 {
            return len;
        }
        put_each([encode_units::narrow(a, b), encode_units::narrow(c, d)], to);
        len += 4 * UNITS;
    }
    let (rest, place) = (&bytes[2 * len..], &mut out[len..]);
    for (blocks, to) in rest.as_chunks().0.iter().zip(place.as_chunks_mut().0) {
        let Some(latin1) = narrow_two(blocks) else { break };
        store(latin1, to);
        len += 2 * UNITS;
    }
    len
}

/// Narrows the units of two blocks, if none is above FF.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn narrow_two(blocks: &[u8; 2 * BLOCK]) -> Option<__m512i> {
    let [a, b] = [load(first(blocks)), load(first(&blocks[BLOCK..]))];
    let upper = _mm512_set1_epi16(0xFF00_u16 as i16);
    let is_narrow = _mm512_test_epi16_mask(_mm512_or_si512(a, b), upper) == 0;
    is_narrow.then_some(encode_units::narrow(a, b))
}

/// Converts the first block, or less, up to a unit above FF, if the result fits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn few_to_latin1(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let units = first_block(bytes);
    let others = _mm512_cmpgt_epu16_mask(units, _mm512_set1_epi16(0xFF));
    let mut count = (bytes.len() / 2).min(UNITS);
    // A branch, as in `few_to_utf16`.
    if others != 0 {
        count = count.min(others.trailing_zeros() as usize);
    }
    if out.len() < count {
        return 0;
    }
    put(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(units)), count, out);
    count
}

/// Converts Latin-1 to UTF-16, as far as it fits. A text is long from 512 bytes on: rows `latin-1-to-utf-16/*/1460`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn from_latin1(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let bytes = &bytes[..bytes.len().min(out.len() / 2)];
    let (count, out) = (bytes.len(), &mut out[..2 * bytes.len()]);
    let mut at = 0;
    if count >= 512
        && let Some(to) = out.first_chunk_mut()
    {
        store(_mm512_cvtepu8_epi16(load_32(first(bytes))), to);
        at = bytes_to_multiple(out, BLOCK) / 2;
    }
    let (steps, rest) = bytes[at..].as_chunks();
    for (step, to) in steps.iter().zip(out[2 * at..].as_chunks_mut().0) {
        store(_mm512_cvtepu8_epi16(load_32(step)), to);
    }
    if !rest.is_empty() {
        // The last step overlaps the one before it.
        match (bytes.last_chunk(), out.last_chunk_mut()) {
            (Some(last), Some(to)) => store(_mm512_cvtepu8_epi16(load_32(last)), to),
            _ => {
                let units = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(load_start(rest)));
                put(units, 2 * count, out);
            }
        }
    }
    (count, count)
}

/// Encodes at most a block of numbers, up to one that is no scalar value, if the result fits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn few_to_utf8(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let numbers = first_block(bytes);
    let mut count = bytes.len() / 4;
    // A branch, as in `few_to_utf16`.
    if let others @ 1.. = not_scalar(numbers) {
        count = count.min(others.trailing_zeros() as usize);
    }
    let (encoded, marks) = in_four::<true>(numbers);
    let keep = marks & lanes(4 * count);
    let len = keep.count_ones() as usize;
    if out.len() < len {
        return (0, 0);
    }
    put(_mm512_maskz_compress_epi8(keep, encoded), len, out);
    (count, len)
}

/// Returns the lanes of 16 bits whose bits of `mask` are those of `tag`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn tagged(units: __m512i, mask: u16, tag: u16) -> u32 {
    let top = _mm512_and_si512(units, _mm512_set1_epi16(mask as i16));
    _mm512_cmpeq_epi16_mask(top, _mm512_set1_epi16(tag as i16))
}

/// Widens a half of the units.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn widen(units: __m512i, half: usize) -> __m512i {
    match half {
        0 => _mm512_cvtepu16_epi32(_mm512_castsi512_si256(units)),
        _ => _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(units)),
    }
}

/// Returns the mask of a half of the lanes.
#[inline]
fn half_of(lanes: u32, half: usize) -> u16 {
    (lanes >> (CHARS * half)) as u16
}

/// Narrows numbers below 1_0000.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn narrow_32([front, back]: [__m512i; 2]) -> __m512i {
    let packed = _mm512_packus_epi32(front, back);
    _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), packed)
}

/// Stores one or two vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_each<const N: usize>(vectors: [__m512i; N], to: &mut [MaybeUninit<u8>; 2 * BLOCK]) {
    for (vector, to) in vectors.into_iter().zip(to.as_chunks_mut().0) {
        store(vector, to);
    }
}
