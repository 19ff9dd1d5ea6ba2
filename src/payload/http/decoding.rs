//! How do the bytes of a body become text, whatever their charset?

use std::convert::Infallible;
use std::mem;

use bytes::Bytes;
use bytestring::ByteString;
use http_body::SizeHint;

use crate::adaptor::chunk_text::ChunkText;
use crate::core::decoder::Utf8Decoder;
use crate::core::mode::ErrorMode;
use crate::core::options::Utf8Options;
use crate::payload::http::BodyError;
use crate::payload::http::charset::Charset;
use crate::payload::http::legacy::Legacy;

/// Decodes the bytes of a body, chunk by chunk.
#[derive(Debug)]
pub(super) struct Decoding {
    /// Converts the bytes for `text` if the charset is not UTF-8.
    legacy: Option<Box<Legacy>>,
    text: ChunkText,
}

/// The next item, or `None` if more bytes are needed.
pub(super) type Item = Result<Option<ByteString>, BodyError<Infallible>>;

impl Decoding {
    pub(super) fn new() -> Self {
        Self { legacy: None, text: ChunkText::new() }
    }

    pub(super) fn set_charset(&mut self, charset: Charset) {
        self.legacy = match charset {
            Charset::Utf8 => None,
            Charset::Legacy(encoding) => Some(Legacy::boxed(encoding)),
        };
    }

    pub(super) fn set_options(&mut self, options: Utf8Options) {
        self.text.decoder = mem::take(&mut self.text.decoder).with_options(options);
    }

    pub(super) fn set_error_mode(&mut self, mode: ErrorMode) {
        self.text.mode = mode;
    }

    pub(super) fn charset(&self) -> Charset {
        self.legacy.as_ref().map_or(Charset::Utf8, |legacy| Charset::Legacy(legacy.encoding()))
    }

    pub(super) fn decoder(&self) -> &Utf8Decoder {
        &self.text.decoder
    }

    pub(super) fn error_count(&self) -> u64 {
        self.text.decoder.error_count()
            + self.legacy.as_ref().map_or(0, |legacy| legacy.error_count())
    }

    pub(super) fn first_error(&self) -> Option<BodyError<Infallible>> {
        let in_text = self.text.decoder.first_error();
        let in_body = self.legacy.as_ref().and_then(|legacy| legacy.first_error());
        match (in_text, in_body) {
            (Some(in_text), Some((at, _))) if in_text.valid_up_to() < at => Some(in_text.into()),
            (_, Some((_, in_body))) => Some(in_body.into()),
            (in_text, None) => in_text.map(BodyError::Utf8),
        }
    }

    /// Takes the next chunk, after all items of the previous one have been returned.
    pub(super) fn push(&mut self, chunk: Bytes) {
        match &mut self.legacy {
            Some(legacy) => legacy.push(chunk),
            None => self.text.chunk = chunk,
        }
    }

    /// Returns the next item of the chunk, then `None`.
    pub(super) fn next(&mut self) -> Item {
        loop {
            if let Some(text) = self.text.next()? {
                return Ok(Some(text));
            }
            let Some(legacy) = &mut self.legacy else { return Ok(None) };
            let Some(block) = legacy.next(self.text.mode)? else { return Ok(None) };
            self.text.chunk = block;
        }
    }

    /// Returns the next item that the end determines, then `None`. After that, more can be pushed.
    pub(super) fn finish(&mut self) -> Item {
        if let Some(legacy) = &mut self.legacy {
            legacy.finish();
        }
        match self.next()? {
            None => Ok(self.text.end()?),
            some => Ok(some),
        }
    }

    /// Returns whether the stream could end here without another item.
    pub(super) fn is_done(&self) -> bool {
        self.legacy.as_ref().is_none_or(|legacy| legacy.is_idle())
            && self.text.chunk.is_empty()
            && self.text.decoder.clone().finish().is_ok()
    }

    /// Returns the bounds of the remaining text, computed from those of the remaining bytes.
    pub(super) fn size_hint(&self, inner: &SizeHint) -> SizeHint {
        let mut hint = SizeHint::new();
        if self.legacy.is_some() || self.text.mode != ErrorMode::Fatal {
            return hint;
        }
        let here = (self.text.decoder.incomplete().len() + self.text.chunk.len()) as u64;
        let skipped = if self.text.decoder.scanner().start().may_skip() { 3 } else { 0 };
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper.saturating_add(here));
        }
        hint.set_lower(inner.lower().saturating_add(here).saturating_sub(skipped));
        hint
    }
}
