//! Random inputs, compared with the reference model.

#[cfg(all(all(feature = "codec", feature = "stream"), feature = "encoding_rs"))]
#[path = "../support/encodings.rs"]
mod encodings;
#[cfg(feature = "codec")]
#[path = "../support/lists.rs"]
mod lists;
#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../support/operations/mod.rs"]
mod operations;
mod plans;
mod properties;
#[cfg(feature = "codec")]
#[path = "../support/mod.rs"]
mod support;
