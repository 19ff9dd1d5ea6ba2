//! Appending to a `String` a few bytes at a time, as quickly as into a buffer of fixed size.

use alloc::string::String;
use core::slice;

use super::ShortText;
use crate::kernel::{BLOCK, BlockErrors, Kernel, Sequence, sequence};

/// Writes well-formed text into memory that a `String` has reserved.
///
/// Writing goes in steps. [`step`](Self::step) asks once whether there is room for all that a step can
/// write, so that its writes need not: short text is written as a whole array, of which the first bytes
/// count. (A check for each write made dense errors a fifth slower: `repair` in `benches/scenarios/damaged.rs`.)
///
/// The `String` gets its new length when this is dropped. Nothing is allocated: the caller reserves.
pub(crate) struct TextOutput<'a> {
    text: &'a mut String,
    /// Invariant: the start of the memory of `text`. Nothing else accesses, moves or frees that memory
    /// while `text` is borrowed here.
    start: *mut u8,
    /// Invariant: within the capacity; all bytes before it are written and are well-formed UTF-8.
    len: usize,
    /// Invariant: 0, or at least `STEP` bytes below the capacity.
    limit: usize,
}

impl<'a> TextOutput<'a> {
    /// The room that a step needs: a word of ASCII, a block in which every byte is replaced by four, and one
    /// more block that is written whole.
    pub(crate) const STEP: usize = 8 + 4 * BLOCK + BLOCK;

    /// Begins to append about `batch` bytes to `text`: there are no more steps after these.
    #[inline(always)]
    pub(crate) fn new(text: &'a mut String, batch: usize) -> Self {
        let len = text.len();
        let limit = text.capacity().saturating_sub(Self::STEP).min(len + batch);
        // SAFETY: the bytes of `text` are not changed through this reference, which ends here.
        let start = unsafe { text.as_mut_vec() }.as_mut_ptr();
        Self { text, start, len, limit }
    }

    /// Begins a step, unless the batch is over or there is no room for one.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> Option<Step<'_, 'a>> {
        (self.len < self.limit).then_some(Step(OneWrite { out: self }))
    }

    /// Copies the well-formed text that `input` begins with, block by block, into all the room but the
    /// last `spared` bytes. Returns the number of bytes copied; see [`Kernel::copy_valid_prefix`].
    #[inline(always)]
    pub(crate) fn copy_valid_prefix(
        &mut self,
        kernel: Kernel,
        input: &[u8],
        spared: usize,
    ) -> usize {
        let room = (self.text.capacity() - self.len).saturating_sub(spared);
        // SAFETY: `room` bytes after the first `len` are within the capacity, and nothing else accesses
        // them: that is the invariant of `start`.
        let spare = unsafe { slice::from_raw_parts_mut(self.start.add(self.len).cast(), room) };
        let copied = kernel.copy_valid_prefix(input, spare);
        self.len += copied;
        copied
    }

    /// Writes `bytes`, of which the first `len` count.
    ///
    /// # Safety
    ///
    /// - There is room for `N` bytes.
    /// - The first `len` bytes, at most `N`, are well-formed UTF-8.
    #[inline(always)]
    unsafe fn write<const N: usize>(&mut self, bytes: [u8; N], len: usize) {
        debug_assert!(len <= N && N <= self.text.capacity() - self.len);
        // SAFETY: the caller promises room for `N` bytes after the first `len`.
        unsafe { self.start.add(self.len).cast::<[u8; N]>().write(bytes) };
        self.len += len;
    }
}

impl Drop for TextOutput<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the invariant of `len`.
        unsafe { self.text.as_mut_vec().set_len(self.len) };
    }
}

/// One step's right to write: ASCII, then one other thing, at most [`TextOutput::STEP`] bytes in all.
pub(crate) struct Step<'o, 'a>(OneWrite<'o, 'a>);

impl<'o, 'a> Step<'o, 'a> {
    /// Copies the ASCII at the start of `input`, at most eight bytes. Returns their number, and the rest of
    /// the step.
    #[inline(always)]
    pub(crate) fn push_ascii(self, input: &[u8]) -> (usize, OneWrite<'o, 'a>) {
        let word = first_bytes(input, 0x80);
        let high = u64::from_le_bytes(word) & 0x8080_8080_8080_8080;
        let ascii = if high == 0 { 8 } else { high.trailing_zeros() as usize / 8 };
        // SAFETY: there is room for eight bytes, and before the first high bit they are ASCII.
        unsafe { self.0.out.write(word, ascii) };
        (ascii, self.0)
    }

    /// The step without ASCII.
    #[inline(always)]
    pub(crate) fn no_ascii(self) -> OneWrite<'o, 'a> {
        self.0
    }
}

/// The right to write once, at most [`TextOutput::STEP`] bytes less the eight of ASCII.
pub(crate) struct OneWrite<'o, 'a> {
    /// Invariant: there is room for `STEP - 8` bytes.
    out: &'o mut TextOutput<'a>,
}

impl OneWrite<'_, '_> {
    /// Copies the sequence that `input` begins with, if it is well-formed: what it is, and this step again
    /// if it is not.
    #[inline(always)]
    pub(crate) fn push_sequence(self, input: &[u8]) -> Result<usize, (Sequence, Self)> {
        let len = match sequence(input) {
            Sequence::WellFormed(len) => len,
            other => return Err((other, self)),
        };
        // SAFETY: there is room for four bytes, and `sequence` has found that the first `len` are a character.
        unsafe { self.out.write::<4>(first_bytes(input, 0), len) };
        Ok(len)
    }

    /// Appends what replaces one ill-formed part, 64 bytes at most.
    #[inline(always)]
    pub(crate) fn repair(self, part: &[u8], repairs: &impl Repairs) {
        // SAFETY: there is room for four times 64 bytes.
        unsafe { self.out.repair(&part[..part.len().min(BLOCK)], repairs) };
    }

    /// Repairs the bytes that `input` begins with and that are errors by themselves, whatever follows: at
    /// most 64 of them. Returns their number.
    #[inline(always)]
    pub(crate) fn repair_strays(self, input: &[u8], repairs: &impl Repairs) -> usize {
        let mut strays = 0;
        let block = &input[..input.len().min(BLOCK)];
        for &byte in block.iter().take_while(|byte| matches!(byte, 0x80..=0xC1 | 0xF5..)) {
            // SAFETY: there is room for four times the bytes of a block.
            unsafe { self.out.repair(&[byte], repairs) };
            strays += 1;
        }
        strays
    }

    /// Copies the well-formed text of a block, and repairs the parts between. Returns where the first of
    /// these is, and its length.
    #[inline(always)]
    pub(crate) fn push_block(
        self,
        block: &SortedBlock<'_>,
        repairs: &impl Repairs,
    ) -> Option<(usize, usize)> {
        let SortedBlock { bytes, errors } = *block;
        let (mut at, mut first, mut left) = (0, None, errors.starts);
        while left != 0 {
            let part = left.trailing_zeros() as usize;
            let len = 1 + (errors.two_or_three >> part & 1) + (errors.three >> part & 1);
            // SAFETY: so far each byte of the block has become four at most, and the kernel promises that there
            // are whole characters between this part and the one before.
            unsafe { self.out.write_from_block(bytes, at, part - at) };
            at = part + len as usize;
            // SAFETY: each byte of the block becomes four at most.
            unsafe { self.out.repair(&bytes[part..at], repairs) };
            first = first.or(Some((part, len as usize)));
            left &= left - 1;
        }
        // SAFETY: each byte of the block has become four at most, and the kernel promises that there are whole
        // characters between the last part and `end`.
        unsafe { self.out.write_from_block(bytes, at, errors.end - at) };
        first
    }
}

impl TextOutput<'_> {
    /// Appends what replaces one ill-formed part.
    ///
    /// # Safety
    ///
    /// - There is room for four bytes for each byte of `part`.
    #[inline(always)]
    unsafe fn repair(&mut self, part: &[u8], repairs: &impl Repairs) {
        for &byte in part.iter().take(repairs.count(part.len())) {
            let (bytes, len) = repairs.repair(byte).bytes();
            // SAFETY: these are at most as many times four bytes as there are in `part`, and a `ShortText`.
            unsafe { self.write(bytes, len) };
        }
    }

    /// Writes the 64 bytes from `at` on, of which the first `len` count.
    ///
    /// # Safety
    ///
    /// - There is room for 64 bytes.
    /// - The first `len` bytes from `at` on, at most 64, are well-formed UTF-8.
    #[inline(always)]
    unsafe fn write_from_block(&mut self, bytes: &[u8; 2 * BLOCK], at: usize, len: usize) {
        let Some(block) = bytes[at..].first_chunk::<BLOCK>() else { return };
        // SAFETY: the caller's promises.
        unsafe { self.write(*block, len) };
    }
}

/// The first `N` bytes of `input`, with `padding` after its end.
#[inline(always)]
fn first_bytes<const N: usize>(input: &[u8], padding: u8) -> [u8; N] {
    match input.first_chunk() {
        Some(bytes) => *bytes,
        None => padded(input, padding),
    }
}

/// Fewer than `N` bytes, with `padding` after their end. (Out of line: it is for the end of a chunk.)
#[cold]
#[inline(never)]
fn padded<const N: usize>(input: &[u8], padding: u8) -> [u8; N] {
    let mut bytes = [padding; N];
    bytes[..input.len()].copy_from_slice(input);
    bytes
}

/// What replaces ill-formed parts.
pub(crate) trait Repairs {
    /// The number of texts that replace a part of `len` bytes: no more than these.
    fn count(&self, len: usize) -> usize;

    /// One of these texts, for this byte of the part.
    fn repair(&self, byte: u8) -> ShortText;
}

/// A block of 64 bytes with its ill-formed parts told from the rest, and the 64 bytes after it.
#[derive(Clone, Copy)]
pub(crate) struct SortedBlock<'a> {
    bytes: &'a [u8; 2 * BLOCK],
    /// Invariant: what a kernel said of the first 64 bytes.
    errors: BlockErrors,
}

impl<'a> SortedBlock<'a> {
    /// `None` if `kernel` has no quick way to sort.
    #[inline(always)]
    pub(crate) fn new(kernel: Kernel, bytes: &'a [u8; 2 * BLOCK]) -> Option<Self> {
        let errors = kernel.block_errors(bytes.first_chunk()?)?;
        Some(Self { bytes, errors })
    }

    /// The number of ill-formed parts.
    #[inline(always)]
    pub(crate) fn errors(&self) -> u32 {
        self.errors.starts.count_ones()
    }

    /// Where the last part ends, well-formed or not: 61 to 64.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.errors.end
    }
}
