#![doc = include_str!("../README.md")]
//!
//! # Encodings
//!
//! Conversions name the encoding of the input and that of the output: `transcode::<Utf8, Utf16>`. Every pair is possible.
//!
//! | encoding | slice of | ill-formed |
//! | --- | --- | --- |
//! | [`Utf8`] | `u8` | maximal subparts (Unicode 3.9): what one U+FFFD replaces |
//! | [`str`](prim@str) (input only) | `str` | nothing |
//! | [`Utf16`], of the machine's byte order | `u16` | unpaired surrogates |
//! | [`Utf16Le`], [`Utf16Be`] | `u8` | unpaired surrogates |
//! | [`Utf32`] | `u32` | surrogates, numbers from 110000 on |
//! | [`char`](prim@char) | `char` | nothing |
//! | [`Latin1`] | `u8` | nothing, but it lacks the characters from U+0100 on |
//!
//! # Names elsewhere
//!
//! | elsewhere | here |
//! | --- | --- |
//! | `core::str::from_utf8`, `simdutf8::compat::from_utf8` | [`from_utf8`] |
//! | simdutf: `validate_utf8` | [`is_utf8`] |
//! | simdutf: `convert_utf8_to_utf16le_with_errors` | `transcode::<Utf8, Utf16Le>` |
//! | simdutf: `convert_valid_utf8_to_utf16`; `encoding_rs::mem::convert_str_to_utf16` | `transcode::<str, Utf16>` |
//! | simdutf: `convert_utf16_to_utf8_with_replacement`; `encoding_rs::mem::convert_utf16_to_utf8` | `transcode_lossy::<Utf16, Utf8>` |
//! | simdutf: `to_well_formed_utf16` | `transcode_lossy::<Utf16, Utf16>` |
//! | simdutf: `count_utf8`, `utf16_length_from_utf8` | [`count_chars`], [`utf16_len`] |
//! | `String::from_utf16`, `String::from_utf16_lossy` | `transcode_to_string::<Utf16>`, `transcode_to_string_lossy::<Utf16>` |
//! | `str::encode_utf16().collect()` | `transcode_to_vec::<str, Utf16>` |
//!
//! # Levels
//!
//! A [`Level`] is an implementation for an instruction set. [`Level::detect`] returns the one that the functions use.
//! [`Level::set_detected`] selects another of [`Level::available`], for tests.
//!
//! | name | for |
//! | --- | --- |
//! | `avx512` | x86-64 with AVX-512 F, BW, VL, VBMI, VBMI2, BMI2, and POPCNT |
//! | `avx2` | x86-64 with AVX2 and POPCNT |
//! | `sse4.1` | x86-64 with SSE4.1 and POPCNT |
//! | `neon` | aarch64, little-endian |
//! | `simd128` | wasm32, in builds that enable `simd128` |
//! | `portable` | other machines with words of 64 bits, and wasm32 |
//! | `scalar` | every machine: the reference that the others are compared with |
//!
//! # Unsafe code
//!
//! Vector loads and stores, and the conversion of validated bytes to `str`, are unsafe code, in the modules `simd` and
//! `text`. Every documented function is safe.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod find;
mod offsets;
#[allow(unsafe_code)]
mod simd;
#[allow(unsafe_code)]
pub mod text;
mod transcode;
mod validate;

pub use find::ByteFinder;
pub use offsets::{OffsetsError, from_utf8_offsets};
pub use simd::Level;
pub use transcode::{
    Latin1, Source, Stop, Target, Transcoded, Utf8, Utf16, Utf16Be, Utf16Le, Utf32, transcode,
    transcode_lossy,
};
#[cfg(feature = "alloc")]
pub use transcode::{
    TranscodeError, from_utf8_lossy, transcode_to_string, transcode_to_string_lossy,
    transcode_to_vec, transcode_to_vec_lossy,
};
pub use validate::{
    PrefixEnd, Utf8Error, count_chars, from_utf8, from_utf8_mut, is_utf8, unmask,
    unmask_and_validate, utf16_len, valid_prefix, valid_prefix_dense,
};

// For `utf8-codec`.
#[doc(hidden)]
pub use simd::{
    BLOCK_ERRORS_LEN, BlockErrors, ErrorLen, NulForm, RepairedPrefix, ScalarUnit, Sequence,
    Validated, begins_nothing, error_at_start, head, sequence, sequence_len, surrogate_pair, tail,
    tail_mut,
};
