//! UTF-16 to UTF-8 with AVX-512: 32 units at a time, by the first of these methods that covers all of them.
//!
//! ```text
//! below 80      the low bytes
//! below 800     two bytes each; unused ones are removed (`vpcompressb`)
//! all others    three bytes each, put in order by one shuffle (`vpermt2b`); unused ones are removed. Each half of a
//!               surrogate pair has two bytes
//! ```
//!
//! Loads at the end of the units and stores at the end of the output are masked, so that all lengths use
//! the same code.

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use super::encode::{OR3, store_first, units_in_two};
use super::vector::{first_block, lanes, load, load_start, store};
use crate::simd::generic::{as_bytes, first};
use crate::simd::x86_64::sse41::AnyByte;
use crate::simd::{reference, table};

pub(super) const UNITS: usize = 32;
const PAIR: usize = 2 * UNITS;

/// A unit in bytes. With `SWAPPED`, these are in the other order than those of the machine.
type Unit = [u8; 2];

/// Encodes to UTF-8; see [`Level::encode_utf16`](crate::simd::Level::encode_utf16).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn encode_utf16(
    units: &[u16],
    out: &mut [MaybeUninit<u8>],
    mut replaced: Option<&mut u64>,
) -> (usize, usize) {
    let bytes = as_bytes(units).as_chunks().0;
    let (read, written) = encode::<false>(bytes, out, replaced.as_deref_mut());
    if read == units.len() {
        return (read, written);
    }
    // Left are an unpaired surrogate with the units of its block before it, or more than fits.
    let (more, len) = reference::encode_utf16(&units[read..], &mut out[written..], replaced);
    (read + more, written + len)
}

/// Encodes units, up to a block that does not fit, a high surrogate at the end, or a block with an unpaired surrogate if these are
/// not `replaced`. Returns the numbers of units and of bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn encode<const SWAPPED: bool>(
    units: &[Unit],
    out: &mut [MaybeUninit<u8>],
    replaced: Option<&mut u64>,
) -> (usize, usize) {
    if units.len() <= UNITS {
        return match put_below(load_few::<SWAPPED>(units), units.len(), out) {
            Some(len) => (units.len(), len),
            None => encode_short::<SWAPPED>(units, out, replaced),
        };
    }
    let (mut read, mut written) = (0, 0);
    while units.len() > read + UNITS && read < 4 * PAIR {
        let (more, len) = put_first::<SWAPPED>(&units[read..], &mut out[written..]);
        if more == 0 {
            break;
        }
        read += more;
        written += len;
    }
    if read == units.len() {
        return (read, written);
    }
    if read == 0 && units.len() <= PAIR {
        return encode_short::<SWAPPED>(units, out, replaced);
    }
    encode_from::<SWAPPED>(units, out, replaced, read, written)
}

/// Encodes a few blocks. A loop with all methods would load all constants first, which takes as long as one block. Rows
/// `from-utf-16/*/16`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn encode_short<const SWAPPED: bool>(
    units: &[Unit],
    out: &mut [MaybeUninit<u8>],
    mut replaced: Option<&mut u64>,
) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    while let (more @ 1.., len) =
        put_any::<SWAPPED>(&units[read..], &mut out[written..], replaced.as_deref_mut())
    {
        read += more;
        written += len;
        if read == units.len() {
            return (read, written);
        }
    }
    encode_from::<SWAPPED>(units, out, replaced, read, written)
}

/// Encodes the units from `read` on to the bytes from `written` on. Returns the numbers of units and of bytes up to
/// where it stops.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn encode_from<const SWAPPED: bool>(
    units: &[Unit],
    out: &mut [MaybeUninit<u8>],
    mut replaced: Option<&mut u64>,
    mut read: usize,
    mut written: usize,
) -> (usize, usize) {
    while read < units.len()
        && let Some((more, len)) =
            put_block::<SWAPPED>(&units[read..], &mut out[written..], &mut replaced)
    {
        read += more;
        written += len;
    }
    (read, written)
}

/// Encodes a block, or fewer units if no more are left, and what continues it. Returns the numbers of units and of bytes,
/// or `None` if the block does not fit, or has an unpaired surrogate and these are not `replaced`, or nothing but a high
/// surrogate.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_block<const SWAPPED: bool>(
    units: &[Unit],
    room: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> Option<(usize, usize)> {
    let count = units.len().min(UNITS);
    let block = load_few::<SWAPPED>(units);
    if let Some(len) = put_below(block, count, room) {
        let (units, room) = (&units[count..], &mut room[len..]);
        // ASCII often continues, and so do letters of two bytes.
        let (more, more_len) = if len == count {
            let ascii = put_ascii::<SWAPPED>(units, room);
            (ascii, ascii)
        } else {
            put_in_two::<SWAPPED>(units, room)
        };
        return Some((count + more, len + more_len));
    }
    if count == UNITS
        && let done @ (1.., _) = put_mixed::<SWAPPED>(units, room, replaced)
    {
        return Some(done);
    }
    match put_any::<SWAPPED>(units, room, replaced.as_deref_mut()) {
        (0, _) => None,
        done => Some(done),
    }
}

/// Encodes the first `count` units of a block, if they are below 800 and fit. Returns the number of bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_below(block: __m512i, count: usize, room: &mut [MaybeUninit<u8>]) -> Option<usize> {
    if _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x80)) == 0 {
        if room.len() < count {
            return None;
        }
        put(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(block)), count, room);
        return Some(count);
    }
    if _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x800)) != 0 {
        return None;
    }
    let (bytes, keep) = units_in_two(block);
    let keep = keep & lanes(2 * count);
    let len = keep.count_ones() as usize;
    if room.len() < len {
        return None;
    }
    put(_mm512_maskz_compress_epi8(keep, bytes), len, room);
    Some(len)
}

/// Encodes the first block, or all units if they are fewer; there is at least one. Leaves a high surrogate at its end.
/// Encodes nothing if the bytes do not fit, or if a surrogate is unpaired and these are not `replaced`. Returns the units
/// read and the bytes written.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_any<const SWAPPED: bool>(
    units: &[Unit],
    room: &mut [MaybeUninit<u8>],
    replaced: Option<&mut u64>,
) -> (usize, usize) {
    let count = units.len().min(UNITS);
    let block = in_order::<SWAPPED>(first_block(units.as_flattened()));
    let before = (_mm512_setzero_si512(), 0);
    let Some(mixed) = encode_mixed::<false>(block, count, before, replaced.is_some()) else {
        return (0, 0);
    };
    let len = mixed.keep[0].count_ones() as usize;
    // A few units need no second vector.
    let len_back = if 3 * count > 64 { mixed.keep[1].count_ones() as usize } else { 0 };
    if room.len() < len + len_back {
        return (0, 0);
    }
    put(mixed.front(), len, room);
    if len_back > 0 {
        put(mixed.back(), len_back, &mut room[len..]);
    }
    if let Some(replaced) = replaced {
        *replaced += u64::from(mixed.unpaired.count_ones());
    }
    // Half a pair has two bytes.
    let split = (mixed.highs >> (count - 1)) as usize;
    (count - split, len + len_back - 2 * split)
}

/// Encodes units, `STRIDE` at a time, while these are ASCII and fit. Returns their number.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_ascii<const SWAPPED: bool>(units: &[Unit], room: &mut [MaybeUninit<u8>]) -> usize {
    const STRIDE: usize = 4 * UNITS;
    let mut len = 0;
    let (strides, _) = units.as_chunks::<UNITS>().0.as_chunks();
    for ([a, b, c, d], room) in strides.iter().zip(room.chunks_exact_mut(STRIDE)) {
        let [a, b, c, d] = [
            load_units::<SWAPPED>(a),
            load_units::<SWAPPED>(b),
            load_units::<SWAPPED>(c),
            load_units::<SWAPPED>(d),
        ];
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
fn put_first<const SWAPPED: bool>(units: &[Unit], room: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let Some(room) = room.first_chunk_mut::<{ 2 * PAIR }>() else { return (0, 0) };
    let count = units.len().min(PAIR);
    // Without a mask, where that is possible: a masked load waits for the stores before it.
    let [first, second] = match units.as_chunks().0.as_chunks().0 {
        [[first, second], ..] => [load_units::<SWAPPED>(first), load_units::<SWAPPED>(second)],
        _ => {
            let (front, back) = units.split_at(count.min(UNITS));
            [load_few::<SWAPPED>(front), load_few::<SWAPPED>(back)]
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
fn put_in_two<const SWAPPED: bool>(units: &[Unit], room: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let (mut read, mut written) = (0, 0);
    for [first, second] in units.as_chunks::<UNITS>().0.as_chunks().0 {
        let Some(room) = room[written..].first_chunk_mut::<{ 2 * PAIR }>() else { break };
        let blocks = [load_units::<SWAPPED>(first), load_units::<SWAPPED>(second)];
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

/// Encodes units, 32 at a time, up to a second block in a row below 800, while 128 bytes fit. Returns the number of units,
/// and that of the bytes.
///
/// A pair may be split by the end of a block. So the place of the next one does not depend on the units of this one,
/// and the processor need not wait for them (rows `from-utf-16/emoji/*`).
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_mixed<const SWAPPED: bool>(
    units: &[Unit],
    room: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> (usize, usize) {
    let (mut read, mut written, mut was_below) = (0, 0, false);
    let (mut before, mut split) = (_mm512_setzero_si512(), 0);
    for block in units.as_chunks().0 {
        let Some(room) = room[written..].first_chunk_mut::<{ 2 * PAIR }>() else { break };
        let block = load_units::<SWAPPED>(block);
        let is_below = _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x800)) == 0;
        if is_below && was_below {
            break;
        }
        was_below = is_below;
        if split == 0 && _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x80)) == 0 {
            put(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(block)), UNITS, room);
            read += UNITS;
            written += UNITS;
            continue;
        }
        let replaces = replaced.is_some();
        let Some(mixed) = encode_mixed::<true>(block, UNITS, (before, split), replaces) else {
            break;
        };
        let [len, len_back] = mixed.keep.map(|keep| keep.count_ones() as usize);
        put(mixed.front(), len, room);
        put(mixed.back(), len_back, &mut room[len..]);
        if mixed.unpaired != 0
            && let Some(replaced) = replaced
        {
            **replaced += u64::from(mixed.unpaired.count_ones());
        }
        read += UNITS;
        written += len + len_back;
        (before, split) = (block, mixed.highs >> (UNITS - 1));
    }
    // Half a pair has two bytes.
    (read - split as usize, written - 2 * split as usize)
}

/// A block in three bytes for each unit.
struct Mixed {
    bytes: [__m512i; 2],
    /// Which bytes are needed.
    keep: [u64; 2],
    /// Which units are high surrogates of a pair. The last one may begin a pair.
    highs: u32,
    /// Which units have been replaced.
    unpaired: u32,
}

impl Mixed {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    fn front(&self) -> __m512i {
        _mm512_maskz_compress_epi8(self.keep[0], self.bytes[0])
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
    fn back(&self) -> __m512i {
        _mm512_maskz_compress_epi8(self.keep[1], self.bytes[1])
    }
}

/// Encodes the first `count` units of a block; with `WHOLE`, all of them. `split` is 1 if the last unit of the block
/// `before` is a high surrogate, to which the first unit must belong. Returns `None` if it does not, or if there is an
/// unpaired surrogate and these are not replaced.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn encode_mixed<const WHOLE: bool>(
    mut block: __m512i,
    count: usize,
    (before, split): (__m512i, u32),
    replaces: bool,
) -> Option<Mixed> {
    let count = if WHOLE { UNITS } else { count };
    let two = _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x80));
    let mut three = _mm512_cmpge_epu16_mask(block, _mm512_set1_epi16(0x800));
    let marks = _mm512_set1_epi16(0xC0E0_u16 as i16);
    let mut marks = _mm512_mask_mov_epi16(marks, three, _mm512_set1_epi16(0x80E0_u16 as i16));
    let (mut highs, mut unpaired) = (0, 0);
    let top = _mm512_and_si512(block, _mm512_set1_epi16(0xF800_u16 as i16));
    let surrogates = _mm512_cmpeq_epi16_mask(top, _mm512_set1_epi16(0xD800_u16 as i16));
    if surrogates | split != 0 {
        let tags = _mm512_and_si512(block, _mm512_set1_epi16(0xFC00_u16 as i16));
        let mut lows = _mm512_cmpeq_epi16_mask(tags, _mm512_set1_epi16(0xDC00_u16 as i16));
        highs = surrogates & !lows;
        unpaired = highs & !(lows >> 1) & !(1 << (count - 1)) | lows & !(highs << 1 | split);
        if split & !lows != 0 || unpaired != 0 && !replaces {
            return None;
        }
        block = _mm512_mask_mov_epi16(block, unpaired, _mm512_set1_epi16(0xFFFD_u16 as i16));
        highs &= !unpaired;
        lows &= !unpaired;
        if highs | lows != 0 {
            three &= !(highs | lows);
            marks = _mm512_mask_mov_epi16(marks, highs, _mm512_set1_epi16(0xF000_u16 as i16));
            // The twelve bits of the bytes of a half. Those of a low one begin with two bits of the unit before.
            let before = _mm512_permutex2var_epi16(block, load(&ONE_BACK), before);
            let ten = _mm512_and_si512(block, _mm512_set1_epi16(0x3FF));
            let low = _mm512_or_si512(ten, _mm512_slli_epi16::<10>(before));
            let high = _mm512_add_epi16(ten, _mm512_set1_epi16(0x40)); // U+1_0000, that is 10 bits less
            block = _mm512_mask_mov_epi16(block, lows, low);
            block = _mm512_mask_srli_epi16::<2>(block, highs, high);
        }
    }
    Some(Mixed {
        bytes: in_three(block, two, marks),
        keep: needed(count, two, three),
        highs,
        unpaired,
    })
}

/// The indexes of the units before those of the first vector. That of its first is the last of the second one.
const ONE_BACK: [u8; 64] =
    table!(64, |at| if at % 2 == 0 { ((at / 2 + 63) % 64) as u8 } else { 0 });

/// Encodes units in three bytes each: in the last one, the last two of `two`, or all. The high byte of `marks` are those of
/// the second byte, the low byte those of the first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn in_three(units: __m512i, two: u32, marks: __m512i) -> [__m512i; 2] {
    /// The indexes of the first two bytes of each unit, and from 64 on of the last byte.
    const ORDER: [[u8; 64]; 2] = [order(0), order(64)];
    const fn order(from: usize) -> [u8; 64] {
        table!(64, |i| match (from + i) % 3 {
            2 => 64 + 2 * ((from + i) / 3) as u8,
            part => (2 * ((from + i) / 3) + part) as u8,
        })
    }
    let six = _mm512_set1_epi16(0x3F);
    let middle = _mm512_slli_epi16::<8>(_mm512_and_si512(_mm512_srli_epi16::<6>(units), six));
    let front = _mm512_ternarylogic_epi64::<OR3>(_mm512_srli_epi16::<12>(units), middle, marks);
    let last = _mm512_or_si512(_mm512_and_si512(units, six), _mm512_set1_epi16(0x80));
    let last = _mm512_mask_mov_epi16(units, two, last);
    let order = [load(&ORDER[0]), load(&ORDER[1])];
    [
        _mm512_permutex2var_epi8(front, order[0], last),
        _mm512_permutex2var_epi8(front, order[1], last),
    ]
}

/// Returns which bytes of [`in_three`] are needed: for each unit the last one, for `two` the second one, for `three` the
/// first one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn needed(units: usize, two: u32, three: u32) -> [u64; 2] {
    /// The first of three bits for each unit.
    const FIRST: u128 = (u128::MAX / 7) >> 2;
    let halves = |bits: u128| (bits as u64, (bits >> 64) as u64);
    let spread = |bits: u32, (front, back): (u64, u64)| {
        [_pdep_u64(bits.into(), front), _pdep_u64(u64::from(bits >> front.count_ones()), back)]
    };
    let (first, second) = (spread(three, halves(FIRST)), spread(two, halves(FIRST << 1)));
    let (last, last_back) = halves(FIRST << 2);
    let last = last & lanes((3 * units).min(64));
    let last_back = last_back & lanes((3 * units).saturating_sub(64));
    [first[0] | second[0] | last, first[1] | second[1] | last_back]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn load_units<const SWAPPED: bool>(units: &[Unit; UNITS]) -> __m512i {
    in_order::<SWAPPED>(load(first(units.as_flattened())))
}

/// Loads a block, with zeros after the last unit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn load_few<const SWAPPED: bool>(units: &[Unit]) -> __m512i {
    in_order::<SWAPPED>(load_start(units.as_flattened()))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn in_order<const SWAPPED: bool>(units: __m512i) -> __m512i {
    if SWAPPED { _mm512_shldi_epi16::<8>(units, units) } else { units }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn narrow(units: __m512i, next: __m512i) -> __m512i {
    let packed = _mm512_packus_epi16(units, next);
    _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), packed)
}

/// Writes the first `len` bytes. May overwrite bytes after them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn put<B: AnyByte>(bytes: __m512i, len: usize, room: &mut [B]) {
    match room.first_chunk_mut() {
        Some(room) => store(bytes, room),
        None => store_first(bytes, len, room),
    }
}
