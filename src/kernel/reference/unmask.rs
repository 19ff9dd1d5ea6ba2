//! WebSocket payloads: unmasking (RFC 6455 section 5.3), alone and together with validation.

use crate::kernel::{Kernel, Stop};
#[cfg(target_arch = "x86_64")]
use crate::kernel::{Tier, avx512};

impl Kernel {
    /// Unmasks `bytes` in place: `bytes[i] ^= mask[i % 4]`. Where a payload comes in pieces, the mask
    /// for the next one is this one rotated left by the length of the piece.
    #[doc(hidden)]
    #[inline]
    pub fn unmask(self, bytes: &mut [u8], mask: [u8; 4]) {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::unmask::unmask(bytes, mask) },
            _ => unmask(bytes, mask),
        }
    }

    /// Unmasks all of `bytes` in place, as [`unmask`](Self::unmask), and finds how far they then are
    /// well-formed, as [`validate`](Self::validate).
    #[doc(hidden)]
    #[inline]
    pub fn unmask_and_validate(self, bytes: &mut [u8], mask: [u8; 4]) -> Stop {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => unsafe { avx512::unmask::unmask_and_validate(bytes, mask) },
            _ => {
                unmask(bytes, mask);
                self.validate(bytes)
            }
        }
    }
}

/// The reference. (In groups that compilers make vectors of.)
pub(in crate::kernel) fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    let (groups, rest) = bytes.as_chunks_mut::<4>();
    for group in groups {
        *group = (u32::from_ne_bytes(*group) ^ u32::from_ne_bytes(mask)).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask) {
        *byte ^= key;
    }
}
