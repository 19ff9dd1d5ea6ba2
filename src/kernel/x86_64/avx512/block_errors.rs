//! The ill-formed parts of a block. Comparisons return masks.

use core::arch::x86_64::*;

use crate::kernel::block_errors::{BlockErrors, Masks};
use crate::kernel::x86_64::avx512::validate::{BACK, BLOCK, load, marks, second, table};

/// Finds the ill-formed parts; see [`Kernel::block_errors`](crate::kernel::Kernel::block_errors).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::kernel) fn block_errors(block: &[u8; BLOCK]) -> Option<BlockErrors> {
    let bytes = load(block);
    let from = |lead: u8| _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(lead as i8));
    let back1 = _mm512_permutex2var_epi8(_mm512_setzero_si512(), table(&BACK), bytes);
    let masks = Masks {
        high: marks(bytes),
        from_c0: from(0xC0),
        from_c2: from(0xC2),
        from_e0: from(0xE0),
        from_f0: from(0xF0),
        from_f5: from(0xF5),
        may_follow: marks(_mm512_add_epi8(bytes, _mm512_permutexvar_epi8(back1, second()))),
    };
    Some(masks.errors())
}
