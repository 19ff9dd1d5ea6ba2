//! The dialects of UTF-8.

mod codec;
mod cpython;
mod decoder;
#[cfg(any(feature = "alloc", feature = "codec"))]
#[path = "../support/lists.rs"]
mod lists;
#[cfg(feature = "alloc")]
#[path = "../support/dialect.rs"]
mod model;
