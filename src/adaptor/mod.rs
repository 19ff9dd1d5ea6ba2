//! What `stream`, `io` and `http` share.

pub(crate) mod charset;
pub(crate) mod charset_reader;
pub(crate) mod chunks;
pub(crate) mod legacy;
pub(crate) mod read_text;
pub(crate) mod stream_error;
pub(crate) mod utf8_byte_reader;
pub(crate) mod utf8_lines;
#[cfg(feature = "encoding_rs")]
mod whatwg_decoder;
pub(crate) mod write_text;

pub(crate) use charset_reader::CharsetStep;
pub(crate) use chunks::{ChunkText, MAX_TURNS, Turns, coop_yield};
pub(crate) use read_text::{Advance, ReadText};
pub(crate) use stream_error::StreamError;
pub(crate) use utf8_lines::{NextLine, ReadLines};
pub(crate) use write_text::{MIN_SHARED, Outgoing, WriteItem, WriteText, formatting_failed};

/// The size of a buffer for reading or writing if none is set, in bytes.
pub(crate) const CAPACITY: usize = 8 * 1024;

/// The largest size of a buffer for reading, in bytes. It is allocated at a read, which a peer causes.
pub(crate) const MAX_CAPACITY: usize = 1 << 24;

/// What follows an error of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterError {
    /// The bytes that follow those before it: nothing is lost.
    Next,
    /// Bytes, of which the first may be missing.
    Gap,
    /// Nothing.
    End,
}

/// Whether a source has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceState {
    /// More may follow.
    Open,
    /// The source has ended. What it determines has not been returned.
    Ending,
    /// Only `None` is left.
    Ended,
}
