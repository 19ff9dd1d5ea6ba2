//! Validation of 256 bytes and more, in strides.

use super::outcome::error_near;
use super::test::{
    Found, Look, any_wide, needs_beyond, never, test_beyond, test_first, test_full, test_full_at,
    test_narrow,
};
use super::vector::{Vector, distance_to_line, load};
use crate::kernel::reference;
use crate::kernel::validated::Validated;

/// The number of bytes whose maximum decides which test they need.
const STRIDE: usize = 128;
/// The number of bytes tested for ASCII at once.
const RUN: usize = 2 * STRIDE;
/// The approximate number of bytes between two tests of the marks.
const GROUP: usize = 1024;
/// The number of bytes for which the last required test is expected to be required again.
const SOON: usize = 512;

/// Validates 256 bytes and more, in strides. The last stride is aligned to the end of the input.
///
/// - ASCII is skipped, unless there were two-byte letters in the last half KiB. Near such letters, ASCII gets
///   their test too, so that a few letters in much ASCII do not cost a branch misprediction each.
/// - After a byte above DF, the full test is used, without a branch: for one stride, or for 1 KiB if the last
///   switch was less than half a KiB ago or at most 1 KiB is left.
#[inline(always)]
pub(in crate::kernel) fn validate_long<V: Vector>(token: V::Token, input: &[u8]) -> Look {
    let len = input.len();
    let (Some(first_run), Some(last_run)) = (input.first_chunk(), input.last_chunk()) else {
        return Ok(reference::validate(input));
    };
    let start = input.as_ptr();
    let to_line = distance_to_line(start);
    let last = len - STRIDE;
    let block: V = load(token, input, 0);
    let zero = block.splat(0);
    let mut found = Found::nothing(zero);
    let mut tested = 0;
    let mut at;
    if is_ascii::<V>(token, first_run) {
        // Short vectors lose less where they cross a line than they gain by alignment.
        let from = if V::LEN == 16 { RUN } else { RUN - 64 + to_line };
        at = skip_ascii::<V>(token, input, from, last_run);
        if at == len {
            return Ok(Validated::all(len));
        }
        if let Some(found) = stray_after_ascii::<V>(token, input, at) {
            return Ok(found);
        }
        tested = at.min(last);
    } else {
        if let Some(found) = Validated::stray(input, ascii_in_64::<V>(token, input, 0)) {
            return Ok(found);
        }
        // SAFETY: two blocks and more are in `input`.
        let (second, both) = unsafe {
            let at = start.add(V::LEN);
            (V::load(token, at), test_full_at(token, at, test_first(block)))
        };
        let top = block.max(second);
        if both.marks().or(top.saturating_sub(top.splat(0xF4 - 0x80))).any_high_bit()
            && let Some(near) = first_in_two_blocks([block, second])
        {
            return Ok(error_near(input, near));
        }
        at = V::LEN + to_line % V::LEN;
    }
    at = at.min(last);
    // Invariant: all bytes before `at` (3..=last) have been tested, none is marked before `tested`, and
    // `top` has the maximum from `group` on (of bytes above DF).
    let mut group = at;
    let mut top = zero;
    let mut test_at = 0;
    let mut calm_at = 0;
    let mut wide_until = 0;
    loop {
        // SAFETY: `at` is 3 or more, and at most the index of the last stride.
        let greatest = unsafe { greatest_of::<V>(token, start.add(at)) };
        top = top.max(greatest);
        let high = greatest.any_high_bit();
        let mut calm = false;
        if any_wide(greatest) {
            // Includes the rest of the input if it is short.
            let wanted = if at < wide_until { GROUP } else { STRIDE };
            let end = if len - at <= wanted.max(SOON) { len } else { at + wanted };
            // SAFETY: `at` is 3 or more; `end` is at least a stride after it, and at most `len`.
            (found, top) = unsafe { test_full_in(token, start, at, end, found, top) };
            at = end;
            wide_until = at + SOON;
        } else {
            calm = !high & (at >= calm_at);
            if !calm {
                // SAFETY: `at` is 3 or more, and a stride from there on is within `input`.
                found = unsafe { test_narrow_stride(token, start.add(at), found) };
            }
            at += STRIDE;
            calm_at = if high { at + SOON } else { calm_at };
        }
        if calm | (at >= test_at) | (at == len) {
            if !V::TESTS_ALL_LEADS && needs_beyond(top) {
                // There is an error; the caller locates it.
                if never(top).any_high_bit() {
                    return Err(tested);
                }
                // SAFETY: from `group` to `at`, a stride and more, is in `input`; `group` is 3 or more.
                found.errors = unsafe { test_beyond_in(token, start, group, at, found.errors) };
            }
            if found.marks().any_high_bit() {
                return Err(tested);
            }
            if at == len {
                return Ok(Validated::all_but_tail(input));
            }
            if calm {
                at = skip_ascii::<V>(token, input, at, last_run);
                if at == len {
                    return Ok(Validated::all(len));
                }
            }
            at = at.min(last);
            tested = at;
            group = at;
            top = zero;
            test_at = at + GROUP;
        }
        at = at.min(last);
    }
}

/// Locates the first error in the first two blocks of an input, so that the strides need not.
#[cold]
#[inline(always)]
fn first_in_two_blocks<V: Vector>([first, second]: [V; 2]) -> Option<usize> {
    let zero = first.splat(0);
    let mut found = test_first(first);
    found.errors = found.errors.or(test_beyond(first, first.prev::<1>(zero)));
    if let Some(i) = found.marks().first_high_bit() {
        return Some(i);
    }
    let backs = [second.prev::<1>(first), second.prev::<2>(first), second.prev::<3>(first)];
    found = test_full(second, backs, Found::nothing(zero));
    found.errors = found.errors.or(test_beyond(second, backs[0]));
    found.marks().first_high_bit().map(|i| V::LEN + i)
}

/// The maxima of the bytes of a stride and of the three bytes before it.
///
/// # Safety
///
/// - `STRIDE` bytes can be read at `at`, and 3 before it.
#[inline(always)]
unsafe fn greatest_of<V: Vector>(token: V::Token, at: *const u8) -> V {
    // SAFETY: all loads are within the bytes that the caller promises.
    unsafe {
        let mut greatest = V::load(token, at.sub(3));
        let mut i = 0;
        while i < STRIDE {
            greatest = greatest.max(V::load(token, at.add(i)));
            i += V::LEN;
        }
        greatest
    }
}

/// [`test_narrow`] for a stride.
///
/// # Safety
///
/// - `STRIDE` bytes can be read at `at`, and 1 before it.
#[inline(always)]
unsafe fn test_narrow_stride<V: Vector>(
    token: V::Token,
    at: *const u8,
    mut found: Found<V>,
) -> Found<V> {
    let mut i = 0;
    while i < STRIDE {
        // SAFETY: both loads are within the bytes that the caller promises.
        let [block, back1] =
            unsafe { [V::load(token, at.add(i)), V::load(token, at.add(i).sub(1))] };
        found = test_narrow(block, back1, found);
        i += V::LEN;
    }
    found
}

/// [`test_full`] for the bytes of a range, and the maximum of `top` and, if the test needs it, of the bytes.
///
/// # Safety
///
/// - The bytes from `start` to `to` can be read.
/// - `from` is 3 or more, and `LEN` or more below `to`.
#[inline(always)]
unsafe fn test_full_in<V: Vector>(
    token: V::Token,
    start: *const u8,
    from: usize,
    to: usize,
    mut found: Found<V>,
    mut top: V,
) -> (Found<V>, V) {
    let whole = from + (to - from) / V::LEN * V::LEN;
    let mut at = from;
    // SAFETY: whole blocks are tested up to `whole`, and then one that ends at `to`; three bytes are before
    // each of them.
    unsafe {
        while at < whole {
            if !V::TESTS_ALL_LEADS {
                top = top.max(V::load(token, start.add(at)));
            }
            found = test_full_at(token, start.add(at), found);
            at += V::LEN;
        }
        if at < to {
            top = top.max(V::load(token, start.add(to - V::LEN)));
            found = test_full_at(token, start.add(to - V::LEN), found);
        }
    }
    (found, top)
}

/// Whether a run is ASCII.
#[inline(always)]
fn is_ascii<V: Vector>(token: V::Token, run: &[u8; RUN]) -> bool {
    let at = run.as_ptr();
    // SAFETY: a vector is not longer than a run.
    let mut any = unsafe { V::load(token, at) };
    let mut i = V::LEN;
    while i < RUN {
        // SAFETY: the length of a vector divides that of a run, and `i` is a multiple of it.
        any = any.or(unsafe { V::load(token, at.add(i)) });
        i += V::LEN;
    }
    !any.any_high_bit()
}

/// Returns the result if the first byte from `at` on that is not ASCII begins no sequence; the bytes before `at` are
/// ASCII. This is most stray bytes in ASCII, and needs no test of sequences. Rows `locate/ascii`.
#[inline(always)]
fn stray_after_ascii<V: Vector>(token: V::Token, input: &[u8], mut at: usize) -> Option<Validated> {
    while at + 64 <= input.len() {
        let ascii = ascii_in_64::<V>(token, input, at);
        at += ascii;
        if ascii < 64 {
            break;
        }
    }
    Validated::stray(input, at)
}

/// Counts the ASCII bytes before the first other byte of the 64 bytes from `at` on.
#[inline(always)]
fn ascii_in_64<V: Vector>(token: V::Token, input: &[u8], at: usize) -> usize {
    V::mask_of_64(|i| load(token, input, at + i)).trailing_zeros() as usize
}

/// Returns an index up to which the bytes from `at` on are ASCII; `input.len()` only if all are.
///
/// `last` is the end of `input`.
#[inline(always)]
fn skip_ascii<V: Vector>(token: V::Token, input: &[u8], mut at: usize, last: &[u8; RUN]) -> usize {
    while let Some(rest) = input.get(at..)
        && let Some(run) = rest.first_chunk()
    {
        if !is_ascii::<V>(token, run) {
            return at;
        }
        at += RUN;
    }
    if at == input.len() || is_ascii::<V>(token, last) {
        input.len()
    } else {
        at.min(input.len() - 1)
    }
}

/// `errors`, and the marks of [`test_beyond`] for the bytes of a range.
///
/// # Safety
///
/// - The bytes from `start` to `to` can be read.
/// - `from` is 1 or more, and `LEN` or more below `to`.
#[cold]
#[inline(always)]
unsafe fn test_beyond_in<V: Vector>(
    token: V::Token,
    start: *const u8,
    from: usize,
    to: usize,
    mut errors: V,
) -> V {
    let last = to - V::LEN;
    let mut at = from;
    loop {
        // SAFETY: `at` is at most the index of the last block, and a byte is before it.
        let [block, back1] =
            unsafe { [V::load(token, start.add(at)), V::load(token, start.add(at - 1))] };
        errors = errors.or(test_beyond(block, back1));
        if at == last {
            return errors;
        }
        at = (at + V::LEN).min(last);
    }
}
