//! The public types without input or output.

mod boundary;
mod sync;
mod traits;
