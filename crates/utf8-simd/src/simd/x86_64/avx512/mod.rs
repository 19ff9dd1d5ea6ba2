//! AVX-512 with VBMI: blocks of 64 bytes, without state between blocks. The algorithm is in `validate`.

mod decode;
mod encode;
mod encode_units;
mod find;
mod latin1;
mod pairs;
mod recode;
mod unmask;
mod validate;
mod vector;

pub(in crate::simd) use super::avx2::validate_next;
use crate::simd::Task;
pub(in crate::simd) use decode::{
    count_chars, count_utf16, decode_ascii_chars, decode_ascii_utf16, decode_chars,
    decode_damaged_chars, decode_damaged_utf16, decode_short_bytes, decode_short_chars,
    decode_short_utf16, decode_utf16,
};
pub(in crate::simd) use encode::encode_chars;
pub(in crate::simd) use encode_units::encode_utf16;
pub(in crate::simd) use find::{ascii_before, block_errors, byte_masks, copy_before, find_outside};
pub(in crate::simd) use latin1::{decode_latin1, encode_latin1};
pub(in crate::simd) use pairs::{join_pairs, split_pairs};
pub(in crate::simd) use recode::recode;
pub(in crate::simd) use unmask::{unmask, unmask_and_validate};
pub(in crate::simd) use validate::{copy_valid_prefix, valid_prefix_len, validate};

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn run<T: Task>(task: T) -> T::Output {
    task.run()
}
