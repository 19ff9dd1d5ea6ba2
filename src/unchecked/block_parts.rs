//! The texts and the ill-formed parts of a block: which is the next?

use crate::kernel::{BLOCK, BlockErrors, Kernel};

/// What is left of a block of 64 bytes whose ill-formed parts a kernel has found at once.
///
/// Each part then costs some shifts, and no branch depends on its bytes. (A branch that the processor predicts wrongly
/// costs as much as all else: rows `pieces/*/1-in-8` of `benches/scenarios/damaged.rs`.)
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockParts<'a> {
    /// Invariant: the rest of the input of [`new`](Self::new).
    rest: &'a [u8],
    /// Invariant: the first `clean` bytes of `rest` are whole, well-formed characters.
    clean: usize,
    /// Invariant: this mask and the others are those that a kernel returned for the block after these bytes, moved by as
    /// many bits as bytes of it have been removed. Between ill-formed parts are whole characters.
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
    /// Finds the next ill-formed parts of `input`, which does not begin inside a sequence. Returns `None` if they are not
    /// in the first `blocks` blocks, if `input` is too short, or if `kernel` has no fast method.
    #[inline]
    pub(crate) fn new(kernel: Kernel, input: &'a [u8], blocks: usize) -> Option<Self> {
        let mut clean = 0;
        for _ in 0..blocks {
            let block = input[clean..].first_chunk::<BLOCK>()?;
            let BlockErrors { starts, two_or_three, three, end } = kernel.block_errors(block)?;
            if starts != 0 {
                return Some(Self { rest: input, clean, starts, two_or_three, three });
            }
            clean += end;
        }
        None
    }

    /// Removes and returns the next part, as long as an ill-formed one is left. Text after the last one may continue
    /// after the block.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<Part<'a>> {
        if self.starts == 0 {
            return None;
        }
        let before = self.starts.trailing_zeros() as usize;
        let text_len = self.clean + before;
        let part_len = 1 + (self.two_or_three & 1) + (self.three & 1);
        let shift = if text_len > 0 { before } else { part_len as usize };
        let (part, rest) = self.rest.split_at(self.clean + shift);
        self.rest = rest;
        self.clean = 0;
        self.starts >>= shift;
        self.two_or_three >>= shift;
        self.three >>= shift;
        Some(if text_len > 0 {
            // SAFETY: by the invariant, the bytes before an ill-formed part are whole characters.
            Part::Text(unsafe { core::str::from_utf8_unchecked(part) })
        } else {
            Part::IllFormed(shift)
        })
    }
}
