//! What the rooms above use of `utf8_simd`, which converts well-formed bytes to text.

pub(crate) use utf8_simd::text::{first_char, split_line};
pub(crate) use utf8_simd::{Level, PrefixEnd, valid_prefix};
