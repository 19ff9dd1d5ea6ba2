use core::ops::RangeInclusive;

use crate::dialect::error::DialectError;
use crate::dialect::grammar::{Before, Behind, Extent, Grammar, Sequence};
use crate::dialect::{CodePoint, Dialect, DialectOptions};
use crate::kernel::Kernel;
use crate::mode::ErrorMode;
use crate::text::{Ending, split_far};

/// What the bytes at a place in a stream are, in a dialect.
///
/// As the scanner of UTF-8, it holds no bytes: a caller shows it those from `position` on, is told
/// what the first of them are, and shows it what follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DialectScanner {
    position: u64,
    grammar: Grammar,
    before: Before,
    kernel: Kernel,
    /// How far to look for the end of a stretch of text: little where it has just ended, then more
    /// and more.
    reach: usize,
}

/// What the bytes shown begin with. All but `Hold` move the position behind what they describe.
#[derive(Debug)]
pub(crate) enum DialectStep<'a> {
    /// Text that is written as in UTF-8, not empty.
    Text(&'a str),
    /// So many bytes are a code point.
    CodePoint(CodePoint, usize),
    /// An error; its own bytes are consumed.
    Error(DialectError),
    /// No bytes at all, or at most five that may still become a sequence.
    Hold,
}

/// Where text has just ended: no more than the scalar kernel takes a few nanoseconds for.
const NEAR: usize = 32;
/// The farthest look where text is looked at twice, for what the dialect writes in another way: it is
/// still in the first cache then.
const FAR_TWICE: usize = 8 << 10;

impl DialectScanner {
    pub(super) fn new(options: DialectOptions, mode: ErrorMode) -> Self {
        let extent = match mode {
            ErrorMode::Fatal => Extent::Prompt,
            _ => Extent::Whole,
        };
        Self {
            position: 0,
            grammar: Grammar { options, extent },
            before: Before::Other,
            kernel: Kernel::detect(),
            reach: usize::MAX,
        }
    }

    /// Offset in the stream of the next byte to be shown.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    pub(super) const fn options(&self) -> DialectOptions {
        self.grammar.options
    }

    pub(super) const fn dialect(&self) -> Dialect {
        self.grammar.options.dialect()
    }

    /// Says what `input` begins with.
    #[inline]
    pub(crate) fn step<'a>(&mut self, input: &'a [u8], behind: Behind) -> DialectStep<'a> {
        let text = self.split_text(input);
        if !text.is_empty() {
            self.position += text.len() as u64;
            self.before = Before::Other;
            return DialectStep::Text(text);
        }
        self.step_sequence(input, behind)
    }

    /// As [`step`](Self::step), but one sequence only, which is never text.
    pub(super) fn step_sequence<'a>(&mut self, input: &[u8], behind: Behind) -> DialectStep<'a> {
        if input.is_empty() {
            return DialectStep::Hold;
        }
        self.reach = NEAR;
        match self.grammar.read(input, self.before, behind) {
            Sequence::CodePoint(code_point, len) => {
                self.position += len as u64;
                self.before = match code_point.is_leading_surrogate() {
                    true => Before::LeadingSurrogate,
                    false => Before::Other,
                };
                DialectStep::CodePoint(code_point, len)
            }
            Sequence::IllFormed(len, kind, next) => {
                let (at, dialect) = (self.position, self.dialect());
                self.position += len as u64;
                self.before = Before::Other;
                DialectStep::Error(DialectError::new(at, dialect, kind, &input[..len], next))
            }
            Sequence::Incomplete => DialectStep::Hold,
        }
    }

    /// Describes a code point that is not text, and has just been decoded.
    #[cfg(feature = "alloc")]
    pub(crate) fn not_scalar(&self, code_point: CodePoint) -> DialectError {
        DialectError::not_scalar(self.position, self.dialect(), code_point)
    }

    /// Passes over bytes that are not in the dialect; a new string begins behind them.
    #[cfg(feature = "codec")]
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.position += bytes as u64;
        self.before = Before::Other;
    }

    /// Takes note of the end of the stream.
    pub(crate) fn end(&mut self) {
        self.before = Before::Other;
    }

    /// Splits off text at the start of `input` that is written as in UTF-8.
    #[inline]
    fn split_text<'a>(&mut self, input: &'a [u8]) -> &'a str {
        let window = &input[..input.len().min(self.reach)];
        let Some(range) = self.bytes_of_text() else {
            let kernel = self.kernel_for(window);
            let (text, ending) = split_far(kernel, window);
            self.look_farther(ending == Ending::End);
            return text;
        };
        let window = &window[..window.len().min(FAR_TWICE)];
        let (text, ending) = split_far(self.kernel_for(window), window);
        let end = self.kernel.find_outside(text.as_bytes(), range);
        self.look_farther(end.is_none() && ending == Ending::End);
        &text[..end.unwrap_or(text.len())]
    }

    /// The bytes that well-formed UTF-8 may have to be written the same way in the dialect, if not
    /// all.
    const fn bytes_of_text(&self) -> Option<RangeInclusive<u8>> {
        match self.dialect() {
            Dialect::Cesu8 => Some(0x00..=0xEF),
            Dialect::ModifiedUtf8 => Some(0x01..=0xEF),
            _ => None,
        }
    }

    fn kernel_for(&self, window: &[u8]) -> Kernel {
        if window.len() <= NEAR { Kernel::SCALAR } else { self.kernel }
    }

    fn look_farther(&mut self, goes_on: bool) {
        self.reach = if goes_on { self.reach.saturating_mul(8) } else { NEAR };
    }
}
