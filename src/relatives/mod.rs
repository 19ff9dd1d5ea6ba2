//! Relatives of UTF-8: dialects, UTF-16, legacy encodings, detection, terminals.

pub mod detect;
pub mod dialect;
#[cfg(feature = "alloc")]
pub mod fallback;
#[cfg(feature = "alloc")]
pub(crate) mod legacy;
pub mod terminal;
pub mod utf16;

/// What follows the bytes passed to a state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    /// Bytes that have not arrived and may belong to the same sequence.
    More,
    /// The end of the stream, or bytes that belong to another sequence.
    End,
}

#[cfg(feature = "alloc")]
use crate::core::decoder::buffer::{Progress, Status};

/// Divides the `used` bytes of a chunk into bytes read and bytes held.
#[cfg(feature = "alloc")]
fn progress<E>(used: usize, held: &[u8], written: usize, status: Status<E>) -> Progress<E> {
    let held = match status {
        Status::Done => held.len().min(used),
        _ => 0,
    };
    Progress { read: used - held, held, written, status }
}
