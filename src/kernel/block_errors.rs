//! Which bytes of a block are ill-formed, all at once: what errors that stand close together are
//! repaired by.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::{Kernel, Tier};

/// Bytes that are looked at.
pub(crate) const BLOCK: usize = 64;

/// The sequences and ill-formed parts that begin in all but the last three bytes of a block, and so
/// end in it. Bit `i` of a mask stands for byte `i`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Where an ill-formed part begins: a maximal subpart, or a byte that can begin nothing.
    pub ill_formed: u64,
    /// Which of these are two bytes long, or three.
    pub longer: u64,
    /// Which of these are three bytes long.
    pub longest: u64,
    /// Where the last of all ends, ill-formed or not: 61 to 64.
    pub end: usize,
}

impl Kernel {
    /// Tells the ill-formed parts of a block that begins where a sequence may. `None`: this kernel has
    /// no quick way to.
    #[doc(hidden)]
    #[inline]
    pub fn parts(self, block: &[u8; BLOCK]) -> Option<Parts> {
        match self.0 {
            // SAFETY: a `Kernel` is made only of a tier that has been found to be available.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => Some(unsafe { avx512::parts::parts(block) }),
            _ => {
                let _ = block;
                None
            }
        }
    }
}
