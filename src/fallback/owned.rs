//! How do codecs and streams take owned text off their buffers with a fallback, and whole lines?

use alloc::string::String;

use bytes::Buf;
use bytes::Bytes;
use bytestring::ByteString;
use utf8_simd::text::{SplitTo, take_text_with};

use crate::decoder::{AtEnd, ErrorMode, Step, Utf8Decoder, Utf8Error, free_if_empty};
use crate::fallback::{FallbackState, cursor::FallbackText, decoder::FallbackDecoder};

/// Takes the next text off the front of `bytes`: UTF-8 without copying, legacy text as a copy.
///
/// Returns `None` if more bytes are needed, or none are left. Returns an error that the options
/// define and `mode` does not repair.
pub(crate) fn take_next<B: SplitTo + Buf>(
    state: &mut FallbackState,
    decoder: &mut Utf8Decoder,
    bytes: &mut B,
    at_end: AtEnd,
    mode: ErrorMode,
) -> Result<Option<ByteString>, Utf8Error> {
    loop {
        if at_end == AtEnd::No && !bytes.has_remaining() {
            return Ok(None);
        }
        let mut legacy = String::new();
        let (text, step) =
            take_text_with(bytes, |bytes| match state.step(decoder, bytes, at_end, &mut legacy) {
                Step::Text(FallbackText::Utf8(text)) => (text, Step::Text(())),
                Step::Text(FallbackText::Legacy(len)) | Step::Skip(len) => ("", Step::Skip(len)),
                Step::Error(error) => ("", Step::Error(error)),
                Step::NeedMore => ("", Step::NeedMore),
            });
        match step {
            Step::Text(()) => return Ok(Some(text)),
            Step::Skip(len) => bytes.advance(len),
            Step::Error(error) => {
                bytes.advance(error.bytes().len());
                legacy.push_str(&decoder.repair(mode, &error).ok_or(error)?);
            }
            Step::NeedMore => return Ok(None),
        }
        if !legacy.is_empty() {
            return Ok(Some(legacy.into()));
        }
    }
}

impl FallbackDecoder {
    /// Takes the next text from the held bytes and the front of `chunk`. Returns `None` when
    /// `chunk` is empty and the held bytes need more.
    pub(crate) fn next_text(
        &mut self,
        chunk: &mut Bytes,
        mode: ErrorMode,
    ) -> Result<Option<ByteString>, Utf8Error> {
        let mut text = String::new();
        while !self.held.is_empty() {
            if chunk.is_empty() && self.held.needs_more() {
                return Ok(None);
            }
            let mut rest = &chunk[..];
            let result = self.append_held(&mut rest, mode, &mut text);
            chunk.advance(chunk.len() - rest.len());
            free_if_empty(chunk);
            result?;
            if !text.is_empty() {
                return Ok(Some(text.into()));
            }
        }
        let next = take_next(&mut self.state, &mut self.decoder, chunk, AtEnd::No, mode);
        free_if_empty(chunk);
        let next = next?;
        if next.is_none() {
            self.held.hold(&std::mem::take(chunk));
        }
        Ok(next)
    }

    /// Takes the next text or error of the held bytes at the end of the stream, then returns
    /// `None`.
    pub(crate) fn last_text(&mut self, mode: ErrorMode) -> Result<Option<ByteString>, Utf8Error> {
        let mut text = String::new();
        while text.is_empty() {
            if self.append_end(mode, &mut text)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(text.into()))
    }
}
