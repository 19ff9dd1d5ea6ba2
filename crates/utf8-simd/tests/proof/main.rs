//! The programs that check the lemmas of `PROOF.md`.
//!
//! The sources of the levels are compiled here a second time. In this crate `core` is the crate itself, so that
//! `core::arch` in those sources is [`arch`]: instructions on vectors of expressions.

#![allow(unsafe_code, unreachable_pub)]

extern crate self as core;

/// The other items of `core` that the levels import.
pub use std::{fmt, marker, mem, ops, ptr};

#[cfg(target_arch = "x86_64")]
mod arch;
mod automaton;
#[cfg(target_arch = "x86_64")]
mod claims;
#[cfg(target_arch = "x86_64")]
mod conversions;
mod grammar;
#[cfg(target_arch = "x86_64")]
mod instructions;
#[cfg(target_arch = "x86_64")]
mod levels;
#[cfg(target_arch = "x86_64")]
mod machine;
mod parts;
#[cfg(target_arch = "x86_64")]
mod paths;
#[path = "../support/mod.rs"]
mod support;

#[path = "../../src/simd"]
#[allow(dead_code, unused_imports, unused_unsafe, rustdoc::all, clippy::all)]
mod simd {
    #[cfg(target_arch = "x86_64")]
    mod generic;
    #[cfg(target_arch = "x86_64")]
    mod masks;
    mod recode;
    mod reference;
    mod results;
    mod slices;

    #[cfg(target_arch = "x86_64")]
    mod x86_64 {
        pub(super) mod avx2;
        pub(super) mod sse41;

        pub(super) mod avx512 {
            pub(in crate::simd) mod validate;
            mod vector;
        }
    }

    pub use recode::ScalarUnit;
    use reference::{Sequence, begins_nothing, sequence};
    use results::{BLOCK_ERRORS_LEN, BlockErrors};
    pub use results::{ErrorLen, RepairedPrefix, Validated};
    pub(crate) use slices::{HIGH_BITS, Task, head, table, tail};
    use slices::{as_uninit, bytes_to_multiple};

    /// The length of the well-formed sequence at the start of `input`, and that of the ill-formed one.
    pub fn reference_sequence(input: &[u8]) -> (usize, Option<usize>) {
        match reference::sequence(input) {
            reference::Sequence::WellFormed(len) => (len, None),
            reference::Sequence::Incomplete => (0, None),
            reference::Sequence::IllFormed(len) => (0, len.get()),
        }
    }

    pub fn reference_validate(input: &[u8]) -> Validated {
        reference::validate(input)
    }

    /// What the scalar level counts, and what it copies.
    pub fn reference_prefix(input: &[u8]) -> (usize, Vec<u8>) {
        let mut out = vec![0xAA; input.len() + 1];
        // SAFETY: nothing makes the bytes uninitialized again.
        let copied = reference::copy_valid_prefix(input, unsafe { as_uninit(&mut out) });
        assert!(out[copied..].iter().all(|byte| *byte == 0xAA));
        out.truncate(copied);
        (reference::valid_prefix_len(input), out)
    }

    #[cfg(target_arch = "x86_64")]
    pub use generic_parts::*;

    #[cfg(target_arch = "x86_64")]
    mod generic_parts {
        use super::{Validated, generic, x86_64};
        use std::mem::MaybeUninit;

        pub fn all_but_tail(input: &[u8]) -> Validated {
            Validated::all_but_tail(input)
        }

        pub fn error_near(input: &[u8], near: usize) -> Validated {
            generic::error_near(input, near)
        }

        pub fn incomplete_len(last: [u8; 3]) -> usize {
            generic::incomplete_len(last)
        }

        pub fn sequence_start(input: &[u8], near: usize) -> usize {
            generic::sequence_start(input, near)
        }

        /// A vector level.
        pub struct Shipped {
            pub name: &'static str,
            /// The bytes in a vector.
            pub block: usize,
            pub validate: unsafe fn(&[u8]) -> Validated,
            pub validate_next: unsafe fn(u32, &[u8]) -> Option<usize>,
            pub valid_prefix_len: unsafe fn(&[u8]) -> usize,
            pub copy_valid_prefix: unsafe fn(&[u8], &mut [MaybeUninit<u8>]) -> usize,
        }

        /// Whether this machine can run a level: the vector instructions are simulated, but compilers use others of the same
        /// features around them.
        pub fn runs_here(name: &str) -> bool {
            let runs = utf8_simd::Level::available().any(|level| level.name() == name);
            if !runs {
                println!("{name}: skipped, this machine lacks it");
            }
            runs
        }

        /// The conversions of a vector level.
        pub struct Conversions {
            pub name: &'static str,
            /// The bytes in a vector.
            pub block: usize,
            pub decode_chars: unsafe fn(&str, &mut [u32]) -> (usize, usize),
            pub decode_utf16: unsafe fn(&str, &mut [u16]) -> (usize, usize),
            pub encode_chars: unsafe fn(&[char], &mut [u8]) -> (usize, usize),
            pub encode_utf16:
                unsafe fn(&[u16], &mut [MaybeUninit<u8>], Option<&mut u64>) -> (usize, usize),
        }

        pub const CONVERSIONS: [Conversions; 2] = [
            Conversions {
                name: "sse4.1",
                block: 16,
                decode_chars: x86_64::sse41::decode_chars,
                decode_utf16: x86_64::sse41::decode_utf16,
                encode_chars: x86_64::sse41::encode_chars,
                encode_utf16: x86_64::sse41::encode_utf16,
            },
            Conversions {
                name: "avx2",
                block: 32,
                decode_chars: x86_64::avx2::decode_chars,
                decode_utf16: x86_64::avx2::decode_utf16,
                encode_chars: x86_64::avx2::encode_chars,
                encode_utf16: x86_64::avx2::encode_utf16,
            },
        ];

        pub const SSE41: Shipped = Shipped {
            name: "sse4.1",
            block: 16,
            validate: x86_64::sse41::validate,
            validate_next: x86_64::sse41::validate_next,
            valid_prefix_len: x86_64::sse41::valid_prefix_len,
            copy_valid_prefix: x86_64::sse41::copy_valid_prefix,
        };
        pub const AVX2: Shipped = Shipped {
            name: "avx2",
            block: 32,
            validate: x86_64::avx2::validate,
            validate_next: x86_64::avx2::validate_next,
            valid_prefix_len: x86_64::avx2::valid_prefix_len,
            copy_valid_prefix: x86_64::avx2::copy_valid_prefix,
        };
        pub const AVX512: Shipped = Shipped {
            name: "avx512",
            block: 64,
            validate: x86_64::avx512::validate::validate,
            validate_next: x86_64::avx2::validate_next, // that of AVX-512
            valid_prefix_len: x86_64::avx512::validate::valid_prefix_len,
            copy_valid_prefix: x86_64::avx512::validate::copy_valid_prefix,
        };
    }
}
