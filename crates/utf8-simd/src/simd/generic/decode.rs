//! Text to `char`s and to UTF-16: characters are assembled at their *last* byte.
//!
//! A character belongs to the block that contains its last byte. Blocks are independent: each loads the up to
//! three bytes before it again, as validation does, and becomes [`Units`].
//!
//! Two paths are shorter: ASCII is widened, and eight consecutive characters of three bytes are
//! assembled directly (`benches/versus`, cjk).

use super::lanes::{Lanes, Part};
use super::scan::branch;
use super::test::backs_of;
use super::units::{EXCESS, MOST, OutputUnit, Units, put_ascii, put_group};
use super::vector::load;
use crate::simd::{bytes_to_multiple, reference, table};

/// Bytes of text after a block whose units overwrite the excess of the block.
const ENOUGH: usize = 4 * EXCESS;
/// The number of bytes that are tested for ASCII at once.
const ASCII_ROW: usize = 64;

/// Counts the characters of `text`, or its UTF-16 units with `UTF16`: each byte but the continuation bytes, and with `UTF16` the
/// leading byte of four twice.
///
/// Not a sum that compilers vectorise: at some alignments of the code it takes longer. Rows `count-chars` of `benches/heads`.
#[inline(always)]
pub(in crate::simd) fn count<V: Lanes, const UTF16: bool>(any: V, text: &str) -> usize {
    const ROW: usize = 128;
    /// The number of vectors whose weights are added. With those after the last row and the last one, a lane changes by at most 127.
    const ADDED: usize = 119;
    const { assert!(ADDED + ROW / 16 <= 127) };
    /// What a sum begins with, so that it does not become negative.
    const ZERO: u8 = 0x80;
    /// Selects the last bytes of a vector.
    const LAST: [u8; 64] = table!(64, |i| if i < 32 { 0 } else { 0xFF });
    let bytes = text.as_bytes();
    let Some(last) = bytes.len().checked_sub(V::LEN) else {
        return if UTF16 { reference::count_utf16(text) } else { reference::count_chars(text) };
    };
    let (rows, rest) = bytes.as_chunks::<ROW>();
    let left = rest.len() % V::LEN;
    let last = weigh::<V, UTF16>(load(any, bytes, last));
    let mut sum = last.and(load(any, &LAST, 32 - V::LEN + left)).wrapping_add(any.splat(ZERO));
    let mut at = 0;
    while at + V::LEN <= rest.len() {
        sum = sum.wrapping_add(weigh::<V, UTF16>(load(any, rest, at)));
        at += V::LEN;
    }
    let mut total = bytes.len();
    let mut groups = rows.chunks(ADDED * V::LEN / ROW);
    loop {
        for row in groups.next().unwrap_or_default() {
            let mut of_row = weigh::<V, UTF16>(load(any, row, 0));
            let mut at = V::LEN;
            while at < ROW {
                of_row = of_row.wrapping_add(weigh::<V, UTF16>(load(any, row, at)));
                at += V::LEN;
            }
            sum = sum.wrapping_add(of_row);
        }
        total = total.wrapping_add(sum.sum()).wrapping_sub(usize::from(ZERO) * V::LEN);
        if groups.len() == 0 {
            return total;
        }
        sum = any.splat(ZERO);
    }
}

/// Returns what each byte adds to the number of bytes: -1, 0, or 1 for the leading byte of four if `UTF16`.
#[inline(always)]
fn weigh<V: Lanes, const UTF16: bool>(bytes: V) -> V {
    let continues = bytes.splat(0xC0).cmpgt(bytes);
    if UTF16 {
        let is_first_of_four = bytes.saturating_sub(bytes.splat(0xEF)).min(bytes.splat(1));
        continues.wrapping_add(is_first_of_four)
    } else {
        continues
    }
}

/// Decodes `text` into `out`, as far as it fits. Returns the bytes read and the `char`s written; later ones in
/// `out` may be overwritten.
#[inline(always)]
pub(in crate::simd) fn decode_chars<V: Lanes, Short: Lanes>(
    any: (V, Short),
    text: &str,
    out: &mut [u32],
) -> (usize, usize) {
    let (read, written) = decode::<V, Short, u32>(any, text, out);
    let (more, len) = reference::convert::decode(&text[read..], &mut out[written..]);
    (read + more, written + len)
}

/// Decodes `text` into `out`, as far as it fits, without splitting a pair. Returns the bytes read and
/// the units written; later ones in `out` may be overwritten.
#[inline(always)]
pub(in crate::simd) fn decode_utf16<V: Lanes, Short: Lanes>(
    any: (V, Short),
    text: &str,
    out: &mut [u16],
) -> (usize, usize) {
    let (read, written) = decode::<V, Short, u16>(any, text, out);
    let (more, len) = reference::convert::decode(&text[read..], &mut out[written..]);
    (read + more, written + len)
}

/// Decodes `bytes` if they are one to four blocks of ASCII and fit. Returns whether it did; if not, `out` is
/// unchanged.
///
/// A separate function, because loading the constants for other text would take longer than all of this.
#[inline(always)]
pub(in crate::simd) fn decode_short_ascii<V: Lanes, U: OutputUnit>(
    any: V,
    bytes: &[u8],
    out: &mut [U::Item],
) -> bool {
    if bytes.len() < V::LEN || bytes.len() > out.len().min(4 * V::LEN) || !bytes[0].is_ascii() {
        return false;
    }
    // The last block overlaps the one before it.
    let last = bytes.len() - V::LEN;
    let mut at = 0;
    let mut all = load::<V>(any, bytes, last);
    while at < last {
        all = all.or(load::<V>(any, bytes, at));
        at += V::LEN;
    }
    if all.any_high_bit() {
        return false;
    }
    at = 0;
    while at < last {
        put_ascii::<V, U>(load(any, bytes, at), &mut out[at..]);
        at += V::LEN;
    }
    put_ascii::<V, U>(load(any, bytes, last), &mut out[last..]);
    true
}

/// Decodes ASCII at the start of `bytes`, in whole rows that fit; all of it, if all of `bytes` are ASCII and there is such a row.
/// Returns the number of bytes.
#[inline(always)]
pub(in crate::simd) fn decode_leading_ascii<V: Lanes, U: OutputUnit>(
    any: V,
    bytes: &[u8],
    out: &mut [U::Item],
) -> usize {
    /// From this length on, stores that cross no blocks are faster (`benches/versus`, to-utf-16/ascii).
    const LONG: usize = 512;
    let start = if bytes.len() < LONG { bytes.len() } else { ASCII_ROW };
    let mut len = decode_ascii::<V, U>(any, &bytes[..start], out);
    if len == ASCII_ROW && bytes.len() >= LONG {
        let to_block = bytes_to_multiple(out, V::LEN) / U::SIZE;
        let (bytes, out) = (&bytes[to_block..], &mut out[to_block..]);
        len = len.max(to_block + decode_ascii::<V, U>(any, bytes, out));
    }
    // The last row overlaps the one before it.
    if len > 0 && (1..ASCII_ROW).contains(&(bytes.len() - len)) && bytes.len() <= out.len() {
        let last = bytes.len() - ASCII_ROW;
        if decode_ascii::<V, U>(any, &bytes[last..], &mut out[last..]) == ASCII_ROW {
            return bytes.len();
        }
    }
    len
}

/// Decodes complete characters, and stops where a block might not fit.
#[inline(always)]
fn decode<V: Lanes, Short: Lanes, U: OutputUnit>(
    (any, short): (V, Short),
    text: &str,
    out: &mut [U::Item],
) -> (usize, usize) {
    let (mut read, written) = match text.len() {
        len if len >= V::LEN + 3 => decode_blocks::<V, U>(any, text.as_bytes(), out),
        len if len >= Short::LEN => {
            decode_last_blocks::<Short, U>(short, text.as_bytes(), out, 0, 0)
        }
        _ => decode_short::<Short, U>(short, text.as_bytes(), out),
    };
    // A character split by the end of the last block is not written.
    while !text.is_char_boundary(read) {
        read -= 1;
    }
    (read, written)
}

/// Decodes `bytes`, which are well-formed and complete, if they fit; otherwise writes nothing. Returns the number of units.
#[inline(always)]
pub(in crate::simd) fn decode_short_text<V: Lanes, U: OutputUnit>(
    any: V,
    bytes: &[u8],
    out: &mut [U::Item],
) -> Option<usize> {
    // A byte is a unit at most, so that other outputs need no count.
    if out.len() < bytes.len() {
        let units = match U::SIZE {
            2 => reference::convert::count_units::<true>(bytes),
            _ => reference::convert::count_units::<false>(bytes),
        };
        if out.len() < units {
            return None;
        }
    }
    let (read, written) = match bytes.len() {
        len if len >= V::LEN => decode_last_blocks::<V, U>(any, bytes, out, 0, 0),
        _ => decode_short::<V, U>(any, bytes, out),
    };
    (read == bytes.len()).then_some(written)
}

/// Decodes text of a block and more. Stops where a block might not fit.
#[inline(always)]
fn decode_blocks<V: Lanes, U: OutputUnit>(
    any: V,
    bytes: &[u8],
    out: &mut [U::Item],
) -> (usize, usize) {
    const { assert!(!U::IS_SWAPPED) }; // `three_byte_units` are in the order of the machine
    let mut at = 0;
    // A shrinking slice, not an index: rows `to-utf-16/cjk/65536` and `to-chars/cjk/65536` 6 % less time, `to-utf-16/emoji`
    // 2 % more.
    let mut room = &mut *out;
    // With 32-byte vectors and `char`s, the test costs other text more than it saves three-byte text (rows
    // `to-chars/*`); there `threes` is set only after a block of three-byte characters.
    let tests_threes = V::LEN < MOST || U::SIZE == 2;
    let mut threes = tests_threes;
    // Later units overwrite the excess: enough text follows.
    while bytes.len() - at >= V::LEN + ENOUGH && room.len() >= V::LEN + EXCESS {
        // Not `None`: enough text follows.
        let Some((block, next, backs)) = block_at::<V>(any, bytes, at) else { break };
        if !block.any_high_bit() {
            put_ascii::<V, U>(block, room);
            at += V::LEN;
            room = &mut room[V::LEN..];
            let more = decode_ascii::<V, U>(any, &bytes[at..], room);
            at += more;
            room = &mut room[more..];
            continue;
        }
        let ends = next.cmpgt(block.splat(0xBF)).bitmask();
        if threes
            && let Some(chars) = bytes[at..].first_chunk()
            && are_threes::<V>(chars, ends)
        {
            let part = block.parts().as_ref()[0];
            put_group::<_, U>(part.three_byte_units(chars), None, room);
            at += chars.len();
            room = &mut room[8..];
            // Such characters often follow. Not one loop: row `to-utf-16/cjk/65536` a seventh more instructions.
            while let Some(chars) = bytes[at..].first_chunk()
                && room.len() >= 8
                && are_eight_threes(chars)
            {
                put_group::<_, U>(part.three_byte_units(chars), None, room);
                at += chars.len();
                room = &mut room[8..];
            }
            continue;
        }
        let units = Units::of_block(block, backs, ends, U::SIZE);
        let count = units.put::<U>(room);
        at += units.len;
        room = &mut room[count..];
        threes = tests_threes;
        if V::LEN == MOST && (MOST / 3..=MOST / 3 + 4).contains(&count) && units.len == MOST {
            // Mostly three-byte characters: continues where one begins, for the shorter path. A branch, not
            // arithmetic: otherwise the next address would depend on this mask. Shorter blocks soon begin at a
            // character anyway.
            branch();
            if bytes.len() - at >= 2 * MOST {
                at -= ends.leading_zeros() as usize;
                threes = true;
            }
        }
    }
    let left = room.len();
    let written = out.len() - left;
    decode_last_blocks::<V, U>(any, bytes, out, at, written)
}

/// Decodes the last blocks, from `at` on. They overlap the blocks before them.
#[inline(always)]
fn decode_last_blocks<V: Lanes, U: OutputUnit>(
    any: V,
    bytes: &[u8],
    out: &mut [U::Item],
    mut at: usize,
    mut written: usize,
) -> (usize, usize) {
    while at < bytes.len() {
        let from = at.min(bytes.len() - V::LEN);
        let block = load::<V>(any, bytes, from);
        if !block.any_high_bit() {
            // The units of the bytes before `at` have already been written.
            let Some(room) = out[written - (at - from)..].get_mut(..V::LEN) else { break };
            put_ascii::<V, U>(block, room);
            written += from + V::LEN - at;
            at = from + V::LEN;
            continue;
        }
        let next_ends = bytes.get(from + V::LEN).is_none_or(|&next| next & 0xC0 != 0x80);
        let continues = block.splat(0xC0).cmpgt(block).bitmask();
        let all = u32::MAX >> (32 - V::LEN);
        let ends = (!continues & all) >> 1 | u32::from(next_ends) << (V::LEN - 1);
        let ends = ends >> (at - from) << (at - from);
        let units = Units::of_block(block, backs::<V>(any, bytes, from, block), ends, U::SIZE);
        let Some(count) = units.put_exactly::<U>(&mut out[written..]) else { break };
        at = from + units.len;
        written += count;
    }
    (at, written)
}

/// Whether `chars`, which begin with a block, are eight characters of three bytes each. `ends` marks the last bytes of characters in
/// the block.
#[inline(always)]
fn are_threes<V: Lanes>(chars: &[u8; 24], ends: u32) -> bool {
    const THREES: u32 = 0x92_4924;
    // Of a long block `ends` is enough: rows `to-chars/cyrillic/*` 3 % fewer instructions.
    if V::LEN == MOST {
        return ends & 0xFF_FFFF == THREES && chars[0] >= 0xE0;
    }
    ends == THREES & 0xFFFF && are_eight_threes(chars)
}

/// Whether the bytes, which begin anywhere in well-formed text, are eight characters of three bytes: every third byte, from the first on,
/// is E0 to EF. Rows `to-utf-16/cjk/*`, `to-chars/cjk/*`.
#[inline(always)]
fn are_eight_threes(bytes: &[u8; 24]) -> bool {
    const LEADS: [u64; 3] = [0x00F0_0000_F000_00F0, 0xF000_00F0_0000_F000, 0x0000_F000_00F0_0000];
    let (words, _) = bytes.as_chunks();
    let mut other = 0;
    for (word, leads) in words.iter().zip(LEADS) {
        other |= (u64::from_le_bytes(*word) ^ 0xE0E0_E0E0_E0E0_E0E0) & leads;
    }
    other == 0
}

/// Decodes the ASCII at the start of `bytes`, a row at a time. Returns its length.
#[inline(always)]
fn decode_ascii<V: Lanes, U: OutputUnit>(any: V, bytes: &[u8], out: &mut [U::Item]) -> usize {
    let mut len = 0;
    for (bytes, out) in bytes.chunks_exact(ASCII_ROW).zip(out.chunks_exact_mut(ASCII_ROW)) {
        let mut all = load::<V>(any, bytes, 0);
        let mut at = V::LEN;
        while at < ASCII_ROW {
            all = all.or(load::<V>(any, bytes, at));
            at += V::LEN;
        }
        if all.any_high_bit() {
            break;
        }
        at = 0;
        while at < ASCII_ROW {
            put_ascii::<V, U>(load(any, bytes, at), &mut out[at..]);
            at += V::LEN;
        }
        len += ASCII_ROW;
    }
    len
}

/// Decodes text shorter than a block, through the stack.
#[inline(always)]
fn decode_short<V: Lanes, U: OutputUnit>(
    any: V,
    bytes: &[u8],
    out: &mut [U::Item],
) -> (usize, usize) {
    let mut window = [0; 3 + 2 * MOST + 1];
    window[3..][..bytes.len()].copy_from_slice(bytes);
    let (mut at, mut written) = (0, 0);
    while at < bytes.len() {
        let block = load::<V>(any, &window, 3 + at);
        let ends = load::<V>(any, &window, 4 + at).cmpgt(block.splat(0xBF)).bitmask();
        let ends = ends & u32::MAX >> 32_usize.saturating_sub(bytes.len() - at);
        let backs = backs::<V>(any, &window, 3 + at, block);
        let units = Units::of_block(block, backs, ends, U::SIZE);
        let Some(count) = units.put_exactly::<U>(&mut out[written..]) else { break };
        at += units.len;
        written += count;
    }
    (at.min(bytes.len()), written)
}

/// The block at `at`, the one that begins a byte later, and those that begin one, two and three bytes before. The length of a
/// window is a constant, so that its loads need no checks: rows `to-chars/*/65536` and `to-utf-16/*/65536`.
#[inline(always)]
fn block_at<V: Lanes>(any: V, bytes: &[u8], at: usize) -> Option<(V, V, [V; 3])> {
    if at < 3 {
        let window = bytes.get(at..at + V::LEN + 1)?;
        let block = load::<V>(any, window, 0);
        return Some((block, load(any, window, 1), backs_of(block, block.splat(0))));
    }
    let window = bytes.get(at - 3..at + V::LEN + 1)?;
    let backs = [load(any, window, 2), load(any, window, 1), load(any, window, 0)];
    Some((load(any, window, 3), load(any, window, 4), backs))
}

/// The block at `at` moved back by one, two and three bytes.
#[inline(always)]
fn backs<V: Lanes>(any: V, bytes: &[u8], at: usize, block: V) -> [V; 3] {
    if at < 3 {
        return backs_of(block, block.splat(0));
    }
    [load::<V>(any, bytes, at - 1), load::<V>(any, bytes, at - 2), load::<V>(any, bytes, at - 3)]
}
