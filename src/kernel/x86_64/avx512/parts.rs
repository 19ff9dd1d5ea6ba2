//! The ill-formed parts of a block.
//!
//! Comparisons classify the bytes into masks, one bit per byte. The rest works on these masks:
//!
//! ```text
//! second      = here and pair, moved forward by one     the next byte may follow this leading byte
//! whole       = two and second  or  three and second and (here >> 2)  or ...
//! well formed = ASCII, each whole sequence's leading byte, and as many after it as it has
//! ```
//!
//! Sequences do not overlap, because leading bytes differ from continuation bytes. A byte outside a
//! well-formed sequence starts an ill-formed part, unless it continues a maximal subpart.

use core::arch::x86_64::*;

use crate::kernel::block_errors::BlockErrors;
use crate::kernel::x86_64::avx512::validate::{BACK, BLOCK, load, marks, second, table};

/// All but the last three bytes: a sequence that begins here ends in the block.
const BEGINS: u64 = !0 >> 3;

/// Finds the ill-formed parts; see [`Kernel::block_errors`](crate::kernel::Kernel::block_errors).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::kernel) fn block_errors(block: &[u8; BLOCK]) -> Option<BlockErrors> {
    let bytes = load(block);
    let from = |lead: u8| _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(lead as i8));
    let (high, from_c0, from_c2) = (marks(bytes), from(0xC0), from(0xC2));
    let (from_e0, from_f0, from_f5) = (from(0xE0), from(0xF0), from(0xF5));
    let here = high & !from_c0;
    let two = from_c2 & !from_e0;
    let three = from_e0 & !from_f0;
    let four = from_f0 & !from_f5;

    let back1 = _mm512_permutex2var_epi8(_mm512_setzero_si512(), table(&BACK), bytes);
    let pair = marks(_mm512_add_epi8(bytes, _mm512_permutexvar_epi8(back1, second())));
    let second = (here & pair) >> 1;
    let third = here >> 2;
    let two = two & second & BEGINS;
    let three_begun = three & second & BEGINS;
    let four_begun = four & second & BEGINS;
    let three = three_begun & third;
    let four_half = four_begun & third;
    let four = four_half & (here >> 3);

    let longest = four_half & !four;
    let longer = (three_begun & !three) | (four_begun & !four);
    let continuations = (two | three | four) << 1 | (three | four) << 2 | four << 3;
    let after_ill_formed = longer << 1 | longest << 2;
    let well_formed = !high | two | three | four | continuations;
    Some(BlockErrors {
        starts: !(well_formed | after_ill_formed) & BEGINS,
        two_or_three: longer,
        three: longest,
        end: 61 + ((continuations | after_ill_formed) >> 61).trailing_ones() as usize,
    })
}
