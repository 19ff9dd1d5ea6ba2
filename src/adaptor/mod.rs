//! Code that `codec`, `stream`, `io` and `payload` share.

#[cfg(any(feature = "http-body", feature = "stream"))]
pub(crate) mod chunk_text;
pub(crate) mod collect;
#[cfg(any(feature = "http-body", feature = "stream"))]
pub(crate) mod cooperate;
#[cfg(feature = "std")]
pub(crate) mod read_text;
#[cfg(feature = "std")]
pub(crate) mod stream_error;
