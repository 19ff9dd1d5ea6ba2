//! Every input of a small size.

mod cuts;
#[cfg(feature = "codec")]
#[path = "../support/lists.rs"]
mod lists;
#[cfg(feature = "codec")]
#[path = "../support/mod.rs"]
mod support;
mod values;
