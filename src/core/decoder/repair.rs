//! Repairing where errors stand close together: Latin-1 read as UTF-8, a flood of FF.
//!
//! There the other kernels have little to run over, and what counts is what an error costs. Text and
//! repairs are copied in one loop, a word or a sequence at a time, into memory reserved before.

use alloc::string::String;
use core::slice;

use crate::core::mode::{EVERY_ESCAPE, EVERY_LATIN1, EVERY_WINDOWS_1252, ErrorMode, StandIn};
use crate::kernel::parts::{BLOCK, Parts};
use crate::kernel::scalar::{Sequence, sequence};
use crate::kernel::{Kernel, Why};

/// What has been repaired.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repaired {
    /// Bytes of the input that are done with.
    pub(crate) read: usize,
    /// Ill-formed parts among them.
    pub(crate) errors: u64,
    /// Where the first of them stands, and its length.
    pub(crate) first: Option<(usize, usize)>,
}

/// Input between two looks at the capacity of the output.
const BATCH: usize = 64;
/// Bytes of output for a byte of input, at the most.
const GROWTH: usize = 4;
/// Room for the output of a batch, which may run over its end by a sequence, and for a block that is
/// written whole.
const RESERVE: usize = GROWTH * (BATCH + 4) + BLOCK;
/// Errors of a block that are a flood: a byte after the other is quicker then.
const FLOOD: u32 = 40;
/// Blocks without an error after which the next one is looked for in longer stretches.
const PATIENCE: usize = 3;
/// Bytes without an error after which the next one is looked for in blocks.
const NEAR: usize = 16;
/// Bytes without an error after which there are quicker ways.
const FAR: usize = 4096;

/// Appends what `input` decodes to, ill-formed parts repaired, up to a tail that may be incomplete or
/// to a stretch without an error.
///
/// `mode` is not [`ErrorMode::Fatal`].
pub(crate) fn repair(kernel: Kernel, input: &[u8], mode: ErrorMode, text: &mut String) -> Repaired {
    debug_assert_ne!(mode, ErrorMode::Fatal);
    // Once for each mode, so that it is not asked for each error.
    match mode {
        ErrorMode::Fatal | ErrorMode::Replacement => {
            repair_with(kernel, input, text, |_, out| out.push(StandIn::REPLACEMENT))
        }
        ErrorMode::Skip => repair_with(kernel, input, text, |_, _| {}),
        ErrorMode::Escape => repair_by(&EVERY_ESCAPE, kernel, input, text),
        ErrorMode::Latin1 => repair_by(&EVERY_LATIN1, kernel, input, text),
        ErrorMode::Windows1252 => repair_by(&EVERY_WINDOWS_1252, kernel, input, text),
    }
}

/// Repairs each byte of an error by itself.
fn repair_by(table: &[StandIn; 256], kernel: Kernel, input: &[u8], text: &mut String) -> Repaired {
    repair_with(kernel, input, text, |bytes, out| {
        bytes.iter().for_each(|&byte| out.push(table[usize::from(byte)]));
    })
}

#[inline(always)]
fn repair_with(
    kernel: Kernel,
    input: &[u8],
    text: &mut String,
    repair: impl Fn(&[u8], &mut Output),
) -> Repaired {
    let mut read = 0;
    let mut errors = 0;
    let mut first = None;
    let mut last_error = 0;
    let mut near = NEAR;
    let mut clean_blocks = PATIENCE;
    'batches: while read - last_error <= FAR {
        if text.capacity() - text.len() < RESERVE {
            if input.len() - read < 4 * BATCH {
                // It may fit: better a little slower than a text that grows for nothing.
                break;
            }
            text.reserve(RESERVE);
        }
        let mut out = Output::new(text);
        if clean_blocks < PATIENCE
            && let Some(bytes) = input[read..].first_chunk()
            && let Some(parts) = parts_of(kernel, bytes)
        {
            let found = out.push_parts(bytes, parts, &repair);
            if errors == 0 {
                first = found.map(|(at, len)| (read + at, len));
            }
            errors += u64::from(parts.ill_formed.count_ones());
            read += parts.end;
            clean_blocks += 1;
            if parts.ill_formed != 0 {
                (last_error, clean_blocks) = (read, 0);
            }
            continue;
        }
        if read - last_error >= near {
            let copied = out.copy_clean(kernel, &input[read..input.len().min(read + FAR)]);
            // As far as it was to this error it may be to the next.
            near = if copied >= NEAR { 0 } else { NEAR };
            if copied > 0 {
                read += copied;
                continue;
            }
        }
        let batch_end = read + BATCH;
        while read < batch_end {
            let rest = &input[read..];
            let (len, parts) = match rest.first() {
                None => break 'batches,
                Some(0..0x80) => {
                    read += out.push_ascii(rest);
                    if read - last_error >= near && rest.len() >= 2 * BATCH {
                        continue 'batches;
                    }
                    continue;
                }
                Some(0x80..=0xC1 | 0xF5..) => {
                    // Each of these is an error by itself, whatever follows.
                    let flood = &rest[..rest.len().min(batch_end - read)];
                    let flood =
                        flood.iter().take_while(|byte| matches!(byte, 0x80..=0xC1 | 0xF5..));
                    let mut bytes = 0;
                    for &byte in flood {
                        repair(&[byte], &mut out);
                        bytes += 1;
                    }
                    (bytes, bytes)
                }
                Some(0xC2..) => match sequence(rest) {
                    Sequence::WellFormed(len) => {
                        out.push_sequence(rest, len);
                        read += len;
                        if read - last_error >= near && rest.len() >= 2 * BATCH {
                            continue 'batches;
                        }
                        continue;
                    }
                    Sequence::Incomplete => break 'batches,
                    // Nearly all are one byte long: then the loop over them is none.
                    Sequence::IllFormed(Why::IllFormed1 | Why::End) => {
                        repair(&rest[..1], &mut out);
                        (1, 1)
                    }
                    Sequence::IllFormed(why) => {
                        let len = why.error_len().unwrap_or(1);
                        repair(&rest[..len], &mut out);
                        (len, 1)
                    }
                },
            };
            if errors == 0 {
                first = Some((read, if parts == 1 { len } else { 1 }));
            }
            errors += parts as u64;
            // (Those of one damaged character, side by side, say nothing about the next.)
            if (4..PATIENCE * BLOCK).contains(&(read - last_error)) {
                clean_blocks = 0;
            }
            read += len;
            last_error = read;
            if near == 0 {
                continue 'batches;
            }
        }
    }
    Repaired { read, errors, first }
}

/// The parts of the block that `bytes` begin with, unless it is a flood of errors.
#[inline(always)]
fn parts_of(kernel: Kernel, bytes: &[u8; 2 * BLOCK]) -> Option<Parts> {
    let parts = kernel.parts(bytes.first_chunk()?)?;
    (parts.ill_formed.count_ones() <= FLOOD).then_some(parts)
}

/// The end of a text that is being written, with room for a batch.
struct Output<'a> {
    text: &'a mut String,
    /// The start of the text's memory.
    start: *mut u8,
    /// Invariant: within the text's capacity, with a block and more to spare for as long as a batch
    /// goes; all bytes before it are written.
    len: usize,
}

impl<'a> Output<'a> {
    /// Begins a batch, for which there is room.
    #[inline(always)]
    fn new(text: &'a mut String) -> Self {
        debug_assert!(text.capacity() - text.len() >= RESERVE);
        let len = text.len();
        // SAFETY: nothing is written through the reference; the pointer taken from it is good for as
        // long as the text is neither moved nor grown, which `text` being borrowed here rules out.
        let start = unsafe { text.as_mut_vec() }.as_mut_ptr();
        Self { text, start, len }
    }

    /// Copies the well-formed text that `rest` begins with, as far as there is room for it and a batch;
    /// says how many bytes.
    #[inline(always)]
    fn copy_clean(&mut self, kernel: Kernel, rest: &[u8]) -> usize {
        let room = self.text.capacity() - self.len - RESERVE;
        // SAFETY: so many bytes from `len` on are within the capacity, and `text` is borrowed.
        let spare = unsafe { slice::from_raw_parts_mut(self.start.add(self.len).cast(), room) };
        let copied = kernel.copy_clean(rest, spare);
        self.len += copied;
        copied
    }

    /// Copies the text between the ill-formed parts of the block that `bytes` begin with, and repairs
    /// these. Says where the first of them is, and its length.
    #[inline(always)]
    fn push_parts(
        &mut self,
        bytes: &[u8; 2 * BLOCK],
        parts: Parts,
        repair: &impl Fn(&[u8], &mut Self),
    ) -> Option<(usize, usize)> {
        let (mut at, mut first, mut left) = (0, None, parts.ill_formed);
        while left != 0 {
            let part = left.trailing_zeros() as usize;
            let len = 1 + (parts.longer >> part & 1) + (parts.longest >> part & 1);
            self.write_block(bytes, at, part - at);
            at = part + len as usize;
            repair(&bytes[part..at], self);
            first = first.or(Some((part, len as usize)));
            left &= left - 1;
        }
        self.write_block(bytes, at, parts.end - at);
        first
    }

    /// Writes the block that begins at byte `at`, of which the first `len` bytes count.
    #[inline(always)]
    fn write_block(&mut self, bytes: &[u8; 2 * BLOCK], at: usize, len: usize) {
        let Some(block) = bytes[at..].first_chunk() else { return };
        self.write::<BLOCK>(*block, len);
    }

    /// Copies the ASCII that `rest` begins with, at most eight bytes; says how many.
    #[inline(always)]
    fn push_ascii(&mut self, rest: &[u8]) -> usize {
        let Some(word) = rest.first_chunk::<8>() else {
            let ascii = rest.iter().take_while(|byte| byte.is_ascii()).count();
            for &byte in &rest[..ascii] {
                self.write([byte], 1);
            }
            return ascii;
        };
        let high = u64::from_le_bytes(*word) & 0x8080_8080_8080_8080;
        let ascii = if high == 0 { 8 } else { high.trailing_zeros() as usize / 8 };
        self.write(*word, ascii);
        ascii
    }

    /// Copies the well-formed sequence of `len` bytes that `rest` begins with.
    #[inline(always)]
    fn push_sequence(&mut self, rest: &[u8], len: usize) {
        match rest.first_chunk::<4>() {
            Some(bytes) => self.write(*bytes, len),
            None => rest[..len].iter().for_each(|&byte| self.write([byte], 1)),
        }
    }

    #[inline(always)]
    fn push(&mut self, part: StandIn) {
        let (bytes, len) = part.bytes();
        self.write(bytes, len);
    }

    /// Writes `bytes`, of which the first `len` count.
    #[inline(always)]
    fn write<const N: usize>(&mut self, bytes: [u8; N], len: usize) {
        debug_assert!(len <= N && N <= BLOCK && self.len + N <= self.text.capacity());
        // SAFETY: `len` is within the capacity with a block to spare: up to the last step of a batch
        // 63 bytes of input have made at most 252 of output, the last step makes at most 12 more, a
        // block and what it is repaired by at most 256, and `repair_with` begins neither without room
        // for 336.
        unsafe { self.start.add(self.len).cast::<[u8; N]>().write(bytes) };
        self.len += len;
    }
}

impl Drop for Output<'_> {
    fn drop(&mut self) {
        // SAFETY: all bytes up to `len` have been written, within the capacity: ASCII, sequences
        // that the scalar kernel has found well-formed, what `Kernel::parts` and `copy_clean` have,
        // and stand-ins, each of them whole. `tests/kernels.rs` holds every kernel to it.
        unsafe { self.text.as_mut_vec().set_len(self.len) };
    }
}
