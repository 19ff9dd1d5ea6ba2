//! Finds the first byte outside a range, to separate UTF-8 from text in a dialect.

use core::ops::RangeInclusive;

/// The sizes of the blocks whose maximum is computed: for long inputs, and for the rest.
const LARGE: usize = 1024;
const SMALL: usize = 64;

/// Finds the first byte that is not in `range`.
pub(in crate::kernel) fn find_outside(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
    find_outside_by_blocks(bytes, range)
}

/// Subtracts the start of the range, after which bytes outside it exceed its width: the maximum of a
/// block shows whether there are any. Compilers vectorise this with the target features of the caller.
#[inline(always)]
pub(in crate::kernel) fn find_outside_by_blocks(
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
