//! All ill-formed parts of a block.

use super::test::test_beyond;
use super::vector::{Vector, load};
use crate::kernel::block_errors::{BLOCK, BlockErrors, Masks};

/// Finds the ill-formed parts; see [`Kernel::block_errors`](crate::kernel::Kernel::block_errors).
#[inline(always)]
pub(in crate::kernel) fn block_errors<V: Vector>(
    token: V::Token,
    block: &[u8; BLOCK],
) -> Option<BlockErrors> {
    let bytes = |at| load::<V>(token, block, at);
    // `x >= t` is bit 7 of the saturating difference of `x` and `t - 80`, for `t` from 80 on.
    let from =
        |lead: u8| V::mask_of_64(|at| bytes(at).saturating_sub(bytes(at).splat(lead - 0x80)));
    let masks = Masks {
        high: V::mask_of_64(bytes),
        from_c0: from(0xC0),
        from_c2: from(0xC2),
        from_e0: from(0xE0),
        from_f0: from(0xF0),
        from_f5: from(0xF5),
        may_follow: V::mask_of_64(|at| {
            let vector = bytes(at);
            let before = if at == 0 { vector.splat(0) } else { bytes(at - V::LEN) };
            let back1 = vector.prev::<1>(before);
            let here = vector.saturating_add(vector.splat(0x40));
            let good = here.wrapping_add(back1.second_addends());
            if V::TESTS_ALL_LEADS {
                return good;
            }
            good.and(test_beyond(vector, back1).xor(vector.splat(0xFF)))
        }),
    };
    Some(masks.errors())
}
