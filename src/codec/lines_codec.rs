//! Lines as items of a `FramedRead`: the [line machine](crate::lines::machine) as a codec.

use std::io;
use std::mem;

use bytes::{Buf, BytesMut};
use tokio_util::codec::{Decoder, Encoder};
use utf8_simd::text::take_text_with;

use crate::codec::CodecError;
use crate::decoder::{ErrorMode, Utf8Decoder, Utf8Encoder, Utf8Options};
use crate::fallback::{FallbackDecoder, FallbackState, FallbackUses};
use crate::lines::{
    Delimiter, Line, LineError, LongLines,
    machine::{DEFAULT_MAX_LENGTH, LineAction, LineMachine},
};

/// Decodes bytes to lines, each with its number and offset.
///
/// Lines are validated as bytes arrive. In [`ErrorMode::Fatal`], the default, an invalid line yields one
/// [`LineError`], from the call that delivers the deciding byte. The rest of that line is skipped: it is
/// neither validated nor counted. The next line is unaffected. The other modes repair ill-formed parts and
/// keep every line, except those that are too long or contain a CR or LF that the delimiter forbids. A repaired
/// line reports the number of its errors and the offset of the first ([`Line::error_count`]). If you need all of
/// them, use [`Utf8ChunksCodec`](crate::codec::Utf8ChunksCodec). An error is an item, so `FramedRead` continues
/// after it.
///
/// A line has at most 65,536 bytes ([`DEFAULT_MAX_LENGTH`](Self::DEFAULT_MAX_LENGTH)) unless
/// [`with_max_length`](Self::with_max_length) sets another limit. The limit counts bytes as they arrive,
/// without the delimiter and a BOM that is removed. Bytes that may begin the delimiter count only when a later byte, or the end of the
/// stream, shows that they do not. A repaired line can be four times as long as its bytes. If a line has several
/// problems, the one that the earliest byte causes is reported; on a tie, `TooLong`.
///
/// An incomplete line stays in the read buffer, which therefore holds at most the limit, the delimiter and
/// one read. A delimiter can contain characters that the options reject. Change
/// settings before the first byte; to change them later, call [`reset`](Self::reset) after the change. See
/// [the module](crate::codec#closing-and-flushing-a-framed) for closing a `Framed`, and
/// [the guide](crate::guide::lines#an-early-error-and-closing-the-connection) for closing it after an error, while the peer is sending.
/// The guide also lists the differences from `LinesCodec`.
///
/// # Errors
///
/// Decoding fails only if the reader does; rejected lines are items. Encoding returns
/// [`CodecError::EmbeddedDelimiter`] if a reader would split the text into several lines: it contains the
/// delimiter, or its last bytes would become part of the delimiter after it.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use tokio_util::codec::FramedRead;
/// use utf8_codec::codec::Utf8LinesCodec;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let log = &b"GET /caf\xC3\xA9\nGET /caf\xE9\nGET /tea\n"[..];
/// let mut lines = FramedRead::with_capacity(log, Utf8LinesCodec::new(), 1);
/// let mut seen = Vec::new();
/// while let Some(line) = lines.next().await {
///     seen.push(match line? {
///         Ok(line) => line.to_string(),
///         Err(error) => error.to_string(),
///     });
/// }
/// let error = "line 2 is not valid UTF-8: truncated character (e9, followed by 0a) at byte 19 of the stream";
/// assert_eq!(seen, ["GET /café", error, "GET /tea"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Utf8LinesCodec {
    machine: LineMachine,
    encoder: Utf8Encoder,
}

impl Utf8LinesCodec {
    /// The limit on the length of a line if none is set, in bytes: 64 KiB.
    pub const DEFAULT_MAX_LENGTH: usize = DEFAULT_MAX_LENGTH;

    /// Creates a codec with the default options: lines of at most 64 KiB, ended by LF or CR LF, in
    /// [`ErrorMode::Fatal`], writing no BOM.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a codec that replaces each ill-formed part with U+FFFD: short for
    /// `new().with_error_mode(ErrorMode::Replacement)`.
    pub fn lossy() -> Self {
        Self::new().with_error_mode(ErrorMode::Replacement)
    }

    /// Sets the options, and starts a new stream of input. The encoder continues.
    pub fn with_options(mut self, options: Utf8Options) -> Self {
        self.machine.set_options(options);
        self
    }

    /// Sets what replaces ill-formed parts.
    pub fn with_error_mode(mut self, mode: ErrorMode) -> Self {
        self.machine.set_error_mode(mode);
        self
    }

    /// Sets what ends a line.
    pub fn with_delimiter(mut self, delimiter: Delimiter) -> Self {
        self.machine.set_delimiter(delimiter);
        self
    }

    /// Sets the limit on the length of a line, in bytes as they arrive, without the delimiter and a BOM that is
    /// removed.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new().with_max_length(4);
    /// let mut buffer = BytesMut::from("four\r\nfive!\n");
    /// assert!(codec.decode(&mut buffer).unwrap().unwrap().is_ok());
    /// assert!(codec.decode(&mut buffer).unwrap().unwrap().is_err());
    /// ```
    #[doc(alias = "new_with_max_length")]
    pub fn with_max_length(mut self, max_length: usize) -> Self {
        self.machine.set_max_length(max_length);
        self
    }

    /// Sets what happens to a line that is longer than the limit. The default is [`LongLines::Reject`].
    pub fn with_long_lines(mut self, long_lines: LongLines) -> Self {
        self.machine.set_long_lines(long_lines);
        self
    }

    /// Decodes ill-formed UTF-8 in a legacy encoding. The error mode then applies only to what the options
    /// reject. The encoder always writes UTF-8.
    ///
    /// Only the encoding of `decoder` and how much falls back are used. The limit and the options are those of this
    /// codec: set them here. With [`FallbackDecoder::line`], a whole line is either UTF-8 or legacy, as in IRC. A character
    /// after its first non-ASCII byte is therefore rejected only at an ill-formed part or at the end of the line, unless the
    /// line has become too long. With [`FallbackDecoder::rest`], ill-formed bytes in the skipped rest of a rejected or cut line count for
    /// nothing: the lines after it are still UTF-8. The lines are those of this codec, with its delimiter. Delimiters are compared as
    /// bytes: in multi-byte legacy encodings, only CR, LF and NUL are never part of a character.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
    ///
    /// let irc = FallbackDecoder::line(LegacyEncoding::windows_1252());
    /// let mut codec = Utf8LinesCodec::new().with_fallback(irc);
    /// let mut buffer = BytesMut::from(&b"caf\xC3\xA9\r\n5 \x80 \xC3\xA9\r\n"[..]);
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "café");
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "5 € Ã©");
    /// ```
    pub fn with_fallback(mut self, decoder: FallbackDecoder) -> Self {
        self.machine.set_fallback(decoder.into_state());
        self
    }

    /// Keeps the bytes of a rejected line, to store it elsewhere. Its error is returned once the line has ended, not as soon as the
    /// problem is known, and [`rejected`](Self::rejected) returns its bytes until the next line is rejected. If the codec becomes one
    /// of text before, the line and its error are dropped.
    pub fn keep_rejected(mut self) -> Self {
        self.machine.keep_rejected();
        self
    }

    /// Sets the encoder. It decides whether a BOM is written. Call it before the first text.
    pub fn with_encoder(self, encoder: Utf8Encoder) -> Self {
        Self { encoder, ..self }
    }

    /// Returns the decoder, the error mode, the fallback and the encoder, for a codec that continues where the lines end.
    pub(super) fn into_parts(
        self,
    ) -> (Utf8Decoder, ErrorMode, Option<Box<FallbackState>>, Utf8Encoder) {
        let (decoder, mode, fallback) = self.machine.into_parts();
        (decoder, mode, fallback, self.encoder)
    }

    /// Starts new streams in both directions with the same settings, at line 1 and offset 0.
    pub fn reset(&mut self) {
        self.machine.reset();
        self.encoder.reset();
    }

    /// Returns the decoder, for the error count, whether a BOM was removed, and the number of skipped bytes.
    ///
    /// Its position is the offset up to which the read buffer has been validated. When a line is returned, its errors
    /// have been counted and those of the next line have not. In a rejected line, errors are counted up to the byte
    /// that caused the rejection; the rest is skipped.
    pub fn decoder(&self) -> &Utf8Decoder {
        self.machine.decoder()
    }

    /// Returns the bytes of the last rejected line, with its delimiter: at most as many as the limit and the delimiter have, from its
    /// first on. With [`Delimiter::any_newline`], an LF after a CR is not included. Empty unless
    /// [`keep_rejected`](Self::keep_rejected) is set.
    pub fn rejected(&self) -> &[u8] {
        self.machine.rejected()
    }

    /// Counts `len` bytes that the caller has removed from the read buffer between two lines, such as a body whose length a
    /// header has given. The next line begins after them, without a BOM. With [`Delimiter::any_newline`], an LF that follows the CR of
    /// the header and is still in the read buffer is one of these bytes: for headers that end with CR LF use [`Delimiter::crlf`] or
    /// [`Delimiter::crlf_or_lf`], so that the peer's packets do not decide where the body begins. Offsets are below 2^64: `len` is a
    /// number of bytes that have arrived.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new();
    /// let mut buffer = BytesMut::from(&b"Content-Length: 2\r\n\xFF\xFEContent-Length: 0\r\n"[..]);
    /// let header = codec.decode(&mut buffer).unwrap().unwrap().unwrap();
    /// assert_eq!(header, "Content-Length: 2");
    /// let body = buffer.split_to(2);
    /// codec.skip_bytes(body.len());
    /// let header = codec.decode(&mut buffer).unwrap().unwrap().unwrap();
    /// assert_eq!((header.number, header.offset), (2, 21));
    /// ```
    pub fn skip_bytes(&mut self, len: usize) {
        self.machine.skip_bytes(len);
    }

    /// Returns what the [fallback](Self::with_fallback) has decoded.
    pub fn fallback_uses(&self) -> FallbackUses {
        self.machine.fallback().map_or(FallbackUses::default(), FallbackState::uses)
    }
}

impl Utf8LinesCodec {
    /// Removes the next line from `src`. `next` follows it.
    fn step(&mut self, src: &mut BytesMut, next: LineAction) -> Option<Result<Line, LineError>> {
        loop {
            let (text, (consumed, item)) = take_text_with(src, |bytes| {
                let (consumed, item) = self.machine.step(bytes, next);
                let text = match item {
                    Some(Ok((Some(text), _))) => text,
                    _ => "",
                };
                let repaired = |(text, info): (Option<&str>, _)| (text.is_none(), info);
                (text, (consumed, item.map(|item| item.map(repaired))))
            });
            src.advance(consumed - text.len());
            return match item {
                Some(Ok((true, info))) => {
                    let text = mem::take(&mut self.machine.repaired);
                    Some(Ok(Line::new(text.into(), info)))
                }
                Some(Ok((false, info))) => Some(Ok(Line::new(text, info))),
                Some(Err(error)) => Some(Err(error)),
                None if consumed > 0 => continue,
                None => None,
            };
        }
    }
}

impl Decoder for Utf8LinesCodec {
    type Item = Result<Line, LineError>;
    type Error = io::Error;

    #[inline]
    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        // In two steps: see `crate::decoder`, "Store forwarding"; scenario `framed`.
        let offset = self.machine.decoder().position();
        let (text, delimiter_len) =
            take_text_with(src, |bytes| self.machine.take_usual(bytes).unwrap_or_default());
        if delimiter_len > 0 {
            src.advance(delimiter_len);
            return Ok(Some(Ok(Line::new(text, self.machine.next_info(offset)))));
        }
        Ok(self.step(src, LineAction::More))
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        let line = self.step(src, LineAction::End);
        Ok(line.or_else(|| self.machine.finish().map(Err)))
    }
}

impl<T: AsRef<str>> Encoder<T> for Utf8LinesCodec {
    type Error = CodecError;

    /// Writes `text` and the delimiter. The limit does not apply. A reader that removes a BOM takes U+FEFF at
    /// the start of the first line for one.
    fn encode(&mut self, text: T, dst: &mut BytesMut) -> Result<(), CodecError> {
        let (text, delimiter) = (text.as_ref(), self.machine.delimiter());
        if let Some(offset) = delimiter.find_in_text(text) {
            return Err(CodecError::EmbeddedDelimiter { offset });
        }
        let delimiter = delimiter.as_str();
        dst.reserve(text.len() + delimiter.len());
        for bytes in self.encoder.push(text) {
            dst.extend_from_slice(bytes);
        }
        dst.extend_from_slice(delimiter.as_bytes());
        Ok(())
    }
}
