//! The texts and the ill-formed parts of a block: which is the next?

use crate::kernel::{BLOCK, BlockErrors, Kernel};

/// What is left of a block of 64 bytes whose ill-formed parts a kernel has found at once.
///
/// Each part then costs some shifts, and no branch depends on its bytes. (A branch that the processor predicts wrongly
/// costs as much as all else: rows `pieces/*/1-in-8` of `benches/scenarios/damaged.rs`.)
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockParts<'a> {
    /// Invariant: the rest of a block, and the masks that a kernel returned for it, moved by as much. Between ill-formed
    /// parts are whole characters.
    rest: &'a [u8],
    starts: u64,
    two_or_three: u64,
    three: u64,
}

/// A part of a block.
pub(crate) enum Part<'a> {
    /// Text up to an ill-formed part.
    Text(&'a str),
    /// An ill-formed part of this many bytes.
    IllFormed(usize),
}

impl<'a> BlockParts<'a> {
    /// Returns the parts of the block at the start of `input`, which does not begin inside a sequence. Returns `None` if
    /// no part is ill-formed, if `input` is shorter than a block, or if `kernel` has no fast method.
    #[inline]
    pub(crate) fn new(kernel: Kernel, input: &'a [u8]) -> Option<Self> {
        let block = input.first_chunk::<BLOCK>()?;
        let BlockErrors { starts, two_or_three, three, .. } = kernel.block_errors(block)?;
        (starts != 0).then_some(Self { rest: block, starts, two_or_three, three })
    }

    /// Removes and returns the next part, as long as an ill-formed one is left. Text after the last one may continue
    /// after the block.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<Part<'a>> {
        if self.starts == 0 {
            return None;
        }
        let text_len = self.starts.trailing_zeros() as usize;
        let part_len = 1 + (self.two_or_three & 1) + (self.three & 1);
        let len = if text_len > 0 { text_len } else { part_len as usize };
        let (part, rest) = self.rest.split_at(len);
        self.rest = rest;
        self.starts >>= len;
        self.two_or_three >>= len;
        self.three >>= len;
        Some(if text_len > 0 {
            // SAFETY: by the invariant, the bytes before an ill-formed part are whole characters.
            Part::Text(unsafe { core::str::from_utf8_unchecked(part) })
        } else {
            Part::IllFormed(len)
        })
    }
}
