//! Text to `char`s and to UTF-16 with AVX-512: blocks of 64 bytes in which characters *end*.
//!
//! A character belongs to the block that has its last byte, so blocks do not wait for one another:
//! the up to three bytes before a block are loaded again with it, as the validator does. Characters
//! below U+10000 are put together where they end, for all bytes of a block at once, the low byte and
//! the high byte of each apart; then the bytes between are squeezed out (`vpcompressb`), and the two
//! are interleaved:
//!
//! ```text
//! low  = byte, or where it continues a sequence: (back1 << 6) + (byte - 80)
//! high = 0,    or where it continues a sequence: back1 >> 2 & 0F
//!                                                | back2 << 4, if it is a third byte
//! units = interleave(squeeze(low, ends), squeeze(high, ends))
//! ```
//!
//! Shifts and masks of a byte are one lookup by its low six bits (`vpermb`), which excludes the marker
//! bits of leading and continuation bytes. ASCII is widened. If there is a character of four bytes, the
//! indexes at which characters end are compressed instead, and the bytes are fetched from there,
//! sixteen characters at a time.
//!
//! Vectors are stored whole while later stores are certain to overwrite the excess. Near the end of the
//! text, or of the room, exactly the needed units are written.

mod planes;
mod units;
mod wide;

use core::arch::x86_64::*;

use crate::kernel::reference::convert;
use crate::kernel::x86_64::avx512::decode::planes::Planes;
use crate::kernel::x86_64::avx512::decode::units::{not_continuing, store_units};
use crate::kernel::x86_64::avx512::decode::wide::put_wide;
use crate::kernel::x86_64::avx512::validate::{
    Aligned, BLOCK, Place, any_high, lanes, load, load_within, store, table,
};

/// The bytes of a block whose characters are fetched individually; mostly sixteen characters or fewer.
const WIDE: usize = BLOCK - BEFORE;
/// The bytes before such a block in the same register: three would be enough.
const BEFORE: usize = 8;

/// Bytes of text that make at least one unit each, but for three of them.
const PLENTY: usize = 4;

/// Units that may be written to for a block.
const fn most(size: usize) -> usize {
    // All of four vectors of `char`s. In UTF-16 a vector may be begun after 57 units.
    if size == 4 { 64 } else { 96 }
}

/// Counts the characters of `text`: the bytes that do not continue one.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::kernel) fn count_chars(text: &str) -> usize {
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    let mut count = 0;
    for block in blocks {
        count += not_continuing(load(block)).count_ones() as usize;
    }
    count + (not_continuing(load_within(rest, 0, 0)) & lanes(rest.len())).count_ones() as usize
}

/// Decodes to `char`s; see [`Kernel::decode_chars`](crate::kernel::Kernel::decode_chars).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::kernel) fn decode_chars(text: &str, out: &mut [char]) -> (usize, usize) {
    // SAFETY: there is room for `out.len()` units of four bytes; what is written to them are the
    // characters of `text`, `char`s all of them.
    let (read, written) = unsafe { decode::<4>(text, out.as_mut_ptr().cast(), out.len()) };
    finish(text, out, read, written)
}

/// Decodes to UTF-16; see [`Kernel::decode_utf16`](crate::kernel::Kernel::decode_utf16).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::kernel) fn decode_utf16(text: &str, out: &mut [u16]) -> (usize, usize) {
    // SAFETY: there is room for `out.len()` units of two bytes, which may have any value.
    let (read, written) = unsafe { decode::<2>(text, out.as_mut_ptr().cast(), out.len()) };
    finish(text, out, read, written)
}

/// Decodes a block or less of ASCII to `char`s; see
/// [`Kernel::decode_short_ascii`](crate::kernel::Kernel::decode_short_ascii).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::kernel) fn decode_short_ascii(bytes: &[u8], out: &mut [char]) -> bool {
    // SAFETY: there is room for `out.len()` units of four bytes; ASCII is written to them.
    unsafe { short_ascii::<4>(bytes, out.as_mut_ptr().cast(), out.len()) }
}

/// Decodes `bytes` if they are ASCII, a block or less, and fit. Returns whether they are.
///
/// # Safety
///
/// - `room` units of `SIZE` bytes can be written at `out`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
unsafe fn short_ascii<const SIZE: usize>(bytes: &[u8], out: *mut u8, room: usize) -> bool {
    if bytes.len() > BLOCK.min(room) {
        return false;
    }
    let block = load_within(bytes, 0, 0);
    if any_high(block) {
        return false;
    }
    // SAFETY: there is room for as many units as there are bytes.
    unsafe { put_ascii_exactly::<SIZE>(block, bytes.len(), out) };
    true
}

/// Calls the reference for the rest when the room runs out.
#[inline]
fn finish<U: convert::Unit>(
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

/// Decodes to units of `SIZE` bytes, four for `char`s and two for UTF-16, until a block might not fit.
/// Returns the bytes read, up to a character boundary, and the units written; those after them are
/// as they were.
///
/// # Safety
///
/// - `room` units of `SIZE` bytes can be written at `out`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
unsafe fn decode<const SIZE: usize>(text: &str, out: *mut u8, room: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    // SAFETY: the caller promises that there is `room`.
    if unsafe { short_ascii::<SIZE>(bytes, out, room) } {
        return (bytes.len(), bytes.len());
    }
    let mut at = 0;
    let mut written = 0;
    // Invariant: the characters that end before `at` are written, `written` units, and no others.
    while at < bytes.len() {
        // SAFETY: `room - written` units can be written after those written; `at` is 0 at first, then
        // after a block.
        unsafe {
            let edge = edge::<SIZE>(bytes, at, out.add(written * SIZE), room - written);
            let Some((len, units)) = edge else { break };
            at += len;
            written += units;
            if bytes.len() - at > BLOCK + PLENTY * most(SIZE) {
                let to = out.add(written * SIZE);
                let (len, units) = run::<SIZE>(bytes, at, to, room - written);
                at += len;
                written += units;
            }
        }
    }
    let mut read = at.min(bytes.len());
    while !text.is_char_boundary(read) {
        read -= 1;
    }
    (read, written)
}

/// Decodes blocks from `at` on, for as long as there is enough text after them and enough room.
/// Returns the bytes and the units, as all of them together do.
///
/// (As [`edge`], a separate function: inlined, all tables are loaded and spilled for every input.)
///
/// # Safety
///
/// - A block is before `at`.
/// - `room` units of `SIZE` bytes can be written at `out`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
unsafe fn run<const SIZE: usize>(
    bytes: &[u8],
    from: usize,
    out: *mut u8,
    room: usize,
) -> (usize, usize) {
    let mut at = from;
    let mut written = 0;
    let mut reach = Reach::Ascii;
    // What is written in excess is written over before the end: enough text follows, or the room is
    // filled but for a last unit that a pair of surrogates does not fit in.
    while bytes.len() - at > BLOCK + PLENTY * most(SIZE) && room - written > most(SIZE) {
        // SAFETY: more than a block is before `at`, and one and a byte are after it.
        let next = unsafe { Place::new(bytes.as_ptr().add(at + 1)) };
        // SAFETY: there is room for what may be written to.
        let (len, units) = unsafe { inside::<SIZE>(next, &mut reach, out.add(written * SIZE)) };
        at += len;
        written += units;
    }
    (at - from, written)
}

/// Writes the characters that end in the block that `next` has from its second byte back. Returns how
/// long the block is, and the units.
///
/// `reach` is that of the block before, and then of this one: as long as it stays the same, or a block
/// needs less, it is one comparison. (Each costs as much as a lookup.)
///
/// # Safety
///
/// - [`most`] units of `SIZE` bytes can be written at `out`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
unsafe fn inside<const SIZE: usize>(
    next: Place<{ BEFORE + 1 }>,
    reach: &mut Reach,
    out: *mut u8,
) -> (usize, usize) {
    let block = next.back::<1>();
    if *reach == Reach::Ascii {
        if !any_high(block) {
            // SAFETY: there is room for 64 units.
            unsafe { put_ascii::<SIZE>(block, out) };
            return (BLOCK, BLOCK);
        }
        *reach = Reach::Two;
    }
    let greatest = _mm512_max_epu8(block, next.back::<4>());
    if *reach == Reach::Two && any_from(greatest, 0xE0) {
        *reach = Reach::Three;
    }
    if *reach != Reach::Two {
        if any_from(greatest, 0xF0) {
            *reach = Reach::Four;
            // The window begins `BEFORE` bytes before the block; the other one a byte later.
            let (window, next) = (next.back::<{ BEFORE + 1 }>(), next.back::<BEFORE>());
            let ends = _mm512_cmpgt_epi8_mask(next, table(&CONTINUING_OR_BEFORE));
            // SAFETY: there is room for what may be written to.
            return (WIDE, unsafe { put_wide::<SIZE, false>(window, ends, out) });
        }
        *reach = Reach::Three;
    }
    let back1 = next.back::<2>();
    let ends = not_continuing(next.back::<0>());
    let units = ends.count_ones() as usize;
    let planes = if *reach == Reach::Two {
        if units == BLOCK {
            *reach = Reach::Ascii;
        }
        Planes::of_two(block, back1)
    } else {
        if units > BLOCK / 2 {
            *reach = Reach::Two;
        }
        Planes::of_three(block, back1, next.back::<3>())
    };
    // SAFETY: there is room for 64 units, and `units` is no more.
    unsafe { planes.squeeze(ends).put::<SIZE>(units, out) };
    (BLOCK, units)
}

/// The greatest byte, as a signed one, that continues a sequence; in the bytes before a wide block,
/// that no byte is above.
static CONTINUING_OR_BEFORE: Aligned = Aligned({
    let mut table = [0xBF; 64];
    let mut i = 0;
    while i < BEFORE {
        table[i] = 0x7F;
        i += 1;
    }
    table
});

/// As [`inside`] for the block at `at` of `bytes`, anywhere in it, writing to exactly the units that
/// count. `None`, and nothing is written, where they are more than `room`.
///
/// # Safety
///
/// - `room` units of `SIZE` bytes can be written at `out`.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
unsafe fn edge<const SIZE: usize>(
    bytes: &[u8],
    at: usize,
    out: *mut u8,
    room: usize,
) -> Option<(usize, usize)> {
    let len = (bytes.len() - at).min(BLOCK);
    let block = load_within(bytes, at, 0);
    if !any_high(block) {
        if len > room {
            return None;
        }
        // SAFETY: there is room for `len` units.
        unsafe { put_ascii_exactly::<SIZE>(block, len, out) };
        return Some((len, len));
    }
    let back3 = load_within(bytes, at, -3);
    if any_from(_mm512_max_epu8(block, back3), 0xF0) {
        let len = len.min(WIDE);
        let window = load_within(bytes, at, -(BEFORE as isize));
        let next = load_within(bytes, at, 1 - BEFORE as isize);
        let inside = lanes(len) << BEFORE;
        let ends = not_continuing(next) & inside;
        let pairs = if SIZE == 2 {
            let back3 = load_within(bytes, at, -3 - BEFORE as isize);
            (_mm512_cmpge_epu8_mask(back3, _mm512_set1_epi8(0xF0_u8 as i8)) & inside).count_ones()
        } else {
            0
        };
        let units = (ends.count_ones() + pairs) as usize;
        if units > room {
            return None;
        }
        // SAFETY: there is room for the units that count.
        let put = unsafe { put_wide::<SIZE, true>(window, ends, out) };
        debug_assert_eq!(put, units);
        return Some((len, units));
    }
    let ends = not_continuing(load_within(bytes, at, 1)) & lanes(len);
    let units = ends.count_ones() as usize;
    if units > room {
        return None;
    }
    let planes = Planes::of_three(block, load_within(bytes, at, -1), load_within(bytes, at, -2));
    // SAFETY: there is room for `units` units, which are no more than 64.
    unsafe { planes.squeeze(ends).put_exactly::<SIZE>(units, out) };
    Some((len, units))
}

/// The longest character that can extend into a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Ascii,
    Two,
    Three,
    Four,
}

/// Whether any byte is `least` or greater.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn any_from(bytes: __m512i, least: u8) -> bool {
    let mask = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(least as i8));
    _kortestz_mask64_u8(mask, mask) == 0
}

/// Writes 64 units from as many bytes of ASCII.
///
/// # Safety
///
/// - 64 units of `SIZE` bytes can be written at `out`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
unsafe fn put_ascii<const SIZE: usize>(ascii: __m512i, out: *mut u8) {
    for i in 0..SIZE {
        // SAFETY: `SIZE` vectors are 64 units.
        unsafe { store(widen::<SIZE>(ascii, i), out.add(BLOCK * i)) };
    }
}

/// Writes `len` units, at most 64, from as many bytes of ASCII, and no more.
///
/// # Safety
///
/// - `len` units of `SIZE` bytes can be written at `out`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
unsafe fn put_ascii_exactly<const SIZE: usize>(ascii: __m512i, len: usize, out: *mut u8) {
    for i in 0..SIZE {
        let before = i * (BLOCK / SIZE);
        if before >= len {
            break;
        }
        // SAFETY: as many units are left as are after those written.
        unsafe { store_units::<SIZE>(widen::<SIZE>(ascii, i), len - before, out.add(BLOCK * i)) };
    }
}

/// The `i`th vector of units from bytes of ASCII.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
fn widen<const SIZE: usize>(ascii: __m512i, i: usize) -> __m512i {
    match (SIZE, i) {
        (4, 0) => _mm512_cvtepu8_epi32(_mm512_castsi512_si128(ascii)),
        (4, 1) => _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(ascii)),
        (4, 2) => _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<2>(ascii)),
        (4, _) => _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<3>(ascii)),
        (_, 0) => _mm512_cvtepu8_epi16(_mm512_castsi512_si256(ascii)),
        (_, _) => _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(ascii)),
    }
}
