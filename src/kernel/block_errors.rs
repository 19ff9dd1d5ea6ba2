//! Which bytes of a block are ill-formed, all at once: for errors that are close together.

/// The number of bytes in a block.
pub(crate) const BLOCK: usize = 64;

/// The ill-formed parts that start in all but the last three bytes of a block, and so end in it. Bit
/// `i` of a mask is byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockErrors {
    /// The start of each ill-formed part: a maximal subpart, or a byte that starts no sequence.
    pub starts: u64,
    /// Which of these parts have two bytes or three.
    pub two_or_three: u64,
    /// Which of these parts have three bytes.
    pub three: u64,
    /// The index after the last sequence or part, ill-formed or not: 61 to 64.
    pub end: usize,
}
