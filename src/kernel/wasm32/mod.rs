//! The kernel of wasm32: vectors of 16 bytes, where the build has them.

mod lanes;
pub(super) mod simd128;
