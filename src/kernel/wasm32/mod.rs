//! The kernel of wasm32: vectors of 16 bytes, if the build has them.

mod lanes;
pub(super) mod simd128;
