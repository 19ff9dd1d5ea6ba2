//! Code that `codec`, `stream`, `io` and `payload` share.

#[cfg(any(feature = "http-body", feature = "stream"))]
pub(crate) mod chunk_text;
pub(crate) mod collect;
#[cfg(any(feature = "http-body", feature = "stream"))]
pub(crate) mod cooperate;
#[cfg(feature = "lines")]
pub(crate) mod read_lines;
#[cfg(feature = "std")]
pub(crate) mod read_text;
#[cfg(feature = "std")]
pub(crate) mod stream_error;
#[cfg(feature = "std")]
pub(crate) mod unwritten;
#[cfg(feature = "std")]
pub(crate) mod write_text;

/// The size of a buffer for reading or writing if none is set, in bytes.
#[cfg(feature = "std")]
pub(crate) const CAPACITY: usize = 8 * 1024;

/// Whether a source has ended.
#[cfg(feature = "lines")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceState {
    /// More may follow.
    Open,
    /// The source has ended. What it determines has not been returned.
    Ending,
    /// Only `None` is left.
    Ended,
}
