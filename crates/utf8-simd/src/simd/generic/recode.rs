//! Between UTF-16 and UTF-32, UTF-16 to Latin-1 and back, ASCII to UTF-16 in bytes, and UTF-16 in units to bytes and back, in
//! `steps`. Items that become one unit each are narrowed or widened. A pair of surrogates and its `char` are computed in lanes of
//! 16 bits, and a shuffle from a table moves the needed ones to the front:
//!
//! ```text
//! from a pair     w = high - D800 + 40     in the lane of the low one: w >> 6, w << 10 | low & 3FF
//!                                          the high one is not needed
//! to a pair       (c >> 10) + D7C0, c & 3FF | DC00
//!                                          the second one is needed only if c > FFFF
//! ```

use core::mem::MaybeUninit;

use super::encode::{
    any_of, are_scalar_values, in_order, narrow_steps, narrow_without, put_part, tagged,
};
use super::lanes::{Lanes, Part, UNITS};
use super::steps::RecodeSteps;
use crate::simd::ScalarUnit;
use crate::simd::recode::{
    AsciiToBytes, BytesToUnits, Latin1ToUtf16, ToLatin1, ToUtf16, ToUtf32, UnitsToBytes,
};

impl<C: ScalarUnit> RecodeSteps for ToUtf32<C> {
    #[inline(always)]
    fn put<V: Lanes>(
        units: V,
        room: &mut [MaybeUninit<u8>],
        _: &mut Option<&mut u64>,
    ) -> (usize, usize) {
        let count = V::LEN / 2;
        let room = &mut room[..4 * count];
        if Self::put_plain([units], room) {
            return (count, 4 * count);
        }
        let surrogate = tagged::<V, 0xF800>(units, 0xD800);
        let low = tagged::<V, 0xFC00>(units, 0xDC00);
        let high = surrogate.xor(low);
        let highs = high.bitmask_16();
        if highs << 1 & (u32::MAX >> (32 - count)) != low.bitmask_16() {
            return (0, 0);
        }
        let ten_bits = units.splat_16(0x3FF);
        let w = units.prev::<2>(units.splat(0)).and(ten_bits).wrapping_add_16(units.splat_16(0x40));
        let front = low.select_16(w.shl_16::<10>().or(units.and(ten_bits)), units);
        let back = low.and(w.shr_16::<6>());
        let written = put_needed::<V>(front.interleave_16(back).as_ref(), !high.bitmask(), room);
        (count - (highs >> (count - 1)) as usize, written)
    }

    #[inline(always)]
    fn put_plain<V: Lanes, const N: usize>(units: [V; N], room: &mut [MaybeUninit<u8>]) -> bool {
        if has_surrogate(units) {
            return false;
        }
        for (i, units) in units.into_iter().enumerate() {
            put_each(units.widen_16(), &mut room[2 * V::LEN * i..]);
        }
        true
    }
}

#[inline(always)]
fn has_surrogate<V: Lanes, const N: usize>(mut units: [V; N]) -> bool {
    for units in &mut units {
        *units = tagged::<V, 0xF800>(*units, 0xD800);
    }
    let any = any_of(&units);
    any.intersects(any)
}

#[inline(always)]
fn put_each<V: Lanes, const N: usize>(vectors: [V; N], room: &mut [MaybeUninit<u8>]) {
    for (i, vector) in vectors.into_iter().enumerate() {
        vector.store(&mut room[V::LEN * i..]);
    }
}

impl<C: ScalarUnit> RecodeSteps for ToUtf16<C> {
    #[inline(always)]
    fn put<V: Lanes>(
        chars: [V; 2],
        room: &mut [MaybeUninit<u8>],
        _: &mut Option<&mut u64>,
    ) -> (usize, usize) {
        let count = V::LEN / 2;
        if Self::put_plain([chars], room) {
            return (count, 2 * count);
        }
        if !are_scalar_values::<V, C>(chars) {
            return (0, 0);
        }
        let room = &mut room[..4 * count];
        let written = put_pairs(chars[0], room);
        (count, written + put_pairs(chars[1], &mut room[written..]))
    }

    #[inline(always)]
    fn put_plain<V: Lanes, const N: usize>(
        steps: [[V; 2]; N],
        room: &mut [MaybeUninit<u8>],
    ) -> bool {
        let all = any_of(steps.as_flattened());
        if all.any_from_32::<0x1_0000>() {
            return false;
        }
        let units = narrow_steps(steps);
        if !C::IS_SCALAR && has_surrogate(units) {
            return false;
        }
        put_each(units, room);
        true
    }
}

/// Writes scalar values in UTF-16. Returns the number of bytes.
#[inline(always)]
fn put_pairs<V: Lanes>(chars: V, room: &mut [MaybeUninit<u8>]) -> usize {
    let is_pair = chars.cmpgt_32(chars.splat_32(0xFFFF));
    let high = chars.shr_32::<10>().wrapping_add_16(chars.splat_32(0xD7C0));
    let low = chars.and(chars.splat_32(0x3FF)).or(chars.splat_32(0xDC00)).shl_32::<16>();
    let units = is_pair.select_32(high.or(low), chars);
    let needed = is_pair.or(chars.splat_32(0xFFFF)).bitmask_16();
    put_needed::<V>(units.parts().as_ref(), needed, room)
}

/// Writes the lanes of 16 bits whose bits in `needed` are set. Returns the number of bytes.
#[inline(always)]
fn put_needed<V: Lanes>(parts: &[V::Part], needed: u32, room: &mut [MaybeUninit<u8>]) -> usize {
    let mut written = 0;
    for (group, part) in parts.iter().enumerate() {
        let index = needed >> (8 * group) & 0xFF;
        put_part(part.shuffle(&UNITS[index as usize]), room, written);
        written += 2 * V::count(index);
    }
    written
}

impl RecodeSteps for ToLatin1 {
    #[inline(always)]
    fn put_plain<V: Lanes, const N: usize>(units: [V; N], room: &mut [MaybeUninit<u8>]) -> bool {
        narrow_without(units, 0xFF00, room)
    }
}

impl RecodeSteps for Latin1ToUtf16 {
    #[inline(always)]
    fn put_plain<V: Lanes, const N: usize>(units: [V; N], room: &mut [MaybeUninit<u8>]) -> bool {
        put_each(units, room);
        true
    }
}

/// Defines conversions that swap the bytes of units, or copy them.
macro_rules! in_bytes {
    ($($conversion:ident)*) => {$(
        impl<const SWAPPED: bool> RecodeSteps for $conversion<SWAPPED> {
            #[inline(always)]
            fn put_plain<V: Lanes, const N: usize>(
                units: [V; N],
                room: &mut [MaybeUninit<u8>],
            ) -> bool {
                put_each(in_order::<SWAPPED, V, N>(units), room);
                true
            }
        }
    )*};
}
in_bytes!(UnitsToBytes BytesToUnits);

impl<const SWAPPED: bool> RecodeSteps for AsciiToBytes<SWAPPED> {
    const IS_ALL_OR_NOTHING: bool = true;

    #[inline(always)]
    fn put_plain<V: Lanes, const N: usize>(
        mut units: [V; N],
        room: &mut [MaybeUninit<u8>],
    ) -> bool {
        if any_of(&units).intersects(units[0].splat_16(0x80)) {
            return false;
        }
        for units in units.iter_mut().filter(|_| SWAPPED) {
            *units = units.shl_16::<8>();
        }
        put_each(units, room);
        true
    }
}
