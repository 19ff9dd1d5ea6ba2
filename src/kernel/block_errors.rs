//! All ill-formed bytes of a block, found at once: for errors that are close together.

/// The number of bytes in a block.
pub(crate) const BLOCK: usize = 64;

/// The ill-formed parts of a block that start before its last three bytes, and therefore end in it. Bit `i` of
/// a mask represents byte `i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockErrors {
    /// The start of each ill-formed part: a maximal subpart, or a byte that cannot start a sequence.
    pub starts: u64,
    /// The starts of the parts of two or three bytes.
    pub two_or_three: u64,
    /// The starts of the parts of three bytes.
    pub three: u64,
    /// The index after the last sequence or part, ill-formed or not: 61 to 64.
    pub end: usize,
}
