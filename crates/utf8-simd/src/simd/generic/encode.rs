//! `char`s, numbers and UTF-16 units, also in bytes, to text.
//!
//! Units of 16 bits are encoded a vector at a time, by the first of these methods that covers all of them:
//!
//! - ASCII: narrowed to bytes;
//! - below 800: one or two bytes in the lane of each unit; a shuffle from a table moves the needed bytes to the
//!   front; short vectors are taken two at a time;
//! - 800 and more: two shuffles place the 24 bytes of eight units;
//! - otherwise: one to three bytes in lanes of 32 bits, moved to the front in the same way.
//!
//! A surrogate pair becomes four bytes; each half produces two of them in its own lane:
//!
//! ```text
//! high:  w = high - D800 + 40     F0 | w >> 8                            80 | w >> 2 & 3F
//! low:                            80 | w << 4 & 30 | low >> 6 & 0F       80 | low & 3F
//! ```
//!
//! `char`s below 1_0000 are narrowed to units of 16 bits. Others use lanes of 32 bits, with one to four bytes
//! each.

use core::mem::MaybeUninit;

use super::lanes::{Lanes, ONE_OR_TWO, ONE_TO_FOUR, ONE_TO_THREE, Part};
use super::scan::{branch, cold_path};
use super::steps::{RecodeSteps, encode, step_room};
use super::vector::{Vector, Vector16, load};
use crate::simd::recode::{BytesToUtf8, ToUtf8};
use crate::simd::{ScalarUnit, as_uninit, reference, table};

/// [`RecodeSteps::LEFT`] of conversions whose rest is encoded one by one. Rows `from-chars/emoji/64`, `from-chars/latin/64`.
const FEW: usize = 4;

#[inline(always)]
pub(in crate::simd) fn encode_chars<V: Lanes, Short: Lanes + Vector16>(
    any: (V, Short),
    chars: &[char],
    out: &mut [u8],
) -> (usize, usize) {
    // SAFETY: vectors and an initialised scratch are written.
    let (read, written) =
        encode::<V, Short, ToUtf8<char>>(any, chars, unsafe { as_uninit(out) }, &mut None);
    let (more, len) = reference::convert::encode_each(&chars[read..], &mut out[written..]);
    (read + more, written + len)
}

#[inline(always)]
pub(in crate::simd) fn encode_utf16<V: Lanes, Short: Lanes + Vector16>(
    any: (V, Short),
    units: &[u16],
    out: &mut [MaybeUninit<u8>],
    mut replaced: Option<&mut u64>,
) -> (usize, usize) {
    let (read, written) = encode::<V, Short, ToUtf8<u16>>(any, units, out, &mut replaced);
    if read == units.len() {
        return (read, written);
    }
    // What is left is little, or begins with a step that contains an unpaired surrogate or does not fit.
    let (more, len) = reference::encode_utf16(&units[read..], &mut out[written..], replaced);
    (read + more, written + len)
}

impl RecodeSteps for ToUtf8<u16> {
    const LEFT: usize = FEW;

    #[inline(always)]
    fn put<V: Lanes>(
        units: V,
        room: &mut [MaybeUninit<u8>],
        replaced: &mut Option<&mut u64>,
    ) -> (usize, usize) {
        put_units(units, Surrogates::Pairs, room, replaced)
    }

    #[inline(always)]
    fn is_below_800(unit: &u16) -> bool {
        *unit < 0x800
    }

    #[inline(always)]
    fn put_two_steps<V: Lanes>(units: [V; 2], room: &mut [MaybeUninit<u8>]) -> Option<usize> {
        let all = any_of(&units);
        if all.any_from_16::<0x800>() {
            return None;
        }
        Some(put_both(!all.any_from_16::<0x80>(), units, room))
    }

    #[inline(always)]
    fn put_plain<V: Lanes, const N: usize>(units: [V; N], room: &mut [MaybeUninit<u8>]) -> bool {
        narrow_without(units, 0xFF80, room)
    }
}

impl<const SWAPPED: bool, const REPLACES: bool> RecodeSteps for BytesToUtf8<SWAPPED, REPLACES> {
    #[inline(always)]
    fn put<V: Lanes>(
        units: V,
        room: &mut [MaybeUninit<u8>],
        _: &mut Option<&mut u64>,
    ) -> (usize, usize) {
        let [units] = in_order::<SWAPPED, V, 1>([units]);
        let mut uncounted = 0;
        put_units(units, Surrogates::Pairs, room, &mut REPLACES.then_some(&mut uncounted))
    }

    #[inline(always)]
    fn put_plain<V: Lanes, const N: usize>(units: [V; N], room: &mut [MaybeUninit<u8>]) -> bool {
        narrow_without(in_order::<SWAPPED, V, N>(units), 0xFF80, room)
    }
}

/// Swaps the bytes of each unit, if these are `SWAPPED`.
#[inline(always)]
pub(super) fn in_order<const SWAPPED: bool, V: Lanes, const N: usize>(mut units: [V; N]) -> [V; N] {
    for units in units.iter_mut().filter(|_| SWAPPED) {
        *units = units.shl_16::<8>().or(units.shr_16::<8>());
    }
    units
}

impl<C: ScalarUnit> RecodeSteps for ToUtf8<C> {
    const LEFT: usize = if C::IS_SCALAR { FEW } else { 0 };

    #[inline(always)]
    fn put<V: Lanes>(
        chars: [V; 2],
        room: &mut [MaybeUninit<u8>],
        _: &mut Option<&mut u64>,
    ) -> (usize, usize) {
        let [first, second] = chars;
        if !first.or(second).any_from_32::<0x1_0000>() {
            let surrogates = if C::IS_SCALAR { Surrogates::None } else { Surrogates::Invalid };
            return put_units(first.narrow_32(second), surrogates, room, &mut None);
        }
        if are_scalar_values::<V, C>(chars) { (V::LEN / 2, put_chars(chars, room)) } else { (0, 0) }
    }

    #[inline(always)]
    fn is_below_800(&number: &C) -> bool {
        number.into() < 0x800
    }

    #[inline(always)]
    fn put_two_steps<V: Lanes>(steps: [[V; 2]; 2], room: &mut [MaybeUninit<u8>]) -> Option<usize> {
        let all = any_of(steps.as_flattened());
        if all.any_from_32::<0x800>() {
            return None;
        }
        Some(put_both(!all.any_from_32::<0x80>(), narrow_steps(steps), room))
    }

    #[inline(always)]
    fn put_plain<V: Lanes, const N: usize>(
        steps: [[V; 2]; N],
        room: &mut [MaybeUninit<u8>],
    ) -> bool {
        let all = any_of(steps.as_flattened());
        if all.any_from_32::<0x80>() {
            return false;
        }
        put_narrowed(narrow_steps(steps), room);
        true
    }
}

/// Narrows numbers below 1_0000.
#[inline(always)]
pub(super) fn narrow_steps<V: Lanes, const N: usize>(steps: [[V; 2]; N]) -> [V; N] {
    let mut narrowed = [steps[0][0]; N];
    for (narrowed, [first, second]) in narrowed.iter_mut().zip(steps) {
        *narrowed = first.narrow_32(second);
    }
    narrowed
}

/// Returns the bits that any of the vectors has.
#[inline(always)]
pub(super) fn any_of<V: Lanes>(vectors: &[V]) -> V {
    let mut all = vectors[0];
    for vector in &vectors[1..] {
        all = all.or(*vector);
    }
    all
}

#[inline(always)]
pub(super) fn are_scalar_values<V: Lanes, C: ScalarUnit>([first, second]: [V; 2]) -> bool {
    let other = not_scalar(first).or(not_scalar(second));
    C::IS_SCALAR || !other.intersects(other)
}

/// Marks the lanes of 32 bits that are no scalar values.
#[inline(always)]
fn not_scalar<V: Lanes>(numbers: V) -> V {
    let above = numbers.shr_32::<16>().cmpgt_32(numbers.splat_32(0x10));
    let from_d800 = numbers.cmpgt_32(numbers.splat_32(0xD7FF));
    above.or(from_d800.xor(numbers.cmpgt_32(numbers.splat_32(0xDFFF))))
}

/// Narrows units if none has any of the bits in `mask`, the upper ones. Returns whether it did.
#[inline(always)]
pub(super) fn narrow_without<V: Lanes, const N: usize>(
    units: [V; N],
    mask: u16,
    room: &mut [MaybeUninit<u8>],
) -> bool {
    if any_of(&units).intersects(units[0].splat_16(mask)) {
        return false;
    }
    put_narrowed(units, room);
    true
}

/// Narrows units, which are below 100.
#[inline(always)]
fn put_narrowed<V: Lanes, const N: usize>(units: [V; N], room: &mut [MaybeUninit<u8>]) {
    let (pairs, rest) = units.as_chunks();
    for (i, [first, second]) in pairs.iter().enumerate() {
        first.narrow_16_with(*second).store(&mut room[i * V::LEN..]);
    }
    for units in rest {
        put_part(units.narrow_16(), room, pairs.len() * V::LEN);
    }
}

/// How surrogates are encoded.
#[derive(PartialEq)]
enum Surrogates {
    Pairs,
    Invalid,
    /// The input has none.
    None,
}

/// Encodes units below 800; see [`RecodeSteps::put_two_steps`].
#[inline(always)]
fn put_both<V: Lanes>(is_ascii: bool, units: [V; 2], room: &mut [MaybeUninit<u8>]) -> usize {
    if is_ascii {
        put_narrowed(units, room);
        return V::LEN;
    }
    let room = &mut room[..step_room::<V>()];
    let ([front, front_ascii], [back, back_ascii]) = (one_or_two(units[0]), one_or_two(units[1]));
    let one = front_ascii.bitmask_16_with(back_ascii);
    let written = put_one_or_two(front, one, room);
    written + put_one_or_two(back, one >> (V::LEN / 2), &mut room[written..])
}

/// Returns the one or two bytes of units below 800, in their lanes, and which ones are ASCII.
#[inline(always)]
fn one_or_two<V: Lanes>(units: V) -> [V; 2] {
    let ascii = units.and(units.splat_16(0xFF80)).cmpeq_16(units.splat(0));
    [ascii.select_16(units, units.two_bytes()), ascii]
}

/// Encodes a vector of units; see [`RecodeSteps::put`].
#[inline(always)]
fn put_units<V: Lanes>(
    mut units: V,
    surrogates: Surrogates,
    room: &mut [MaybeUninit<u8>],
    replaced: &mut Option<&mut u64>,
) -> (usize, usize) {
    let count = V::LEN / 2;
    let room = &mut room[..step_room::<V>()];
    if !units.any_from_16::<0x80>() {
        put_part(units.narrow_16(), room, 0);
        return (count, count);
    }
    let [two, ascii] = one_or_two(units);
    if !units.any_from_16::<0x800>() {
        return (count, put_one_or_two(two, ascii.bitmask_16(), room));
    }
    let zero = units.splat(0);
    let six = units.splat_16(0x3F);
    let mut last = units.and(six).or(units.splat_16(0x80));
    let mut surrogate = match surrogates {
        Surrogates::None => zero,
        _ => tagged::<V, 0xF800>(units, 0xD800),
    };
    let below_800 = units.and(units.splat_16(0xF800)).cmpeq_16(zero);
    let other = below_800.or(surrogate);
    if !other.intersects(other) {
        return (count, put_three(first_two_of_three(units), last, room));
    }
    let mut has_pairs = surrogate.intersects(surrogate);
    if has_pairs && surrogates == Surrogates::Invalid {
        return (0, 0);
    }
    let mut highs = 0;
    if has_pairs {
        let lows = tagged::<V, 0xFC00>(units, 0xDC00).bitmask_16();
        highs = surrogate.bitmask_16() ^ lows;
        if highs << 1 & (u32::MAX >> (32 - count)) != lows {
            let Some(replaced) = replaced else { return (0, 0) };
            cold_path();
            // The last one may begin a pair.
            let unpaired = highs & !(lows >> 1) & !(1 << (count - 1)) | lows & !(highs << 1);
            **replaced += V::count(unpaired) as u64;
            if ascii.bitmask_16() | unpaired == u32::MAX >> (32 - count) {
                return (count, put_ascii_replaced(units, unpaired, room));
            }
            units = of_lanes::<V>(unpaired, units).select_16(units.splat_16(0xFFFD), units);
            surrogate = tagged::<V, 0xF800>(units, 0xD800);
            has_pairs = surrogate.intersects(surrogate);
            last = units.and(six).or(units.splat_16(0x80));
            highs &= !unpaired;
        }
    }
    // Replacing has changed only units of 800 and more. Again, because a value that two paths need is computed before both.
    let two = units.two_bytes();
    let front = ascii.select_16(units, below_800.select_16(two, first_two_of_three(units)));
    if !has_pairs {
        return (count, put_one_to_three([front, last], ascii, below_800, room));
    }
    let low = tagged::<V, 0xFC00>(units, 0xDC00);
    let w = units.wrapping_add_16(units.splat_16(0x2840)); // - D800 + 40
    let second = w.shr_16::<2>().and(six).shl_16::<8>();
    let of_high = w.shr_16::<8>().or(units.splat_16(0x80F0)).or(second);
    let of_w = units.prev::<2>(zero).and(units.splat_16(3)).shl_16::<4>();
    let third = of_w.or(units.shr_16::<6>().and(units.splat_16(0x0F))).or(units.splat_16(0x80));
    let of_low = third.or(last.shl_16::<8>());
    let front = surrogate.select_16(low.select_16(of_low, of_high), front);
    let len = put_one_to_three([front, last], ascii, below_800.or(surrogate), room);
    match highs >> (count - 1) {
        0 => (count, len),
        // Half a pair: two bytes. A branch, not arithmetic: otherwise the next address would depend on this mask.
        _ => {
            branch();
            (count - 1, len - 2)
        }
    }
}

/// Returns the first two of the three bytes of units of 800 and more, in their lanes.
#[inline(always)]
fn first_two_of_three<V: Lanes>(units: V) -> V {
    let middle = units.shr_16::<6>().and(units.splat_16(0x3F));
    units.shr_16::<12>().or(units.splat_16(0x80E0)).or(middle.shl_16::<8>())
}

/// Writes units that are ASCII, except for the `unpaired` ones. Returns the number of bytes.
#[inline(always)]
fn put_ascii_replaced<V: Lanes>(units: V, unpaired: u32, room: &mut [MaybeUninit<u8>]) -> usize {
    /// The indexes from each on.
    const FROM: [[u8; 16]; 17] = table!(17, |from| table!(16, |i| (from + i) as u8));
    let ascii = units.narrow_16();
    put_part(ascii, room, 0);
    let (mut rest, mut more) = (unpaired, 0);
    while rest != 0 {
        let at = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        room[at + more..at + more + 3].copy_from_slice(&[0xEF, 0xBF, 0xBD].map(MaybeUninit::new));
        more += 2;
        put_part(ascii.shuffle(&FROM[at + 1]), room, at + more + 1);
    }
    V::LEN / 2 + more
}

/// Returns the lanes of 16 bits whose bits of `MASK` are those of `tag`.
#[inline(always)]
pub(super) fn tagged<V: Lanes, const MASK: u16>(units: V, tag: u16) -> V {
    units.and(units.splat_16(MASK)).cmpeq_16(units.splat_16(tag))
}

/// Returns the lanes of 16 bits whose bits are set.
#[inline(always)]
fn of_lanes<V: Lanes>(bits: u32, any: V) -> V {
    /// The bit of each lane.
    const BITS: [u8; 32] = table!(32, |i| ((1_u32 << (i / 2)) >> (8 * (i % 2))) as u8);
    let of_lane = load(any, &BITS, 0);
    any.splat_16(bits as u16).and(of_lane).cmpeq_16(of_lane)
}

/// Writes the bytes of lanes of 16 bits; of a lane whose bit in `one` is set, only the first. Returns the number
/// of bytes.
#[inline(always)]
fn put_one_or_two<V: Lanes>(lanes: V, one: u32, room: &mut [MaybeUninit<u8>]) -> usize {
    let mut written = 0;
    for (group, &part) in lanes.parts().as_ref().iter().enumerate() {
        let index = one >> (8 * group) & 0xFF;
        put_part(part.shuffle(&ONE_OR_TWO[index as usize]), room, written);
        written += 16 - V::count(index);
    }
    written
}

/// Writes three bytes for each lane of 16 bits: two of `front`, one of `last`. Returns the number of bytes.
#[inline(always)]
fn put_three<V: Lanes>(front: V, last: V, room: &mut [MaybeUninit<u8>]) -> usize {
    /// The first 16 bytes, of `front` and of `last`, and the other eight.
    const THREE: [[u8; 16]; 4] = {
        let mut indexes = [[0x80; 16]; 4];
        let mut byte = 0;
        while byte < 24 {
            let (unit, part) = (byte / 3, byte % 3);
            let from_last = (part == 2) as usize;
            let index = 2 * unit + (part == 1) as usize;
            indexes[2 * (byte / 16) + from_last][byte % 16] = index as u8;
            byte += 1;
        }
        indexes
    };
    let mut written = 0;
    for (&front, &last) in front.parts().as_ref().iter().zip(last.parts().as_ref()) {
        put_part(front.shuffle(&THREE[0]).or(last.shuffle(&THREE[1])), room, written);
        put_part(front.shuffle(&THREE[2]).or(last.shuffle(&THREE[3])), room, written + 16);
        written += 24;
    }
    written
}

/// Writes, for each lane of 16 bits, one byte of `front` if `one` is set, two if `two` is set, otherwise these
/// two and one of `last`. Returns the number of bytes.
#[inline(always)]
fn put_one_to_three<V: Lanes>(
    [front, last]: [V; 2],
    one: V,
    two: V,
    room: &mut [MaybeUninit<u8>],
) -> usize {
    let less = one.splat_16(0xFF).select(one, two).bitmask();
    let mut written = 0;
    for (group, part) in front.interleave_16(last).as_ref().iter().enumerate() {
        let index = less >> (8 * group) & 0xFF;
        put_part(part.shuffle(&ONE_TO_THREE[index as usize]), room, written);
        written += 12 - V::count(index);
    }
    written
}

/// Writes `char`s of any length. Returns the number of bytes.
#[inline(always)]
fn put_chars<V: Lanes>(chars: [V; 2], room: &mut [MaybeUninit<u8>]) -> usize {
    let room = &mut room[..step_room::<V>()];
    // Not by `map`: a function that is passed on would lose the target feature.
    let (first, first_more) = encode_lanes(chars[0]);
    let (second, second_more) = encode_lanes(chars[1]);
    let more = first_more.narrow_32(second_more).bitmask();
    let (first, second) = (first.parts(), second.parts());
    let mut written = 0;
    for (group, part) in first.as_ref().iter().chain(second.as_ref()).enumerate() {
        let index = more >> (8 * group) & 0xFF;
        put_part(part.shuffle(&ONE_TO_FOUR[index as usize]), room, written);
        let twos = V::count(index & 0xAA);
        written += 4 + V::count(index & 0x55) + 2 * twos;
    }
    written
}

/// Returns the bytes of each `char` in its lane, and the number of bytes less one: its bit 0 in byte 0 of the
/// lane, bit 1 in byte 1.
#[inline(always)]
fn encode_lanes<V: Lanes>(c: V) -> (V, V) {
    let six = c.splat_32(0x3F);
    let mark = c.splat_32(0x80);
    let last = c.and(six).or(mark);
    let (third, second, first) = (c.shr_32::<6>(), c.shr_32::<12>(), c.shr_32::<18>());
    let third_of_more = third.and(six).or(mark);
    let second_of_more = second.and(six).or(mark);
    let two = third.or(c.splat_32(0xC0)).or(last.shl_32::<8>());
    let three = second.or(c.splat_32(0xE0)).or(third_of_more.shl_32::<8>()).or(last.shl_32::<16>());
    let front = first.or(c.splat_32(0xF0)).or(second_of_more.shl_32::<8>());
    let four = front.or(third_of_more.shl_32::<16>()).or(last.shl_32::<24>());
    let has_two = c.cmpgt_32(c.splat_32(0x7F));
    let has_three = c.cmpgt_32(c.splat_32(0x7FF));
    let has_four = c.cmpgt_32(c.splat_32(0xFFFF));
    let bytes = has_four.select_32(four, has_three.select_32(three, has_two.select_32(two, c)));
    let odd = has_two.xor(has_three).xor(has_four).and(c.splat_32(0x00FF));
    (bytes, odd.or(has_three.and(c.splat_32(0xFF00))))
}

#[inline(always)]
pub(super) fn put_part<P: Part>(part: P, room: &mut [MaybeUninit<u8>], at: usize) {
    part.store(&mut room[at..]);
}
