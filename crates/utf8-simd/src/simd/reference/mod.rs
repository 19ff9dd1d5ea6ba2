//! The reference: every operation in plain, safe code. It defines the correct results, and vector levels
//! call it for their tails.

pub(super) mod convert;
mod latin1;
pub(super) mod pairs;

pub use convert::surrogate_pair;
pub(super) use convert::{
    count_chars, count_utf16, decode_ascii_chars, decode_ascii_utf16, decode_chars,
    decode_damaged_chars, decode_damaged_utf16, decode_short_bytes, decode_short_chars,
    decode_short_utf16, decode_utf16, encode_chars, encode_utf16,
};
pub(super) use latin1::{decode_latin1, encode_latin1};
pub(super) use pairs::{join_pairs, split_pairs};

use core::mem::MaybeUninit;
use core::ops::RangeInclusive;

use super::recode::Recode;
use super::results::{BLOCK_ERRORS_LEN, BlockErrors, ErrorLen, Validated};
use super::slices::{HIGH_BITS, Task};

pub(in crate::simd) fn run<T: Task>(task: T) -> T::Output {
    task.run()
}

/// Converts nothing; see [`Level::recode`](crate::simd::Level::recode).
pub(in crate::simd) fn recode<R: Recode>(
    _items: &[R::From],
    _out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    (0, 0)
}

/// Finds the length of the well-formed prefix, one sequence after another, with strides over ASCII.
pub(in crate::simd) fn validate(input: &[u8]) -> Validated {
    let mut at = 0;
    while at < input.len() {
        if input[at] < 0x80 {
            at += 1 + ascii_len(&input[at + 1..]);
            continue;
        }
        match sequence(&input[at..]) {
            Sequence::WellFormed(len) => at += len,
            Sequence::Incomplete => break,
            Sequence::IllFormed(error_len) => {
                return Validated { valid_up_to: at, error_len };
            }
        }
    }
    Validated { valid_up_to: at, error_len: ErrorLen::None }
}

pub(in crate::simd) fn valid_prefix_len(input: &[u8]) -> usize {
    validate(input).valid_up_to
}

/// There is no fast method.
#[inline]
pub(in crate::simd) fn validate_next(_before: u32, _input: &[u8]) -> Option<usize> {
    None
}

/// Copies the well-formed bytes; `out` is as long as `input` or longer.
pub(in crate::simd) fn copy_valid_prefix(input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
    let valid = validate(input).valid_up_to;
    for (out, byte) in out.iter_mut().zip(&input[..valid]) {
        out.write(*byte);
    }
    valid
}

/// Counts the ASCII bytes at the start of `input`.
#[inline]
pub(crate) fn ascii_len(input: &[u8]) -> usize {
    /// The bytes tested in one step.
    const TWO_WORDS: usize = 16;
    let (blocks, tail) = input.as_chunks::<TWO_WORDS>();
    for (i, block) in blocks.iter().enumerate() {
        let (words, _) = block.as_chunks::<8>();
        let [a, b] = [0, 1].map(|i| u64::from_le_bytes(words[i]) & HIGH_BITS);
        if a != 0 {
            return i * TWO_WORDS + a.trailing_zeros() as usize / 8;
        }
        if b != 0 {
            return i * TWO_WORDS + 8 + b.trailing_zeros() as usize / 8;
        }
    }
    let ascii = tail.iter().take_while(|&&byte| byte < 0x80).count();
    blocks.len() * TWO_WORDS + ascii
}

/// Counts the ASCII bytes at the start of `input`, up to the first of `ends`.
pub(in crate::simd) fn ascii_before(ends: [u8; 2], input: &[u8]) -> usize {
    let is_counted = |byte: &u8| byte.is_ascii() & (*byte != ends[0]) & (*byte != ends[1]);
    // Compilers vectorise the test of a block.
    let (blocks, _) = input.as_chunks::<16>();
    let all = |block: &&[u8; 16]| block.iter().fold(true, |all, byte| all & is_counted(byte));
    let at = 16 * blocks.iter().take_while(all).count();
    at + super::tail(input, at).iter().take_while(|byte| is_counted(byte)).count()
}

/// Copies the bytes at the start of `input`, up to the first of `ends`. No byte is known to be ASCII.
pub(in crate::simd) fn copy_before(
    ends: [u8; 2],
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    let input = &input[..input.len().min(out.len())];
    let is_copied = |byte: &u8| (*byte != ends[0]) & (*byte != ends[1]);
    // Compilers vectorise the test of a block.
    let (blocks, _) = input.as_chunks::<16>();
    let all = |block: &&[u8; 16]| block.iter().fold(true, |all, byte| all & is_copied(byte));
    let at = 16 * blocks.iter().take_while(all).count();
    let len = at + super::tail(input, at).iter().take_while(|byte| is_copied(byte)).count();
    for (byte, room) in input[..len].iter().zip(out) {
        room.write(*byte);
    }
    (len, 0)
}

/// Whether `byte` is not ASCII and begins no sequence.
#[inline]
pub const fn begins_nothing(byte: u8) -> bool {
    matches!(byte, 0x80..=0xC1 | 0xF5..)
}

/// The start of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// One well-formed sequence of this length.
    WellFormed(usize),
    /// An incomplete sequence of one to three bytes, which is all of the input.
    Incomplete,
    /// A maximal subpart followed by a byte that cannot continue it. Length 1 includes a byte that
    /// starts no sequence.
    IllFormed(ErrorLen),
}

/// Reads the sequence at the start of `input`, which is not empty and does not start with ASCII.
///
/// The arms are the rows of RFC 3629 section 4 (Unicode Table 3-7):
///
/// ```text
/// UTF8-2 = C2..DF tail
/// UTF8-3 = E0 A0..BF tail / E1..EC 2(tail) / ED 80..9F tail / EE..EF 2(tail)
/// UTF8-4 = F0 90..BF 2(tail) / F1..F3 3(tail) / F4 80..8F 2(tail)
/// tail   = 80..BF
/// ```
#[inline(always)]
pub fn sequence(input: &[u8]) -> Sequence {
    let Some(bytes) = input.first_chunk::<4>() else { return sequence_by_rows(input) };
    match well_formed_len(u32::from_le_bytes(*bytes)) {
        // The most common errors: a byte that starts no sequence, and a leading byte without a
        // continuation byte.
        0 if !matches!(bytes, [0xC2..=0xF4, 0x80..=0xBF, ..]) => Sequence::IllFormed(ErrorLen::One),
        0 => sequence_by_rows(input),
        len => Sequence::WellFormed(len),
    }
}

/// The length of the well-formed sequence of two or more bytes at the start of four bytes, the first in
/// the lowest bits; 0 for anything else.
///
/// Masks select the marker bits of all bytes at once. Overlong forms, surrogates and values that are
/// too large then show in the highest bits of the value.
#[inline(always)]
pub(in crate::simd) fn well_formed_len(bytes: u32) -> usize {
    if bytes & 0x0000_C0E0 == 0x0000_80C0 {
        // 110vvvv. 10......: not all of v zero (C0, C1).
        return if bytes & 0x1E != 0 { 2 } else { 0 };
    }
    if bytes & 0x00C0_C0F0 == 0x0080_80E0 {
        // 1110vvvv 10v..... ........: not all zero (E0 80..9F), not 1101 1 (ED A0..BF).
        let value = bytes & 0x200F;
        return if value != 0 && value != 0x200D { 3 } else { 0 };
    }
    if bytes & 0xC0C0_C0F8 == 0x8080_80F0 {
        // 11110vvv 10vv.... ........ ........: 1 to 10000 binary (F0 90 to F4 8F).
        let value = (bytes & 0x07) << 2 | (bytes >> 12 & 0x03);
        return if matches!(value, 1..=0x10) { 4 } else { 0 };
    }
    0
}

/// Like [`sequence`], by the rows of its table only.
#[inline(never)]
fn sequence_by_rows(input: &[u8]) -> Sequence {
    let Some(first) = input.first() else { return Sequence::Incomplete };
    let (len, second) = match first {
        0xC2..=0xDF => (2, 0x80..=0xBF),
        0xE0 => (3, 0xA0..=0xBF),
        0xE1..=0xEC | 0xEE..=0xEF => (3, 0x80..=0xBF),
        0xED => (3, 0x80..=0x9F),
        0xF0 => (4, 0x90..=0xBF),
        0xF1..=0xF3 => (4, 0x80..=0xBF),
        0xF4 => (4, 0x80..=0x8F),
        _ => return Sequence::IllFormed(ErrorLen::One),
    };
    match input.get(1) {
        None => return Sequence::Incomplete,
        Some(byte) if !second.contains(byte) => return Sequence::IllFormed(ErrorLen::One),
        Some(_) => {}
    }
    for (at, error_len) in (2..len).zip([ErrorLen::Two, ErrorLen::Three]) {
        match input.get(at) {
            None => return Sequence::Incomplete,
            Some(0x80..=0xBF) => {}
            Some(_) => return Sequence::IllFormed(error_len),
        }
    }
    Sequence::WellFormed(len)
}

/// The scalar level has no fast way to find all errors of a block at once.
pub(super) fn block_errors(_: &[u8; BLOCK_ERRORS_LEN]) -> Option<BlockErrors> {
    None
}

/// Marks the bytes that are one of `needles`.
pub(super) fn byte_masks(blocks: &[[u8; 64]], needles: [u8; 2], masks: &mut [u64]) {
    for (block, mask) in blocks.iter().zip(masks) {
        let bits = block.iter().enumerate().map(|(i, b)| u64::from(needles.contains(b)) << i);
        *mask = bits.fold(0, |mask, bit| mask | bit);
    }
}

/// Unmasks `bytes` in groups that compilers vectorise.
pub(in crate::simd) fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    let (groups, rest) = bytes.as_chunks_mut::<4>();
    for group in groups {
        *group = (u32::from_ne_bytes(*group) ^ u32::from_ne_bytes(mask)).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask) {
        *byte ^= key;
    }
}

pub(in crate::simd) fn unmask_and_validate(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    unmask(bytes, mask);
    validate(bytes)
}

/// The sizes of the blocks whose maximum is computed: for long inputs, and for the rest.
const LARGE: usize = 1024;
const SMALL: usize = 64;

/// Finds the first byte that is not in `range`.
pub(in crate::simd) fn find_outside(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
    find_outside_by_blocks(bytes, range)
}

/// Subtracts the start of the range, after which bytes outside it exceed its width: the maximum of a
/// block shows whether there are any. Compilers vectorise this with the target features of the caller.
#[inline(always)]
pub(in crate::simd) fn find_outside_by_blocks(
    bytes: &[u8],
    range: RangeInclusive<u8>,
) -> Option<usize> {
    let (start, width) = (*range.start(), range.end().wrapping_sub(*range.start()));
    let is_inside = |block: &[u8]| {
        block.iter().fold(0, |most: u8, byte| most.max(byte.wrapping_sub(start))) <= width
    };
    let (large, rest) = bytes.as_chunks::<LARGE>();
    let clean = large.iter().take_while(|block| is_inside(&block[..])).count();
    let mut at = LARGE * clean;
    if clean == large.len() {
        let (small, rest) = rest.as_chunks::<SMALL>();
        at += SMALL * small.iter().take_while(|block| is_inside(&block[..])).count();
        // The last block overlaps the one before it.
        if bytes.len() - at == rest.len()
            && let Some(last) = bytes.last_chunk::<SMALL>()
            && is_inside(last)
        {
            return None;
        }
    }
    let found = bytes[at..].iter().position(|byte| byte.wrapping_sub(start) > width)?;
    Some(at + found)
}
