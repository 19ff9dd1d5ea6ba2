//! What follows the bytes of a step.

/// What follows the bytes passed to a state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    /// Bytes that have not arrived and may belong to the same sequence.
    More,
    /// The end of the stream, or bytes that belong to another sequence.
    End,
}
