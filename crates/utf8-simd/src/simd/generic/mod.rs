//! The algorithm of the vector levels, written once. State is bit 7 of each byte lane. For a block and the same block moved
//! back by one, two and three bytes (`back1`, `back2`, `back3`: loaded again, not shuffled):
//!
//! ```text
//! wanted  = back1 >= C0  or  back2 >= E0  or  back3 >= F0    this must be a continuation byte
//! here    = block is in 80..=BF                              it is one
//! good    = here and the second-byte range of E0, ED or F0 holds
//! errors |= wanted xor good
//! least   = min(least, here)                                 C0 and C1 are its 00 and 01
//! ```
//!
//! - `x >= 256 - 2^k` is bit 7 of the rounded average of `x` and `2^k - 1`. A maximum takes the place of
//!   *or*: with an *or*, LLVM splits the averages and computes them in 16 bits, at half the speed.
//! - `here` is bit 7 of the signed saturating sum of the block and 40, which makes 80..=BF C0..=FF,
//!   C0 and C1 00 and 01, other leading bytes 02..=3F and ASCII 40..=7F.
//! - `good` is bit 7 of `here` and of `here` plus an addend. The addend is `lead` (the leading byte, counted
//!   from E0 = 1; 0 for lower bytes) plus the entry of `SECOND` that its low four bits select. E0 and F0 share
//!   an entry: their addends differ by 10, as do the first second bytes that they allow.
//!
//! This does not test F5..=FF and the second byte after F4, which are rare in text: for bytes from F4 on,
//! [`test_beyond`] is needed too. Not with NEON and AVX-512, which find the addends in a table with an entry for each: see
//! `TESTS_ALL_LEADS`. Without a leading byte above DF, the narrow test `(back1 >= C0) xor here` is sufficient.
//!
//! AVX-512 combines three vectors in one instruction, and its table has an addend for each leading byte, C0 and C1 too
//! (`HAS_TERNARY`): `errors |= (wanted xor here) or (back1 >= C0 and not good)`, without `least`. Text without a leading byte
//! above EF needs no `back3`.
//!
//! The well-known algorithm with three table lookups, for both nibbles of a byte and the high nibble of the
//! next, takes 16 operations instead of 14, and has no cheaper variant for two-byte letters.
//!
//! A long input is processed in strides. The maximum of a stride and of the three bytes before it
//! decides which test it needs. A branch misprediction costs as much as a stride, so the code repeats a test
//! that was needed for a while without a branch: see [`validate_long`].
//!
//! An error is marked on the byte that shows it, one to three bytes after the start of the
//! ill-formed sequence. Marks are tested about once in a KiB; [`locate_error`] then finds the first of them,
//! and the reference determines the rest.

mod damaged;
mod decode;
mod encode;
mod lanes;
mod latin1;
mod operations;
mod recode;
mod scan;
mod steps;
mod test;
mod units;
mod unmask;
mod validate;
mod vector;

pub(super) use damaged::decode_damaged;
pub(super) use decode::{
    count, decode_chars, decode_leading_ascii, decode_short_ascii, decode_short_text, decode_utf16,
};
pub(super) use encode::{encode_chars, encode_utf16};
#[cfg(any(all(target_arch = "x86_64", target_feature = "sse2"), target_arch = "wasm32"))]
pub(super) use lanes::REVERSE_THREES;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) use lanes::{BIT_BYTES, BIT_PLACES};
pub(super) use lanes::{Lanes, Part, one_part};
pub(super) use latin1::{decode_latin1, encode_latin1};
pub(super) use operations::operations;
pub(super) use scan::{
    ascii_before, block_errors, byte_masks, cold_path, copy_before, copy_valid_prefix,
    locate_error, valid_prefix_len,
};
pub(super) use steps::{RecodeSteps, recode, recode_short};
pub(super) use test::Verdict;
pub(super) use units::{Bytes, OutputUnit};
pub(super) use unmask::unmask_and_validate_long;
#[cfg(not(target_arch = "wasm32"))]
pub(super) use validate::validate_halves;
pub(super) use validate::{
    validate_blocks, validate_long, validate_next, validate_up_to_16, validate_up_to_32,
};
#[cfg(not(target_arch = "aarch64"))]
pub(super) use vector::SECOND;
#[cfg(not(target_arch = "wasm32"))]
pub(super) use vector::SECOND_BY_LEAD;
pub(super) use vector::{SHIFT_UP, Vector, Vector16, arithmetic, first, first_mut, lanewise};
// For AVX-512. The proof calls `sequence_start`.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[allow(unused_imports)]
pub(super) use {
    damaged::PATIENCE,
    latin1::{Latin1Block, decode_blocks, encode_blocks},
    scan::{error_near, first_marks, marks, sequence_start},
    test::{Tested, any_wide, any_widest, backs_of, test_by, test_first, test_full},
    validate::{conclude, incomplete_len, is_ascii, stray_after_ascii, unfinished},
    vector::{Aligned, as_bytes, distance_to_line, load, store},
};
