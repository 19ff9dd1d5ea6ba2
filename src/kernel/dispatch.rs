//! Well-formed text where errors are near: each block is tested before the next is looked at, so that
//! no block is looked at twice.

use core::mem::MaybeUninit;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon;
use super::{Kernel, Tier, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512, sse41};

impl Kernel {
    /// Counts well-formed bytes that `input` begins with, all of them or a few less: up to the last
    /// character before an error or a block's end.
    #[doc(hidden)]
    #[inline]
    pub fn clean_len(self, input: &[u8]) -> usize {
        match self.0 {
            Tier::Scalar => scalar::validate(input).valid_up_to,
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Sse41 => unsafe { sse41::clean_len(input) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => unsafe { avx2::clean_len(input) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::clean_len(input) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Tier::Neon => unsafe { neon::clean_len(input) },
        }
    }

    /// Copies what [`clean_len`](Self::clean_len) counts to the start of `out`, as far as blocks fit.
    ///
    /// So many bytes of `out` are written; those behind them may be.
    #[doc(hidden)]
    #[inline]
    pub fn copy_clean(self, input: &[u8], out: &mut [MaybeUninit<u8>]) -> usize {
        let input = &input[..input.len().min(out.len())];
        match self.0 {
            Tier::Scalar => {
                let clean = scalar::validate(input).valid_up_to;
                for (out, byte) in out.iter_mut().zip(&input[..clean]) {
                    out.write(*byte);
                }
                clean
            }
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available, and `out`
            // is as long as `input`.
            #[cfg(target_arch = "x86_64")]
            Tier::Sse41 => unsafe { sse41::copy_clean(input, out.as_mut_ptr().cast()) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => unsafe { avx2::copy_clean(input, out.as_mut_ptr().cast()) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::copy_clean(input, out.as_mut_ptr().cast()) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Tier::Neon => unsafe { neon::copy_clean(input, out.as_mut_ptr().cast()) },
        }
    }
}
