//! The reference: every operation in plain, safe code. It defines the correct results, and vector kernels
//! call it for their tails.

pub(super) mod convert;
mod find_outside;
pub(super) mod pairs;
mod unmask;
mod utf16;
pub(super) mod validate;

pub(super) use convert::{
    count_chars, decode_ascii_chars, decode_ascii_utf16, decode_chars, decode_short_chars,
    decode_short_utf16, decode_utf16, encode_chars,
};
pub(super) use find_outside::find_outside;
#[cfg(target_arch = "x86_64")]
pub(super) use find_outside::find_outside_by_blocks;
pub(super) use pairs::{join_pairs, split_pairs};
pub(super) use unmask::{unmask, unmask_and_validate};
pub(super) use utf16::encode_utf16;
pub(crate) use utf16::surrogate_pair;
pub(super) use validate::{copy_valid_prefix, text_before, valid_prefix_len, validate};

use super::block_errors::{BLOCK, BlockErrors};

/// The scalar kernel has no fast way to find all errors of a block at once.
pub(super) fn block_errors(_: &[u8; BLOCK]) -> Option<BlockErrors> {
    None
}
