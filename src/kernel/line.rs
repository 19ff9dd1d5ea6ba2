//! Where text ends: the short cut for lines.

use super::Kernel;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon;
use super::{Tier, scalar};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512, sse41};

impl Kernel {
    /// Counts bytes that `input` begins with and that are text without `end`, itself ASCII: whole
    /// characters, well-formed, and not fewer than there are of ASCII at the start.
    ///
    /// Where `end` comes next, that is a line in one pass, which takes a search and a validation
    /// otherwise. A kernel may stop at what is not ASCII; AVX-512 alone goes on.
    #[doc(hidden)]
    #[inline]
    pub fn text_before(self, end: u8, input: &[u8]) -> usize {
        debug_assert!(end.is_ascii());
        match self.0 {
            Tier::Scalar => scalar::ascii_before(end, input),
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Sse41 => unsafe { sse41::ascii_before(end, input) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => unsafe { avx2::ascii_before(end, input) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::line::text_before(end, input) },
            // SAFETY: as above.
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Tier::Neon => unsafe { neon::ascii_before(end, input) },
        }
    }
}
