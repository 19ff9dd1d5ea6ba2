//! Every input of a small size.

mod cuts;
#[cfg(feature = "codec")]
#[path = "../support/parallel.rs"]
mod parallel;
#[cfg(feature = "codec")]
#[path = "../support/mod.rs"]
mod support;
mod values;
