//! UTF-16 to UTF-8 with AVX-512: 32 units at a time, by the first of these methods that covers all of them.
//!
//! ```text
//! below 80       the low bytes
//! below 800      two bytes each; unused ones are removed (`vpcompressb`)
//! 800 and more   three bytes each, put in order by one shuffle (`vpermt2b`)
//! no surrogates  lanes of 32 bits, as in `encode` for `char`s
//! surrogates     28 units in lanes of 16 bits: each half of a pair has two bytes. At the end, and among many units of
//!                three bytes, in lanes of 32 bits: the lane of a high one gets the character of the pair, that of a
//!                low one no byte
//! ```
//!
//! Loads at the end of the units and stores at the end of the output are masked, so that all lengths use
//! the same code.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::encode::{OR_AND, OR3, in_four, store_first, units_in_two};
use super::vector::{lanes, load, load_start, store};
use crate::simd::generic::{as_bytes, first};
use crate::simd::{reference, table};

const UNITS: usize = 32;
const PAIR: usize = 2 * UNITS;

/// Encodes to UTF-8; see [`Level::encode_utf16`](crate::simd::Level::encode_utf16).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn encode_utf16(
    units: &[u16],
    out: &mut [MaybeUninit<u8>],
    mut replaced: Option<&mut u64>,
) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    // Short text. Rows `from-utf-16/*/64`.
    while units.len() > read + UNITS && read < 4 * PAIR {
        let (more, len) = put_first(&units[read..], &mut out[written..]);
        if more == 0 {
            break;
        }
        read += more;
        written += len;
    }
    if read < units.len()
        && let Some((more, len)) = put_block(&units[read..], &mut out[written..], &mut replaced)
    {
        read += more;
        written += len;
    }
    if read == units.len() {
        return (read, written);
    }
    encode_from(units, out, replaced, read, written)
}

/// Encodes the units from `read` on to the bytes from `written` on. Returns the numbers of units and of bytes up to
/// where it stops.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn encode_from(
    units: &[u16],
    out: &mut [MaybeUninit<u8>],
    mut replaced: Option<&mut u64>,
    mut read: usize,
    mut written: usize,
) -> (usize, usize) {
    while read < units.len()
        && let Some((more, len)) = put_block(&units[read..], &mut out[written..], &mut replaced)
    {
        read += more;
        written += len;
    }
    if read == units.len() {
        return (read, written);
    }
    // Left are an unpaired surrogate with the units of its block before it, or more than fits.
    let (more, len) = reference::encode_utf16(&units[read..], &mut out[written..], replaced);
    (read + more, written + len)
}

/// Encodes a block, or fewer units if no more are left, and what continues it. Returns the numbers of units and of bytes,
/// or `None` if the block does not fit, or has an unpaired surrogate and these are not `replaced`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_block(
    units: &[u16],
    room: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> Option<(usize, usize)> {
    let count = units.len().min(UNITS);
    let block = load_start(as_bytes(units));
    if _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x80)) == 0 {
        if room.len() < count {
            return None;
        }
        let bytes = _mm512_castsi256_si512(_mm512_cvtepi16_epi8(block));
        put(bytes, count, room);
        // ASCII often continues.
        let ascii = put_ascii(&units[count..], &mut room[count..]);
        return Some((count + ascii, count + ascii));
    }
    if _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x800)) == 0 {
        let (bytes, keep) = units_in_two(block);
        let keep = keep & lanes(2 * count);
        let len = keep.count_ones() as usize;
        if room.len() < len {
            return None;
        }
        put(_mm512_maskz_compress_epi8(keep, bytes), len, room);
        // Two-byte letters often continue too.
        let (more, more_len) = put_in_two(&units[count..], &mut room[len..]);
        return Some((count + more, len + more_len));
    }
    put_long(block, count, units, room, replaced)
}

/// Like [`put_block`], for a block with a unit from 800 on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_long(
    mut block: __m512i,
    count: usize,
    units: &[u16],
    room: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> Option<(usize, usize)> {
    let mask = lanes(count) as u32;
    let top = _mm512_and_si512(block, _mm512_set1_epi16(0xF800_u16 as i16));
    let mut halves = _mm512_cmpeq_epi16_mask(top, _mm512_set1_epi16(0xD800_u16 as i16));
    let unpaired = if halves == 0 { 0 } else { unpaired(block, count) };
    if unpaired != 0 {
        replaced.as_ref()?;
        block = _mm512_mask_mov_epi16(block, unpaired, _mm512_set1_epi16(0xFFFD_u16 as i16));
        halves &= !unpaired;
    }
    let three = _mm512_mask_cmpge_epu16_mask(mask, block, _mm512_set1_epi16(0x800));
    let done = if three == mask && halves == 0 {
        let [front, back] = in_three(block, !0, !0);
        let len = 3 * count;
        if room.len() < len {
            return None;
        }
        put(front, len.min(64), room);
        put(back, len.saturating_sub(64), &mut room[len.min(64)..]);
        (count, len)
    } else {
        let (used, [front, back], [keep, keep_back]) = if halves == 0 {
            if units.len() >= 4 * UNITS
                && let done @ (1.., _) = put_mixed(units, room, replaced)
            {
                return Some(done);
            }
            in_up_to_three(block, mask, three)
        } else {
            if unpaired == 0
                && units.len() >= 4 * UNITS
                && let done @ (1.., _) = put_pairs(units, room)
            {
                return Some(done);
            }
            in_four_joined(block, count)?
        };
        let (len, len_back) = (keep.count_ones() as usize, keep_back.count_ones() as usize);
        if room.len() < len + len_back {
            return None;
        }
        put(_mm512_maskz_compress_epi8(keep, front), len, room);
        put(_mm512_maskz_compress_epi8(keep_back, back), len_back, &mut room[len..]);
        (used, len + len_back)
    };
    if let Some(replaced) = replaced {
        **replaced += u64::from(unpaired.count_ones());
    }
    Some(done)
}

/// Encodes units, `STRIDE` at a time, while these are ASCII and fit. Returns their number.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_ascii(units: &[u16], room: &mut [MaybeUninit<u8>]) -> usize {
    const STRIDE: usize = 4 * UNITS;
    let mut len = 0;
    let (strides, _) = units.as_chunks::<UNITS>().0.as_chunks();
    for ([a, b, c, d], room) in strides.iter().zip(room.chunks_exact_mut(STRIDE)) {
        let [a, b, c, d] = [load_units(a), load_units(b), load_units(c), load_units(d)];
        let all = _mm512_ternarylogic_epi64::<OR3>(_mm512_or_si512(a, b), c, d);
        if _mm512_test_epi16_mask(all, _mm512_set1_epi16(0xFF80_u16 as i16)) != 0 {
            break;
        }
        put(narrow(a, b), 64, room);
        put(narrow(c, d), 64, &mut room[64..]);
        len += STRIDE;
    }
    len
}

/// Encodes the first 64 units, or fewer if no more are there, if they are below 800 and 128 bytes fit. Returns the numbers
/// of units and of bytes.
///
/// A short input often needs little else (rows `from-utf-16/*/64`).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_first(units: &[u16], room: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let Some(room) = room.first_chunk_mut::<{ 2 * PAIR }>() else { return (0, 0) };
    let count = units.len().min(PAIR);
    // Without a mask, where that is possible: a masked load waits for the stores before it.
    let [first, second] = match units.as_chunks().0.as_chunks().0 {
        [[first, second], ..] => [load_units(first), load_units(second)],
        _ => {
            let (front, back) = units.split_at(count.min(UNITS));
            [load_start(as_bytes(front)), load_start(as_bytes(back))]
        }
    };
    let both = _mm512_or_si512(first, second);
    if _mm512_test_epi16_mask(both, _mm512_set1_epi16(0xFF80_u16 as i16)) == 0 {
        put(narrow(first, second), PAIR, room);
        return (count, count);
    }
    if _mm512_test_epi16_mask(both, _mm512_set1_epi16(0xF800_u16 as i16)) != 0 {
        return (0, 0);
    }
    let (bytes, keep) = units_in_two(first);
    let keep = keep & lanes(2 * count);
    let len = keep.count_ones() as usize;
    put(_mm512_maskz_compress_epi8(keep, bytes), 64, room);
    let (bytes, keep) = units_in_two(second);
    let keep = keep & lanes(2 * (count - count.min(UNITS)));
    put(_mm512_maskz_compress_epi8(keep, bytes), 64, &mut room[len..]);
    (count, len + keep.count_ones() as usize)
}

/// Encodes units, 64 at a time, while these are below 800, not all ASCII, and there is room for twice as many
/// bytes. Returns their number, and that of the bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_in_two(units: &[u16], room: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    for [first, second] in units.as_chunks::<UNITS>().0.as_chunks().0 {
        let Some(room) = room[written..].first_chunk_mut::<{ 2 * PAIR }>() else { break };
        let blocks = [load_units(first), load_units(second)];
        let both = _mm512_or_si512(blocks[0], blocks[1]);
        let top = _mm512_test_epi16_mask(both, _mm512_set1_epi16(0xFF80_u16 as i16));
        if top == 0 || _mm512_test_epi16_mask(both, _mm512_set1_epi16(0xF800_u16 as i16)) != 0 {
            break;
        }
        let mut len = 0;
        for block in blocks {
            let (bytes, keep) = units_in_two(block);
            put(_mm512_maskz_compress_epi8(keep, bytes), 64, &mut room[len..]);
            len += keep.count_ones() as usize;
        }
        read += PAIR;
        written += len;
    }
    (read, written)
}

/// Encodes units, 32 at a time, up to a pair or a second block in a row below 800, while 128 bytes fit. Returns the number of
/// units, and that of the bytes.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_mixed(
    units: &[u16],
    room: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> (usize, usize) {
    let (mut read, mut written, mut was_below) = (0, 0, false);
    for block in units.as_chunks().0 {
        let Some(room) = room[written..].first_chunk_mut::<{ 2 * PAIR }>() else { break };
        let mut block = load_units(block);
        let three = _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x800));
        if three == 0 && was_below {
            break;
        }
        was_below = three == 0;
        if _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x80)) == 0 {
            put(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(block)), UNITS, room);
            read += UNITS;
            written += UNITS;
            continue;
        }
        let top = _mm512_and_si512(block, _mm512_set1_epi16(0xF800_u16 as i16));
        let halves = _mm512_cmpeq_epi16_mask(top, _mm512_set1_epi16(0xD800_u16 as i16));
        if halves != 0 {
            let Some(replaced) = replaced else { break };
            if unpaired(block, UNITS) != halves {
                break;
            }
            **replaced += u64::from(halves.count_ones());
            block = _mm512_mask_mov_epi16(block, halves, _mm512_set1_epi16(0xFFFD_u16 as i16));
        }
        let (_, [front, back], [keep, keep_back]) = in_up_to_three(block, u32::MAX, three);
        let len = keep.count_ones() as usize;
        put(_mm512_maskz_compress_epi8(keep, front), 64, room);
        put(_mm512_maskz_compress_epi8(keep_back, back), 64, &mut room[len..]);
        read += UNITS;
        written += len + keep_back.count_ones() as usize;
    }
    (read, written)
}

/// Encodes units, 28 at a time, while there are surrogates among these, all paired, and at most four units of three
/// bytes, and 64 bytes fit. Returns the number of units, and that of the bytes.
///
/// A pair may be split by the end of a stride. So the place of the next one does not depend on the units of this one,
/// and the processor need not wait for them (rows `from-utf-16/emoji/*`).
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_pairs(units: &[u16], room: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    const STRIDE: usize = 28;
    let within = lanes(STRIDE) as u32;
    let (mut read, mut written, mut is_split) = (0, 0, false);
    while let (Some(block), Some(room)) =
        (units[read..].first_chunk(), room[written..].first_chunk_mut::<64>())
    {
        let block = load_units(block);
        let before = match read.checked_sub(1).and_then(|last| units[last..].first_chunk()) {
            Some(before) => load_units(before),
            None => _mm512_maskz_permutexvar_epi16(!1, load(&ONE_BACK), block),
        };
        let (highs, lows) = surrogates(block);
        let (highs, lows) = (highs & within, lows & within);
        let long = _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x800));
        let long = long & within & !(highs | lows);
        let more = long.count_ones() as usize;
        if surrogates(before).0 & within != lows || highs | lows == 0 || more > UNITS - STRIDE {
            break;
        }
        let bytes = in_two_each(block, before, long);
        // The low byte of a lane is needed; the high one if it has a mark.
        let keep = _mm512_cmple_epi8_mask(bytes, _mm512_set1_epi16(0xFF7F_u16 as i16));
        let keep = keep & lanes(2 * (STRIDE + more));
        put(_mm512_maskz_compress_epi8(keep, bytes), 64, room);
        read += STRIDE;
        written += keep.count_ones() as usize;
        is_split = highs >> (STRIDE - 1) != 0;
    }
    // Half a pair has two bytes.
    if is_split { (read - 1, written - 2) } else { (read, written) }
}

/// Returns which lanes are high surrogates, and which are low ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn surrogates(units: __m512i) -> (u32, u32) {
    let top = _mm512_and_si512(units, _mm512_set1_epi16(0xFC00_u16 as i16));
    let highs = _mm512_cmpeq_epi16_mask(top, _mm512_set1_epi16(0xD800_u16 as i16));
    let lows = _mm512_cmpeq_epi16_mask(top, _mm512_set1_epi16(0xDC00_u16 as i16));
    (highs, lows)
}

/// Returns which of the first `count` units are unpaired surrogates. The last one may begin a pair.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn unpaired(units: __m512i, count: usize) -> u32 {
    let (highs, lows) = surrogates(units);
    highs & !(lows >> 1) & !(1 << (count - 1)) | lows & !(highs << 1)
}

/// Encodes units in lanes of two bytes: one lane for a unit, two for a `long` one of three bytes, the first of which
/// has one byte. A unit of one byte has it in the low half. Each half of a pair has two bytes.
///
/// `before` has the unit before each, for the lower two bits of a high surrogate.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn in_two_each(units: __m512i, before: __m512i, long: u32) -> __m512i {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    // Of two bits for each unit, the odd one is for its last lane, and the even one for the lane before, if needed.
    let last = _pext_u64(!EVEN, !EVEN | _pdep_u64(u64::from(long), EVEN)) as u32;
    let (units, before) =
        (_mm512_maskz_expand_epi16(last, units), _mm512_maskz_expand_epi16(last, before));
    let next = _mm512_permutexvar_epi16(load(&ONE_ON), units);
    let (highs, lows) = surrogates(units);
    let two = _mm512_cmpge_epu16_mask(units, _mm512_set1_epi16(0x80));
    let three = _mm512_cmpge_epu16_mask(units, _mm512_set1_epi16(0x800));
    // The twelve bits of both bytes, or the four of the first of three at the same place.
    let ten = _mm512_and_si512(units, _mm512_set1_epi16(0x3FF));
    let low = _mm512_or_si512(ten, _mm512_slli_epi16::<10>(before));
    let high = _mm512_add_epi16(ten, _mm512_set1_epi16(0x40)); // U+1_0000, that is 10 bits less
    let bits = _mm512_mask_mov_epi16(units, lows, low);
    let bits = _mm512_mask_srli_epi16::<2>(bits, highs, high);
    let bits = _mm512_mask_srli_epi16::<6>(bits, !last, next);
    let bits = _mm512_and_si512(bits, _mm512_set1_epi16(0xFFF));
    let (first, second) = (_mm512_srli_epi16::<6>(bits), _mm512_slli_epi16::<8>(bits));
    let bytes = _mm512_ternarylogic_epi64::<OR_AND>(first, second, _mm512_set1_epi16(0x3F00));
    let marks = _mm512_set1_epi16(0x80C0_u16 as i16);
    let marks = _mm512_mask_mov_epi16(marks, three, _mm512_set1_epi16(0x8080_u16 as i16));
    let marks = _mm512_mask_mov_epi16(marks, highs, _mm512_set1_epi16(0x80F0_u16 as i16));
    let marks = _mm512_mask_mov_epi16(marks, !last, _mm512_set1_epi16(0xE0));
    _mm512_mask_add_epi16(units, two | !last, bytes, marks)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn load_units(units: &[u16; UNITS]) -> __m512i {
    load(first(as_bytes(units)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn narrow(units: __m512i, next: __m512i) -> __m512i {
    let packed = _mm512_packus_epi16(units, next);
    _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), packed)
}

/// Encodes each unit, which is not a surrogate, in the last of three bytes: those that have `two` or `three`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn in_three(block: __m512i, two: u32, three: u32) -> [__m512i; 2] {
    /// The indexes of the first two bytes of each unit, and from 64 on of the last byte.
    const ORDER: [[u8; 64]; 2] = [order(0), order(64)];
    const fn order(from: usize) -> [u8; 64] {
        table!(64, |i| match (from + i) % 3 {
            2 => 64 + 2 * ((from + i) / 3) as u8,
            part => (2 * ((from + i) / 3) + part) as u8,
        })
    }
    let six = _mm512_set1_epi16(0x3F);
    let middle = _mm512_slli_epi16::<8>(_mm512_and_si512(_mm512_srli_epi16::<6>(block), six));
    let marks = _mm512_set1_epi16(0xC0E0_u16 as i16);
    let marks = _mm512_mask_mov_epi16(marks, three, _mm512_set1_epi16(0x80E0_u16 as i16));
    let front = _mm512_ternarylogic_epi64::<OR3>(_mm512_srli_epi16::<12>(block), middle, marks);
    let last = _mm512_or_si512(_mm512_and_si512(block, six), _mm512_set1_epi16(0x80));
    let last = _mm512_mask_mov_epi16(block, two, last);
    let order = [load(&ORDER[0]), load(&ORDER[1])];
    [
        _mm512_permutex2var_epi8(front, order[0], last),
        _mm512_permutex2var_epi8(front, order[1], last),
    ]
}

/// Units, their bytes in two vectors, and which of these are needed.
type Needed = (usize, [__m512i; 2], [u64; 2]);

/// Encodes the units of `mask`, which are not surrogates, in one byte to `three`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn in_up_to_three(block: __m512i, mask: u32, three: u32) -> Needed {
    /// The first of three bits for each unit.
    const FIRST: u128 = u128::MAX / 7 >> 2;
    let two = _mm512_mask_cmpge_epu16_mask(mask, block, _mm512_set1_epi16(0x80));
    let keep = |bits: u32, byte: u32| {
        let (front, back) = ((FIRST << byte) as u64, (FIRST << byte >> 64) as u64);
        [
            _pdep_u64(bits.into(), front),
            _pdep_u64(u64::from(bits >> front.count_ones()), back),
        ]
    };
    let (of_three, of_two, of_one) = (keep(three, 0), keep(two, 1), keep(mask, 2));
    let keep = [of_three[0] | of_two[0] | of_one[0], of_three[1] | of_two[1] | of_one[1]];
    (mask.count_ones() as usize, in_three(block, two, three), keep)
}

/// Encodes the first `count` units of `block`, whose surrogates are paired, in four bytes each, and in as many each pair,
/// without a high one at the end. Returns `None` if there is only that.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn in_four_joined(block: __m512i, count: usize) -> Option<Needed> {
    let (highs, lows) = surrogates(block);
    let front = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(block));
    let back = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(block));
    let used = count - (highs >> (count - 1) & 1) as usize;
    if used == 0 {
        return None;
    }
    // Each unit's lane gets the next unit. The last one is not needed.
    let next = _mm512_permutexvar_epi16(load(&ONE_ON), block);
    let next_front = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(next));
    let next_back = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(next));
    let front = join(front, next_front, highs as u16);
    let back = join(back, next_back, (highs >> 16) as u16);
    let ((front, keep), (back, keep_back)) = (in_four::<true>(front), in_four::<true>(back));
    let needed = lanes(used) as u32 & !lows;
    let needed = [bytes_of(needed as u16), bytes_of((needed >> 16) as u16)];
    Some((used, [front, back], [keep & needed[0], keep_back & needed[1]]))
}

/// The indexes of the lanes after, for lanes of 16 bits. The last one has none.
const ONE_ON: [u8; 64] = indexes(1);
/// The indexes of the lanes before. The first one has none.
const ONE_BACK: [u8; 64] = indexes(UNITS - 1);

const fn indexes(from: usize) -> [u8; 64] {
    table!(64, |at| if at % 2 == 0 { ((at / 2 + from) % UNITS) as u8 } else { 0 })
}

/// Replaces the `highs` by the characters of their surrogate pairs; other lanes are unchanged.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn join(units: __m512i, next: __m512i, highs: u16) -> __m512i {
    /// U+1_0000, less the tags of both surrogates.
    const TAGS: u32 = 0x1_0000_u32.wrapping_sub(0xD800 << 10).wrapping_sub(0xDC00);
    let pair = _mm512_add_epi32(_mm512_slli_epi32::<10>(units), next);
    _mm512_mask_add_epi32(units, highs, pair, _mm512_set1_epi32(TAGS as i32))
}

/// Returns four equal bits for each bit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn bytes_of(lanes: u16) -> u64 {
    _pdep_u64(u64::from(lanes), 0x1111_1111_1111_1111) * 0xF
}

/// Writes the first `len` bytes. May overwrite bytes after them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put(bytes: __m512i, len: usize, room: &mut [MaybeUninit<u8>]) {
    match room.first_chunk_mut() {
        Some(room) => store(bytes, room),
        None => store_first(bytes, len, room),
    }
}
