//! Text as items of a `FramedRead`.

use bytes::{Buf, BytesMut};
use bytestring::ByteString;
use tokio_util::codec::{Decoder, Encoder};

use crate::codec::{CodecError, lines_codec::Utf8LinesCodec};
use crate::decoder::{AtEnd, ErrorMode, Utf8Decoder, Utf8Encoder, Utf8Error, Utf8Options};
use crate::fallback::{FallbackDecoder, FallbackState, FallbackUses, take_next};

/// Decodes bytes to text. Each item is a run of whole characters, never empty.
///
/// The items depend on how the bytes arrive; their concatenation does not. Well-formed input is not copied: an
/// item shares the memory of the read buffer, and a small item keeps the whole buffer alive
/// (`ByteString::from(&*item)` copies it). In a lossy mode, a `decode` call yields all decoded text as one item,
/// which is a copy if something was repaired.
///
/// The codec holds no bytes: an incomplete sequence, at most three bytes, stays in the read buffer. Nothing
/// accumulates, so there is no limit to set. With a [fallback](Self::with_fallback) by lines, up to one line
/// stays there, within the limit of the fallback.
///
/// # Errors
///
/// In [`ErrorMode::Fatal`], the default, [`CodecError::Invalid`]. The text before the ill-formed bytes is
/// yielded first, and the ill-formed bytes are consumed. See [the module](crate::codec#errors-and-framedread)
/// for how `FramedRead` handles errors, and for closing a `Framed`. In the other modes only
/// [`CodecError::Io`], if the reader fails.
///
/// # Examples
///
/// ```
/// use futures::{SinkExt, StreamExt};
/// use tokio::io::AsyncWriteExt;
/// use tokio_util::codec::FramedRead;
/// use utf8_codec::codec::Utf8Codec;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (mut peer, socket) = tokio::io::duplex(64);
/// let mut texts = FramedRead::new(socket, Utf8Codec::new());
///
/// peer.write_all(b"snowman: \xE2\x98").await?;
/// assert_eq!(texts.next().await.unwrap()?, "snowman: ");
/// peer.write_all(b"\x83.").await?;
/// assert_eq!(texts.next().await.unwrap()?, "☃.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Utf8Codec {
    decoder: Utf8Decoder,
    mode: ErrorMode,
    fallback: Option<Box<FallbackState>>,
    encoder: Utf8Encoder,
}

impl Utf8Codec {
    /// Creates a codec with the default options, in [`ErrorMode::Fatal`], writing no BOM.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a codec that replaces each ill-formed part with U+FFFD, like `String::from_utf8_lossy`: short
    /// for `new().with_error_mode(ErrorMode::Replacement)`.
    pub fn lossy() -> Self {
        Self::new().with_error_mode(ErrorMode::Replacement)
    }

    /// Sets the options, and starts a new stream of input. The encoder continues.
    pub fn with_options(mut self, options: Utf8Options) -> Self {
        if let Some(state) = &mut self.fallback {
            state.reset();
        }
        Self { decoder: Utf8Decoder::new().with_options(options), ..self }
    }

    /// Sets what replaces ill-formed parts.
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Decodes ill-formed UTF-8 in a legacy encoding. The error mode then applies only to what the options
    /// reject. The encoder always writes UTF-8.
    ///
    /// Only the encoding of `decoder`, how much falls back, and its [`with_max_length`](FallbackDecoder::with_max_length)
    /// are used. The options are those of this codec: set them here. What it has decoded and holds is dropped. With [`FallbackDecoder::line`], an undecided line stays in the read buffer.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8Codec;
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    ///
    /// let mut codec = Utf8Codec::new().with_fallback(FallbackDecoder::rest(LegacyEncoding::latin1()));
    /// let mut buffer = BytesMut::from(&b"caf\xE9, th\xC3\xA9"[..]);
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), "caf");
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), "é, thÃ©");
    /// ```
    pub fn with_fallback(mut self, decoder: FallbackDecoder) -> Self {
        if let Some(previous) = &self.fallback {
            previous.release(&mut self.decoder);
        }
        Self { fallback: Some(Box::new(decoder.into_state())), ..self }
    }

    /// Sets the encoder. It decides whether a BOM is written. Call it before the first text.
    pub fn with_encoder(self, encoder: Utf8Encoder) -> Self {
        Self { encoder, ..self }
    }

    /// Starts new streams in both directions with the same settings.
    pub fn reset(&mut self) {
        self.decoder.reset();
        if let Some(state) = &mut self.fallback {
            state.reset();
        }
        self.encoder.reset();
    }

    /// Returns the decoder, for the position in the stream, the error count, whether a BOM was removed, and the
    /// number of skipped bytes.
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.decoder
    }

    /// Returns what the [fallback](Self::with_fallback) has decoded.
    pub fn fallback_uses(&self) -> FallbackUses {
        self.fallback.as_ref().map_or(FallbackUses::default(), |fallback| fallback.uses())
    }

    /// Decodes `src` with a fallback or in a lossy mode.
    #[inline(never)]
    fn decode_otherwise(&mut self, src: &mut BytesMut) -> Result<Option<ByteString>, Utf8Error> {
        if let Some(state) = &mut self.fallback {
            return take_next(state, &mut self.decoder, src, AtEnd::No, self.mode);
        }
        self.decoder.take_repaired(src, self.mode)
    }
}

/// For what follows the lines: continues where they end, with the same options, error mode, fallback and encoder.
///
/// Pass it to `map_decoder` of a `FramedRead` or `map_codec` of a `Framed`, which keep the read buffer. If a CR ended the
/// last line, an LF after it is skipped, even if it arrives later. After a rejected line, the text continues in the middle
/// of that line.
///
/// # Examples
///
/// ```
/// use futures::{StreamExt, TryStreamExt};
/// use tokio_util::codec::FramedRead;
/// use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};
/// use utf8_codec::lines::Delimiter;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let codec = Utf8LinesCodec::new().with_delimiter(Delimiter::any_newline());
/// let mut lines = FramedRead::with_capacity(&b"HEAD\r\nbody"[..], codec, 5); // cut between CR and LF
/// assert_eq!(lines.next().await.unwrap().unwrap().unwrap(), "HEAD");
/// let body: Vec<_> = lines.map_decoder(Utf8Codec::from).try_collect().await.unwrap();
/// assert_eq!(body.concat(), "body");
/// # }
/// ```
impl From<Utf8LinesCodec> for Utf8Codec {
    fn from(lines: Utf8LinesCodec) -> Self {
        let (decoder, mode, fallback, encoder) = lines.into_parts();
        Self { decoder, mode, fallback, encoder }
    }
}

impl Decoder for Utf8Codec {
    type Item = ByteString;
    type Error = CodecError;

    #[inline]
    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<ByteString>, CodecError> {
        if self.mode == ErrorMode::Fatal && self.fallback.is_none() {
            return Ok(self.decoder.take_next(src).transpose()?);
        }
        Ok(self.decode_otherwise(src)?)
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<ByteString>, CodecError> {
        if let Some(text) = self.decode(src)? {
            return Ok(Some(text));
        }
        if let Some(state) = &mut self.fallback {
            let next = take_next(state, &mut self.decoder, src, AtEnd::Yes, self.mode)?;
            if next.is_none() {
                state.finish();
            }
            return Ok(next);
        }
        let mut text = String::new();
        while let Some(error) = self.decoder.finish_after(src) {
            src.advance(error.bytes().len());
            text.push_str(&self.decoder.repair(self.mode, &error).ok_or(error)?);
        }
        Ok((!text.is_empty()).then(|| text.into()))
    }
}

impl<T: AsRef<str>> Encoder<T> for Utf8Codec {
    type Error = CodecError;

    fn encode(&mut self, text: T, dst: &mut BytesMut) -> Result<(), CodecError> {
        for bytes in self.encoder.push(text.as_ref()) {
            dst.extend_from_slice(bytes);
        }
        Ok(())
    }
}
