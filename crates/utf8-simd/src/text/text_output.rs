//! Appends to a `String` a few bytes at a time, as fast as to a buffer of fixed size. Encodes
//! UTF-16 and Latin-1 directly into the memory of a `String`.

use alloc::string::String;
use core::slice;

use super::parts::ShortText;
use crate::simd::{
    BLOCK_ERRORS_LEN, BlockErrors, HIGH_BITS, Level, Sequence, begins_nothing, sequence,
};

/// Writes well-formed text into memory that a `String` has reserved.
///
/// Text is written in steps. [`step`](Self::step) checks once that the largest step fits, so its writes need no
/// check: they store a short text as a whole array, of which only the first bytes count. A check for each write
/// made dense errors a fifth slower: `repair` in `benches/scenarios/damaged.rs`.
///
/// Dropping this value sets the length of the `String`. It allocates nothing: the caller reserves the memory.
#[derive(Debug)]
pub struct TextOutput<'a> {
    text: &'a mut String,
    /// Invariant: the start of the memory of `text`. Nothing else accesses, moves or frees that memory
    /// while `text` is borrowed here.
    start: *mut u8,
    /// Invariant: within the capacity; all bytes before this index are written and are well-formed UTF-8.
    len: usize,
    /// Invariant: at least `STEP` bytes below the capacity.
    limit: usize,
}

impl<'a> TextOutput<'a> {
    /// The most bytes that a step writes: a word of ASCII, a block in which four bytes replace each byte, and one
    /// more block that is stored whole.
    pub const STEP: usize = 8 + 4 * BLOCK_ERRORS_LEN + BLOCK_ERRORS_LEN;

    /// Prepares to append about `batch` bytes to `text`; after these, there are no more steps. Returns `None` if
    /// the capacity does not suffice for them and one more step.
    #[inline(always)]
    pub fn new(text: &'a mut String, batch: usize) -> Option<Self> {
        let len = text.len();
        let limit = (text.capacity() - len).checked_sub(Self::STEP)?;
        if limit < batch {
            return None;
        }
        // SAFETY: the bytes of `text` are not changed through this reference, which ends here.
        let start = unsafe { text.as_mut_vec() }.as_mut_ptr();
        Some(Self { text, start, len, limit: len + batch })
    }

    /// Begins a step, unless the batch is complete.
    #[inline(always)]
    pub fn step(&mut self) -> Option<WriteStep<'_, 'a>> {
        (self.len < self.limit).then_some(WriteStep(OneWrite { out: self }))
    }

    /// Copies the well-formed text at the start of `input`, block by block, and leaves the last `spared` bytes of
    /// the room free. Returns the number of bytes copied; see [`Level::copy_valid_prefix`].
    #[inline(always)]
    pub fn copy_valid_prefix(&mut self, level: Level, input: &[u8], spared: usize) -> usize {
        let room = (self.text.capacity() - self.len).saturating_sub(spared);
        // SAFETY: `room` bytes after the first `len` are within the capacity, and by the invariant of `start`
        // nothing else accesses them.
        let spare = unsafe { slice::from_raw_parts_mut(self.start.add(self.len).cast(), room) };
        let copied = level.copy_valid_prefix(input, spare);
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

/// The right to write one step: ASCII, then one other item, at most [`TextOutput::STEP`] bytes in all.
#[derive(Debug)]
pub struct WriteStep<'o, 'a>(OneWrite<'o, 'a>);

impl<'o, 'a> WriteStep<'o, 'a> {
    /// Copies the ASCII at the start of `input`, at most eight bytes. Returns their number, and the rest of
    /// the step.
    #[inline(always)]
    pub fn push_ascii(self, input: &[u8]) -> (usize, OneWrite<'o, 'a>) {
        let word = first_bytes(input, 0x80);
        let high = u64::from_le_bytes(word) & HIGH_BITS;
        let ascii = if high == 0 { 8 } else { high.trailing_zeros() as usize / 8 };
        // SAFETY: there is room for eight bytes, and before the first high bit they are ASCII.
        unsafe { self.0.out.write(word, ascii) };
        (ascii, self.0)
    }

    /// Continues the step without ASCII.
    #[inline(always)]
    pub fn no_ascii(self) -> OneWrite<'o, 'a> {
        self.0
    }
}

/// The right to write once, at most [`TextOutput::STEP`] bytes minus the eight of ASCII.
#[derive(Debug)]
pub struct OneWrite<'o, 'a> {
    /// Invariant: there is room for `STEP - 8` bytes.
    out: &'o mut TextOutput<'a>,
}

impl OneWrite<'_, '_> {
    /// Copies the sequence at the start of `input`, which is not empty and does not begin with ASCII, if it is well-formed. Returns
    /// the sequence, and this step if nothing was copied.
    #[inline(always)]
    pub fn push_sequence(self, input: &[u8]) -> Result<usize, (Sequence, Self)> {
        let len = match sequence(input) {
            Sequence::WellFormed(len) => len,
            other => return Err((other, self)),
        };
        // SAFETY: there is room for four bytes, and `sequence` has found that the first `len` are a character.
        unsafe { self.out.write::<4>(first_bytes(input, 0), len) };
        Ok(len)
    }

    /// Appends the repair of one ill-formed part. Of a longer one, only the first 64 bytes are repaired.
    #[inline(always)]
    pub fn repair(self, part: &[u8], repairs: &impl Repairs) {
        // SAFETY: there is room for four times 64 bytes.
        unsafe { self.out.repair(&part[..part.len().min(BLOCK_ERRORS_LEN)], repairs) };
    }

    /// Repairs the bytes at the start of `input` that are errors whatever follows them, at most 64. Returns their
    /// number.
    #[inline(always)]
    pub fn repair_strays(self, input: &[u8], repairs: &impl Repairs) -> usize {
        let mut strays = 0;
        let block = &input[..input.len().min(BLOCK_ERRORS_LEN)];
        for byte in block.iter().take_while(|byte| begins_nothing(**byte)) {
            // SAFETY: there is room for four times the bytes of a block.
            unsafe { self.out.repair(slice::from_ref(byte), repairs) };
            strays += 1;
        }
        strays
    }

    /// Copies the well-formed text of a block, and repairs its ill-formed parts. Returns the index and the length
    /// of the first part.
    #[inline(always)]
    pub fn push_block(
        self,
        block: &SortedBlock<'_>,
        repairs: &impl Repairs,
    ) -> Option<(usize, usize)> {
        let SortedBlock { bytes, errors } = *block;
        let (mut at, mut first, mut left) = (0, None, errors.starts);
        while left != 0 {
            let part = left.trailing_zeros() as usize;
            let len = 1 + (errors.two_or_three >> part & 1) + (errors.three >> part & 1);
            // SAFETY: each byte of the block so far has become at most four, and the level promises that the
            // bytes between this part and the one before are whole characters.
            unsafe { self.out.write_from_block(bytes, at, part - at) };
            at = part + len as usize;
            // SAFETY: each byte of the block becomes at most four.
            unsafe { self.out.repair(&bytes[part..at], repairs) };
            first = first.or(Some((part, len as usize)));
            left &= left - 1;
        }
        // SAFETY: each byte of the block has become at most four, and the level promises that the bytes
        // between the last part and `end` are whole characters.
        unsafe { self.out.write_from_block(bytes, at, errors.end - at) };
        first
    }
}

impl TextOutput<'_> {
    /// Appends the repair of one ill-formed part.
    ///
    /// # Safety
    ///
    /// - There is room for four bytes for each byte of `part`.
    #[inline(always)]
    unsafe fn repair<R: Repairs>(&mut self, part: &[u8], repairs: &R) {
        repairs.note(part);
        let replaced = match R::REPLACED {
            Replaced::Nothing => return,
            Replaced::Part => &part[..part.len().min(1)],
            Replaced::EachByte => part,
        };
        for &byte in replaced {
            let (bytes, len) = repairs.repair(byte).bytes();
            // SAFETY: there is at most one `ShortText` of up to four bytes for each byte of `part`.
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
    unsafe fn write_from_block(
        &mut self,
        bytes: &[u8; 2 * BLOCK_ERRORS_LEN],
        at: usize,
        len: usize,
    ) {
        let Some(block) = bytes[at..].first_chunk::<BLOCK_ERRORS_LEN>() else { return };
        // SAFETY: the caller promises the room, and that the bytes of `block` up to `len` are well-formed.
        unsafe { self.write(*block, len) };
    }
}

/// Returns the first `N` bytes of `input`, with `padding` after its end.
#[inline(always)]
fn first_bytes<const N: usize>(input: &[u8], padding: u8) -> [u8; N] {
    match input.first_chunk() {
        Some(bytes) => *bytes,
        None => padded(input, padding),
    }
}

/// Like [`padded`], for fewer than `N` bytes. Out of line: only the end of a chunk needs it.
#[cold]
#[inline(never)]
fn padded<const N: usize>(input: &[u8], padding: u8) -> [u8; N] {
    let mut bytes = [padding; N];
    bytes[..input.len()].copy_from_slice(input);
    bytes
}

/// The repairs of ill-formed parts.
pub trait Repairs {
    /// What a text replaces.
    const REPLACED: Replaced;

    /// Returns the text that replaces this byte, or the part that begins with it: U+FFFD, unless implemented.
    #[inline(always)]
    fn repair(&self, _byte: u8) -> ShortText {
        ShortText::REPLACEMENT
    }

    /// Called once for each part, in order, with the part as a slice of the input.
    #[inline(always)]
    fn note(&self, _part: &[u8]) {}
}

/// What a text of [`Repairs`] replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// An ill-formed part has no text.
    Nothing,
    /// An ill-formed part has one text.
    Part,
    /// Each byte of an ill-formed part has a text.
    EachByte,
}

/// A block of 64 bytes with the masks of its ill-formed parts, and the 64 bytes after it.
#[derive(Clone, Copy, Debug)]
pub struct SortedBlock<'a> {
    bytes: &'a [u8; 2 * BLOCK_ERRORS_LEN],
    /// Invariant: the masks that a level returned for the first 64 bytes.
    errors: BlockErrors,
}

impl<'a> SortedBlock<'a> {
    /// Returns `None` if `level` has no fast method for this block.
    #[inline(always)]
    pub fn new(level: Level, bytes: &'a [u8; 2 * BLOCK_ERRORS_LEN]) -> Option<Self> {
        let errors = level.block_errors(bytes.first_chunk()?)?;
        Some(Self { bytes, errors })
    }

    /// Returns the number of ill-formed parts.
    #[inline(always)]
    pub fn errors(&self) -> u32 {
        self.errors.starts.count_ones()
    }

    /// Returns the index after the last sequence or part, 61 to 64.
    #[inline(always)]
    pub fn end(&self) -> usize {
        self.errors.end
    }
}

/// Appends the text of `units` to `text`, as far as it fits in the capacity. Stops before an unpaired surrogate, unless
/// these are `replaced` by U+FFFD and counted, and before a high surrogate at the end. Returns the units read. Allocates
/// nothing.
#[inline]
pub fn push_utf16(
    level: Level,
    units: &[u16],
    replaced: Option<&mut u64>,
    text: &mut String,
) -> usize {
    // SAFETY: the bytes in use are not changed, and the length grows over well-formed text only.
    let bytes = unsafe { text.as_mut_vec() };
    let (read, written) =
        level.encode_utf16_into_spare(units, bytes.spare_capacity_mut(), replaced);
    let len = bytes.len() + written;
    // SAFETY: the level promises that the first `written` bytes of the spare capacity are now initialised
    // and are whole, well-formed characters. `tests/levels/utf16.rs` checks every level.
    unsafe { bytes.set_len(len) };
    read
}

/// Appends `latin1` to `text`, each byte as one character.
pub fn push_latin1(level: Level, latin1: &[u8], text: &mut String) {
    /// The most bytes that are converted at once, so that the room for them is still in the cache.
    const BLOCK: usize = 4096;
    if latin1.len() > BLOCK {
        return latin1.chunks(BLOCK).for_each(|block| push_latin1(level, block, text));
    }
    let len = text.len();
    // SAFETY: the bytes in use are not changed. The level promises that the first `written` bytes after them are whole,
    // well-formed characters (`tests/levels/latin1.rs` checks every level); the others, which can be anything, are removed.
    let bytes = unsafe { text.as_mut_vec() };
    bytes.resize(len + 2 * latin1.len(), 0);
    let (_, written) = level.encode_latin1(latin1, &mut bytes[len..]);
    bytes.truncate(len + written);
}
