//! The bytes of a stream with a fallback at the position of its decoder: are they UTF-8, and what is their text?

use alloc::string::String;

use utf8_simd::Level;

use crate::decoder::{AtEnd, ErrorMode, Step, Utf8Decoder, Utf8Error};

/// Text at the beginning of the input.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FallbackText<'a> {
    /// UTF-8, not empty.
    Utf8(&'a str),
    /// This many bytes in the legacy encoding, or partly in it. Their text has been appended.
    Legacy(usize),
}

/// The input, the decoder at its position, and the destination of legacy text.
pub(super) struct Cursor<'p, 'a> {
    pub(super) decoder: &'p mut Utf8Decoder,
    pub(super) input: &'a [u8],
    pub(super) at_end: AtEnd,
    pub(super) legacy: &'p mut String,
}

impl<'p, 'a> Cursor<'p, 'a> {
    /// Classifies the beginning of the input as UTF-8, given what follows it.
    // Always inlined, like the steps below: a step is returned through memory. Rows `fallback-*`.
    #[inline(always)]
    pub(super) fn step(&mut self) -> Step<&'a str> {
        self.step_from(0)
    }

    /// Like [`step`](Self::step), for the input from this index.
    #[inline(always)]
    pub(super) fn step_from(&mut self, index: usize) -> Step<&'a str> {
        let input = &self.input[index..];
        if let Some((text, _)) = self.decoder.step_fast_path(input)
            && !text.is_empty()
        {
            return Step::Text(text);
        }
        self.decoder.scanner_mut().step_at(input, self.at_end)
    }

    /// Like [`step`](Self::step), but ill-formed input is left: the decoder does not move.
    #[inline(always)]
    pub(super) fn step_well_formed(&mut self) -> Result<Step<&'a str>, Utf8Error> {
        let before = self.decoder.scanner();
        match self.step() {
            Step::Error(error) if error.kind().is_ill_formed() => {
                self.decoder.continue_from(before);
                Err(error)
            }
            step => Ok(step),
        }
    }

    /// Like [`step`](Self::step), for input that never falls back.
    pub(super) fn step_utf8(&mut self) -> Step<FallbackText<'a>> {
        let step = self.step();
        self.pass_on(step)
    }

    /// Counts the error of a step.
    #[inline(always)]
    pub(super) fn pass_on(&mut self, step: Step<&'a str>) -> Step<FallbackText<'a>> {
        match step {
            Step::Text(text) => Step::Text(FallbackText::Utf8(text)),
            Step::Skip(len) => Step::Skip(len),
            Step::Error(error) => Step::Error(self.decoder.note(error)),
            Step::NeedMore => Step::NeedMore,
        }
    }

    /// Returns the first `len` bytes of the last step's text, which are whole characters. The
    /// decoder moves back to their end.
    pub(super) fn give_back(&mut self, text: &'a str, len: usize) -> Step<FallbackText<'a>> {
        self.decoder.scanner_mut().unread(text.len() - len);
        Step::Text(FallbackText::Utf8(&text[..len]))
    }
}

/// Returns the length of the complete lines in `text`, plus the ASCII at the start of the next one.
pub(super) fn settled_len(text: &str) -> usize {
    /// The text before an error is seldom longer than this (rows `fallback-line/windows-1252`).
    const SHORT: usize = 64;
    if text.len() <= SHORT && text.is_ascii() {
        return text.len();
    }
    let line = text.rfind('\n').map_or(0, |lf| lf + 1);
    let ascii = Level::detect().find_outside(&text.as_bytes()[line..], 0..=0x7F);
    ascii.map_or(text.len(), |ascii| line + ascii)
}

/// Appends the text of a step, or what replaces its error. Returns the number of bytes consumed, or `None` if more are
/// needed. Legacy text has already been appended.
#[inline(always)]
pub(super) fn append_step(
    step: Step<FallbackText<'_>>,
    decoder: &Utf8Decoder,
    mode: ErrorMode,
    text: &mut String,
) -> Result<Option<usize>, Utf8Error> {
    Ok(Some(match step {
        Step::Text(FallbackText::Utf8(piece)) => {
            text.push_str(piece);
            piece.len()
        }
        Step::Text(FallbackText::Legacy(len)) | Step::Skip(len) => len,
        Step::Error(error) => {
            text.push_str(&decoder.repair(mode, &error).ok_or(error)?);
            error.bytes().len()
        }
        Step::NeedMore => return Ok(None),
    }))
}
