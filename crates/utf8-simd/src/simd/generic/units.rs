//! The units of a block: two values are computed for all bytes at once, as if each byte ended a character of up to three bytes:
//!
//! ```text
//! low  = byte, or for a continuation byte: byte & 3F | back1 << 6
//! high = 0,    or for a continuation byte: back1 >> 2 & 0F | (back2 << 4, if back1 is one too)
//! units = interleave(low, high), those of bytes that end a character
//! ```
//!
//! A shuffle from a table of 256 moves the needed ones of eight units to the front. A character of four bytes
//! needs more steps:
//!
//! - in UTF-16, the high surrogate is assembled at its third byte, the low one at its fourth;
//! - for `char`s, bits 16 to 20 are assembled at its fourth byte, as a third plane.

use super::lanes::{Lanes, Part, UNITS};
use super::scan::branch;
use super::vector::{Vector, copy_few};
use crate::simd::as_uninit;
use crate::simd::recode::unit_bytes;

/// The maximum number of units that a block overwrites after its own.
pub(super) const EXCESS: usize = 8;
/// The largest number of bytes in a block.
pub(super) const MOST: usize = 32;

/// A unit of the output.
///
/// # Safety
///
/// - Any value of the bytes of an `Item` is valid.
pub(in crate::simd) unsafe trait OutputUnit {
    /// The type: one or two integers.
    type Item: Copy;

    /// The number of bytes: 4 or 2.
    const SIZE: usize = size_of::<Self::Item>();

    /// Whether the bytes are in the other order than those of the machine.
    const IS_SWAPPED: bool = false;

    /// Returns the item of an ASCII character.
    fn of(ascii: u8) -> Self::Item;
}

// SAFETY: an integer.
unsafe impl OutputUnit for u32 {
    type Item = Self;

    #[inline(always)]
    fn of(ascii: u8) -> Self {
        ascii.into()
    }
}

// SAFETY: an integer.
unsafe impl OutputUnit for u16 {
    type Item = Self;

    #[inline(always)]
    fn of(ascii: u8) -> Self {
        ascii.into()
    }
}

/// A unit of UTF-16 in bytes.
pub(in crate::simd) struct Bytes<const SWAPPED: bool>;

// SAFETY: two integers.
unsafe impl<const SWAPPED: bool> OutputUnit for Bytes<SWAPPED> {
    type Item = [u8; 2];

    const IS_SWAPPED: bool = SWAPPED;

    #[inline(always)]
    fn of(ascii: u8) -> [u8; 2] {
        unit_bytes::<SWAPPED>(ascii.into())
    }
}

/// The units that end in a block, and which of them are needed.
pub(super) struct Units<V> {
    /// For each byte, the unit that ends at it: bits 0 to 7, and 8 to 15.
    pub(super) planes: [V; 2],
    /// The bits from 16 on, if a unit may have any.
    pub(super) top: Option<V>,
    /// The bytes at which a unit ends.
    pub(super) keep: u32,
    pub(super) len: usize,
}

impl<V: Lanes> Units<V> {
    /// Assembles the units that end at `ends`, in units of `size` bytes.
    #[inline(always)]
    pub(super) fn of_block(block: V, backs: [V; 3], ends: u32, size: usize) -> Self {
        let [back1, back2, back3] = backs;
        let continued = block.splat(0xC0).cmpgt(back1);
        let six = block.and(block.splat(0x3F)).or(back1.shl_16::<6>().and(block.splat(0xC0)));
        let second = back1.shr_16::<2>().and(block.splat(0x0F));
        let first = back2.shl_16::<4>().and(block.splat(0xF0)).and(continued);
        let zero = block.splat(0);
        let low = block.select(six, block);
        let high = block.select(second.or(first), zero);
        let units = Self { planes: [low, high], top: None, keep: ends, len: V::LEN };
        let greatest = block.max(back2).max(back3);
        match greatest.saturating_sub(block.splat(0xF0 - 0x80)).any_high_bit() {
            true if size == 4 => units.with_tops(backs),
            true => units.with_pairs(block, backs),
            false => units,
        }
    }

    /// Adds the bits from 16 on, at the last of four bytes.
    #[inline(always)]
    fn with_tops(self, [_, back2, back3]: [V; 3]) -> Self {
        let f0 = back3.splat(0xF0);
        let fourth = back3.max(f0).cmpeq(back3);
        let top = back3.shl_16::<2>().and(f0.splat(0x1C));
        let top = top.or(back2.shr_16::<4>().and(f0.splat(0x03)));
        Self { top: Some(fourth.and(top)), ..self }
    }

    /// Adds surrogate pairs, at the third and the last of four bytes.
    #[inline(always)]
    fn with_pairs(self, block: V, [back1, back2, back3]: [V; 3]) -> Self {
        let ([low, high], zero) = (self.planes, block.splat(0));
        let f0 = block.splat(0xF0);
        let fourth = back3.max(f0).cmpeq(back3);
        let third = back2.max(f0).cmpeq(back2);
        // The low surrogate: DC00 and the low ten bits.
        let bits = back1.shr_16::<2>().and(block.splat(0x03)).or(block.splat(0xDC));
        let high = fourth.select(bits, high);
        // The high one: D800 and the bits above these, less 40. As bytes: C0 more in the low one, and D7
        // or, where that overflows, D8 in the high one.
        let bits = back1.shl_16::<2>().and(block.splat(0xFC));
        let bits = bits.or(block.shr_16::<4>().and(block.splat(0x03)));
        let low = third.select(bits.wrapping_add(block.splat(0xC0)), low);
        let less = back1.and(block.splat(0x30)).cmpeq(zero);
        let bits = back2.and(block.splat(0x07)).wrapping_add(block.splat(0xD8)).wrapping_add(less);
        let high = third.select(bits, high);
        // A pair is written as a whole: if the block ends inside one, the block ends before it.
        let thirds = third.bitmask();
        let cut = thirds >> (V::LEN - 1);
        let keep = self.keep | thirds & self.keep >> 1;
        // A branch, not arithmetic: otherwise the next address would depend on this mask.
        let len = if cut == 0 {
            V::LEN
        } else {
            branch();
            V::LEN - 1
        };
        Self { planes: [low, high], top: None, keep, len }
    }

    /// Writes the units, and up to [`EXCESS`] after them. Returns how many.
    #[inline(always)]
    pub(super) fn put<U: OutputUnit>(&self, room: &mut [U::Item]) -> usize {
        let room = &mut room[..V::LEN + EXCESS];
        let [low, high] = self.planes;
        let [first, second] = if U::IS_SWAPPED { [high, low] } else { [low, high] };
        let units = first.interleave(second);
        match self.top {
            Some(top) if U::SIZE == 4 => {
                let tops = top.interleave(top.splat(0));
                for (group, (&units, &tops)) in units.as_ref().iter().zip(tops.as_ref()).enumerate()
                {
                    let (compress, before) = self.group(group);
                    let tops = Some(tops.shuffle(compress));
                    put_group::<_, U>(units.shuffle(compress), tops, &mut room[before..]);
                }
            }
            _ => {
                for (group, &units) in units.as_ref().iter().enumerate() {
                    let (compress, before) = self.group(group);
                    put_group::<_, U>(units.shuffle(compress), None, &mut room[before..]);
                }
            }
        }
        V::count(self.keep)
    }

    /// Returns the indexes of the needed units of a group of eight, and the number of units before it.
    #[inline(always)]
    fn group(&self, group: usize) -> (&'static [u8; 16], usize) {
        let before = self.keep & ((1 << (8 * group)) - 1);
        (&UNITS[(self.keep >> (8 * group) & 0xFF) as usize], V::count(before))
    }

    /// Writes the units if they fit, through the stack if their excess does not. Otherwise writes nothing and returns `None`.
    #[inline(always)]
    pub(super) fn put_exactly<U: OutputUnit>(&self, out: &mut [U::Item]) -> Option<usize> {
        if out.len() >= V::LEN + EXCESS {
            return Some(self.put::<U>(out));
        }
        let mut scratch = [U::of(0); MOST + EXCESS];
        let count = self.put::<U>(&mut scratch);
        copy_few(&scratch[..count], out.get_mut(..count)?);
        Some(count)
    }
}

/// Writes a block of ASCII to the start of `room`.
#[inline(always)]
pub(super) fn put_ascii<V: Lanes, U: OutputUnit>(block: V, room: &mut [U::Item]) {
    const { assert!(U::SIZE == 2 || U::SIZE == 4) };
    // SAFETY: `OutputUnit` allows any value.
    let out = unsafe { as_uninit(&mut room[..V::LEN]) };
    if U::SIZE == 2 {
        let [mut front, mut back] = block.widen();
        if U::IS_SWAPPED {
            (front, back) = (front.shl_16::<8>(), back.shl_16::<8>());
        }
        front.store(out);
        back.store(&mut out[V::LEN..]);
        return;
    }
    for (group, &units) in block.interleave(block.splat(0)).as_ref().iter().enumerate() {
        let [front, back] = units.widen_16();
        front.store(&mut out[32 * group..]);
        back.store(&mut out[32 * group + 16..]);
    }
}

/// Writes eight units to the start of `room`. `tops` are their bits from 16 on, if they have any.
#[inline(always)]
pub(super) fn put_group<P: Part, U: OutputUnit>(units: P, tops: Option<P>, room: &mut [U::Item]) {
    // SAFETY: `OutputUnit` allows any value.
    let out = unsafe { as_uninit(&mut room[..8]) };
    if U::SIZE == 2 {
        return units.store(out);
    }
    let [front, back] = match tops {
        Some(tops) => units.interleave_16(tops),
        None => units.widen_16(),
    };
    front.store(out);
    back.store(&mut out[16..]);
}
