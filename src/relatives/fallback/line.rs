//! How do codecs that split lines themselves decode lines that fall back?

use alloc::string::String;

use bytestring::ByteString;

use crate::core::decoder::Utf8Decoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::scanner::{Scanner, Step};
use crate::fallback::settings::Extent;
use crate::fallback::switch::Found;
use crate::fallback::switch::Uses;
use crate::fallback::{Fallback, Switch};
use crate::relatives::Follow;

/// A fallback for a codec that splits lines itself, and passes whole lines.
#[derive(Clone, Debug)]
pub(crate) struct LineFallback {
    fallback: Fallback,
    /// Decodes UTF-8, and ill-formed parts that fall back alone. Keeps the counts.
    parts: Switch,
    stream: Stream,
}

/// The encoding of the rest of the stream.
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

impl LineFallback {
    pub(crate) fn new(fallback: Fallback) -> Self {
        let parts = Switch::new(Fallback::part(fallback.encoding));
        let stream = match fallback.extent {
            Extent::WithoutBom => Stream::Undecided,
            Extent::Part | Extent::Line { .. } | Extent::Rest => Stream::Utf8,
        };
        Self { fallback, parts, stream }
    }

    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.fallback);
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

    /// Records that the line at `position` is ill-formed after `at` bytes. Returns the byte of the
    /// line from which it is legacy, if more than the ill-formed part is.
    pub(crate) fn turn(&mut self, position: u64, at: usize) -> Option<usize> {
        match self.fallback.extent {
            Extent::Part | Extent::WithoutBom => None,
            Extent::Line { .. } => Some(0),
            Extent::Rest => {
                self.stream = Stream::Legacy;
                self.parts.begin(position + at as u64);
                Some(at)
            }
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
        let legacy = match self.fallback.extent {
            Extent::Line { .. } if legacy.is_some() => {
                // Before that byte, both encodings agree.
                let at = bytes.iter().position(|byte| !byte.is_ascii());
                self.parts.begin(scanner.position() + at.unwrap_or(0) as u64);
                at
            }
            _ => legacy,
        };
        let (mut utf8, mut legacy) =
            legacy.and_then(|at| bytes.split_at_checked(at)).unwrap_or((bytes, &[]));
        let mut text = String::with_capacity(bytes.len());
        // The errors have been counted before, so this decoder is dropped.
        let mut decoder = Utf8Decoder::at(scanner);
        loop {
            let follow = Follow::End;
            let found = self.parts.step(&mut decoder, utf8, follow, &mut text);
            let taken = match found {
                Found::Text(piece) => {
                    text.push_str(piece);
                    piece.len()
                }
                Found::Legacy(len) | Found::Silent(len) => len,
                Found::Error(error) => {
                    text.push_str(&mode.repair(&error).ok_or(error)?);
                    error.bytes().len()
                }
                Found::Hold => break,
            };
            utf8 = &utf8[taken..];
        }
        let mut scanner = decoder.scanner();
        loop {
            let taken = match scanner.step_legacy(legacy, None) {
                Step::Silent(len) => self.parts.decode(&legacy[..len], Follow::End, &mut text),
                Step::Error(error) => {
                    text.push_str(&mode.repair(&error).ok_or(error)?);
                    error.bytes().len()
                }
                Step::Text(_) | Step::Hold => return Ok(text.into()),
            };
            legacy = &legacy[taken..];
        }
    }
}
