//! How do codecs and streams take owned text off their buffers with a fallback, and whole lines?

use alloc::string::String;

use bytes::Buf;
#[cfg(feature = "stream")]
use bytes::Bytes;
use bytestring::ByteString;

use crate::decoder::error::Utf8Error;
use crate::decoder::mode::ErrorMode;
use crate::decoder::step::AtEnd;
use crate::decoder::text::{SplitTo, take_text_with};
use crate::decoder::utf8_decoder::Utf8Decoder;
#[cfg(feature = "codec")]
use crate::decoder::{scanner::Scanner, step::Step};
#[cfg(feature = "codec")]
use crate::fallback::Fallback;
use crate::fallback::Switch;
#[cfg(feature = "stream")]
use crate::fallback::decoder::{FallbackDecoder, Pace};
#[cfg(feature = "codec")]
use crate::fallback::legacy::Decoded;
use crate::fallback::switch::Found;
#[cfg(feature = "codec")]
use crate::fallback::switch::{Extent, Reading, Uses};

/// Takes the next text off the front of `bytes`: UTF-8 without copying, legacy text as a copy.
///
/// Returns `None` if more bytes are needed, or none are left. Returns an error that the options
/// define and `mode` does not repair.
pub(crate) fn take_next<B: SplitTo + Buf>(
    switch: &mut Switch,
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
        let (text, found) =
            take_text_with(bytes, |bytes| match switch.step(decoder, bytes, at_end, &mut legacy) {
                Found::Text(text) => (text, TakenLegacy::Nothing),
                Found::Legacy(len) | Found::Skip(len) => ("", TakenLegacy::Bytes(len)),
                Found::Error(error) => ("", TakenLegacy::Error(error)),
                Found::NeedMore => ("", TakenLegacy::Nothing),
            });
        match found {
            TakenLegacy::Nothing if text.is_empty() => return Ok(None),
            TakenLegacy::Nothing => return Ok(Some(text)),
            TakenLegacy::Bytes(len) => bytes.advance(len),
            TakenLegacy::Error(error) => {
                bytes.advance(error.bytes().len());
                legacy.push_str(&decoder.repair(mode, &error).ok_or(error)?);
            }
        }
        if !legacy.is_empty() {
            return Ok(Some(legacy.into()));
        }
    }
}

/// The result of a step in [`take_next`] that is not text.
enum TakenLegacy {
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
        let next = take_next(&mut self.switch, &mut self.decoder, chunk, AtEnd::No, mode)?;
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

/// A fallback for a codec that splits lines itself, and passes whole lines.
#[cfg(feature = "codec")]
#[derive(Clone, Debug)]
pub(crate) struct LineFallback {
    fallback: Fallback,
    /// Decodes UTF-8, and ill-formed parts that fall back alone. Keeps the counts.
    parts: Switch,
    stream: Stream,
}

/// The encoding of the rest of the stream.
#[cfg(feature = "codec")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    /// A BOM decides, and no byte has arrived.
    Undecided,
    /// UTF-8, and what is ill-formed falls back.
    Utf8,
    /// UTF-8, because the stream begins with the BOM that decides. Nothing falls back.
    DeclaredUtf8,
    Legacy,
}

#[cfg(feature = "codec")]
impl LineFallback {
    pub(crate) fn new(fallback: Fallback) -> Self {
        let parts = Switch::new(Fallback { extent: Extent::Part, ..fallback });
        let stream = match fallback.extent {
            Extent::WithoutBom => Stream::Undecided,
            Extent::Part | Extent::Line { .. } | Extent::Rest => Stream::Utf8,
        };
        Self { fallback, parts, stream }
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.fallback);
    }

    /// Returns the fallback of the text after the lines.
    pub(crate) fn into_switch(self) -> Switch {
        let reading = match self.stream {
            Stream::Undecided => Reading::Start,
            Stream::Utf8 | Stream::DeclaredUtf8 => Reading::Utf8,
            Stream::Legacy => Reading::Legacy,
        };
        self.parts.continuing(self.fallback, reading)
    }

    pub(crate) const fn uses(&self) -> Uses {
        self.parts.uses()
    }

    /// Returns whether the rest of the stream is in the legacy encoding.
    pub(crate) fn has_turned(&self) -> bool {
        self.stream == Stream::Legacy
    }

    /// Returns whether a BOM decides the encoding, and no byte has arrived.
    pub(crate) fn awaits_bom(&self) -> bool {
        self.stream == Stream::Undecided
    }

    /// Returns whether the stream began with the BOM that decides.
    pub(crate) fn is_declared_utf8(&self) -> bool {
        self.stream == Stream::DeclaredUtf8
    }

    /// Records that the stream begins at `position`, with or without a BOM.
    pub(crate) fn decide(&mut self, position: u64, bom_seen: bool) {
        self.stream = if bom_seen { Stream::DeclaredUtf8 } else { Stream::Legacy };
        if !bom_seen {
            self.parts.begin(position);
        }
    }

    /// Whether a whole line is either UTF-8 or legacy.
    pub(crate) fn is_by_line(&self) -> bool {
        matches!(self.fallback.extent, Extent::Line { .. })
    }

    /// Records that the stream is ill-formed at `position`. Returns whether everything from there on is legacy.
    pub(crate) fn turn(&mut self, position: u64) -> bool {
        let turns = matches!(self.fallback.extent, Extent::Rest);
        if turns {
            self.stream = Stream::Legacy;
            self.parts.begin(position);
        }
        turns
    }

    /// Looks for a rejected character in bytes in the legacy encoding, and steps over those before it.
    pub(crate) fn step(
        &self,
        scanner: &mut Scanner,
        bytes: &[u8],
        at_end: AtEnd,
    ) -> Step<&'static str> {
        if scanner.options().strictness().is_off() {
            let passed = if bytes.is_empty() { Step::NeedMore } else { Step::Skip(bytes.len()) };
            scanner.skip(bytes.len());
            return passed;
        }
        match self.fallback.step(scanner, bytes, None, at_end, &mut String::new()) {
            Ok(Decoded { read: 0, .. }) => Step::NeedMore,
            Ok(Decoded { read, .. }) => Step::Skip(read),
            Err(error) => Step::Error(error),
        }
    }

    /// Decodes the bytes of a line, which have been validated and counted before. The bytes from
    /// `legacy` are in the legacy encoding.
    pub(crate) fn text(
        &mut self,
        mode: ErrorMode,
        scanner: Scanner,
        legacy: Option<usize>,
        bytes: &[u8],
    ) -> Result<ByteString, Utf8Error> {
        if let Some(at) = legacy.filter(|_| self.is_by_line()) {
            self.parts.begin(scanner.position() + at as u64);
        }
        let (mut utf8, mut legacy) =
            legacy.and_then(|at| bytes.split_at_checked(at)).unwrap_or((bytes, &[]));
        let mut text = String::with_capacity(bytes.len());
        // The errors have been counted before, so this decoder is dropped.
        let mut decoder = Utf8Decoder::at(scanner);
        loop {
            let at_end = AtEnd::Yes;
            let found = self.parts.step(&mut decoder, utf8, at_end, &mut text);
            let taken = match found {
                Found::Text(piece) => {
                    text.push_str(piece);
                    piece.len()
                }
                Found::Legacy(len) | Found::Skip(len) => len,
                Found::Error(error) => {
                    text.push_str(&decoder.repair(mode, &error).ok_or(error)?);
                    error.bytes().len()
                }
                Found::NeedMore => break,
            };
            utf8 = &utf8[taken..];
        }
        let mut scanner = decoder.scanner();
        loop {
            let taken = match self.fallback.step(&mut scanner, legacy, None, AtEnd::Yes, &mut text)
            {
                Ok(Decoded { read: 0, .. }) => return Ok(text.into()),
                Ok(decoded) => {
                    self.parts.count(decoded);
                    decoded.read
                }
                Err(error) => {
                    text.push_str(&decoder.repair(mode, &error).ok_or(error)?);
                    error.bytes().len()
                }
            };
            legacy = &legacy[taken..];
        }
    }
}
