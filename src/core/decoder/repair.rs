//! Repairing where errors stand close together: Latin-1 read as UTF-8, a flood of FF.
//!
//! There the other kernels have little to run over, and what counts is what an error costs. Text and
//! repairs are copied in one loop, a word or a sequence at a time, into memory reserved before.

use alloc::string::String;

use crate::core::mode::{EVERY_ESCAPE, EVERY_LATIN1, EVERY_WINDOWS_1252, ErrorMode};
use crate::kernel::block_errors::BLOCK;
use crate::kernel::scalar::Sequence;
use crate::kernel::{Kernel, Why};
use crate::unchecked::{Repairs, ShortText, SortedBlock, TextOutput};

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

/// Bytes of output between two looks at its capacity.
const BATCH: usize = 64;
/// Room for the output of a batch.
const RESERVE: usize = BATCH + TextOutput::STEP;
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
        ErrorMode::Fatal | ErrorMode::Replacement => repair_with(kernel, input, text, &Replaced),
        ErrorMode::Skip => repair_with(kernel, input, text, &Skipped),
        ErrorMode::Escape => repair_by(&EVERY_ESCAPE, kernel, input, text),
        ErrorMode::Latin1 => repair_by(&EVERY_LATIN1, kernel, input, text),
        ErrorMode::Windows1252 => repair_by(&EVERY_WINDOWS_1252, kernel, input, text),
    }
}

/// Replaces each byte of an error by its entry of `table`.
fn repair_by(
    table: &'static [ShortText; 256],
    kernel: Kernel,
    input: &[u8],
    text: &mut String,
) -> Repaired {
    repair_with(kernel, input, text, &ByTable(table))
}

/// U+FFFD for each ill-formed part.
struct Replaced;

impl Repairs for Replaced {
    #[inline(always)]
    fn count(&self, _: usize) -> usize {
        1
    }

    #[inline(always)]
    fn repair(&self, _: u8) -> ShortText {
        ShortText::REPLACEMENT
    }
}

/// Nothing for an ill-formed part.
struct Skipped;

impl Repairs for Skipped {
    #[inline(always)]
    fn count(&self, _: usize) -> usize {
        0
    }

    #[inline(always)]
    fn repair(&self, _: u8) -> ShortText {
        ShortText::REPLACEMENT
    }
}

/// The entry of a table for each byte of an ill-formed part.
struct ByTable(&'static [ShortText; 256]);

impl Repairs for ByTable {
    #[inline(always)]
    fn count(&self, len: usize) -> usize {
        len
    }

    #[inline(always)]
    fn repair(&self, byte: u8) -> ShortText {
        self.0[usize::from(byte)]
    }
}

#[inline(always)]
fn repair_with(
    kernel: Kernel,
    input: &[u8],
    text: &mut String,
    repairs: &impl Repairs,
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
        let mut out = TextOutput::new(text, BATCH);
        if clean_blocks < PATIENCE
            && let Some(bytes) = input[read..].first_chunk()
            && let Some(block) = SortedBlock::new(kernel, bytes)
            && block.errors() <= FLOOD
        {
            let Some(step) = out.step() else { break };
            let found = step.push_block(&block, repairs);
            if errors == 0 {
                first = found.map(|(at, len)| (read + at, len));
            }
            errors += u64::from(block.errors());
            read += block.end();
            clean_blocks += 1;
            if block.errors() != 0 {
                (last_error, clean_blocks) = (read, 0);
            }
            continue;
        }
        if read - last_error >= near {
            let next = &input[read..input.len().min(read + FAR)];
            let copied = out.copy_clean(kernel, next, RESERVE);
            // As far as it was to this error it may be to the next.
            near = if copied >= NEAR { 0 } else { NEAR };
            if copied > 0 {
                read += copied;
                continue;
            }
        }
        while let Some(step) = out.step() {
            let rest = &input[read..];
            let (len, parts) = match rest.first() {
                None => break 'batches,
                Some(0..0x80) => {
                    read += step.push_ascii(rest);
                    if read - last_error >= near && rest.len() >= 2 * BATCH {
                        continue 'batches;
                    }
                    continue;
                }
                Some(0x80..=0xC1 | 0xF5..) => {
                    let strays = step.repair_strays(rest, repairs);
                    (strays, strays)
                }
                Some(0xC2..) => match step.push_sequence(rest) {
                    Ok(len) => {
                        read += len;
                        if read - last_error >= near && rest.len() >= 2 * BATCH {
                            continue 'batches;
                        }
                        continue;
                    }
                    // Nearly all are one byte long: then the loop over them is none.
                    Err((Sequence::IllFormed(Why::IllFormed1 | Why::End), step)) => {
                        step.repair(&rest[..1], repairs);
                        (1, 1)
                    }
                    Err((Sequence::IllFormed(why), step)) => {
                        let len = why.error_len().unwrap_or(1);
                        step.repair(&rest[..len], repairs);
                        (len, 1)
                    }
                    Err((_, _)) => break 'batches, // incomplete
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
