//! The ill-formed parts of a block, found at once, for errors that are close together. A level classifies the bytes into masks,
//! one bit per byte. The rest works on these masks:
//!
//! ```text
//! here        = continuation bytes
//! second      = here and may_follow, moved to the byte before     the next byte may follow this leading byte
//! whole       = two and second  or  three and second and (here >> 2)  or ...
//! well formed = ASCII, each whole sequence's leading byte, and as many after it as it has
//! ```
//!
//! Sequences do not overlap, because leading bytes differ from continuation bytes. A byte outside a
//! well-formed sequence starts an ill-formed part, unless it continues a maximal subpart.

use crate::simd::results::BlockErrors;

/// The classes of the bytes of a block. Bit `i` of a mask represents byte `i`.
pub(in crate::simd) struct Masks {
    /// The bytes from 80 on.
    pub(in crate::simd) high: u64,
    pub(in crate::simd) from_c0: u64,
    pub(in crate::simd) from_c2: u64,
    pub(in crate::simd) from_e0: u64,
    pub(in crate::simd) from_f0: u64,
    pub(in crate::simd) from_f5: u64,
    /// Set if this byte, a continuation byte, may follow the byte before it, C2 to F4. For other pairs the bit can have
    /// any value.
    pub(in crate::simd) may_follow: u64,
}

impl Masks {
    /// All but the last three bytes: a sequence that begins here ends in the block.
    const BEGINS: u64 = !0 >> 3;

    /// Finds the ill-formed parts of the block.
    #[inline(always)]
    pub(in crate::simd) fn errors(self) -> BlockErrors {
        let Self { high, from_c0, from_c2, from_e0, from_f0, from_f5, may_follow } = self;
        let here = high & !from_c0;
        let two = from_c2 & !from_e0;
        let three = from_e0 & !from_f0;
        let four = from_f0 & !from_f5;

        let second = (here & may_follow) >> 1;
        let third = here >> 2;
        let two = two & second & Self::BEGINS;
        let three_begun = three & second & Self::BEGINS;
        let four_begun = four & second & Self::BEGINS;
        let three = three_begun & third;
        let four_half = four_begun & third;
        let four = four_half & (here >> 3);

        let longest = four_half & !four;
        let longer = (three_begun & !three) | (four_begun & !four);
        let continuations = (two | three | four) << 1 | (three | four) << 2 | four << 3;
        let after_ill_formed = longer << 1 | longest << 2;
        let well_formed = !high | two | three | four | continuations;
        BlockErrors {
            starts: !(well_formed | after_ill_formed) & Self::BEGINS,
            two_or_three: longer,
            three: longest,
            end: 61 + ((continuations | after_ill_formed) >> 61).trailing_ones() as usize,
        }
    }
}
