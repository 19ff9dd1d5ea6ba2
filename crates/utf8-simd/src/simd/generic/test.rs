//! The tests of a block: which of its bytes show an error.

use super::vector::{Vector, load};
use crate::simd::results::Validated;
use crate::simd::{head, tail};

/// The result, or the index of a byte at or after which there may be an error.
pub(in crate::simd) type Look = Result<Validated, usize>;

/// The accumulated state of blocks.
#[derive(Clone, Copy)]
pub(super) struct Found<V> {
    /// Bit 7 is set for bytes that show an error.
    pub(super) errors: V,
    /// The minimum of `here`: below 2 for C0 and C1.
    least: V,
}

impl<V: Vector> Found<V> {
    #[inline(always)]
    pub(super) fn nothing(any: V) -> Self {
        Self { errors: any.splat(0), least: any.splat(0xFF) }
    }

    /// Bit 7 is set where there is an error.
    #[inline(always)]
    pub(super) fn marks(self) -> V {
        self.errors.or(self.least.splat(0x81).saturating_sub(self.least))
    }
}

/// The test described in the documentation of `generic`.
#[inline(always)]
pub(super) fn test_full<V: Vector>(
    block: V,
    [back1, back2, back3]: [V; 3],
    found: Found<V>,
) -> Found<V> {
    let after_lead = back1.average(block.splat(0x3F));
    let third = back2.average(block.splat(0x1F));
    let fourth = back3.average(block.splat(0x0F));
    let wanted = after_lead.max(third).max(fourth);
    let here = block.saturating_add(block.splat(0x40));
    let good = here.and(here.wrapping_add(back1.second_addends()));
    Found { errors: found.errors.or(wanted.xor(good)), least: found.least.min(here) }
}

/// The test for a block if no byte in it or in the three before it is above DF.
#[inline(always)]
pub(super) fn test_narrow<V: Vector>(block: V, back1: V, found: Found<V>) -> Found<V> {
    let wanted = back1.average(block.splat(0x3F));
    let here = block.saturating_add(block.splat(0x40));
    Found { errors: found.errors.or(wanted.xor(here)), least: found.least.min(here) }
}

/// The errors that the other tests do not mark: F5..=FF, and after F4 (or these) 90..=FF.
#[inline(always)]
pub(super) fn test_beyond<V: Vector>(block: V, back1: V) -> V {
    let after_f4 = back1.saturating_sub(block.splat(0xF4 - 0x80));
    never(block).or(after_f4.and(block.saturating_sub(block.splat(0x90 - 0x80))))
}

/// Marks F5 to FF, which are in no sequence.
#[inline(always)]
pub(super) fn never<V: Vector>(bytes: V) -> V {
    bytes.saturating_sub(bytes.splat(0xF5 - 0x80))
}

/// Whether any byte makes [`test_beyond`] necessary. `top` is the maximum.
#[inline(always)]
pub(super) fn needs_beyond<V: Vector>(top: V) -> bool {
    top.saturating_sub(top.splat(0xF4 - 0x80)).any_high_bit()
}

/// Whether there is a byte above DF.
#[inline(always)]
pub(super) fn any_wide<V: Vector>(bytes: V) -> bool {
    bytes.saturating_sub(bytes.splat(0xE0 - 0x80)).any_high_bit()
}

/// Whether there is a byte above EF.
#[inline(always)]
pub(super) fn any_widest<V: Vector>(bytes: V) -> bool {
    bytes.saturating_sub(bytes.splat(0xF0 - 0x80)).any_high_bit()
}

/// [`test_full`] for a block with nothing before it.
#[inline(always)]
pub(super) fn test_first<V: Vector>(block: V) -> Found<V> {
    let zero = block.splat(0);
    let backs = [block.prev::<1>(zero), block.prev::<2>(zero), block.prev::<3>(zero)];
    test_full(block, backs, Found::nothing(zero))
}

/// [`test_full`] for the block at `at`, 3 or more.
///
/// # Panics
///
/// If it is not within `bytes`, or there are not three bytes before it.
#[inline(always)]
pub(super) fn test_full_at<V: Vector>(
    any: V,
    bytes: &[u8],
    at: usize,
    found: Found<V>,
) -> Found<V> {
    let window = head(tail(bytes, at - 3), 3 + V::LEN);
    let backs = [load(any, window, 2), load(any, window, 1), load(any, window, 0)];
    test_full(load(any, window, 3), backs, found)
}
