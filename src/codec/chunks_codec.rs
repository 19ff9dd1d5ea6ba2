//! Text and errors as items of a `FramedRead`, without loss.

use std::io;

use bytes::BytesMut;
use bytestring::ByteString;
use tokio_util::codec::{Decoder, Encoder};

use crate::codec::lines_codec::Utf8LinesCodec;
use crate::decoder::{Utf8Decoder, Utf8Error, Utf8Options};

/// Decodes bytes to text and errors, in order. Every byte is part of one of them, so nothing is lost.
///
/// An item is `Ok` with a run of whole characters, never empty, or `Err` with one ill-formed part or one
/// rejected character. An error is an item, so `FramedRead` continues after it. The codec encodes its items
/// to the bytes they were decoded from, with [`BomPolicy::Keep`](crate::BomPolicy::Keep) and without a
/// mid-stream start: no item contains a removed BOM or skipped bytes.
///
/// Text is not copied. The codec holds no bytes: an incomplete sequence, at most three bytes, stays in the read
/// buffer.
///
/// # Errors
///
/// Only those of the reader. Ill-formed parts are items.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use tokio_util::codec::FramedRead;
/// use utf8_codec::codec::Utf8ChunksCodec;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let file = &b"name=Ren\xE9e"[..]; // Latin-1, not UTF-8
/// let mut chunks = FramedRead::new(file, Utf8ChunksCodec::new());
/// let mut seen = Vec::new();
/// while let Some(chunk) = chunks.next().await {
///     seen.push(match chunk? {
///         Ok(text) => text.to_string(),
///         Err(error) => error.to_string(),
///     });
/// }
/// let error = "invalid UTF-8 at byte 8: truncated character (e9, followed by 65)";
/// assert_eq!(seen, ["name=Ren", error, "e"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Utf8ChunksCodec {
    decoder: Utf8Decoder,
}

impl Utf8ChunksCodec {
    /// Creates a codec with the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options, and starts a new stream.
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { decoder: Utf8Decoder::new().with_options(options) }
    }

    /// Starts a new stream with the same options.
    pub fn reset(&mut self) {
        self.decoder.reset();
    }

    /// Returns the decoder, for the position in the stream, the error count, whether a BOM was removed, and the
    /// number of skipped bytes.
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.decoder
    }
}

/// As for [`Utf8Codec`](crate::codec::Utf8Codec), without an error mode and a fallback: errors are items. The encoder is dropped: this
/// one writes no BOM.
impl From<Utf8LinesCodec> for Utf8ChunksCodec {
    fn from(lines: Utf8LinesCodec) -> Self {
        Self { decoder: lines.into_parts().0 }
    }
}

impl Decoder for Utf8ChunksCodec {
    type Item = Result<ByteString, Utf8Error>;
    type Error = io::Error;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        Ok(self.decoder.take_next(src))
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        if let Some(chunk) = self.decode(src)? {
            return Ok(Some(chunk));
        }
        Ok(self.decoder.finish_after(src).map(|error| {
            let _consumed = src.split_to(error.bytes().len());
            Err(error)
        }))
    }
}

impl Encoder<Result<ByteString, Utf8Error>> for Utf8ChunksCodec {
    type Error = io::Error;

    /// Writes the bytes of an item as they were decoded. Never fails.
    fn encode(
        &mut self,
        item: Result<ByteString, Utf8Error>,
        dst: &mut BytesMut,
    ) -> Result<(), io::Error> {
        match &item {
            Ok(text) => dst.extend_from_slice(text.as_bytes()),
            Err(error) => dst.extend_from_slice(error.bytes()),
        }
        Ok(())
    }
}
