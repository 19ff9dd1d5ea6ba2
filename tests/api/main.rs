//! The public types without input or output.

mod split;
mod sync;
mod traits;
