#[cfg(feature = "alloc")]
use alloc::string::String;

use crate::core::bom::{Opening, Start};
use crate::core::mode::ErrorMode;
#[cfg(feature = "alloc")]
use crate::core::text::first_char;
use crate::core::text::{Ending, split_far, split_range};
use crate::core::text::{Kernel, NulForm};
use crate::dialect::error::DialectError;
use crate::dialect::grammar::{Before, Behind, Extent, Grammar, Sequence};
use crate::dialect::{CodePoint, Dialect, DialectOptions};

/// What the bytes at a place in a stream are, in a dialect.
///
/// As the scanner of UTF-8, it holds no bytes: a caller shows it those from `position` on, is told
/// what the first of them are, and shows it what follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DialectScanner {
    position: u64,
    grammar: Grammar,
    before: Before,
    start: Start,
    kernel: Kernel,
    look: Look,
}

/// What is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// Text, and its end so far ahead: near where there has just been an error, then farther and
    /// farther.
    AtText(usize),
    /// What is written in another way than in UTF-8, as just now.
    AtOther,
}

/// What the bytes shown begin with. All but `Hold` move the position behind what they describe.
#[derive(Debug)]
pub(crate) enum DialectStep<'a> {
    /// Text that is written as in UTF-8, not empty.
    Text(&'a str),
    /// So many bytes are a code point.
    CodePoint(CodePoint, usize),
    /// So many bytes are a signature, which means nothing.
    Silent(usize),
    /// An error; its own bytes are consumed, none for a missing signature.
    Error(DialectError),
    /// No bytes at all, or at most five that may still become a sequence.
    Hold,
}

/// Where text has just ended: no more than the scalar kernel takes a few nanoseconds for.
const NEAR: usize = 32;
/// The farthest look where text is looked at twice, for what the dialect writes in another way: it is
/// still in the first cache then.
const FAR_TWICE: usize = 8 << 10;
/// As much ASCII as makes a piece of its own where other text follows.
const ENOUGH: usize = 256;

/// Where pairs have just been seen, how far to look for others.
#[cfg(feature = "alloc")]
const NEAR_JOINED: usize = 256;
/// The most that is joined at once.
#[cfg(feature = "alloc")]
const FAR_JOINED: usize = 1024;

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
            start: Start::new(options.bom()),
            kernel: Kernel::detect(),
            look: Look::AtText(usize::MAX),
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
        if !self.start.is_over()
            && let Some(step) = self.open(input)
        {
            return step;
        }
        match self.take_text(input) {
            ("", _) => self.step_other(input, behind),
            (text, _) => DialectStep::Text(text),
        }
    }

    /// Whether it is decided what the start of the stream is.
    #[cfg(feature = "alloc")]
    pub(super) const fn is_under_way(&self) -> bool {
        self.start.is_over()
    }

    /// Takes text off the front of `input`, behind the start of the stream. Says whether nothing
    /// follows but what may still become a sequence.
    #[inline]
    pub(super) fn take_text<'a>(&mut self, input: &'a [u8]) -> (&'a str, bool) {
        let (text, is_all) = self.split_text(input);
        if !text.is_empty() {
            self.position += text.len() as u64;
            self.before = Before::Other;
        }
        (text, is_all)
    }

    /// Says what `input` begins with where that is no text.
    #[inline]
    pub(super) fn step_other<'a>(&mut self, input: &'a [u8], behind: Behind) -> DialectStep<'a> {
        let step = self.step_sequence(input, behind);
        match step {
            DialectStep::CodePoint(..) => self.look = Look::AtOther,
            DialectStep::Error(_) => self.look = Look::AtText(NEAR),
            DialectStep::Text(_) | DialectStep::Silent(_) | DialectStep::Hold => {}
        }
        step
    }

    /// As [`step`](Self::step), but one sequence only, which is never text.
    pub(super) fn step_sequence<'a>(&mut self, input: &[u8], behind: Behind) -> DialectStep<'a> {
        if !self.start.is_over()
            && let Some(step) = self.open(input)
        {
            return step;
        }
        if input.is_empty() {
            return DialectStep::Hold;
        }
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

    /// Appends the text of what `input` begins with, where the dialect is one of pairs and has just
    /// written something in another way than UTF-8. Returns the bytes read, which may be none.
    #[cfg(feature = "alloc")]
    pub(super) fn join_pairs(&mut self, input: &[u8], text: &mut String) -> usize {
        let Some(nul) = self.nul().filter(|_| self.look == Look::AtOther) else { return 0 };
        let mut buffer = [0; FAR_JOINED + 64];
        let mut read = 0;
        let mut reach = NEAR_JOINED;
        loop {
            let window = &input[read..input.len().min(read + reach)];
            let (used, written) = self.kernel.join_pairs(window, nul, &mut buffer);
            let (joined, ending) = split_far(self.kernel, &buffer[..written]);
            text.push_str(joined);
            let used = match ending {
                // What is held is the last, and was written as it came.
                Ending::End => used - (written - joined.len()),
                _ => unjoined_len(joined, nul),
            };
            read += used;
            if used == joined.len() && used > 0 {
                // Nothing was joined: there are quicker ways.
                self.look = Look::AtText(reach.saturating_mul(8));
                break;
            }
            // Less than a pair may have been cut by the end of the window, and only by that.
            let is_cut = used > 0 && used + 6 > window.len();
            if !is_cut || read + 6 > input.len() {
                break;
            }
            reach = FAR_JOINED;
        }
        if read > 0 {
            self.position += read as u64;
            self.before = Before::Other;
        }
        read
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

    /// Says what the start of the stream makes of `input`; `None` where it leaves it to the dialect.
    #[cold]
    fn open<'a>(&mut self, input: &[u8]) -> Option<DialectStep<'a>> {
        Some(match self.start.open(input) {
            Opening::Text => return None,
            Opening::Hold => DialectStep::Hold,
            Opening::Silent(len) => {
                self.position += len as u64;
                DialectStep::Silent(len)
            }
            Opening::Error(error) => {
                self.position += error.bytes().len() as u64;
                DialectStep::Error(DialectError::at_start(self.dialect(), error))
            }
        })
    }

    /// Whether a signature was removed.
    pub(super) const fn bom_seen(&self) -> bool {
        matches!(self.start, Start::OverWithBom)
    }

    /// Takes note of the end of the stream, behind which bytes that are held may still be to be
    /// decoded: no signature is looked for any more.
    pub(crate) fn end_start(&mut self) -> Option<DialectError> {
        let missing = self.start.finish()?;
        Some(DialectError::at_start(self.dialect(), missing))
    }

    /// Takes note of the end of the stream, all of which has been decoded.
    pub(crate) fn end(&mut self) {
        self.before = Before::Other;
    }

    /// Takes the character off the front of `bytes`, if they begin with one that is longer than
    /// `held` and written as in UTF-8, behind the start of the stream.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(super) fn take_char<'a>(&mut self, bytes: &'a [u8; 4], held: usize) -> Option<&'a str> {
        let is_plain = self.nul().is_none_or(|nul| nul.plain_bytes().contains(&bytes[0]));
        let text = first_char(bytes).filter(|text| is_plain && text.len() > held)?;
        self.position += text.len() as u64;
        self.before = Before::Other;
        Some(text)
    }

    /// Splits off text at the start of `input` that is written as in UTF-8. Says whether nothing
    /// follows but what may still become a sequence.
    #[inline]
    fn split_text<'a>(&mut self, input: &'a [u8]) -> (&'a str, bool) {
        let reach = match self.look {
            Look::AtText(reach) => reach,
            Look::AtOther => NEAR,
        };
        let window = &input[..input.len().min(reach)];
        let Some(nul) = self.nul() else {
            let kernel = self.kernel_for(window);
            let (text, ending) = split_far(kernel, window);
            self.look_from(reach, ending == Ending::End);
            return (text, ending == Ending::End && window.len() == input.len());
        };
        let window = &window[..window.len().min(FAR_TWICE)];
        if reach > NEAR && begins_with_ascii(window) {
            // Much text is ASCII, for which one look is enough.
            let ascii = split_range(self.kernel, window, nul.plain_ascii());
            if ascii.len() >= ENOUGH.min(window.len()) {
                self.look_from(reach, true);
                return (ascii, ascii.len() == input.len());
            }
        }
        let (text, ending) = split_far(self.kernel_for(window), window);
        let end = self.kernel.find_outside(text.as_bytes(), nul.plain_bytes());
        let goes_on = end.is_none() && ending == Ending::End;
        self.look_from(reach, goes_on);
        // What is incomplete in UTF-8 may be ill-formed here.
        let held = window.get(text.len()).is_none_or(|byte| nul.plain_bytes().contains(byte));
        let is_all = goes_on && held && window.len() == input.len();
        (&text[..end.unwrap_or(text.len())], is_all)
    }

    /// How U+0000 is written, where surrogates come in pairs.
    const fn nul(&self) -> Option<NulForm> {
        match self.dialect() {
            Dialect::Cesu8 => Some(NulForm::OneByte),
            Dialect::ModifiedUtf8 => Some(NulForm::TwoBytes),
            _ => None,
        }
    }

    fn kernel_for(&self, window: &[u8]) -> Kernel {
        if window.len() <= NEAR { Kernel::SCALAR } else { self.kernel }
    }

    /// Says how far to look next, behind text that ended at `reach` or before.
    fn look_from(&mut self, reach: usize, goes_on: bool) {
        self.look = Look::AtText(if goes_on { reach.saturating_mul(8) } else { NEAR });
    }
}

/// Whether the first bytes, as many as are looked at in one go, are ASCII.
#[inline]
fn begins_with_ascii(bytes: &[u8]) -> bool {
    const HIGH: u128 = u128::from_ne_bytes([0x80; 16]);
    bytes.first_chunk().is_none_or(|first| u128::from_ne_bytes(*first) & HIGH == 0)
}

/// How many bytes have become `joined`: two more for a pair, one more for a long NUL.
#[cfg(feature = "alloc")]
fn unjoined_len(joined: &str, nul: NulForm) -> usize {
    let more = joined.bytes().map(|byte| match byte {
        0xF0.. => 2,
        0x00 if nul == NulForm::TwoBytes => 1,
        _ => 0,
    });
    joined.len() + more.sum::<usize>()
}
