//! The public types without input or output.

mod boundary;
#[cfg(feature = "alloc")]
mod contract;
mod traits;
