//! Sequences of operations on every public type, each compared with an independent answer: the
//! reference model, std, encoding_rs or a plain loop.
//!
//! Plans are made from arbitrary bytes: by proptest in `tests/random/plans.rs`, by a fuzzer in `fuzz`.

#![allow(dead_code, unreachable_pub, reason = "each user takes its own part")]

#[cfg(feature = "http-body")]
pub mod bodies;
pub mod calls;
#[cfg(feature = "http-body")]
pub mod content_types;
pub mod decoding;
pub mod dialects;
pub mod encoders;
pub mod encoding;
#[path = "../events.rs"]
mod events;
pub mod input;
pub mod levels;
pub mod lines;
pub mod payloads;
pub mod relatives;
pub mod streams;
pub mod texts;
