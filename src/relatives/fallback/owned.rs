//! How is text taken off a buffer as owned text, with a fallback?

use alloc::string::String;

use bytes::Buf;
#[cfg(feature = "stream")]
use bytes::Bytes;
use bytestring::ByteString;

use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::text::{SplitTo, take_text};
use crate::fallback::Switch;
#[cfg(feature = "stream")]
use crate::fallback::decoder::{FallbackDecoder, Pace};
use crate::fallback::switch::Found;
use crate::relatives::Follow;

/// Takes the next text off the front of `bytes`: UTF-8 without copying, legacy text as a copy.
///
/// Returns `None` if more bytes are needed, or none are left. Returns an error that the options
/// define and `mode` does not repair.
pub(crate) fn take_next<B: SplitTo + Buf>(
    switch: &mut Switch,
    decoder: &mut Utf8Decoder,
    bytes: &mut B,
    follow: Follow,
    mode: ErrorMode,
) -> Result<Option<ByteString>, Utf8Error> {
    loop {
        if follow == Follow::More && !bytes.has_remaining() {
            return Ok(None);
        }
        let mut legacy = String::new();
        let mut found = Taken::Nothing;
        let text = take_text(bytes, |bytes| {
            match switch.step(decoder, bytes, follow, &mut legacy) {
                Found::Text(text) => return text,
                Found::Legacy(len) | Found::Silent(len) => found = Taken::Bytes(len),
                Found::Error(error) => found = Taken::Error(error),
                Found::Hold => {}
            }
            ""
        });
        match found {
            Taken::Nothing if text.is_empty() => return Ok(None),
            Taken::Nothing => return Ok(Some(text)),
            Taken::Bytes(len) => bytes.advance(len),
            Taken::Error(error) => {
                bytes.advance(error.bytes().len());
                legacy.push_str(&mode.repair(&error).ok_or(error)?);
            }
        }
        if !legacy.is_empty() {
            return Ok(Some(legacy.into()));
        }
    }
}

/// The result of a step in [`take_next`] that is not text.
enum Taken {
    Nothing,
    Bytes(usize),
    Error(Utf8Error),
}

#[cfg(feature = "stream")]
impl FallbackDecoder {
    /// Takes the next text from the held bytes and the front of `chunk`. Returns `None` when
    /// `chunk` is empty and the held bytes need more.
    pub(crate) fn next_text(
        &mut self,
        chunk: &mut Bytes,
        mode: ErrorMode,
    ) -> Result<Option<ByteString>, Utf8Error> {
        let mut text = String::new();
        while !self.is_complete() {
            let (used, pace) = self.step_held(chunk, mode, &mut text);
            chunk.advance(used);
            let pace = pace?;
            if !text.is_empty() {
                return Ok(Some(text.into()));
            }
            if pace == Pace::Waits {
                return Ok(None);
            }
        }
        let next = take_next(&mut self.switch, &mut self.decoder, chunk, Follow::More, mode)?;
        if next.is_none() {
            self.hold(&std::mem::take(chunk));
        }
        Ok(next)
    }

    /// Takes the next text or error of the held bytes at the end of the stream, then returns
    /// `None`.
    pub(crate) fn last_text(&mut self, mode: ErrorMode) -> Result<Option<ByteString>, Utf8Error> {
        let mut text = String::new();
        while text.is_empty() {
            if self.step_end(mode, &mut text)? == Pace::Waits {
                return Ok(None);
            }
        }
        Ok(Some(text.into()))
    }
}
