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
#[cfg(feature = "std")]
pub(crate) mod write_text;

/// The size of a buffer for reading or writing if none is set, in bytes.
#[cfg(feature = "std")]
pub(crate) const CAPACITY: usize = 8 * 1024;
