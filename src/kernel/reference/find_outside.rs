//! Where bytes leave a range: what tells a stretch of UTF-8 from that of a dialect.

use core::ops::RangeInclusive;

use crate::kernel::Kernel;
#[cfg(target_arch = "x86_64")]
use crate::kernel::{Tier, avx512};

impl Kernel {
    /// Finds the first byte of `bytes` that is not in `range`.
    #[doc(hidden)]
    #[inline]
    pub fn find_outside(self, bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => unsafe { find_outside_avx2(bytes, range) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::find::find_outside(bytes, range) },
            _ => find_outside(bytes, range),
        }
    }
}

/// Bytes whose greatest is taken together: where there are many, and the others.
const LARGE: usize = 1024;
const SMALL: usize = 64;

/// The reference. Taken from the start of the range, bytes outside are those that are greater than
/// its width; the greatest of a block tells whether there are any. (In blocks that compilers make
/// vectors of.)
#[inline(always)]
fn find_outside(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
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
        // The last ones once more, with those before them.
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

/// The same, in vectors of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn find_outside_avx2(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
    find_outside(bytes, range)
}
