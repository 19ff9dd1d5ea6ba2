//! Unmasking together with validation: of a short message in registers, of a long one in two passes over what the
//! nearest cache holds.
//!
//! The validator loads each block again one, two and three bytes earlier. Just after unmasking, these loads would
//! wait for the stores (a store-to-load forwarding stall).

use super::test::{Tested, any_wide, any_widest, test_by};
use super::vector::{Vector, load, store};
use crate::simd::{ErrorLen, Validated, reference};

/// The length from which a wrong guess, about all of a message from its first block, would cost too much.
const LONG: usize = 1536;
/// The number of bytes that are unmasked before they are validated: a quarter of the usual nearest cache, and a
/// multiple of four, so that each window begins with the same byte of the mask. Row `message/ascii/64KiB`.
const WINDOW: usize = 8 << 10;

/// Unmasks all of `bytes`, two vectors and more, and finds how far they are well-formed. `validate` does so for
/// unmasked bytes.
#[inline(always)]
pub(in crate::simd) fn unmask_and_validate_long<V: Vector>(
    any: V,
    bytes: &mut [u8],
    mask: [u8; 4],
    validate: impl Fn(&[u8]) -> Validated,
) -> Validated {
    if bytes.len() >= LONG {
        return by_windows(bytes, mask, validate);
    }
    // The first block determines the test: usually it suffices for the others. In registers the test for four bytes
    // takes longer than two passes.
    let keys = Keys::new(mask);
    let first: V = keys.unmask(any, bytes, 0);
    let is_valid = if !first.any_high_bit() {
        unmask_and_test::<V, 1>(any, bytes, &keys)
    } else if !any_wide(first) {
        unmask_and_test::<V, 2>(any, bytes, &keys)
    } else if !any_widest(first) {
        unmask_and_test::<V, 3>(any, bytes, &keys)
    } else {
        reference::unmask(bytes, mask);
        return validate(bytes);
    };
    if is_valid { Validated::all_but_tail(bytes) } else { validate(bytes) }
}

struct Keys([u8; 68]);

impl Keys {
    #[inline(always)]
    fn new(mask: [u8; 4]) -> Self {
        let mut keys = [0; 68];
        keys.as_chunks_mut::<4>().0.fill(mask);
        Self(keys)
    }

    /// Returns the vector at `at`, unmasked.
    #[inline(always)]
    fn unmask<V: Vector>(&self, any: V, bytes: &[u8], at: usize) -> V {
        let key: V = load(any, &self.0, at % 4);
        load::<V>(any, bytes, at).xor(key)
    }
}

/// Unmasks two vectors and more. Returns whether the result consists of characters of at most `LONGEST` bytes, 1 to 3,
/// of which the last may be incomplete.
#[inline(always)]
fn unmask_and_test<V: Vector, const LONGEST: usize>(any: V, bytes: &mut [u8], keys: &Keys) -> bool {
    let last_at = bytes.len() - V::LEN;
    // Loaded before any of these bytes is written.
    let last: V = keys.unmask(any, bytes, last_at);
    let last_back1 = keys.unmask(any, bytes, last_at - 1);
    let last_back2 = keys.unmask(any, bytes, last_at - 2);
    let zero = last.splat(0);
    let (mut before, mut found, mut top) = (zero, Tested::with_errors(zero), last);
    for bytes in bytes.chunks_exact_mut(V::LEN) {
        let block: V = keys.unmask(any, bytes, 0);
        store(block, bytes, 0);
        let backs = [block.prev::<1>(before), block.prev::<2>(before), zero];
        found = test_by::<V, LONGEST>(block, backs, found);
        before = block;
        top = top.max(block);
    }
    store(last, bytes, last_at);
    found = test_by::<V, LONGEST>(last, [last_back1, last_back2, zero], found);
    let is_longer = match LONGEST {
        1 => false,
        2 => any_wide(top),
        _ => any_widest(top),
    };
    !is_longer && !found.marks().any_high_bit()
}

/// Unmasks a window, validates it, and so on.
#[inline(always)]
fn by_windows(bytes: &mut [u8], mask: [u8; 4], validate: impl Fn(&[u8]) -> Validated) -> Validated {
    let (mut unmasked, mut valid) = (0, 0);
    loop {
        let end = bytes.len().min(unmasked + WINDOW);
        reference::unmask(&mut bytes[unmasked..end], mask);
        let found = validate(&bytes[valid..end]);
        valid += found.valid_up_to;
        if end == bytes.len() || found.error_len != ErrorLen::None {
            reference::unmask(&mut bytes[end..], mask);
            return Validated { valid_up_to: valid, ..found };
        }
        unmasked = end;
    }
}
