//! The tests of a block: which of its bytes show an error.

use super::vector::{Vector, load};
use crate::simd::{Validated, head, tail};

/// The result, or the index of a byte at or after which there may be an error.
pub(in crate::simd) type Verdict = Result<Validated, usize>;

/// The accumulated state of blocks.
#[derive(Clone, Copy)]
pub(in crate::simd) struct Tested<V> {
    /// Bit 7 is set for bytes that show an error.
    pub(in crate::simd) errors: V,
    /// The minimum of `here`: below 2 for C0 and C1.
    least: V,
}

impl<V: Vector> Tested<V> {
    #[inline(always)]
    pub(in crate::simd) fn with_errors(errors: V) -> Self {
        Self { errors, least: errors.splat(0xFF) }
    }

    /// Bit 7 is set where there is an error.
    #[inline(always)]
    pub(in crate::simd) fn marks(self) -> V {
        if V::HAS_TERNARY {
            return self.errors;
        }
        self.errors.or(self.least.splat(0x81).saturating_sub(self.least))
    }
}

/// The test described in the documentation of `generic`.
#[inline(always)]
pub(in crate::simd) fn test_full<V: Vector>(
    block: V,
    backs: [V; 3],
    tested: Tested<V>,
) -> Tested<V> {
    test_by::<V, 4>(block, backs, tested)
}

/// [`test_full`] for a block if no character in it, or that extends into it, has more than `LONGEST` bytes. With 1, all bytes
/// that are not ASCII are errors.
#[inline(always)]
pub(in crate::simd) fn test_by<V: Vector, const LONGEST: usize>(
    block: V,
    [back1, back2, back3]: [V; 3],
    tested: Tested<V>,
) -> Tested<V> {
    match LONGEST {
        1 => return Tested { errors: tested.errors.or(block), ..tested },
        2 => return test_narrow(block, back1, tested),
        _ => {}
    }
    let after_lead = back1.average(block.splat(0x3F));
    let third = back2.average(block.splat(0x1F));
    let fourth = match LONGEST {
        3 => block.splat(0),
        _ => back3.average(block.splat(0x0F)),
    };
    let here = block.saturating_add(block.splat(0x40));
    if V::HAS_TERNARY {
        let wanted = after_lead.or3(third, fourth);
        let pair = here.wrapping_add(back1.second_addends());
        let errors = tested.errors.or_xor(wanted, here).or_and_not(after_lead, pair);
        return Tested { errors, ..tested };
    }
    let wanted = after_lead.max(third).max(fourth);
    let good = here.and(here.wrapping_add(back1.second_addends()));
    Tested { errors: tested.errors.or(wanted.xor(good)), least: tested.least.min(here) }
}

/// The test for a block if no byte in it or in the three before it is above DF.
#[inline(always)]
pub(super) fn test_narrow<V: Vector>(block: V, back1: V, tested: Tested<V>) -> Tested<V> {
    let wanted = back1.average(block.splat(0x3F));
    let here = block.saturating_add(block.splat(0x40));
    if V::HAS_TERNARY {
        let after_valid_lead = back1.average(block.splat(0x3D));
        let errors = tested.errors.or_xor(wanted, here).or_and_not(wanted, after_valid_lead);
        return Tested { errors, ..tested };
    }
    Tested { errors: tested.errors.or(wanted.xor(here)), least: tested.least.min(here) }
}

/// The errors that the other tests do not mark: F5..=FF, and after F4 (or these) 90..=FF.
#[inline(always)]
pub(super) fn test_beyond<V: Vector>(block: V, back1: V) -> V {
    if V::TESTS_ALL_LEADS {
        return block.splat(0);
    }
    let after_f4 = back1.saturating_sub(block.splat(0xF4 - 0x80));
    never(block).or(after_f4.and(block.saturating_sub(block.splat(0x90 - 0x80))))
}

/// Marks F5 to FF, which are in no sequence.
#[inline(always)]
pub(super) fn never<V: Vector>(bytes: V) -> V {
    bytes.saturating_sub(bytes.splat(0xF5 - 0x80))
}

/// Marks the bytes that make [`test_beyond`] necessary: those above F4.
#[inline(always)]
pub(super) fn needs_beyond<V: Vector>(top: V) -> V {
    match V::TESTS_ALL_LEADS {
        true => top.splat(0),
        false => top.saturating_sub(top.splat(0xF4 - 0x80)),
    }
}

/// Whether there is a byte above DF.
#[inline(always)]
pub(in crate::simd) fn any_wide<V: Vector>(bytes: V) -> bool {
    bytes.saturating_sub(bytes.splat(0xE0 - 0x80)).any_high_bit()
}

/// Whether there is a byte above EF.
#[inline(always)]
pub(in crate::simd) fn any_widest<V: Vector>(bytes: V) -> bool {
    bytes.saturating_sub(bytes.splat(0xF0 - 0x80)).any_high_bit()
}

/// Returns a block moved back by one, two and three bytes; `before` precedes it.
#[inline(always)]
pub(in crate::simd) fn backs_of<V: Vector>(block: V, before: V) -> [V; 3] {
    [block.prev::<1>(before), block.prev::<2>(before), block.prev::<3>(before)]
}

/// [`test_full`] for a block with nothing before it.
#[inline(always)]
pub(in crate::simd) fn test_first<V: Vector>(block: V) -> Tested<V> {
    test_after(block, block.splat(0))
}

/// [`test_full`] for a block after `before`.
#[inline(always)]
pub(super) fn test_after<V: Vector>(block: V, before: V) -> Tested<V> {
    test_full(block, backs_of(block, before), Tested::with_errors(block.splat(0)))
}

/// [`test_full`] for the block at `at`, 3 or more.
#[inline(always)]
pub(super) fn test_full_at<V: Vector>(
    any: V,
    bytes: &[u8],
    at: usize,
    tested: Tested<V>,
) -> Tested<V> {
    let window = head(tail(bytes, at - 3), 3 + V::LEN);
    let backs = [load(any, window, 2), load(any, window, 1), load(any, window, 0)];
    test_full(load(any, window, 3), backs, tested)
}
