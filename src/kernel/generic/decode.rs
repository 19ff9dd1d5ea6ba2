//! Text to `char`s and to UTF-16: characters are put together where they *end*.
//!
//! A character belongs to the block that has its last byte, so blocks do not wait for one another: the up
//! to three bytes before a block are loaded again with it, as validation does. For all bytes of a block at
//! once, as if each ended a character of up to three bytes:
//!
//! ```text
//! low  = byte, or where it continues a sequence: byte & 3F | back1 << 6
//! high = 0,    or where it continues a sequence: back1 >> 2 & 0F | (back2 << 4, if back1 continues one)
//! units = interleave(low, high), those of bytes that end a character
//! ```
//!
//! Eight units at a time are squeezed by a shuffle from a table of 256. In a block with a character of four
//! bytes, these come too:
//!
//! - in UTF-16, the high surrogate is put together at its third byte, the low one at its fourth;
//! - among `char`s, bits 16 to 20 at its fourth byte, as a third plane.
//!
//! Two ways are shorter: ASCII is widened, and where eight characters of three bytes follow one another
//! they are put together by themselves (`benches/versus`, cjk).

use core::mem::MaybeUninit;

use super::lanes::{Lanes, Part};
use super::tables::UNITS;
use crate::kernel::reference;
use crate::kernel::reference::convert::Unit;

/// Units that may be overwritten after those of a block.
const EXCESS: usize = 8;
/// Bytes of text that make as many units, at least, if a block precedes them.
const ENOUGH: usize = 4 * EXCESS;
/// The largest block.
const MOST: usize = 32;

/// Decodes `text` into `out`, as far as there is room. Returns the bytes read and the units written; the
/// others in `out` are unchanged.
#[inline(always)]
pub(in crate::kernel) fn decode<V: Lanes, U: Unit>(
    token: V::Token,
    text: &str,
    out: &mut [U],
) -> (usize, usize) {
    let (mut read, mut written) = match text.len() >= V::LEN + 3 {
        true => decode_blocks::<V, U>(token, text.as_bytes(), out),
        false => decode_short::<V, U>(token, text.as_bytes(), out),
    };
    if read < text.len() {
        // The room is nearly full. The character that the last block cut is not written.
        while !text.is_char_boundary(read) {
            read -= 1;
        }
        let (rest_read, rest_written) =
            reference::convert::decode(&text[read..], &mut out[written..]);
        read += rest_read;
        written += rest_written;
    }
    (read, written)
}

/// Decodes text of a block and more. Stops where a block might not fit.
#[inline(always)]
fn decode_blocks<V: Lanes, U: Unit>(
    token: V::Token,
    bytes: &[u8],
    out: &mut [U],
) -> (usize, usize) {
    let (mut at, mut written) = (0, 0);
    while bytes.len() - at >= V::LEN + ENOUGH && out.len() - written >= V::LEN + EXCESS {
        let to = out[written..written + V::LEN + EXCESS].as_mut_ptr();
        let block = load::<V>(token, bytes, at);
        if !block.any_high_bit() {
            // SAFETY: there is room for a block's units.
            unsafe { put_ascii::<V, U>(block, to) };
            at += V::LEN;
            written += V::LEN;
            let more = decode_ascii::<V, U>(token, &bytes[at..], &mut out[written..]);
            at += more;
            written += more;
            continue;
        }
        let ends = load::<V>(token, bytes, at + 1).greater(block.splat(0xBF)).bits();
        if V::LEN == MOST
            && size_of::<U>() == 2
            && ends & 0xFF_FFFF == 0x92_4924
            && bytes[at] >= 0xE0
            && let Some(chars) = bytes[at..].first_chunk()
        {
            let units = block.parts().as_ref()[0].three_byte_units(chars);
            // SAFETY: there is room for eight units of two bytes.
            unsafe { units.store(to.cast()) };
            at += chars.len();
            written += 8;
            continue;
        }
        let backs = backs::<V>(token, bytes, at, block);
        // SAFETY: there is room for a block's units and the excess; what is written in excess is
        // overwritten, as enough text follows.
        let (len, units) = unsafe { put_block::<V, U>(block, backs, ends, to) };
        at += len;
        written += units;
        if V::LEN == MOST && size_of::<U>() == 2 && units <= MOST / 3 + 4 && len == MOST {
            // Mostly three-byte characters: continue where one begins, for the shorter way. (A branch, not
            // arithmetic: otherwise the next address waits for this mask.)
            branch();
            at -= ends.leading_zeros() as usize;
        }
    }
    // The last blocks, through the stack. They overlap what precedes them.
    while at < bytes.len() {
        let from = at.min(bytes.len() - V::LEN);
        let block = load::<V>(token, bytes, from);
        if !block.any_high_bit() {
            // What is before `at` has been written, as the same units.
            let Some(out) = out[written - (at - from)..].get_mut(..V::LEN) else { break };
            // SAFETY: there is room for a block's units.
            unsafe { put_ascii::<V, U>(block, out.as_mut_ptr()) };
            written += from + V::LEN - at;
            at = from + V::LEN;
            continue;
        }
        let next_ends = bytes.get(from + V::LEN).is_none_or(|&next| next & 0xC0 != 0x80);
        let continues = block.splat(0xC0).greater(block).bits();
        let all = u32::MAX >> (32 - V::LEN);
        let ends = (!continues & all) >> 1 | u32::from(next_ends) << (V::LEN - 1);
        let ends = ends >> (at - from) << (at - from);
        let backs = backs::<V>(token, bytes, from, block);
        let Some((len, units)) = put_exactly::<V, U>(block, backs, ends, &mut out[written..])
        else {
            break;
        };
        at = from + len;
        written += units;
    }
    (at, written)
}

/// Decodes the ASCII that `bytes` begin with, two blocks at a time. Returns its length.
#[inline(always)]
fn decode_ascii<V: Lanes, U: Unit>(token: V::Token, bytes: &[u8], out: &mut [U]) -> usize {
    let mut at = 0;
    for (bytes, out) in bytes.chunks_exact(2 * V::LEN).zip(out.chunks_exact_mut(2 * V::LEN)) {
        let (first, second) = (load::<V>(token, bytes, 0), load::<V>(token, bytes, V::LEN));
        if first.or(second).any_high_bit() {
            break;
        }
        let to = out.as_mut_ptr();
        // SAFETY: `out` has two blocks' units.
        unsafe {
            put_ascii::<V, U>(first, to);
            put_ascii::<V, U>(second, to.add(V::LEN));
        }
        at += 2 * V::LEN;
    }
    at
}

/// Decodes text shorter than a block and three bytes, through the stack.
#[inline(always)]
fn decode_short<V: Lanes, U: Unit>(token: V::Token, bytes: &[u8], out: &mut [U]) -> (usize, usize) {
    let mut window = [0; 3 + 2 * MOST + 1];
    window[3..][..bytes.len()].copy_from_slice(bytes);
    let (mut at, mut written) = (0, 0);
    while at < bytes.len() {
        let block = load::<V>(token, &window, 3 + at);
        let ends = load::<V>(token, &window, 4 + at).greater(block.splat(0xBF)).bits();
        let ends = ends & u32::MAX >> 32_usize.saturating_sub(bytes.len() - at);
        let backs = backs::<V>(token, &window, 3 + at, block);
        let Some((len, units)) = put_exactly::<V, U>(block, backs, ends, &mut out[written..])
        else {
            break;
        };
        at += len;
        written += units;
    }
    (at.min(bytes.len()), written)
}

/// The block at `at` moved back by one, two and three bytes.
#[inline(always)]
fn backs<V: Lanes>(token: V::Token, bytes: &[u8], at: usize, block: V) -> [V; 3] {
    if at < 3 {
        let zero = block.splat(0);
        return [block.prev::<1>(zero), block.prev::<2>(zero), block.prev::<3>(zero)];
    }
    [
        load::<V>(token, bytes, at - 1),
        load::<V>(token, bytes, at - 2),
        load::<V>(token, bytes, at - 3),
    ]
}

#[inline(always)]
fn load<V: Lanes>(token: V::Token, bytes: &[u8], at: usize) -> V {
    let block = &bytes[at..at + V::LEN];
    // SAFETY: `block` has the bytes of a vector.
    unsafe { V::load(token, block.as_ptr()) }
}

/// Decodes to exactly the units that count. `None`, and nothing is written, where there is no room.
#[inline(always)]
fn put_exactly<V: Lanes, U: Unit>(
    block: V,
    backs: [V; 3],
    ends: u32,
    out: &mut [U],
) -> Option<(usize, usize)> {
    let mut scratch = [const { MaybeUninit::<U>::uninit() }; MOST + EXCESS];
    let from = scratch.as_mut_ptr().cast::<U>();
    // SAFETY: there is room for the units of the largest block and the excess.
    let (len, units) = unsafe { put_block::<V, U>(block, backs, ends, from) };
    let out = out.get_mut(..units)?;
    // SAFETY: so many units have been written, and they fit.
    unsafe { out.as_mut_ptr().copy_from_nonoverlapping(from, units) };
    Some((len, units))
}

/// Writes the characters of a block that end at `ends`. Returns how many bytes of the block are done
/// with, and the units.
///
/// # Safety
///
/// - `LEN` units and [`EXCESS`] can be written at `out`.
/// - `block` and `backs` are text: those characters are well-formed.
#[inline(always)]
unsafe fn put_block<V: Lanes, U: Unit>(
    block: V,
    backs: [V; 3],
    ends: u32,
    out: *mut U,
) -> (usize, usize) {
    let [back1, back2, back3] = backs;
    let continued = block.splat(0xC0).greater(back1);
    let six = block.and(block.splat(0x3F)).or(back1.shl_16::<6>().and(block.splat(0xC0)));
    let second = back1.shr_16::<2>().and(block.splat(0x0F));
    let first = back2.shl_16::<4>().and(block.splat(0xF0)).and(continued);
    let zero = block.splat(0);
    let low = block.select(six, block);
    let high = block.select(second.or(first), zero);
    let greatest = block.max(back2).max(back3);
    if greatest.saturating_sub(block.splat(0xF0 - 0x80)).any_high_bit() {
        // SAFETY: the caller's promises.
        return unsafe { put_wide_block::<V, U>(block, backs, [low, high], ends, out) };
    }
    // SAFETY: the caller promises the room.
    (V::LEN, unsafe { put_units::<V, U>([low, high, zero], ends, out) })
}

/// As [`put_block`], with characters of four bytes. `planes` are right for all others.
///
/// # Safety
///
/// - As for [`put_block`].
#[inline(always)]
unsafe fn put_wide_block<V: Lanes, U: Unit>(
    block: V,
    [back1, back2, back3]: [V; 3],
    [low, high]: [V; 2],
    ends: u32,
    out: *mut U,
) -> (usize, usize) {
    let zero = block.splat(0);
    let f0 = block.splat(0xF0);
    let fourth = back3.max(f0).equal(back3);
    if size_of::<U>() == 4 {
        let top = back3.shl_16::<2>().and(block.splat(0x1C));
        let top = top.or(back2.shr_16::<4>().and(block.splat(0x03)));
        // SAFETY: the caller promises the room.
        return (V::LEN, unsafe {
            put_units::<V, U>([low, high, fourth.select(top, zero)], ends, out)
        });
    }
    let third = back2.max(f0).equal(back2);
    // The low surrogate: DC00 and the low ten bits.
    let high =
        fourth.select(back1.shr_16::<2>().and(block.splat(0x03)).or(block.splat(0xDC)), high);
    // The high one: D800 and the bits above these, less 40. As bytes: C0 more in the low one, and D7 or,
    // where that overflows, D8 in the high one.
    let bits =
        back1.shl_16::<2>().and(block.splat(0xFC)).or(block.shr_16::<4>().and(block.splat(3)));
    let low = third.select(bits.wrapping_add(block.splat(0xC0)), low);
    let less = back1.and(block.splat(0x30)).equal(zero);
    let bits = back2.and(block.splat(0x07)).wrapping_add(block.splat(0xD8)).wrapping_add(less);
    let high = third.select(bits, high);
    // A pair is written whole: where the block ends inside one, it ends before that.
    let thirds = third.bits();
    let cut = thirds >> (V::LEN - 1);
    // SAFETY: the caller promises the room.
    let units = unsafe { put_units::<V, U>([low, high, zero], ends | thirds & ends >> 1, out) };
    (V::LEN - cut as usize, units)
}

/// Writes the units of those bytes that `keep` has a bit for.
///
/// # Safety
///
/// - `LEN` units and [`EXCESS`] can be written at `out`.
/// - `planes`, the low, the middle and the high bytes of units, are valid units there.
#[inline(always)]
unsafe fn put_units<V: Lanes, U: Unit>([low, high, top]: [V; 3], keep: u32, out: *mut U) -> usize {
    let units = low.interleave(high);
    let tops = top.interleave(top.splat(0));
    for (group, (&units, &tops)) in units.as_ref().iter().zip(tops.as_ref()).enumerate() {
        let squeeze = &UNITS[(keep >> (8 * group) & 0xFF) as usize];
        let before = (u64::from(keep) & ((1 << (8 * group)) - 1)).count_ones() as usize;
        // SAFETY: the units before are no more than eight for each group before, and eight are written.
        unsafe { put_group(units.shuffle(squeeze), tops.shuffle(squeeze), out.add(before)) };
    }
    keep.count_ones() as usize
}

/// Writes a block of ASCII.
///
/// # Safety
///
/// - `LEN` units can be written at `out`.
#[inline(always)]
unsafe fn put_ascii<V: Lanes, U: Unit>(block: V, out: *mut U) {
    if size_of::<U>() == 2 {
        // SAFETY: the caller promises the room.
        return unsafe { block.store_wide(out.cast()) };
    }
    for (group, &units) in block.interleave(block.splat(0)).as_ref().iter().enumerate() {
        // SAFETY: each group writes eight units, after those of the groups before.
        unsafe { put_group(units, units.zero(), out.add(8 * group)) };
    }
}

/// Writes eight units. `tops` are their bits from 16 on.
///
/// # Safety
///
/// - Eight units can be written at `out`.
#[inline(always)]
unsafe fn put_group<P: Part, U: Unit>(units: P, tops: P, out: *mut U) {
    let out = out.cast::<u8>();
    if size_of::<U>() == 2 {
        // SAFETY: eight units of two bytes.
        return unsafe { units.store(out) };
    }
    let [front, back] = units.interleave_16(tops);
    // SAFETY: eight units of four bytes.
    unsafe {
        front.store(out);
        back.store(out.add(16));
    }
}

/// Keeps a branch a branch.
#[cold]
#[inline(never)]
fn branch() {}
