//! The levels of x86-64: SSE4.1, AVX2 and AVX-512.

pub(super) mod avx2;
pub(super) mod avx512;
pub(super) mod sse41;
