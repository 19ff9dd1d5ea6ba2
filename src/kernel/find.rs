//! Where bytes leave a range: what tells a stretch of UTF-8 from that of a dialect.

use core::ops::RangeInclusive;

use super::Kernel;
#[cfg(target_arch = "x86_64")]
use super::Tier;

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
            Tier::Avx512 => unsafe { find_outside_avx512(bytes, range) },
            _ => find_outside(bytes, range),
        }
    }
}

/// Bytes whose greatest is taken together.
const BLOCK: usize = 256;

/// The reference. Taken from the start of the range, bytes outside are those that are greater than
/// its width; the greatest of a block tells whether there are any. (In blocks that compilers make
/// vectors of.)
#[inline(always)]
fn find_outside(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
    let (start, width) = (*range.start(), range.end().wrapping_sub(*range.start()));
    let is_outside = |byte: &u8| byte.wrapping_sub(start) > width;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (n, block) in blocks.iter().enumerate() {
        let greatest = block.iter().fold(0, |most: u8, byte| most.max(byte.wrapping_sub(start)));
        if greatest > width {
            return block.iter().position(is_outside).map(|at| n * BLOCK + at);
        }
    }
    let at = rest.iter().position(is_outside)?;
    Some(blocks.len() * BLOCK + at)
}

/// The same, in vectors of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn find_outside_avx2(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
    find_outside(bytes, range)
}

/// The same, with the instructions of its tier.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn find_outside_avx512(bytes: &[u8], range: RangeInclusive<u8>) -> Option<usize> {
    find_outside(bytes, range)
}
