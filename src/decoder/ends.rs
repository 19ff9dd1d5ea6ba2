//! The beginning and the rest of a slice, without a path that panics.

pub(crate) use utf8_simd::{head, tail};
