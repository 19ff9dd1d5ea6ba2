//! Lossy decoding: appends a chunk to a `String` and repairs each error.
//!
//! ```text
//!   scanner finds text ──► append it
//!                  error ─► append its repair ─► errors are dense: RepairLoop
//!
//!   RepairLoop, a batch at a time, as long as errors are dense:
//!     block    64 bytes that a level has separated into text and errors   if errors are frequent
//!     clean    text, copied block by block while it is validated           after NEAR bytes without an error
//!     steps    8 bytes of ASCII, one sequence, or a run of single errors   otherwise
//! ```
//!
//! If errors are dense, levels that validate far ahead are of little use, and the cost of each error matters.
//! The loop writes text and repairs into memory reserved in advance, a word or a sequence at a time.

use alloc::borrow::Cow;
use alloc::string::String;
use core::cell::Cell;

use utf8_simd::text::{Repairs, Replaced, ShortText, SortedBlock, TextOutput, WriteStep};
use utf8_simd::{BLOCK_ERRORS_LEN as BLOCK, ErrorLen, Level, Sequence, tail};

use crate::decoder::{
    EVERY_WINDOWS_1252, ErrorDensity, ErrorMode, Step as ScannerStep, Utf8Decoder, Utf8Error,
};

/// A replacement for `String::from_utf8_lossy` in a loop.
impl Utf8Decoder {
    /// Decodes `chunk`, with U+FFFD for each ill-formed part, like [`String::from_utf8_lossy`], but across
    /// chunks.
    ///
    /// The concatenation of all results is what `from_utf8_lossy` returns for the whole stream. Borrows from
    /// `chunk` if that is well-formed and the decoder holds nothing, even if a character at the end of the
    /// chunk is incomplete. Otherwise it allocates. At most three bytes are held for the next call.
    ///
    /// At the end of the stream, [`finish_to_string`](Self::finish_to_string) appends the U+FFFD of a
    /// character that never became complete, and nothing if there is none. For other repairs, or to reuse
    /// one `String`, use [`push_to_string`](Self::push_to_string).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ErrorMode, Utf8Decoder};
    ///
    /// let mut decoder = Utf8Decoder::new();
    /// let mut text = String::new();
    /// for chunk in [&b"5 \xE2\x82"[..], b"\xAC or \xFF", b"6 \xC2"] {
    ///     text += &decoder.push_lossy(chunk);
    /// }
    /// decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
    /// assert_eq!(text, "5 € or \u{FFFD}6 \u{FFFD}");
    /// assert_eq!(decoder.error_count(), 2);
    /// ```
    pub fn push_lossy<'c>(&mut self, chunk: &'c [u8]) -> Cow<'c, str> {
        let (mut text, mut input) = ("", chunk);
        while self.incomplete().is_empty() {
            let mut scanner = self.scanner;
            match scanner.step(input) {
                ScannerStep::Text(found) if text.is_empty() => {
                    text = found;
                    input = tail(input, found.len());
                }
                ScannerStep::Skip(len) => input = tail(input, len),
                ScannerStep::NeedMore => {
                    self.hold(input);
                    self.scanner = scanner;
                    return Cow::Borrowed(text);
                }
                ScannerStep::Text(_) | ScannerStep::Error(_) => break,
            }
            self.scanner = scanner;
        }
        let mut repaired = String::with_capacity(text.len() + input.len());
        repaired.push_str(text);
        let _done = self.push_to_string(input, ErrorMode::Replacement, &mut repaired);
        Cow::Owned(repaired)
    }

    /// Appends the text of `input` to `text`, and repairs each error.
    ///
    /// Returns the number of bytes consumed. At most three bytes are left, which can still become a
    /// sequence. In [`ErrorMode::Fatal`] it stops after the first error.
    pub(crate) fn decode_lossy(
        &mut self,
        input: &[u8],
        mode: ErrorMode,
        text: &mut String,
    ) -> Result<usize, (usize, Utf8Error)> {
        let mut read = 0;
        loop {
            if self.scanner.are_errors_dense() && mode != ErrorMode::Fatal {
                read += self.repair_near(tail(input, read), mode, text);
            }
            match self.scanner.step(tail(input, read)) {
                ScannerStep::NeedMore => return Ok(read),
                ScannerStep::Text(piece) => {
                    text.push_str(piece);
                    read += piece.len();
                }
                ScannerStep::Skip(len) => read += len,
                ScannerStep::Error(error) => {
                    self.stats.note(error);
                    read += error.bytes().len();
                    text.push_str(&self.repair(mode, &error).ok_or((read, error))?);
                }
            }
        }
    }

    /// Runs the repair loop on `input` and counts the errors. Returns the number of bytes consumed.
    pub(super) fn repair_near(
        &mut self,
        input: &[u8],
        mode: ErrorMode,
        text: &mut String,
    ) -> usize {
        let repaired = repair(input, mode, text);
        self.note_repaired(input, repaired)
    }

    /// Counts the errors in the beginning of `input` that the repair loop has decoded. Returns its length.
    fn note_repaired(&mut self, input: &[u8], repaired: RepairCounts) -> usize {
        let RepairCounts { read, errors, first } = repaired;
        let position = self.scanner.position();
        self.stats.add(errors, || {
            let (at, len) = first?;
            Some(Utf8Error::classify(position + at as u64, tail(input, at), len))
        });
        self.scanner.skip(read);
        // The loop stops when errors are no longer dense.
        self.scanner.set_density(ErrorDensity::Rare);
        read
    }

    /// If errors are dense and only they are checked: decodes text and ill-formed parts at the start of `input`, the
    /// parts byte by byte, and appends the text. An incomplete end is left, and so is text after the last
    /// error if that is far. `is_in_run` is whether a part directly precedes `input`.
    pub(crate) fn decode_parts(
        &mut self,
        input: &[u8],
        bytes: SingleByte,
        is_in_run: bool,
        text: &mut String,
    ) -> Option<LegacyParts> {
        if !self.scanner.are_errors_dense() {
            return None;
        }
        Some(match bytes {
            SingleByte::Latin1 => self.parts_by(input, is_in_run, text, ShortText::from_latin1),
            SingleByte::Windows1252 => {
                let of = |byte| EVERY_WINDOWS_1252[usize::from(byte)];
                self.parts_by(input, is_in_run, text, of)
            }
        })
    }

    fn parts_by(
        &mut self,
        input: &[u8],
        is_in_run: bool,
        text: &mut String,
        of: impl Fn(u8) -> ShortText,
    ) -> LegacyParts {
        let start = input.as_ptr().addr();
        let counted = Counted {
            text: EachByte(of),
            bytes: Cell::new(0),
            runs: Cell::new(0),
            run_end: Cell::new(if is_in_run { start } else { 0 }),
        };
        let repaired = repair_by(input, text, &counted);
        let read = self.note_repaired(input, repaired);
        let run_end = counted.run_end.get();
        LegacyParts {
            read,
            bytes: counted.bytes.get(),
            runs: counted.runs.get(),
            run_end: run_end.checked_sub(start),
        }
    }
}

/// A single-byte encoding for ill-formed parts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SingleByte {
    Latin1,
    Windows1252,
}

/// The result of [`Utf8Decoder::decode_parts`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LegacyParts {
    /// The number of input bytes consumed.
    pub(crate) read: usize,
    /// The number of bytes in ill-formed parts.
    pub(crate) bytes: u64,
    /// The number of runs of adjacent parts, without one that continues.
    pub(crate) runs: u64,
    /// The index after the last part, if there is one.
    pub(crate) run_end: Option<usize>,
}

/// The result of the repair loop.
#[derive(Clone, Copy, Debug, Default)]
struct RepairCounts {
    /// The number of input bytes consumed.
    read: usize,
    /// The number of ill-formed parts in them.
    errors: u64,
    /// The index of the first of these parts, and its length.
    first: Option<(usize, usize)>,
}

/// Decodes `input` and appends the text. Stops at an incomplete end, or after a run without errors. `mode` is
/// not [`ErrorMode::Fatal`].
fn repair(input: &[u8], mode: ErrorMode, text: &mut String) -> RepairCounts {
    debug_assert_ne!(mode, ErrorMode::Fatal);
    match mode {
        ErrorMode::Fatal | ErrorMode::Replacement => repair_by(input, text, &WithReplacement),
        ErrorMode::Skip => repair_by(input, text, &Skipped),
        ErrorMode::Escape => repair_by(input, text, &EachByte(ShortText::escape)),
        ErrorMode::Latin1 => repair_by(input, text, &EachByte(ShortText::from_latin1)),
        ErrorMode::Windows1252 => {
            repair_by(input, text, &EachByte(|byte| EVERY_WINDOWS_1252[usize::from(byte)]))
        }
    }
}

/// One loop for each kind of repair, so that an error needs no branch on the kind. Out of line: all loops in
/// one function cause register pressure. Rows `latin-1` of `benches/scenarios/damaged.rs`.
#[inline(never)]
fn repair_by<R: Repairs>(input: &[u8], text: &mut String, repairs: &R) -> RepairCounts {
    RepairLoop::run(input, text, repairs)
}

// Each constant names the rows of `benches/scenarios/damaged.rs` that it affects.

/// Bytes of output between two checks of the capacity. Rows `replace/latin-1/1-in-8`.
const BATCH: usize = 128;

/// The number of bytes from which a rest is decoded in batches. A shorter rest often fits into the capacity left. All
/// rows take the same time with half of it.
const REST: usize = 2 * BATCH;

/// The capacity that a batch reserves.
pub(super) const RESERVE: usize = BATCH + TextOutput::STEP;

/// The number of errors in a block from which single bytes are faster than a sorted block. Rows `ff/all`.
const FLOOD: u32 = 40;

/// The number of blocks without an error after which blocks are no longer sorted. Rows `1-in-64`.
const PATIENCE: usize = 3;

/// The number of bytes after which the next block is sorted, if a level does not sort one. Rows `1-in-64` with level `portable`.
const PAUSE: usize = 2048;

/// The number of bytes without an error after which text is copied block by block. Rows `1-in-64` and
/// `1-in-8`.
const NEAR: usize = 16;

/// After text was copied up to the block with the next error: the number of bytes that are decoded in steps before text
/// is copied again. Rows `1-in-1024`.
const PAST: usize = 2 * BLOCK;

/// The distance in bytes from which two errors show that errors are frequent. Closer ones belong to one damaged
/// character. Rows `ff/all` and `cjk/1-in-1024`.
const SEPARATE: usize = 4;

/// The number of bytes without an error after which the scanner is faster. Rows `1-in-1024`.
const FAR: usize = 4096;

/// The state of the repair loop. All of it lives in registers: the methods are inlined.
struct RepairLoop<'i, 'r, R> {
    level: Level,
    input: &'i [u8],
    repairs: &'r R,
    /// The number of input bytes consumed.
    read: usize,
    /// The end of the last error.
    last_error: usize,
    errors: u64,
    first: Option<(usize, usize)>,
    /// The number of bytes without an error after which to copy text block by block.
    near: usize,
    /// Blocks that were sorted since the last error.
    clean_blocks: usize,
    /// The index from which blocks are sorted.
    sort_from: usize,
}

/// The next action of the loop.
enum LoopAction {
    /// Another step of this batch.
    Step,
    /// Another batch.
    Batch,
    /// The end of the input, or bytes that may be incomplete.
    Stop,
}

impl<'i, 'r, R: Repairs> RepairLoop<'i, 'r, R> {
    #[inline(always)]
    fn run(input: &'i [u8], text: &mut String, repairs: &'r R) -> RepairCounts {
        let mut state = Self {
            level: Level::detect(),
            input,
            repairs,
            read: 0,
            last_error: 0,
            errors: 0,
            first: None,
            near: NEAR,
            clean_blocks: PATIENCE,
            sort_from: 0,
        };
        while state.read - state.last_error <= FAR {
            let Some(mut out) = TextOutput::new(text, BATCH) else {
                // The text of a short rest may fit.
                if input.len() - state.read < REST {
                    break;
                }
                text.reserve(RESERVE);
                continue;
            };
            if state.take_blocks(&mut out) || state.take_clean(&mut out) {
                continue;
            }
            if let LoopAction::Stop = state.take_steps(&mut out) {
                break;
            }
        }
        RepairCounts { read: state.read, errors: state.errors, first: state.first }
    }

    /// While errors are frequent: decodes blocks that the level has separated into text and errors, until the batch is
    /// complete. Returns whether there was one. Rows `1-in-64`.
    #[inline(always)]
    fn take_blocks(&mut self, out: &mut TextOutput<'_>) -> bool {
        let start = self.read;
        while self.clean_blocks < PATIENCE
            && let Some(step) = out.step()
            && let Some(bytes) = self.input[self.read..].first_chunk()
        {
            let Some(block) = SortedBlock::new(self.level, bytes) else {
                (self.clean_blocks, self.sort_from) = (PATIENCE, self.read + PAUSE);
                break;
            };
            let errors = block.errors();
            if errors > FLOOD {
                break;
            }
            let first = step.no_ascii().push_block(&block, self.repairs);
            if self.errors == 0 {
                self.first = first.map(|(at, len)| (self.read + at, len));
            }
            self.errors += u64::from(errors);
            self.read += block.end();
            self.clean_blocks += 1;
            if errors != 0 {
                (self.last_error, self.clean_blocks) = (self.read, 0);
            }
        }
        self.read != start
    }

    /// After a run without errors: copies text block by block.
    #[inline(always)]
    fn take_clean(&mut self, out: &mut TextOutput<'_>) -> bool {
        if self.read - self.last_error < self.near {
            return false;
        }
        let next = &self.input[self.read..self.input.len().min(self.read + FAR)];
        let copied = out.copy_valid_prefix(self.level, next, RESERVE);
        self.read += copied;
        // The copy stops at the block with the next error. Steps continue to it.
        self.near = self.read - self.last_error + PAST;
        copied > 0
    }

    /// Decodes one item after another until the batch is complete.
    #[inline(always)]
    fn take_steps(&mut self, out: &mut TextOutput<'_>) -> LoopAction {
        while let Some(step) = out.step() {
            match self.take_step(step) {
                LoopAction::Step => {}
                next => return next,
            }
        }
        LoopAction::Batch
    }

    #[inline(always)]
    fn take_step(&mut self, step: WriteStep<'_, '_>) -> LoopAction {
        let mut rest = &self.input[self.read..];
        let step = if let Some(0..0x80) = rest.first() {
            let (ascii, step) = step.push_ascii(rest);
            if ascii == 8 {
                return self.after_text(rest, 8);
            }
            self.read += ascii;
            rest = &rest[ascii..];
            step
        } else {
            step.no_ascii()
        };
        match rest.first() {
            None => LoopAction::Stop,
            Some(0..0x80) => LoopAction::Step, // not reached
            Some(0x80..=0xC1 | 0xF5..) => {
                let strays = step.repair_strays(rest, self.repairs);
                self.after_errors(strays, strays)
            }
            Some(0xC2..) => match step.push_sequence(rest) {
                Ok(len) => self.after_text(rest, len),
                // Nearly all parts are one byte long: these need no loop over the bytes.
                Err((Sequence::IllFormed(ErrorLen::One | ErrorLen::None), step)) => {
                    step.repair(&rest[..1], self.repairs);
                    self.after_errors(1, 1)
                }
                Err((Sequence::IllFormed(error_len), step)) => {
                    let len = error_len.get().unwrap_or(1);
                    step.repair(&rest[..len], self.repairs);
                    self.after_errors(len, 1)
                }
                Err((_, _)) => LoopAction::Stop, // incomplete
            },
        }
    }

    /// Records that `len` bytes of `rest` were text.
    #[inline(always)]
    fn after_text(&mut self, rest: &[u8], len: usize) -> LoopAction {
        self.read += len;
        let is_far = self.read - self.last_error >= self.near && rest.len() >= REST;
        if is_far { LoopAction::Batch } else { LoopAction::Step }
    }

    /// Records that the next `len` bytes were `errors` errors: one, or one for each byte.
    #[inline(always)]
    fn after_errors(&mut self, len: usize, errors: usize) -> LoopAction {
        if self.errors == 0 {
            self.first = Some((self.read, if errors == 1 { len } else { 1 }));
        }
        self.errors += errors as u64;
        let gap = self.read - self.last_error;
        // The next error is expected at the distance of this one.
        self.near = if gap >= BLOCK { 0 } else { NEAR };
        if (SEPARATE..PATIENCE * BLOCK).contains(&gap) && self.read >= self.sort_from {
            self.clean_blocks = 0;
        }
        self.read += len;
        self.last_error = self.read;
        if self.near == 0 { LoopAction::Batch } else { LoopAction::Step }
    }
}

/// U+FFFD for each ill-formed part.
struct WithReplacement;

impl Repairs for WithReplacement {
    const REPLACED: Replaced = Replaced::Part;
}

/// Nothing for an ill-formed part.
struct Skipped;

impl Repairs for Skipped {
    const REPLACED: Replaced = Replaced::Nothing;
}

/// A text for each byte of an ill-formed part.
///
/// Each function has a loop of its own. The length of an escape is therefore a constant, and the next store does
/// not wait for it. Rows `escape` of `benches/scenarios/damaged.rs`.
struct EachByte<F>(F);

impl<F: Fn(u8) -> ShortText> Repairs for EachByte<F> {
    const REPLACED: Replaced = Replaced::EachByte;

    #[inline(always)]
    fn repair(&self, byte: u8) -> ShortText {
        (self.0)(byte)
    }
}

/// A text for each byte, and counts of what is replaced.
struct Counted<F> {
    text: EachByte<F>,
    bytes: Cell<u64>,
    /// The number of runs of adjacent parts.
    runs: Cell<u64>,
    /// The address after the last part. Parts are slices of the input, so adjacent parts are adjacent in memory.
    run_end: Cell<usize>,
}

impl<F: Fn(u8) -> ShortText> Repairs for Counted<F> {
    const REPLACED: Replaced = EachByte::<F>::REPLACED;

    #[inline(always)]
    fn repair(&self, byte: u8) -> ShortText {
        self.text.repair(byte)
    }

    #[inline(always)]
    fn note(&self, part: &[u8]) {
        let range = part.as_ptr_range();
        let begins = self.run_end.replace(range.end.addr()) != range.start.addr();
        self.runs.set(self.runs.get() + u64::from(begins));
        self.bytes.set(self.bytes.get() + part.len() as u64);
    }
}
