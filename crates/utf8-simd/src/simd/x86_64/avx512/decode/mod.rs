//! Text to `char`s and to UTF-16 with AVX-512: blocks of 64 bytes in which characters *end*.
//!
//! A character belongs to the block that contains its last byte. Blocks are independent: each loads the up to
//! three bytes before it again, as the validator does. Characters below U+10000 are assembled at their last
//! byte, for all bytes of a block at once. Low and high bytes are computed separately, the bytes between
//! characters are removed (`vpcompressb`), and the results are interleaved:
//!
//! ```text
//! low  = byte, or for a continuation byte: (back1 << 6) + (byte - 80)
//! high = 0,    or for a continuation byte: back1 >> 2 & 0F
//!                                          | back2 << 4, if it is a third byte
//! units = interleave(compress(low, ends), compress(high, ends))
//! ```
//!
//! One lookup by the low six bits of a byte (`vpermb`) shifts and masks it, and ignores the marker bits of
//! leading and continuation bytes. ASCII is widened. If a block contains a character of four bytes, it has two units of
//! UTF-16, which are assembled at its last two bytes. For `char`s, the indexes of the last bytes are compressed instead, and
//! the bytes of sixteen characters at a time are gathered by these indexes.
//!
//! Whole vectors are stored while they fit. Near the end of the output, only the needed units are stored.

mod damaged;
mod units;

use core::arch::x86_64::*;
use core::mem::MaybeUninit;

use crate::simd::generic::{
    Aligned, Bytes, OutputUnit, Tested, Vector, first, first_marks, first_mut, marks, test_by,
    unfinished,
};
use crate::simd::reference::convert;
use crate::simd::x86_64::avx2::load_32;
use crate::simd::x86_64::avx512::decode::units::{Planes, fill, not_continuing, put_wide};
use crate::simd::x86_64::avx512::vector::{
    BLOCK, Bytes64, STRIDE, lanes, load, load_start, load_within, store, table,
};
use crate::simd::x86_64::sse41::load_16;
use crate::simd::{as_uninit, bytes_to_multiple, table};
pub(in crate::simd) use damaged::{decode_damaged_chars, decode_damaged_utf16};

/// The length of a block whose bytes are gathered: usually sixteen characters or fewer.
const WIDE: usize = BLOCK - BEFORE;
/// The longest input that is validated and decoded at once. Rows `to-utf-16/*/256`.
const MEDIUM: usize = 512;
/// The bytes before such a block in the same register. Three are needed.
const BEFORE: usize = 8;

/// The maximum number of units that a block overwrites.
const fn most(size: usize) -> usize {
    // Four vectors of `char`s. In UTF-16 the last vector starts at unit 57 or before.
    if size == 4 { 64 } else { 96 }
}

/// Counts the characters of `text`: the bytes that do not continue one.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn count_chars(text: &str) -> usize {
    /// From this length on, loads that cross no cache lines are faster. Rows `count-chars/*/65536` of `benches/heads`.
    const LONG: usize = 4096;
    let bytes = text.as_bytes();
    let to_block = match bytes.len() {
        LONG.. => bytes_to_multiple(bytes, BLOCK),
        _ => 0,
    };
    let (start, bytes) = bytes.split_at(to_block);
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut count = 0;
    for few in [start, rest] {
        count += (not_continuing(load_start(few)) & lanes(few.len())).count_ones() as usize;
    }
    for block in blocks {
        count += not_continuing(load(block)).count_ones() as usize;
    }
    count
}

/// Counts the UTF-16 units of `text`: 1 for a byte that begins a character, 2 for the first of four bytes. The high nibble
/// selects.
///
/// It adds up in the lanes, because a mask takes two cycles to become a number.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn count_utf16(text: &str) -> usize {
    /// The number of blocks whose sums fit in a byte.
    const ADDED: usize = 127;
    static UNITS: Aligned = Aligned(table!(64, |i| match i % 16 {
        8..12 => 0,
        15 => 2,
        _ => 1,
    }));
    let (zero, low_nibbles) = (_mm512_setzero_si512(), _mm512_set1_epi8(0x0F));
    let add = |sum, block| {
        let high_nibbles = _mm512_and_si512(_mm512_srli_epi16::<4>(block), low_nibbles);
        _mm512_add_epi8(sum, _mm512_shuffle_epi8(table(&UNITS), high_nibbles))
    };
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    let mut total = _mm512_sad_epu8(add(zero, load_start(rest)), zero);
    for blocks in blocks.chunks(ADDED) {
        let sum = blocks.iter().fold(zero, |sum, block| add(sum, load(block)));
        total = _mm512_add_epi64(total, _mm512_sad_epu8(sum, zero));
    }
    // Each zero after the end counts 1.
    _mm512_reduce_add_epi64(total) as usize + rest.len() - BLOCK
}

/// Decodes to `char`s; see [`Level::decode_chars`](crate::simd::Level::decode_chars).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_chars(text: &str, out: &mut [u32]) -> (usize, usize) {
    decode_text(text, out)
}

/// Decodes to UTF-16; see [`Level::decode_utf16`](crate::simd::Level::decode_utf16).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_utf16(text: &str, out: &mut [u16]) -> (usize, usize) {
    decode_text(text, out)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn decode_text<U>(text: &str, out: &mut [U]) -> (usize, usize)
where
    U: OutputUnit<Item = U> + convert::DecodedUnit,
{
    // SAFETY: vectors are written, and `OutputUnit` allows any value.
    let (read, written) = decode::<U>(text, unsafe { as_uninit(out) });
    finish(text, out, read, written)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_short_chars(bytes: &[u8], out: &mut [u32]) -> Option<usize> {
    decode_short::<u32>(bytes, out)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_short_utf16(bytes: &[u8], out: &mut [u16]) -> Option<usize> {
    decode_short::<u16>(bytes, out)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_short_bytes<const SWAPPED: bool>(
    bytes: &[u8],
    out: &mut [[u8; 2]],
) -> Option<usize> {
    decode_short::<Bytes<SWAPPED>>(bytes, out)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn decode_short<U: OutputUnit>(bytes: &[u8], out: &mut [U::Item]) -> Option<usize> {
    // SAFETY: vectors are written, and `OutputUnit` allows any value.
    medium::<U, true>(bytes, unsafe { as_uninit(out) })
}

/// Decodes `bytes` to units. Returns the number of units. Returns `None` if these are many, if they do
/// not fit, or, with `CHECK`, if the bytes are not well-formed and complete; their start may then be written.
/// Without `CHECK`, `bytes` are text.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn medium<U: OutputUnit, const CHECK: bool>(
    bytes: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> Option<usize> {
    if bytes.len() <= BLOCK {
        short::<U, CHECK>(bytes, out)
    } else if bytes.len() <= MEDIUM {
        blocks::<U, CHECK>(bytes, out)
    } else {
        None
    }
}

/// [`medium`] for more than a block. Whole vectors have to fit. Each block begins with a character.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn blocks<U: OutputUnit, const CHECK: bool>(
    bytes: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> Option<usize> {
    let (mut at, mut written) = (0, 0);
    // Invariant: the characters before `at` are written, `written` units, and one begins at `at`.
    while let Some(window) = bytes[at..].first_chunk::<{ BLOCK + 1 }>() {
        let room = out[written * U::SIZE..].get_mut(..most(U::SIZE) * U::SIZE)?;
        let block = load(first(window));
        let text = Bytes64(block);
        if !text.any_high_bit() {
            put_ascii::<U>(block, room);
            at += BLOCK;
            written += BLOCK;
            continue;
        }
        let ends = not_continuing(load(first(&window[1..])));
        if CHECK {
            // An incomplete sequence is an error only if it is not continued after the block. Not a branch: it is hard to predict.
            let is_whole = (ends as i64 >> (BLOCK - 1)) as u64;
            if first_marks(text).movemask() | unfinished(text).movemask() & is_whole != 0 {
                return None;
            }
        }
        written += if any_from(block, 0xF0) {
            put_wide_block::<U>(block, ends, room)
        } else {
            let zero = Bytes64::zero();
            let (back1, back2) = (text.prev::<1>(zero), text.prev::<2>(zero));
            let units = ends.count_ones() as usize;
            Planes::of_three(block, back1.0, back2.0).compress(ends).put::<U>(units, room);
            units
        };
        at += BLOCK - ends.leading_zeros() as usize;
    }
    let block: &[u8; BLOCK] = bytes.last_chunk()?;
    let done = BLOCK - (bytes.len() - at);
    if !Bytes64(load(block)).any_high_bit() {
        // The bytes before `at` in this block are ASCII too.
        put_ascii::<U>(load(block), out[(written - done) * U::SIZE..].get_mut(..BLOCK * U::SIZE)?);
        return Some(written + bytes.len() - at);
    }
    let out = &mut out[written * U::SIZE..];
    let units = match last::<U, CHECK>(bytes, at, out) {
        Some(units) => units,
        None => short::<U, CHECK>(&bytes[at..], out)?,
    };
    Some(written + units)
}

/// A call of [`put_wide`]: inlined here too, it makes that of [`short`] slower (row `to-utf-16/emoji/64`).
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_wide_block<U: OutputUnit>(block: __m512i, ends: u64, out: &mut [MaybeUninit<u8>]) -> usize {
    put_wide::<U, false>(block, ends, out)
}

/// Decodes `bytes` to units. Returns the number of units. Returns `None`, and writes nothing, if the
/// units do not fit, if the bytes are more than a block, or, with `CHECK`, if they are not well-formed and complete.
/// Without `CHECK`, `bytes` are text.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn short<U: OutputUnit, const CHECK: bool>(
    bytes: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> Option<usize> {
    // Without a mask, where that is possible, it takes 0.3 ns less: rows `to-chars/ascii/64`.
    let block = match bytes.first_chunk() {
        Some(block) if bytes.len() == BLOCK => load(block),
        Some(_) => return None,
        None => load_start(bytes),
    };
    let text = Bytes64(block);
    if !text.any_high_bit() {
        put_ascii_exactly::<U>(block, out.get_mut(..bytes.len() * U::SIZE)?);
        return Some(bytes.len());
    }
    // Without characters of three bytes, half of the operations are needed. Rows `to-utf-16/*/16`.
    let is_narrow = !any_from(block, 0xE0);
    let zero = Bytes64::zero();
    let back1 = text.prev::<1>(zero);
    if CHECK {
        let marks = match is_narrow {
            true => test_by::<Bytes64, 2>(text, [back1; 3], Tested::with_errors(zero)).marks(),
            false => first_marks(text),
        };
        if marks.or(unfinished(text)).any_high_bit() {
            return None;
        }
    }
    // A character ends before a byte that does not continue it, and at the end of the text.
    let ends = (not_continuing(block) >> 1 | 1 << (BLOCK - 1)) & lanes(bytes.len());
    let wide = _mm512_cmpge_epu8_mask(block, _mm512_set1_epi8(0xF0_u8 as i8));
    let pairs = if U::SIZE == 2 { wide.count_ones() } else { 0 };
    let units = (ends.count_ones() + pairs) as usize;
    let is_roomy = out.len() >= most(U::SIZE) * U::SIZE;
    let exact = out.get_mut(..units * U::SIZE)?;
    if wide != 0 {
        let put = match is_roomy {
            true => put_wide::<U, false>(block, ends, out),
            false => put_wide::<U, true>(block, ends, exact),
        };
        debug_assert_eq!(put, units);
    } else {
        let planes = match is_narrow {
            true => Planes::of_two(block, back1.0),
            false => Planes::of_three(block, back1.0, text.prev::<2>(zero).0),
        };
        let planes = planes.compress(ends);
        match is_roomy {
            true => planes.put::<U>(units, out),
            false => planes.put_exactly::<U>(exact),
        }
    }
    Some(units)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_ascii_chars(bytes: &[u8], out: &mut [u32]) -> usize {
    decode_ascii_to::<u32>(bytes, out)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn decode_ascii_utf16(bytes: &[u8], out: &mut [u16]) -> usize {
    decode_ascii_to::<u16>(bytes, out)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn decode_ascii_to<U: OutputUnit>(bytes: &[u8], out: &mut [U::Item]) -> usize {
    // SAFETY: vectors are written, and `OutputUnit` allows any value.
    decode_ascii::<U>(bytes, unsafe { as_uninit(out) })
}

/// Decodes ASCII, up to a block that is not ASCII or does not fit. Leaves less than a block. Returns the number of bytes.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(super) fn decode_ascii<U: OutputUnit>(bytes: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    /// From this length on, the second block begins where a multiple of a vector does in `out`. Rows `to-*/ascii/65536` of
    /// `benches/heads`.
    const LONG: usize = 4096;
    let bytes = &bytes[..bytes.len().min(out.len() / U::SIZE)];
    if !put_if_ascii::<U, BLOCK>(bytes, out) {
        return 0;
    }
    let mut len = match bytes.len() {
        LONG.. => ((U::SIZE - 1) * BLOCK + bytes_to_multiple(out, BLOCK)) / U::SIZE,
        _ => BLOCK,
    };
    while put_if_ascii::<U, STRIDE>(&bytes[len..], &mut out[U::SIZE * len..]) {
        len += STRIDE;
    }
    while put_if_ascii::<U, BLOCK>(&bytes[len..], &mut out[U::SIZE * len..]) {
        len += BLOCK;
    }
    // The last block overlaps the one before it.
    if let left @ 1..BLOCK = bytes.len() - len
        && let last = bytes.len() - BLOCK
        && put_if_ascii::<U, BLOCK>(&bytes[last..], &mut out[U::SIZE * last..])
    {
        len += left;
    }
    len
}

/// Decodes the first `LEN` bytes, if there are as many, and they are ASCII. Returns whether it did; if not, `out` is unchanged.
///
/// It loads them again to widen them, which takes no more operations than to move their halves.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_if_ascii<U: OutputUnit, const LEN: usize>(
    bytes: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> bool {
    let Some(bytes) = bytes.first_chunk::<LEN>() else { return false };
    let mut all = load(first(bytes));
    for block in bytes.as_chunks().0 {
        all = _mm512_or_si512(all, load(block));
    }
    if Bytes64(all).any_high_bit() {
        return false;
    }
    let vectors = out[..U::SIZE * LEN].as_chunks_mut().0;
    for (i, vector) in vectors.iter_mut().enumerate() {
        let from = &bytes[BLOCK / U::SIZE * i..];
        let units = match U::SIZE {
            4 => _mm512_cvtepu8_epi32(load_16(first(from))),
            _ => _mm512_cvtepu8_epi16(load_32(first(from))),
        };
        store(if U::IS_SWAPPED { _mm512_slli_epi16::<8>(units) } else { units }, vector);
    }
    true
}

/// Calls the reference for the rest when the output is nearly full.
#[inline]
fn finish<U: convert::DecodedUnit>(
    text: &str,
    out: &mut [U],
    read: usize,
    written: usize,
) -> (usize, usize) {
    if read == text.len() {
        return (read, written);
    }
    let (more_read, more_written) = convert::decode(&text[read..], &mut out[written..]);
    (read + more_read, written + more_written)
}

/// Decodes to units until a block might not fit.
/// Returns the bytes read, up to a character boundary, and the units written; later units may be overwritten.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn decode<U: OutputUnit>(text: &str, out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    let bytes = text.as_bytes();
    if let Some(units) = medium::<U, false>(bytes, out) {
        return (bytes.len(), units);
    }
    let mut at = 0;
    let mut written = 0;
    // Invariant: the characters that end before `at` are written, `written` units, and no others.
    while at < bytes.len() {
        if bytes.len() - at <= BLOCK
            && let Some(units) = last::<U, false>(bytes, at, &mut out[written * U::SIZE..])
        {
            return (bytes.len(), written + units);
        }
        let Some((len, units)) = edge::<U>(bytes, at, &mut out[written * U::SIZE..]) else { break };
        at += len;
        written += units;
        // More than a block is left, so `edge` has consumed at least `WIDE` bytes, which is more than `BEFORE`.
        if bytes.len() - at.min(bytes.len()) > BLOCK {
            let (len, units) = run::<U>(bytes, at, &mut out[written * U::SIZE..]);
            at += len;
            written += units;
        }
    }
    let mut read = at.min(bytes.len());
    while !text.is_char_boundary(read) {
        read -= 1;
    }
    (read, written)
}

/// Decodes blocks from `from` on, while enough text follows and enough output is left. Returns the bytes read
/// and the units written.
///
/// A separate function, like [`edge`]: inlined, all tables would be loaded and spilled for every input.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn run<U: OutputUnit>(bytes: &[u8], from: usize, out: &mut [MaybeUninit<u8>]) -> (usize, usize) {
    assert!(from >= BEFORE);
    let all = out.len();
    let mut at = from;
    let mut room = out;
    let mut reach = DecodeReach::Ascii;
    while room.len() >= most(U::SIZE) * U::SIZE
        && let Some(window) = bytes.get(at - BEFORE..at + 1 + BLOCK)
    {
        let (len, units) =
            inside::<U>(first(window), &mut reach, &mut room[..most(U::SIZE) * U::SIZE]);
        at += len;
        room = &mut room[units * U::SIZE..];
    }
    (at - from, (all - room.len()) / U::SIZE)
}

/// Writes the characters that end in a block; `window` contains it, the `BEFORE` bytes before it and one after it. Returns
/// the length of the block and the number of units.
///
/// `reach` is that of the block before, then of this one. While it does not grow, the test of a block is one
/// comparison. Each comparison costs as much as a lookup.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn inside<U: OutputUnit>(
    window: &[u8; BEFORE + BLOCK + 1],
    reach: &mut DecodeReach,
    out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    let moved = |back: usize| load(first(&window[BEFORE - back..]));
    let block = moved(0);
    if *reach == DecodeReach::Ascii {
        if !Bytes64(block).any_high_bit() {
            put_ascii::<U>(block, out);
            return (BLOCK, BLOCK);
        }
        *reach = DecodeReach::Two;
    }
    let greatest = _mm512_max_epu8(block, moved(3));
    if *reach == DecodeReach::Two && any_from(greatest, 0xE0) {
        *reach = DecodeReach::Three;
    }
    if *reach != DecodeReach::Two {
        if any_from(greatest, 0xF0) {
            *reach = DecodeReach::Four;
            let (window, next) = (moved(BEFORE), moved(BEFORE - 1));
            let ends = _mm512_cmpgt_epi8_mask(next, table(&CONTINUING_OR_BEFORE));
            return (WIDE, put_wide::<U, false>(window, ends, out));
        }
        *reach = DecodeReach::Three;
    }
    let back1 = moved(1);
    let ends = not_continuing(load(first(&window[BEFORE + 1..])));
    let units = ends.count_ones() as usize;
    let planes = if *reach == DecodeReach::Two {
        if units == BLOCK {
            *reach = DecodeReach::Ascii;
        }
        Planes::of_two(block, back1)
    } else {
        if units > BLOCK / 2 {
            *reach = DecodeReach::Two;
        }
        Planes::of_three(block, back1, moved(2))
    };
    planes.compress(ends).put::<U>(units, out);
    (BLOCK, units)
}

/// The greatest continuation byte, as a signed number; for the bytes before a wide block, a number that no
/// byte exceeds.
static CONTINUING_OR_BEFORE: Aligned =
    Aligned(table!(64, |i| if i < BEFORE { 0x7F } else { 0xBF }));

/// Writes the characters that end from `at` on, in the last block. Returns their number of units. Returns `None`, and writes
/// nothing, if whole vectors do not fit, if too few bytes are before the block, if a character has four bytes, or, with `CHECK`,
/// if the text is ill-formed or incomplete.
///
/// The block contains bytes before `at` again, so that no load has a mask: with one, a load waits for the stores before it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn last<U: OutputUnit, const CHECK: bool>(
    bytes: &[u8],
    at: usize,
    out: &mut [MaybeUninit<u8>],
) -> Option<usize> {
    let window: &[u8; BEFORE + BLOCK] = bytes.last_chunk()?;
    let moved = |back: usize| load(first(&window[BEFORE - back..]));
    let block = moved(0);
    if out.len() < most(U::SIZE) * U::SIZE || any_from(_mm512_max_epu8(block, moved(3)), 0xF0) {
        return None;
    }
    if CHECK {
        let text = Bytes64(block);
        if marks(text, &window[BEFORE - 3..]).or(unfinished(text)).any_high_bit() {
            return None;
        }
    }
    let done = BLOCK - (bytes.len() - at);
    let ends = (not_continuing(block) >> 1 | 1 << (BLOCK - 1)) >> done << done;
    let units = ends.count_ones() as usize;
    Planes::of_three(block, moved(1), moved(2)).compress(ends).put::<U>(units, out);
    Some(units)
}

/// Like [`inside`], for any block of `bytes`: the one at `at`. Returns `None`, and writes nothing, if the units do not fit.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn edge<U: OutputUnit>(
    bytes: &[u8],
    at: usize,
    out: &mut [MaybeUninit<u8>],
) -> Option<(usize, usize)> {
    let len = (bytes.len() - at).min(BLOCK);
    let block = load_within(bytes, at, 0);
    // Whole vectors fit.
    let is_roomy = out.len() >= most(U::SIZE) * U::SIZE;
    let is_ascii = !Bytes64(block).any_high_bit();
    if !is_ascii && any_from(_mm512_max_epu8(block, load_within(bytes, at, -3)), 0xF0) {
        let len = len.min(WIDE);
        let window = load_within(bytes, at, -(BEFORE as isize));
        let next = load_within(bytes, at, 1 - BEFORE as isize);
        let inside = lanes(len) << BEFORE;
        let ends = not_continuing(next) & inside;
        let pairs = if U::SIZE == 2 {
            let back3 = load_within(bytes, at, -3 - BEFORE as isize);
            (_mm512_cmpge_epu8_mask(back3, _mm512_set1_epi8(0xF0_u8 as i8)) & inside).count_ones()
        } else {
            0
        };
        let units = (ends.count_ones() + pairs) as usize;
        let put = match is_roomy {
            true => put_wide::<U, false>(window, ends, out),
            false => put_wide::<U, true>(window, ends, out.get_mut(..units * U::SIZE)?),
        };
        debug_assert_eq!(put, units);
        return Some((len, units));
    }
    let ends = not_continuing(load_within(bytes, at, 1)) & lanes(len);
    let units = if is_ascii { len } else { ends.count_ones() as usize };
    let exact = out.get_mut(..units * U::SIZE)?;
    if is_ascii {
        match is_roomy {
            true => put_ascii::<U>(block, out),
            false => put_ascii_exactly::<U>(block, exact),
        }
    } else {
        let (back1, back2) = (load_within(bytes, at, -1), load_within(bytes, at, -2));
        let planes = Planes::of_three(block, back1, back2).compress(ends);
        match is_roomy {
            true => planes.put::<U>(units, out),
            false => planes.put_exactly::<U>(exact),
        }
    }
    Some((len, units))
}

/// The longest character that can extend into a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DecodeReach {
    Ascii,
    Two,
    Three,
    Four,
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn any_from(bytes: __m512i, least: u8) -> bool {
    let mask = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(least as i8));
    _kortestz_mask64_u8(mask, mask) == 0
}

/// Writes 64 units from 64 bytes of ASCII.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_ascii<U: OutputUnit>(ascii: __m512i, out: &mut [MaybeUninit<u8>]) {
    for i in 0..U::SIZE {
        store(widen::<U>(ascii, i), first_mut(&mut out[BLOCK * i..]));
    }
}

/// Fills `out` with units from ASCII, at most 64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn put_ascii_exactly<U: OutputUnit>(ascii: __m512i, out: &mut [MaybeUninit<u8>]) {
    for i in 0..U::SIZE {
        let Some(out @ [_, ..]) = out.get_mut(BLOCK * i..) else { break };
        fill::<U>(widen::<U>(ascii, i), out);
    }
}

/// Returns the `i`th vector of units from bytes of ASCII.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn widen<U: OutputUnit>(ascii: __m512i, i: usize) -> __m512i {
    let units = match (U::SIZE, i) {
        (4, 0) => _mm512_cvtepu8_epi32(_mm512_castsi512_si128(ascii)),
        (4, 1) => _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(ascii)),
        (4, 2) => _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<2>(ascii)),
        (4, _) => _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<3>(ascii)),
        (_, 0) => _mm512_cvtepu8_epi16(_mm512_castsi512_si256(ascii)),
        (_, _) => _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(ascii)),
    };
    if U::IS_SWAPPED { _mm512_slli_epi16::<8>(units) } else { units }
}
