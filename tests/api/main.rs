//! The public types that do no input or output.

mod boundary;
#[cfg(feature = "alloc")]
mod contract;
mod protocols;
mod traits;
