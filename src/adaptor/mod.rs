//! Code that `codec`, `stream` and `payload` share.

#[cfg(any(feature = "http-body", feature = "stream"))]
pub(crate) mod chunk_text;
pub(crate) mod collect;
#[cfg(any(feature = "http-body", feature = "stream"))]
pub(crate) mod cooperate;
