//! What the adaptors share.

#[cfg(any(feature = "http-body", feature = "stream"))]
pub(crate) mod chunk;
pub(crate) mod item;
