use std::io;

use bytes::{Buf, BytesMut};
use bytestring::ByteString;
use tokio_util::codec::{Decoder, Encoder};

use crate::core::mode::ErrorMode;
use crate::core::text::take_text;
use crate::dialect::grammar::Behind;
use crate::dialect::scanner::DialectStep;
use crate::dialect::text::{Halt, decode_to};
use crate::dialect::{
    CodePoint, Dialect, DialectDecoder, DialectEncodeError, DialectEncoder, DialectError,
    DialectOptions,
};

/// A part of a stream in a [`Dialect`]: text, or a code point that is none.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::DialectItem;
/// use utf8_codec::dialect::CodePoint;
///
/// assert_eq!(DialectItem::from("né").as_str(), Some("né"));
/// let escaped = DialectItem::CodePoint(CodePoint::new(0xDCE9).unwrap());
/// assert_eq!(escaped.as_str(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DialectItem {
    /// A run of whole characters, never empty when decoded.
    Text(ByteString),
    /// A code point; when decoded, one that is no Unicode scalar value.
    CodePoint(CodePoint),
}

impl DialectItem {
    /// Returns the text, if it is text.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(utf8_codec::dialect::DialectItem::from("text").as_str(), Some("text"));
    /// ```
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::CodePoint(_) => None,
        }
    }
}

impl From<&str> for DialectItem {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

/// Bytes in a [`Dialect`] to text and code points, and back.
///
/// As much text as there is comes in one item; a code point that is no Unicode scalar value (half a
/// pair in WTF-8, a byte that was not UTF-8 in UTF-8B) is an item of its own. Text that is
/// written as in UTF-8 is handed on without copying. Written out again by the same codec, the items
/// give the bytes that came, where no error was repaired.
///
/// Holds no bytes: what is unfinished stays in the read buffer, five bytes at the most. As an encoder
/// is not told of the end of a stream, nothing is held on that side either: in
/// [`Wtf8`](Dialect::Wtf8) the second half of a pair is refused behind an item that is the first
/// (a [`DialectEncoder`] joins them).
///
/// # Errors
///
/// In [`ErrorMode::Fatal`], the default, [`DialectCodecError::Decode`] in its place. The ill-formed
/// bytes are consumed; see [the module](crate::codec) for what `FramedRead` makes of it, and for
/// closing a `Framed`. In the other modes, none.
///
/// # Examples
///
/// ```
/// use futures::{SinkExt, StreamExt};
/// use tokio_util::codec::{FramedRead, FramedWrite};
/// use utf8_codec::dialect::{DialectCodec, DialectItem};
/// use utf8_codec::dialect::{CodePoint, Dialect};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A listing of files, one name of which is in Latin-1; read three bytes at a time.
/// let listing = &b"caf\xC3\xA9, caf\xE9"[..];
/// let codec = DialectCodec::new(Dialect::Utf8b);
/// let mut items = FramedRead::with_capacity(listing, codec.clone(), 3);
/// let mut copy = FramedWrite::new(Vec::new(), codec);
/// let mut escaped = Vec::new();
/// while let Some(item) = items.next().await {
///     let item = item?;
///     if let DialectItem::CodePoint(code_point) = item {
///         escaped.push(code_point.to_u32());
///     }
///     copy.send(item).await?;
/// }
/// assert_eq!(escaped, [0xDCE9]);
/// assert_eq!(copy.get_ref(), listing);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DialectCodec {
    decoder: DialectDecoder,
    encoder: DialectEncoder,
}

/// A stretch of text from which on it is worth an item of its own, so as not to be copied.
const LONG: usize = 4096;

impl DialectCodec {
    /// Creates a codec for a dialect as its specification has it, in [`ErrorMode::Fatal`] both ways,
    /// writing no signature.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::dialect::DialectCodec;
    /// use utf8_codec::dialect::Dialect;
    ///
    /// let mut buffer = BytesMut::from(&b"smile: \xED\xA0\xBD\xED\xB8\x80"[..]);
    /// let item = DialectCodec::new(Dialect::Cesu8).decode(&mut buffer).unwrap().unwrap();
    /// assert_eq!(item.as_str(), Some("smile: 😀"));
    /// ```
    pub fn new(dialect: Dialect) -> Self {
        Self::with_options(DialectOptions::new(dialect))
    }

    /// Creates a codec.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::dialect::{DialectCodec, DialectItem};
    /// use utf8_codec::dialect::{CodePoint, Dialect, DialectOptions};
    ///
    /// let options = DialectOptions::new(Dialect::ModifiedUtf8).with_unpaired_surrogates();
    /// let mut buffer = BytesMut::from(&b"\xED\xB8\x80"[..]);
    /// let item = DialectCodec::with_options(options).decode(&mut buffer).unwrap().unwrap();
    /// assert_eq!(item, DialectItem::CodePoint(CodePoint::new(0xDE00).unwrap()));
    /// ```
    pub fn with_options(options: DialectOptions) -> Self {
        Self {
            decoder: DialectDecoder::with_options(options),
            encoder: DialectEncoder::with_options(options),
        }
    }

    /// Sets what becomes of ill-formed parts: for before the first byte, as it starts a new stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::DialectCodec;
    /// use utf8_codec::dialect::Dialect;
    ///
    /// let mut codec =
    ///     DialectCodec::new(Dialect::Cesu8).with_error_mode(ErrorMode::Replacement);
    /// let mut buffer = BytesMut::from(&b"half \xED\xA0\xBD and more"[..]);
    /// let item = codec.decode(&mut buffer).unwrap().unwrap();
    /// assert_eq!(item.as_str(), Some("half \u{FFFD} and more"));
    /// ```
    #[must_use]
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { decoder: self.decoder.with_error_mode(mode), ..self }
    }

    /// Sets the encoder: another dialect or error mode, or a signature.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Encoder;
    /// use utf8_codec::dialect::DialectCodec;
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let encoder = DialectEncoder::new(Dialect::Cesu8).with_bom();
    /// let mut codec = DialectCodec::new(Dialect::Cesu8).with_encoder(encoder);
    /// let mut buffer = BytesMut::new();
    /// codec.encode("text", &mut buffer).unwrap();
    /// assert_eq!(buffer, b"\xEF\xBB\xBFtext"[..]);
    /// ```
    #[must_use]
    pub fn with_encoder(self, encoder: DialectEncoder) -> Self {
        Self { encoder, ..self }
    }

    /// Starts new streams, both ways, with the same settings.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::dialect::DialectCodec;
    /// use utf8_codec::dialect::Dialect;
    ///
    /// let mut codec = DialectCodec::new(Dialect::Wtf8);
    /// codec.decode(&mut BytesMut::from("text")).unwrap();
    /// codec.reset();
    /// assert_eq!(codec.decoder().position(), 0);
    /// ```
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.encoder.reset();
    }

    /// Returns the decoder within, which knows the position in the stream and its errors.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::dialect::DialectCodec;
    /// use utf8_codec::dialect::Dialect;
    ///
    /// let mut codec = DialectCodec::new(Dialect::Cesu8);
    /// codec.decode(&mut BytesMut::from(&b"abc\xED\xA0\x80"[..])).unwrap();
    /// assert_eq!(codec.decoder().position(), 3); // the rest is still in the buffer
    /// ```
    pub fn decoder(&self) -> &DialectDecoder {
        &self.decoder
    }

    /// Takes text off the front of `src` without copying it, if there is much of it, or nothing
    /// else.
    fn take_clean(&mut self, src: &mut BytesMut) -> Option<ByteString> {
        let mut scanner = self.decoder.scanner;
        let text = take_text(src, |bytes| match scanner.step(bytes, Behind::More) {
            DialectStep::Text(text) if text.len() >= LONG.min(bytes.len()) => text,
            DialectStep::Text(text) => {
                let rest = scanner.step(&bytes[text.len()..], Behind::More);
                if matches!(rest, DialectStep::Hold) { text } else { "" }
            }
            _ => "",
        });
        if text.is_empty() {
            return None;
        }
        self.decoder.scanner = scanner;
        Some(text)
    }
}

impl Decoder for DialectCodec {
    type Item = DialectItem;
    type Error = DialectCodecError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<DialectItem>, DialectCodecError> {
        if let Some(text) = self.take_clean(src) {
            return Ok(Some(DialectItem::Text(text)));
        }
        let mode = self.decoder.error_mode();
        let DialectDecoder { scanner, tally, .. } = &mut self.decoder;
        let mut text = String::new();
        let run = decode_to(scanner, tally, src, mode, &mut text);
        src.advance(run.read);
        match run.halt {
            Some(_) if !text.is_empty() => *scanner = run.before,
            Some(Halt::CodePoint(code_point, len)) => {
                src.advance(len);
                return Ok(Some(DialectItem::CodePoint(code_point)));
            }
            Some(Halt::Error(error)) => {
                src.advance(error.bytes().len());
                return Err(tally.note(error).into());
            }
            None => {}
        }
        Ok((!text.is_empty()).then(|| DialectItem::Text(text.into())))
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<DialectItem>, DialectCodecError> {
        if let Some(item) = self.decode(src)? {
            return Ok(Some(item));
        }
        let mode = self.decoder.error_mode();
        let DialectDecoder { scanner, tally, .. } = &mut self.decoder;
        loop {
            if let Some(missing) = scanner.end_start() {
                tally.note(missing).repair(mode).ok_or(missing)?;
            }
            match scanner.step(src, Behind::End) {
                DialectStep::Hold => {
                    scanner.end();
                    return Ok(None);
                }
                DialectStep::Text(text) => {
                    let item = DialectItem::from(text);
                    src.advance(text.len());
                    return Ok(Some(item));
                }
                DialectStep::Silent(len) => src.advance(len),
                DialectStep::CodePoint(code_point, len) => {
                    src.advance(len);
                    return Ok(Some(match code_point.to_char() {
                        Some(c) => DialectItem::from(&*c.encode_utf8(&mut [0; 4])),
                        None => DialectItem::CodePoint(code_point),
                    }));
                }
                DialectStep::Error(error) => {
                    src.advance(error.bytes().len());
                    let repair = tally.note(error).repair(mode).ok_or(error)?;
                    if !repair.is_empty() {
                        return Ok(Some(DialectItem::from(&*repair)));
                    }
                }
            }
        }
    }
}

impl<T: AsRef<str>> Encoder<T> for DialectCodec {
    type Error = DialectCodecError;

    fn encode(&mut self, text: T, dst: &mut BytesMut) -> Result<(), DialectCodecError> {
        Ok(self.encoder.push_to(text.as_ref(), dst)?)
    }
}

impl Encoder<DialectItem> for DialectCodec {
    type Error = DialectCodecError;

    fn encode(&mut self, item: DialectItem, dst: &mut BytesMut) -> Result<(), DialectCodecError> {
        match item {
            DialectItem::Text(text) => self.encoder.push_to(&text, dst)?,
            DialectItem::CodePoint(code_point) => {
                dst.extend_from_slice(&self.encoder.push_at_once(code_point)?);
            }
        }
        Ok(())
    }
}

/// What ends a stream in a [`Dialect`] early, or keeps an item from being written.
///
/// # Examples
///
/// ```
/// use bytes::BytesMut;
/// use tokio_util::codec::Decoder;
/// use utf8_codec::dialect::{DialectCodec, DialectCodecError};
/// use utf8_codec::dialect::Dialect;
///
/// let mut codec = DialectCodec::new(Dialect::ModifiedUtf8);
/// let error = codec.decode(&mut BytesMut::from("\0")).unwrap_err();
/// assert!(matches!(error, DialectCodecError::Decode(error) if error.valid_up_to() == 0));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialectCodecError {
    /// The bytes are ill-formed. Those at fault are consumed; the next call goes on behind them.
    #[error("the stream is not in the dialect it should be in")]
    Decode(#[from] DialectError),
    /// A code point has no form in the dialect. Nothing of it has been written.
    #[error("the item cannot be written in the dialect")]
    Encode(#[from] DialectEncodeError),
    /// Reading or writing failed.
    #[error("input or output failed")]
    Io(#[from] io::Error),
}

impl From<DialectCodecError> for io::Error {
    fn from(error: DialectCodecError) -> Self {
        match error {
            DialectCodecError::Decode(error) => error.into(),
            DialectCodecError::Encode(error) => error.into(),
            DialectCodecError::Io(error) => error,
        }
    }
}
