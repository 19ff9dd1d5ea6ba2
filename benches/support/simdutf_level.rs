//! The level of simdutf.

use utf8_simd::Level;

/// Forces the implementation of simdutf for the same instructions. The other peers have no levels above AVX2.
pub(crate) fn force_simdutf(level: Level) {
    let name = match level.name() {
        "scalar" | "portable" => "fallback",
        "sse4.1" => "westmere",
        "avx2" => "haswell",
        "avx512" => "icelake",
        "neon" => "arm64",
        name => panic!("simdutf has no implementation like {name}"),
    };
    // SAFETY: this is the only thread. simdutf reads the variable at its first call, which is later.
    unsafe { std::env::set_var("SIMDUTF_FORCE_IMPLEMENTATION", name) };
}
