//! Operations that test each block before they read the next: well-formed prefixes, ASCII, the offset of an
//! error.

use core::mem::MaybeUninit;

use super::outcome::{error_near, sequence_start};
use super::test::{Found, test_beyond, test_first, test_full_at};
use super::vector::{Vector, load};
use crate::kernel::reference;
use crate::kernel::validated::Validated;

/// Counts bytes; see [`Kernel::valid_prefix_len`](crate::kernel::Kernel::valid_prefix_len).
#[inline(always)]
pub(in crate::kernel) fn valid_prefix_len<V: Vector>(token: V::Token, input: &[u8]) -> usize {
    valid_prefix::<V, false>(token, input, &mut [])
}

/// Copies bytes; see [`Kernel::copy_valid_prefix`](crate::kernel::Kernel::copy_valid_prefix).
///
/// # Panics
///
/// If `out` is shorter than `input`.
#[inline(always)]
pub(in crate::kernel) fn copy_valid_prefix<V: Vector>(
    token: V::Token,
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> usize {
    valid_prefix::<V, true>(token, input, out)
}

/// Counts the well-formed bytes at the start of `input`, block by block. With `COPY`, copies the blocks to
/// `out`.
#[inline(always)]
fn valid_prefix<V: Vector, const COPY: bool>(
    token: V::Token,
    input: &[u8],
    out: &mut [MaybeUninit<u8>],
) -> usize {
    assert!(!COPY || out.len() >= input.len());
    let start = input.as_ptr();
    let out = out.as_mut_ptr().cast::<u8>();
    let mut at = 0;
    while at + V::LEN <= input.len() {
        let block: V = load(token, input, at);
        // SAFETY: if `at` is not 0, it is a block or more, and a block has more than three bytes.
        let back3 = if at == 0 { block } else { unsafe { V::load(token, start.add(at - 3)) } };
        if COPY {
            // SAFETY: `out` has the length of `input` at least, of which a block is at `at`.
            unsafe { block.store(out.add(at)) };
        }
        if block.or(back3).any_high_bit()
            && let Some(i) = test_all(token, input, at, block).first_high_bit()
        {
            return sequence_start(input, at + i);
        }
        at += V::LEN;
    }
    if at == 0 { 0 } else { Validated::all_but_tail(&input[..at]).valid_up_to }
}

/// Counts the ASCII bytes at the start of `input`, up to the first `end`.
#[inline(always)]
pub(in crate::kernel) fn ascii_before<V: Vector>(token: V::Token, end: u8, input: &[u8]) -> usize {
    let Some(last) = input.len().checked_sub(V::LEN) else {
        return reference::text_before(end, input);
    };
    let mut at = 0;
    loop {
        // SAFETY: `at` is at most the index of the last block.
        let block = unsafe { V::load(token, input.as_ptr().add(at)) };
        // 80 - x, saturating, is 80 for 0. For any other x, bit 7 is clear.
        let ends = block.splat(0x80).saturating_sub(block.xor(block.splat(end)));
        if let Some(i) = block.or(ends).first_high_bit() {
            return at + i;
        }
        if at == last {
            return input.len();
        }
        at = (at + V::LEN).min(last);
    }
}

/// Finds the first error in `input` at or after `from`, if there is one.
#[inline(always)]
pub(in crate::kernel) fn locate_error<V: Vector>(
    token: V::Token,
    input: &[u8],
    from: usize,
) -> Validated {
    if input.len() < V::LEN + 3 {
        return reference::validate(input);
    }
    let start = input.as_ptr();
    let last = input.len() - V::LEN;
    // With fewer than three bytes before `from`, it begins at the start.
    let mut at = if from < 3 { 0 } else { from.min(last) };
    loop {
        // SAFETY: `at` is at most the index of the last block.
        let block = unsafe { V::load(token, start.add(at)) };
        if let Some(i) = test_all(token, input, at, block).first_high_bit() {
            return error_near(input, at + i);
        }
        if at == last {
            return Validated::all_but_tail(input);
        }
        at = (at + V::LEN).min(last);
    }
}

/// Marks the errors of `block`, which is at `at` in `input`: 0, or 3 and more.
#[inline(always)]
fn test_all<V: Vector>(token: V::Token, input: &[u8], at: usize, block: V) -> V {
    let (found, back1) = if at == 0 {
        (test_first(block), block.prev::<1>(block.splat(0)))
    } else {
        assert!(at >= 3 && at + V::LEN <= input.len());
        // SAFETY: a block from `at` on is within `input`, and so are three bytes before it.
        unsafe {
            let at = input.as_ptr().add(at);
            (test_full_at(token, at, Found::nothing(block)), V::load(token, at.sub(1)))
        }
    };
    found.marks().or(test_beyond(block, back1))
}
