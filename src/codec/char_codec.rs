//! `char`s as items of a `FramedRead`.

use bytes::{Buf, BytesMut};
use tokio_util::codec::{Decoder, Encoder};

use crate::codec::{CodecError, lines_codec::Utf8LinesCodec};
use crate::decoder::{ErrorMode, Repair, Step, Utf8Decoder, Utf8Encoder, Utf8Error, Utf8Options};

/// Decodes bytes to `char`s, one per item.
///
/// It is convenient but slow: `FramedRead` adds about 10 ns per item. If speed matters, use
/// [`Utf8Codec`](crate::codec::Utf8Codec) and the `chars()` of its items.
///
/// The codec holds no bytes: an incomplete sequence, at most three bytes, stays in the read buffer. A repair of
/// several characters ([`ErrorMode::Escape`]) is yielded one by one, and the codec holds the rest of it, at
/// most 16 bytes.
///
/// # Errors
///
/// In [`ErrorMode::Fatal`], the default, [`CodecError::Invalid`]. The ill-formed bytes are consumed. See
/// [the module](crate::codec#errors-and-framedread) for how `FramedRead` handles errors. In the other modes
/// only [`CodecError::Io`], if the reader fails.
///
/// # Examples
///
/// ```
/// use futures::{StreamExt, TryStreamExt};
/// use tokio_util::codec::FramedRead;
/// use utf8_codec::codec::CharCodec;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let chars = FramedRead::with_capacity("日本語".as_bytes(), CharCodec::new(), 1);
/// assert_eq!(chars.try_collect::<Vec<_>>().await?, ['日', '本', '語']);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct CharCodec {
    decoder: Utf8Decoder,
    mode: ErrorMode,
    encoder: Utf8Encoder,
    /// What has not been yielded of a repair.
    repair: Repair,
}

impl CharCodec {
    /// Creates a codec with the default options, in [`ErrorMode::Fatal`], writing no BOM.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options, and starts a new stream of input. The encoder continues.
    pub fn with_options(self, options: Utf8Options) -> Self {
        let decoder = Utf8Decoder::new().with_options(options);
        Self { decoder, repair: Repair::EMPTY, ..self }
    }

    /// Sets what replaces ill-formed parts.
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Sets the encoder. It decides whether a BOM is written. Call it before the first text.
    pub fn with_encoder(self, encoder: Utf8Encoder) -> Self {
        Self { encoder, ..self }
    }

    /// Starts new streams in both directions with the same settings.
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.encoder.reset();
        self.repair = Repair::EMPTY;
    }

    /// Returns the decoder, for the position in the stream, the error count, whether a BOM was removed, and the
    /// number of skipped bytes.
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.decoder
    }

    /// Returns the next character of the repair, if there is one.
    fn next_of_repair(&mut self) -> Option<char> {
        let repair = self.repair;
        if repair == Repair::EMPTY {
            return None;
        }
        let mut chars = repair.chars();
        let next = chars.next();
        self.repair = Repair::new(chars.as_str());
        next
    }

    fn repair(&mut self, error: Utf8Error) -> Result<(), Utf8Error> {
        self.repair = self.decoder.repair(self.mode, &error).ok_or(error)?;
        Ok(())
    }
}

/// As for [`Utf8Codec`](crate::codec::Utf8Codec), without a fallback.
impl From<Utf8LinesCodec> for CharCodec {
    fn from(lines: Utf8LinesCodec) -> Self {
        let (decoder, mode, _, encoder) = lines.into_parts();
        Self { decoder, mode, encoder, repair: Repair::EMPTY }
    }
}

impl Decoder for CharCodec {
    type Item = char;
    type Error = CodecError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<char>, CodecError> {
        loop {
            if let Some(c) = self.next_of_repair() {
                return Ok(Some(c));
            }
            // Only one sequence is examined, so that the cost of a call does not depend on the buffer.
            let window = &src[..src.len().min(4)];
            match self.decoder.step(window) {
                Step::NeedMore => return Ok(None),
                Step::Skip(len) => src.advance(len),
                Step::Text(text) => {
                    let first = text.chars().next();
                    let len = first.map_or(text.len(), char::len_utf8);
                    self.decoder.scanner_mut().unread(text.len() - len);
                    src.advance(len);
                    return Ok(first);
                }
                Step::Error(error) => {
                    src.advance(error.bytes().len());
                    self.repair(error)?;
                }
            }
        }
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<char>, CodecError> {
        loop {
            if let Some(c) = self.decode(src)? {
                return Ok(Some(c));
            }
            let Some(error) = self.decoder.finish_after(src) else { return Ok(None) };
            src.advance(error.bytes().len());
            self.repair(error)?;
        }
    }
}

impl Encoder<char> for CharCodec {
    type Error = CodecError;

    fn encode(&mut self, c: char, dst: &mut BytesMut) -> Result<(), CodecError> {
        self.encode(&[c][..], dst)
    }
}

impl Encoder<&[char]> for CharCodec {
    type Error = CodecError;

    fn encode(&mut self, chars: &[char], dst: &mut BytesMut) -> Result<(), CodecError> {
        dst.extend_from_slice(self.encoder.take_bom());
        dst.reserve(chars.len());
        for c in chars {
            dst.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(())
    }
}
