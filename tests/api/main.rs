//! The public types that do no input or output.

mod boundary;
#[cfg(feature = "alloc")]
mod contract;
mod messages;
mod protocols;
mod slices;
mod traits;
