//! Relatives of UTF-8: dialects, UTF-16, legacy encodings, detection, terminals.

pub mod detect;
pub mod dialect;
#[cfg(feature = "alloc")]
pub mod fallback;
pub mod terminal;
pub mod utf16;
