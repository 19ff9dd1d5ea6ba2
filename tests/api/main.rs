//! The public types that do no input or output.

mod boundary;
#[cfg(feature = "alloc")]
mod contract;
mod destinations;
#[cfg(all(feature = "codec", feature = "stream", feature = "http-body"))]
mod error_chains;
#[cfg(feature = "alloc")]
#[path = "../support/incremental_decoder.rs"]
mod incremental_decoder;
#[path = "../support/lists.rs"]
mod lists;
mod messages;
mod protocols;
mod search;
#[cfg(feature = "serde")]
mod serde;
mod slices;
mod traits;
