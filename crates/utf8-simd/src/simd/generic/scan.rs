//! Operations that test each block before they read the next: well-formed prefixes, ASCII, the offset of an
//! error. The ill-formed parts of a block, and the result of validation from the marks of a vector level.

use core::mem::MaybeUninit;

use super::test::{Tested, test_beyond, test_first, test_full_at};
use super::vector::{Vector, load};
use crate::simd::masks::Masks;
use crate::simd::{
    BLOCK_ERRORS_LEN, BlockErrors, ErrorLen, Sequence, Validated, begins_nothing, head, reference,
    sequence, tail,
};

#[inline(always)]
pub(in crate::simd) fn valid_prefix_len<V: Vector>(any: V, input: &[u8]) -> usize {
    valid_prefix::<V, false>(any, input, &mut [])
}

#[inline(always)]
pub(in crate::simd) fn copy_valid_prefix<V: Vector>(
    any: V,
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> usize {
    valid_prefix::<V, true>(any, input, out)
}

/// Counts the well-formed bytes at the start of `input`, block by block. With `COPY`, copies the blocks to
/// `out`.
#[inline(always)]
fn valid_prefix<V: Vector, const COPY: bool>(
    any: V,
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> usize {
    assert!(!COPY || out.len() >= input.len());
    let Some(start) = input.get(..V::LEN) else { return 0 };
    let block = any.load(start);
    if COPY {
        block.store(out);
    }
    if block.any_high_bit()
        && let Some(i) = first_marks(block).first_high_bit()
    {
        return sequence_start(input, i);
    }
    let mut at = V::LEN;
    while at + V::LEN <= input.len() {
        // SAFETY: a block is at `at`, and a block or more is before it.
        let window = unsafe { input.get_unchecked(at - 3..at + V::LEN) };
        let block: V = load(any, window, 3);
        if COPY {
            // SAFETY: a block is at `at` in `input`, and `out` is not shorter.
            block.store(unsafe { out.get_unchecked_mut(at..at + V::LEN) });
        }
        if block.or(load(any, window, 0)).any_high_bit()
            && let Some(i) = marks::<V>(any, window).first_high_bit()
        {
            return sequence_start(input, at + i);
        }
        at += V::LEN;
    }
    Validated::all_but_tail(head(input, at)).valid_up_to
}

/// A line of at least this many bytes is probably long: then several vectors are tested at once.
const FEW: usize = 256;

/// Counts the ASCII bytes at the start of `input`, up to the first of `ends`.
#[inline(always)]
pub(in crate::simd) fn ascii_before<V: Vector>(any: V, ends: [u8; 2], input: &[u8]) -> usize {
    let Some(last) = input.len().checked_sub(V::LEN) else {
        return reference::ascii_before(ends, input);
    };
    let needles = ends.map(|end| any.splat(end));
    let first_end = |block: V| block.or(matches(block, needles)).first_high_bit();
    // Often the line ends in the first block.
    if let Some(i) = first_end(load(any, input, 0)) {
        return i;
    }
    let mut at = V::LEN;
    while at < last {
        if at == FEW {
            while is_plain(any, ends, tail(input, at)) {
                at += 4 * V::LEN;
            }
            if at >= last {
                break;
            }
        }
        if let Some(i) = first_end(load(any, input, at)) {
            return at + i;
        }
        at += V::LEN;
    }
    first_end(load(any, input, last)).map_or(input.len(), |i| last + i)
}

/// Whether four vectors at the start of `input` are ASCII without `ends`. `false` if `input` is shorter.
#[inline(always)]
fn is_plain<V: Vector>(any: V, ends: [u8; 2], input: &[u8]) -> bool {
    let Some(stride) = input.get(..4 * V::LEN) else { return false };
    let vectors = [0, 1, 2, 3].map(|n| load::<V>(any, stride, n * V::LEN));
    // As signed bytes, printable ASCII is above all others. The ends are usually control characters.
    let [a, b, c, d] = vectors;
    let least = a.signed_min(b).signed_min(c.signed_min(d));
    let is_printable = !least.saturating_add(any.splat(0x20_u8.wrapping_neg())).any_high_bit();
    if is_printable && ends[0] < 0x20 && ends[1] < 0x20 {
        return true;
    }
    let needles = ends.map(|end| any.splat(end));
    let [a, b, c, d] = vectors.map(|bytes| bytes.or(matches(bytes, needles)));
    !a.or(b).or(c.or(d)).any_high_bit()
}

/// Copies the bytes at the start of `input`, up to the first of `ends`, to `out`; see
/// [`Level::copy_before`](crate::simd::Level::copy_before).
#[inline(always)]
pub(in crate::simd) fn copy_before<V: Vector>(
    any: V,
    ends: [u8; 2],
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> (usize, usize) {
    let needles = ends.map(|end| any.splat(end));
    let greatest = any.splat(ends[0].max(ends[1]));
    let (mut at, mut ascii) = (0, 0);
    while let Some(stride) = input.get(at..at + 4 * V::LEN)
        && let Some(room) = out.get_mut(at..at + 4 * V::LEN)
    {
        let vectors = [0, 1, 2, 3].map(|n| load::<V>(any, stride, n * V::LEN));
        let [a, b, c, d] = vectors;
        // The ends are usually control characters, of which text has few others.
        let above = a.min(b).min(c.min(d)).saturating_sub(greatest);
        if any.splat(0x80).saturating_sub(above).any_high_bit()
            && vectors.iter().any(|bytes| matches(*bytes, needles).any_high_bit())
        {
            break;
        }
        for (n, bytes) in vectors.iter().enumerate() {
            bytes.store(&mut room[n * V::LEN..]);
        }
        if ascii == at && !a.or(b).or(c.or(d)).any_high_bit() {
            ascii += 4 * V::LEN;
        }
        at += 4 * V::LEN;
    }
    let len = input.len().min(out.len());
    let Some(last) = len.checked_sub(V::LEN) else {
        return reference::copy_before(ends, input, out);
    };
    while at < len {
        // The last vector can begin before `at`, with bytes that are none of `ends`.
        let from = at.min(last);
        let bytes = load::<V>(any, input, from);
        bytes.store(&mut out[from..]);
        let found = matches(bytes, needles);
        let is_ascii = ascii == at && !bytes.any_high_bit();
        // Returned from here, so that the offset of the next vector has no data dependency on `found`: rows `events-4k/*/1460` of
        // `benches/versus`.
        if found.any_high_bit() {
            let end = from + found.first_high_bit().unwrap_or(V::LEN);
            return (end, if is_ascii { end } else { ascii });
        }
        at = from + V::LEN;
        ascii = if is_ascii { at } else { ascii };
    }
    (at, ascii)
}

/// Finds the first error in `input` at or after `from`, if there is one.
#[inline(always)]
pub(in crate::simd) fn locate_error<V: Vector>(any: V, input: &[u8], from: usize) -> Validated {
    if input.len() < V::LEN + 3 {
        return reference::validate(input);
    }
    let last = input.len() - V::LEN;
    // With fewer than three bytes before `from`, it begins at the start.
    let mut at = from.min(last);
    if from < 3 {
        if let Some(i) = first_marks::<V>(load(any, input, 0)).first_high_bit() {
            return error_near(input, i);
        }
        at = V::LEN.min(last);
    }
    // The length of a window is a constant, so that its loads need no checks.
    while let Some(window) = input.get(at - 3..at + V::LEN) {
        if let Some(i) = marks::<V>(any, window).first_high_bit() {
            return error_near(input, at + i);
        }
        if at == last {
            return Validated::all_but_tail(input);
        }
        at = (at + V::LEN).min(last);
    }
    debug_assert!(false, "{at} of {}", input.len());
    reference::validate(input)
}

/// Marks the errors of a block with nothing before it.
#[inline(always)]
pub(in crate::simd) fn first_marks<V: Vector>(block: V) -> V {
    let back1 = block.prev::<1>(block.splat(0));
    test_first(block).marks().or(test_beyond(block, back1))
}

/// Marks the errors of the block after the first three bytes of `window`.
#[inline(always)]
pub(in crate::simd) fn marks<V: Vector>(any: V, window: &[u8]) -> V {
    let [block, back1]: [V; 2] = [load(any, window, 3), load(any, window, 2)];
    let found = test_full_at(any, window, 3, Tested::with_errors(block.splat(0)));
    found.marks().or(test_beyond(block, back1))
}

/// Finds the ill-formed parts; see [`Level::block_errors`](crate::simd::Level::block_errors).
#[inline(always)]
pub(in crate::simd) fn block_errors<V: Vector>(
    any: V,
    block: &[u8; BLOCK_ERRORS_LEN],
) -> Option<BlockErrors> {
    let bytes = |at| load::<V>(any, block, at);
    let from = |lead: u8| V::mask_of_64(|at| bytes(at).at_least(lead));
    let masks = Masks {
        high: V::mask_of_64(bytes),
        from_c0: from(0xC0),
        from_c2: from(0xC2),
        from_e0: from(0xE0),
        from_f0: from(0xF0),
        from_f5: from(0xF5),
        may_follow: V::mask_of_64(|at| {
            let vector = bytes(at);
            let before = if at == 0 { vector.splat(0) } else { bytes(at - V::LEN) };
            let back1 = vector.prev::<1>(before);
            let here = vector.saturating_add(vector.splat(0x40));
            let good = here.wrapping_add(back1.second_addends());
            good.and(test_beyond(vector, back1).xor(vector.splat(0xFF)))
        }),
    };
    Some(masks.errors())
}

/// Marks the bytes that are one of `needles`; see [`Level::byte_masks`](crate::simd::Level::byte_masks).
#[inline(always)]
pub(in crate::simd) fn byte_masks<V: Vector>(
    any: V,
    blocks: &[[u8; 64]],
    needles: [u8; 2],
    masks: &mut [u64],
) {
    let needles = needles.map(|needle| any.splat(needle));
    for (block, mask) in blocks.iter().zip(masks) {
        *mask = V::mask_of_64(|at| matches(load(any, block, at), needles));
    }
}

/// Bit 7 of each byte is whether it is one of the two.
#[inline(always)]
fn matches<V: Vector>(bytes: V, [a, b]: [V; 2]) -> V {
    // 80 - x, saturating, is 80 for 0. For any other x, bit 7 is clear. The minimum is 0 if one is.
    bytes.splat(0x80).saturating_sub(bytes.xor(a).min(bytes.xor(b)))
}

impl Validated {
    #[inline(always)]
    pub(in crate::simd) const fn all(len: usize) -> Self {
        Self { valid_up_to: len, error_len: ErrorLen::None }
    }

    /// The result if the byte at `at` begins no sequence; all bytes before it are ASCII.
    #[inline(always)]
    pub(in crate::simd) fn stray(input: &[u8], at: usize) -> Option<Self> {
        let is_stray = input.get(at).is_some_and(|&byte| begins_nothing(byte));
        is_stray.then_some(Self { valid_up_to: at, error_len: ErrorLen::One })
    }

    /// The result if at most the last bytes of `input` start a sequence, and the others are well-formed. Every
    /// byte of that sequence except the last has been tested together with the next.
    #[inline(always)]
    pub(in crate::simd) fn all_but_tail(input: &[u8]) -> Self {
        let incomplete = match *input {
            [.., 0xC2..=0xF4] => 1,
            [.., 0xC0..=0xFF] => {
                return Self { valid_up_to: input.len() - 1, error_len: ErrorLen::One };
            }
            [.., 0xE0..=0xFF, _] => 2,
            [.., 0xF0..=0xFF, _, _] => 3,
            _ => 0,
        };
        Self::all(input.len() - incomplete)
    }
}

/// Returns the start of the sequence that the byte at `near` shows to be ill-formed, or of a well-formed
/// sequence directly before it. All bytes before that index are well-formed.
#[inline(always)]
pub(in crate::simd) fn sequence_start(input: &[u8], near: usize) -> usize {
    match *head(input, near) {
        [.., 0xC0..=0xFF] => near - 1,
        [.., 0xC0..=0xFF, 0x80..=0xBF] => near - 2,
        [.., 0xC0..=0xFF, 0x80..=0xBF, 0x80..=0xBF] => near - 3,
        _ => near,
    }
}

/// Marks the path that calls it as the less likely one, like `core::hint::cold_path` from Rust 1.95 on: the jump to
/// it is the one that is taken. Row `validate/ascii/16-128`: one cycle less. Text that is not ASCII: up to one more.
#[cold]
#[inline]
pub(in crate::simd) const fn cold_path() {}

/// Prevents the compiler from replacing a branch by arithmetic.
#[cold]
#[inline(never)]
pub(super) fn branch() {}

/// Returns the result for an input in which the byte at `near` shows the first error.
#[cold]
pub(in crate::simd) fn error_near(input: &[u8], near: usize) -> Validated {
    let mut start = sequence_start(input, near);
    loop {
        let error_len = match sequence(tail(input, start)) {
            Sequence::WellFormed(len) => {
                start += len;
                continue;
            }
            Sequence::IllFormed(error_len) => error_len,
            Sequence::Incomplete => ErrorLen::None,
        };
        debug_assert!(start <= near && error_len != ErrorLen::None, "{near}: {start}");
        return Validated { valid_up_to: start, error_len };
    }
}
