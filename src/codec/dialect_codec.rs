//! A tokio-util codec for bytes in a dialect.

use bytes::{Buf, BytesMut};
use bytestring::ByteString;
use tokio_util::codec::{Decoder, Encoder};
use utf8_simd::text::take_text;

use crate::codec::CodecError;
use crate::decoder::{AtEnd, ErrorMode, Step};
use crate::dialect::repaired::decode_run;
use crate::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError, DialectPiece};

/// Decodes bytes in a [`Dialect`] to text and code points, and encodes them.
///
/// An item is all text up to an error, or up to a code point that is not a Unicode scalar value
/// (half a pair in WTF-8, a byte that was not UTF-8 in UTF-8B). Such a code point is an item of its
/// own. Long text that is the same in UTF-8 is usually not copied; after an error or such a code point it is. Encoding the items
/// with the same codec restores the bytes, unless an error was repaired.
///
/// The codec holds no bytes: incomplete input, at most five bytes, stays in the read buffer. When it
/// encodes, it holds no surrogate either, because tokio-util does not call an encoder at the end of a
/// stream. In [`Wtf8`](Dialect::Wtf8), a low surrogate after an item that is a high surrogate is
/// therefore rejected. A [`DialectEncoder`] joins the two.
///
/// # Errors
///
/// [`CodecError::Invalid`] with the ill-formed part in [`ErrorMode::Fatal`], the default. Its bytes
/// are consumed. See [the module](crate::codec) for errors and `FramedRead`, and for closing a
/// `Framed`. The other modes repair the part. Encoding a code point that has no form in the dialect
/// is [`CodecError::Invalid`] too.
///
/// # Examples
///
/// ```
/// use futures::{SinkExt, StreamExt};
/// use tokio_util::codec::{FramedRead, FramedWrite};
/// use utf8_codec::codec::DialectCodec;
/// use utf8_codec::dialect::{Dialect, DialectPiece};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A list of file names, read three bytes at a time. One name is in Latin-1.
/// let listing = &b"caf\xC3\xA9, caf\xE9"[..];
/// let codec = DialectCodec::new(Dialect::Utf8b);
/// let mut items = FramedRead::with_capacity(listing, codec.clone(), 3);
/// let mut copy = FramedWrite::new(Vec::new(), codec);
/// let mut escaped = Vec::new();
/// while let Some(item) = items.next().await {
///     let item = item?;
///     if let DialectPiece::CodePoint(code_point) = item {
///         escaped.push(code_point);
///     }
///     copy.send(item).await?;
/// }
/// assert_eq!(escaped, [0xDCE9]);
/// assert_eq!(copy.get_ref(), listing);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct DialectCodec {
    decoder: DialectDecoder,
    encoder: DialectEncoder,
    mode: ErrorMode,
}

/// The length from which text is an item of its own, so that it is not copied.
const LONG: usize = 4096;

impl DialectCodec {
    /// Creates a codec for a dialect as its specification defines it. It uses [`ErrorMode::Fatal`]
    /// in both directions, and writes no BOM.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            decoder: DialectDecoder::new(dialect),
            encoder: DialectEncoder::new(dialect),
            mode: ErrorMode::Fatal,
        }
    }

    /// Sets the decoder: another dialect or other settings. A new stream begins.
    pub fn with_decoder(self, mut decoder: DialectDecoder) -> Self {
        decoder.reset();
        Self { decoder, ..self }
    }

    /// Sets what replaces ill-formed parts.
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Sets the encoder: another dialect, other settings, another error mode, or a BOM.
    pub fn with_encoder(self, encoder: DialectEncoder) -> Self {
        Self { encoder, ..self }
    }

    /// Starts new streams in both directions, with the same settings.
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.encoder.reset();
    }

    /// Returns the inner decoder, for the position in the stream and its errors.
    pub fn decoder(&self) -> &DialectDecoder {
        &self.decoder
    }

    /// Takes text off the front of `src` without copying it, if it is long or if there is nothing
    /// else.
    fn take_clean(&mut self, src: &mut BytesMut) -> Option<ByteString> {
        let mut scanner = self.decoder.scanner();
        let span = scanner.span(self.mode);
        let text = take_text(src, |bytes| match scanner.step(bytes, AtEnd::No, span) {
            Step::Text((DialectPiece::Text(text), len)) => {
                let is_enough = len >= LONG.min(bytes.len())
                    || matches!(scanner.step(&bytes[len..], AtEnd::No, span), Step::NeedMore);
                if is_enough { text } else { "" }
            }
            _ => "",
        });
        if text.is_empty() {
            return None;
        }
        self.decoder.continue_from(scanner);
        Some(text)
    }

    /// Takes text, a code point or an error off the front of `src`.
    fn take(
        &mut self,
        src: &mut BytesMut,
        at_end: AtEnd,
    ) -> Result<Option<DialectPiece<ByteString>>, CodecError<DialectError>> {
        let (mut text, mode) = (String::new(), self.mode);
        let (scanner, stats) = self.decoder.scanner_and_stats();
        let (read, step) = decode_run(scanner, stats, src, at_end, mode, &mut text);
        src.advance(read);
        match step {
            Step::Text((_, len)) if !text.is_empty() => scanner.unread(len),
            Step::Error(error) if !text.is_empty() => scanner.unread(error.bytes().len()),
            Step::Text((code_point, len)) => {
                src.advance(len);
                return Ok(Some(DialectPiece::CodePoint(code_point)));
            }
            Step::Error(error) => {
                src.advance(error.bytes().len());
                return Err(CodecError::Invalid(stats.note(error)));
            }
            Step::Skip(_) | Step::NeedMore => {}
        }
        Ok((!text.is_empty()).then(|| DialectPiece::Text(text.into())))
    }
}

impl Decoder for DialectCodec {
    type Item = DialectPiece<ByteString>;
    type Error = CodecError<DialectError>;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, Self::Error> {
        match self.take_clean(src) {
            Some(text) => Ok(Some(DialectPiece::Text(text))),
            None => self.take(src, AtEnd::No),
        }
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, Self::Error> {
        if let Some(item) = self.decode(src)? {
            return Ok(Some(item));
        }
        let (scanner, stats) = self.decoder.scanner_and_stats();
        if let Some(missing) = scanner.end_start() {
            stats.note(missing).repair(self.mode).ok_or(CodecError::Invalid(missing))?;
        }
        let item = self.take(src, AtEnd::Yes)?;
        if item.is_none() {
            self.decoder.scanner_mut().end();
        }
        Ok(item)
    }
}

impl<T: AsRef<str>> Encoder<T> for DialectCodec {
    type Error = CodecError<DialectError>;

    fn encode(&mut self, text: T, dst: &mut BytesMut) -> Result<(), Self::Error> {
        let write = |bytes: &[u8]| dst.extend_from_slice(bytes);
        self.encoder.push_to(text.as_ref(), write).map_err(CodecError::Invalid)
    }
}

impl<T: AsRef<str>> Encoder<DialectPiece<T>> for DialectCodec {
    type Error = CodecError<DialectError>;

    fn encode(&mut self, item: DialectPiece<T>, dst: &mut BytesMut) -> Result<(), Self::Error> {
        match item {
            DialectPiece::Text(text) => self.encode(text, dst),
            DialectPiece::CodePoint(code_point) => {
                let bytes = self.encoder.push_at_once(code_point).map_err(CodecError::Invalid)?;
                dst.extend_from_slice(&bytes);
                Ok(())
            }
        }
    }
}
