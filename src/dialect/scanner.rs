//! The scanner of a dialect: what are the next bytes of a stream?

#[cfg(feature = "alloc")]
use alloc::string::String;

use utf8_simd::text::{first_char, split_far, split_range};
use utf8_simd::{Level, NulForm};

use crate::decoder::{AtEnd, BomState, ErrorMode, Step};
use crate::dialect::error::DialectError;
use crate::dialect::grammar::{
    Before, DialectSequence, ErrorSpan, Grammar, Options, is_leading_surrogate,
};
use crate::dialect::{Dialect, DialectPiece};

/// The state of a stream in a dialect between two bytes.
///
/// Like the [scanner of UTF-8](crate::decoder::scanner::Scanner) it holds no bytes. The caller passes
/// the bytes from `position`. A step classifies the first of them and moves past them. Each step
/// takes the [`ErrorSpan`] of the caller's error mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DialectScanner {
    position: u64,
    dialect: Dialect,
    options: Options,
    before: Before,
    start: BomState,
    expected: Expected,
}

/// What the next bytes probably are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// Text, validated this many bytes ahead: few after an error, then more and more.
    Text(usize),
    /// A sequence that differs from UTF-8, like the last one.
    Other,
}

/// What the input begins with: a piece and its length in bytes. Text is the same in the dialect and in UTF-8. At most five
/// bytes need more.
pub(crate) type DialectStep<'a> = Step<(DialectPiece<&'a str>, usize), DialectError>;

/// How many bytes to validate after the end of text. For these, the scalar level takes a few
/// nanoseconds.
const NEAR: usize = 32;
/// How many bytes to validate of text that is searched a second time, for sequences that differ
/// from UTF-8. They are still in the L1 cache then.
const FAR_TWICE: usize = 8 << 10;
/// The minimum length of ASCII that is returned as a piece of its own if other text follows.
const ENOUGH: usize = 256;

/// How many bytes to join after a pair.
const NEAR_JOINED: usize = 256;
/// The maximum number of bytes joined at once.
const FAR_JOINED: usize = 1024;

impl DialectScanner {
    pub(super) const fn new(dialect: Dialect, options: Options) -> Self {
        Self {
            position: 0,
            dialect,
            options,
            before: Before::Other,
            start: BomState::new(options.bom),
            expected: Expected::Text(usize::MAX),
        }
    }

    /// Starts a new stream with other options.
    pub(super) const fn with_options(self, options: Options) -> Self {
        Self::new(self.dialect, options)
    }

    pub(super) const fn options(&self) -> Options {
        self.options
    }

    /// Starts a new stream with the same options.
    pub(super) const fn reset(&mut self) {
        *self = Self::new(self.dialect, self.options);
    }

    /// Returns the offset of the next byte to be passed.
    pub(crate) const fn position(&self) -> u64 {
        self.position
    }

    /// Returns the span of errors in this mode.
    pub(crate) const fn span(&self, mode: ErrorMode) -> ErrorSpan {
        self.options.span(mode)
    }

    pub(super) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Classifies the beginning of `input`, and moves past it.
    #[inline]
    pub(crate) fn step<'a>(
        &mut self,
        input: &'a [u8],
        at_end: AtEnd,
        span: ErrorSpan,
    ) -> DialectStep<'a> {
        if !self.start.is_over()
            && let Some(step) = self.open(input)
        {
            return step;
        }
        match self.take_text(input) {
            ("", _) => self.step_other(input, at_end, span),
            (text, _) => Step::Text((DialectPiece::Text(text), text.len())),
        }
    }

    /// Returns whether the start of the stream is over.
    pub(super) const fn is_under_way(&self) -> bool {
        self.start.is_over()
    }

    /// Returns whether the start of the stream is over and text is expected.
    pub(super) fn expects_text(&self) -> bool {
        self.start.is_over() && matches!(self.expected, Expected::Text(_))
    }

    /// Takes text off the front of `input`, after the start of the stream. Returns whether the
    /// bytes after it, if any, may all still become a sequence.
    #[inline]
    pub(super) fn take_text<'a>(&mut self, input: &'a [u8]) -> (&'a str, bool) {
        let (text, is_all) = self.split_text(input);
        if !text.is_empty() {
            self.position += text.len() as u64;
            self.before = Before::Other;
        }
        (text, is_all)
    }

    /// Like [`step`](Self::step), after [`take_text`](Self::take_text) has returned no text.
    #[inline]
    pub(super) fn step_other<'a>(
        &mut self,
        input: &'a [u8],
        at_end: AtEnd,
        span: ErrorSpan,
    ) -> DialectStep<'a> {
        let step = self.step_sequence(input, at_end, span);
        match step {
            Step::Text(_) => self.expected = Expected::Other,
            Step::Error(_) => self.expected = Expected::Text(NEAR),
            Step::Skip(_) | Step::NeedMore => {}
        }
        step
    }

    /// Like [`step`](Self::step), but for one sequence, which is never returned as text.
    pub(super) fn step_sequence<'a>(
        &mut self,
        input: &[u8],
        at_end: AtEnd,
        span: ErrorSpan,
    ) -> DialectStep<'a> {
        if !self.start.is_over()
            && let Some(step) = self.open(input)
        {
            return step;
        }
        if input.is_empty() {
            return Step::NeedMore;
        }
        let grammar = Grammar { dialect: self.dialect, options: self.options, span };
        match grammar.read(input, self.before, at_end) {
            DialectSequence::CodePoint(code_point, len) => {
                self.position += len as u64;
                self.before = match is_leading_surrogate(code_point) {
                    true => Before::LeadingSurrogate,
                    false => Before::Other,
                };
                Step::Text((DialectPiece::CodePoint(code_point), len))
            }
            DialectSequence::IllFormed(len, kind, next) => {
                let (at, dialect) = (self.position, self.dialect);
                self.position += len as u64;
                self.before = Before::Other;
                Step::Error(DialectError::new(at, dialect, kind, &input[..len], next))
            }
            DialectSequence::Incomplete => Step::NeedMore,
        }
    }

    /// Appends the text at the beginning of `input`, if the dialect writes pairs and the last
    /// sequence differed from UTF-8. Returns the number of bytes read, which may be 0.
    #[cfg(feature = "alloc")]
    pub(super) fn join_pairs(&mut self, input: &[u8], text: &mut String) -> usize {
        let Some(nul) = self.nul().filter(|_| self.expected == Expected::Other) else { return 0 };
        let level = Level::detect();
        let mut buffer = [0; FAR_JOINED + 64];
        let mut read = 0;
        let mut reach = NEAR_JOINED;
        loop {
            let window = &input[read..input.len().min(read + reach)];
            let (used, written) = level.join_pairs(window, nul, &mut buffer);
            let (joined, error_len) = split_far(level, &buffer[..written]);
            text.push_str(joined);
            let used = match error_len {
                // The incomplete bytes are the last, and were copied unchanged.
                None => used - (written - joined.len()),
                Some(_) => unjoined_len(joined, nul),
            };
            read += used;
            if used == joined.len() && used > 0 {
                // Nothing was joined: other paths are faster.
                self.expected = Expected::Text(reach.saturating_mul(8));
                break;
            }
            // The end of the window may have split a pair.
            let is_cut = used > 0 && used + 6 > window.len();
            if !is_cut || read + 6 > input.len() {
                break;
            }
            reach = FAR_JOINED;
        }
        self.position += read as u64;
        self.before = Before::Other; // Only WTF-8 uses it, and has no pairs to join.
        read
    }

    /// Creates the error for the code point just decoded, which is not a scalar value.
    pub(crate) fn not_scalar(&self, code_point: u32) -> DialectError {
        DialectError::not_scalar(self.position, self.dialect, code_point)
    }

    /// Moves back before the last `bytes` bytes of a step, which follow text. The caller passes them again.
    pub(crate) const fn unread(&mut self, bytes: usize) {
        self.position -= bytes as u64;
        self.before = Before::Other;
    }

    /// Skips bytes that are not in the dialect. A new string begins after them.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.position += bytes as u64;
        self.before = Before::Other;
    }

    /// Classifies `input` at the start of the stream. Returns `None` if the BOM policy does not
    /// decide.
    #[cold]
    fn open<'a>(&mut self, input: &[u8]) -> Option<DialectStep<'a>> {
        Some(match self.start.open(input) {
            Step::Text(()) => return None,
            Step::NeedMore => Step::NeedMore,
            Step::Skip(len) => {
                self.position += len as u64;
                Step::Skip(len)
            }
            Step::Error(error) => {
                self.position += error.bytes().len() as u64;
                Step::Error(DialectError::at_start(self.dialect, error))
            }
        })
    }

    /// Returns whether a BOM was removed.
    pub(super) const fn bom_seen(&self) -> bool {
        self.start.bom_seen()
    }

    /// Ends the start of the stream: no BOM is expected after it. Held bytes may not be decoded
    /// yet.
    pub(crate) fn end_start(&mut self) -> Option<DialectError> {
        let missing = self.start.finish()?;
        Some(DialectError::at_start(self.dialect, missing))
    }

    /// Ends the stream, which has been decoded completely.
    pub(crate) fn end(&mut self) {
        self.before = Before::Other;
    }

    /// Takes the character off the front of `bytes`, after the start of the stream, if it is longer
    /// than `held` and the same as in UTF-8.
    #[inline]
    pub(super) fn take_char<'a>(&mut self, bytes: &'a [u8; 4], held: usize) -> Option<&'a str> {
        let is_plain = self.nul().is_none_or(|nul| nul.plain_bytes().contains(&bytes[0]));
        let text = first_char(bytes).filter(|text| is_plain && text.len() > held)?;
        self.position += text.len() as u64;
        self.before = Before::Other;
        Some(text)
    }

    /// Splits off text at the start of `input` that is the same as in UTF-8. Returns whether the
    /// bytes after it, if any, may all still become a sequence.
    #[inline]
    fn split_text<'a>(&mut self, input: &'a [u8]) -> (&'a str, bool) {
        let reach = match self.expected {
            Expected::Text(reach) => reach,
            Expected::Other => NEAR,
        };
        let window = &input[..input.len().min(reach)];
        let Some(nul) = self.nul() else {
            let level = kernel_for(window);
            let (text, error_len) = split_far(level, window);
            self.expect_text(reach, error_len.is_none());
            return (text, error_len.is_none() && window.len() == input.len());
        };
        let window = &window[..window.len().min(FAR_TWICE)];
        if reach > NEAR && begins_with_ascii(window) {
            // Most text is ASCII, which needs no second search.
            let ascii = split_range(Level::detect(), window, nul.plain_ascii());
            if ascii.len() >= ENOUGH.min(window.len()) {
                self.expect_text(reach, true);
                return (ascii, ascii.len() == input.len());
            }
        }
        let (text, error_len) = split_far(kernel_for(window), window);
        let end = Level::detect().find_outside(text.as_bytes(), nul.plain_bytes());
        let continues = end.is_none() && error_len.is_none();
        self.expect_text(reach, continues);
        // Bytes that are incomplete in UTF-8 may be ill-formed here.
        let held = window.get(text.len()).is_none_or(|byte| nul.plain_bytes().contains(byte));
        let is_all = continues && held && window.len() == input.len();
        (&text[..end.unwrap_or(text.len())], is_all)
    }

    /// Returns the form of U+0000 if the dialect writes pairs.
    const fn nul(&self) -> Option<NulForm> {
        match self.dialect {
            Dialect::Cesu8 => Some(NulForm::OneByte),
            Dialect::ModifiedUtf8 => Some(NulForm::TwoBytes),
            _ => None,
        }
    }

    /// Sets how many bytes to validate next, after text that ended at `reach` or before.
    fn expect_text(&mut self, reach: usize, continues: bool) {
        self.expected = Expected::Text(if continues { reach.saturating_mul(8) } else { NEAR });
    }
}

fn kernel_for(window: &[u8]) -> Level {
    if window.len() <= NEAR { Level::SCALAR } else { Level::detect() }
}

/// Returns whether the first 16 bytes are ASCII, or there are fewer bytes.
#[inline]
fn begins_with_ascii(bytes: &[u8]) -> bool {
    const HIGH: u128 = u128::from_ne_bytes([0x80; 16]);
    bytes.first_chunk().is_none_or(|first| u128::from_ne_bytes(*first) & HIGH == 0)
}

/// Returns the number of bytes that `joined` was made from: two more for a pair, one more for a
/// long NUL.
fn unjoined_len(joined: &str, nul: NulForm) -> usize {
    let more = joined.bytes().map(|byte| match byte {
        0xF0.. => 2,
        0x00 if nul == NulForm::TwoBytes => 1,
        _ => 0,
    });
    joined.len() + more.sum::<usize>()
}
