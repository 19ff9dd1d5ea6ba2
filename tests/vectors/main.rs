//! The vectors of `tests/vectors`, at every split.

mod boundaries;
mod conformance;
#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../tools/src/bin/conformance/driver/mod.rs"]
#[allow(dead_code, reason = "each user takes its own part")]
mod driver;
#[cfg(feature = "codec")]
mod peers;
#[path = "../../crates/utf8-simd/tests/support/mod.rs"]
mod random;
#[cfg(not(feature = "codec"))]
#[path = "../support/reference.rs"]
mod reference;
mod reference_model;
#[cfg(feature = "codec")]
#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "codec")]
use support::reference;
