mod decode;

use bytes::BytesMut;
use tokio_util::codec::Encoder;

use crate::codec::CodecError;
use crate::codec::lines_codec::decode::State;
use crate::core::decoder::Utf8Decoder;
use crate::core::encoder::Utf8Encoder;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::options::Utf8Options;
use crate::fallback::{Fallback, FallbackReport, LineFallback};
use crate::lines::delimiter::Delimiter;

/// Bytes to lines, each with its number and place.
///
/// Validation goes along as bytes arrive. In [`ErrorMode::Fatal`], the default, a line's first
/// trouble is delivered as one [`LineError`](crate::lines::LineError) by the call that brings the
/// byte which decides it; the rest of that line is passed over, unvalidated and uncounted, and the
/// next line comes as if nothing had been. The other modes repair what is ill-formed and keep every
/// line, but for those that are too long. An error is an item, so that a `FramedRead` goes on behind
/// it at once.
///
/// A repaired line can be four times as long as its bytes. The limit on a line is 65,536 bytes ([`DEFAULT_MAX_LENGTH`](Self::DEFAULT_MAX_LENGTH)) if not set
/// otherwise. It counts the bytes that came, without the signature and the delimiter; bytes that may
/// still begin the delimiter are counted once that is decided. Of two troubles the one decided by
/// the earlier byte is reported; where it is the same byte, the line is too long.
///
/// A line that is not finished stays in the read buffer: the limit, the delimiter, and what was
/// read in one go are the most it holds. Characters that a
/// [`Strictness`](crate::Strictness) refuses are allowed in delimiters. Settings are for before the
/// first byte, or before [`reset`](Self::reset). See [the module](crate::codec) for closing a `Framed`.
///
/// # Errors
///
/// Only those of the reader; lines that are refused are items.
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
/// assert_eq!(seen, ["GET /café", "line 2, from byte 11 on, is not acceptable utf-8", "GET /tea"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Utf8LinesCodec {
    decoder: Utf8Decoder,
    mode: ErrorMode,
    delimiter: Delimiter,
    limit: usize,
    fallback: Option<Box<LineFallback>>,
    encoder: Utf8Encoder,
    /// The number of the line that `state` speaks of.
    number: u64,
    state: State,
}

impl Utf8LinesCodec {
    /// The limit on the length of a line if none is set, in bytes: 64 KiB.
    pub const DEFAULT_MAX_LENGTH: usize = 64 * 1024;

    /// Creates a codec with the default options: lines ended by LF or CR LF, of 64 KiB at the most,
    /// in [`ErrorMode::Fatal`], writing no signature.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut buffer = BytesMut::from("first\r\nsecond");
    /// let line = Utf8LinesCodec::new().decode(&mut buffer).unwrap().unwrap().unwrap();
    /// assert_eq!(line.text, "first");
    /// ```
    pub fn new() -> Self {
        Self {
            decoder: Utf8Decoder::new(),
            mode: ErrorMode::Fatal,
            delimiter: Delimiter::lf(),
            limit: Self::DEFAULT_MAX_LENGTH,
            fallback: None,
            encoder: Utf8Encoder::new(),
            number: 1,
            state: State::Start { after_cr: false },
        }
    }

    /// Sets how streams begin and what they may contain.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::{Strictness, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_strictness(Strictness::new().refuse_controls());
    /// let mut codec = Utf8LinesCodec::new().with_options(options);
    /// let mut buffer = BytesMut::from("plain\nbell\x07\n");
    /// assert!(codec.decode(&mut buffer).unwrap().unwrap().is_ok());
    /// assert!(codec.decode(&mut buffer).unwrap().unwrap().is_err());
    /// ```
    #[must_use]
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { decoder: Utf8Decoder::new().with_options(options), ..self }
    }

    /// Goes on where a decoder, which holds nothing, has come to: the next line begins there.
    #[cfg(feature = "stream")]
    pub(crate) fn with_decoder(self, decoder: Utf8Decoder) -> Self {
        Self { decoder, ..self }
    }

    /// Sets what becomes of ill-formed parts.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new().with_error_mode(ErrorMode::Windows1252);
    /// let mut buffer = BytesMut::from(&b"na\xEFve\n"[..]);
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap().text, "naïve");
    /// ```
    #[must_use]
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Sets what ends a line.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::lines::Delimiter;
    ///
    /// let mut codec = Utf8LinesCodec::new().with_delimiter(Delimiter::nul());
    /// let mut buffer = BytesMut::from("one\ntwo\0");
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap().text, "one\ntwo");
    /// ```
    #[must_use]
    pub fn with_delimiter(self, delimiter: Delimiter) -> Self {
        Self { delimiter, ..self }
    }

    /// Sets the limit on the length of a line, in bytes as they come, without signature and
    /// delimiter.
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
    #[must_use]
    pub fn with_max_length(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Reads what is not UTF-8 in a legacy encoding; the error mode is for what the options refuse.
    /// What is encoded is UTF-8.
    ///
    /// With [`Fallback::line`] a line is UTF-8 or legacy as a whole, the rule of IRC. The lines are
    /// those of this codec, with its delimiter and its limit. A delimiter is found by its bytes: in
    /// legacy encodings of several bytes only CR, LF and NUL are never part of a character.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::fallback::{Fallback, LegacyEncoding};
    ///
    /// let irc = Fallback::line(LegacyEncoding::windows_1252());
    /// let mut codec = Utf8LinesCodec::new().with_fallback(irc);
    /// let mut buffer = BytesMut::from(&b"caf\xC3\xA9\r\n5 \x80 \xC3\xA9\r\n"[..]);
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "café");
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "5 € Ã©");
    /// ```
    #[must_use]
    pub fn with_fallback(self, fallback: Fallback) -> Self {
        Self { fallback: Some(Box::new(LineFallback::new(fallback))), ..self }
    }

    /// Sets the encoder: whether a signature is written.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Encoder;
    /// use utf8_codec::Utf8Encoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new().with_encoder(Utf8Encoder::new().with_bom());
    /// let mut buffer = BytesMut::new();
    /// codec.encode("text", &mut buffer).unwrap();
    /// assert_eq!(buffer, b"\xEF\xBB\xBFtext\n"[..]);
    /// ```
    #[must_use]
    pub fn with_encoder(self, encoder: Utf8Encoder) -> Self {
        Self { encoder, ..self }
    }

    /// Starts new streams, both ways, with the same settings: line 1, offset 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new();
    /// codec.decode(&mut BytesMut::from("line\n")).unwrap();
    /// codec.reset();
    /// let line = codec.decode(&mut BytesMut::from("line\n")).unwrap().unwrap().unwrap();
    /// assert_eq!(line.number, 1);
    /// ```
    pub fn reset(&mut self) {
        self.decoder.reset();
        if let Some(fallback) = &mut self.fallback {
            fallback.reset();
        }
        self.encoder.reset();
        self.number = 1;
        self.state = State::Start { after_cr: false };
    }

    /// Returns the decoder within, which knows whether a signature was removed and how many bytes
    /// were skipped. Its position is how far the read buffer has been looked at.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let mut codec = Utf8LinesCodec::new().with_options(options);
    /// codec.decode(&mut BytesMut::from("\u{FEFF}line\n")).unwrap();
    /// assert!(codec.decoder().bom_seen());
    /// ```
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.decoder
    }

    /// Returns how many errors have been found in the lines: see [`Utf8Decoder::error_count`].
    ///
    /// In [`ErrorMode::Fatal`] that is one for each line refused for its bytes; a line that is too
    /// long counts for nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new().with_error_mode(ErrorMode::Skip);
    /// codec.decode(&mut BytesMut::from(&b"\xFF.\xFF\n"[..])).unwrap();
    /// assert_eq!(codec.error_count(), 2);
    /// ```
    pub fn error_count(&self) -> u64 {
        self.decoder.error_count()
    }

    /// Returns the first of these errors, repaired or not.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    ///
    /// let mut codec = Utf8LinesCodec::new();
    /// codec.decode(&mut BytesMut::from(&b"ab\xFF\n"[..])).unwrap();
    /// assert_eq!(codec.first_error().unwrap().valid_up_to(), 2);
    /// ```
    pub fn first_error(&self) -> Option<Utf8Error> {
        self.decoder.first_error()
    }

    /// Returns what the fallback, if there is one, has done in the lines. Delimiters do not count.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8LinesCodec;
    /// use utf8_codec::fallback::{Fallback, LegacyEncoding};
    ///
    /// let irc = Fallback::line(LegacyEncoding::windows_1252());
    /// let mut codec = Utf8LinesCodec::new().with_fallback(irc);
    /// codec.decode(&mut BytesMut::from(&b"caf\xE9\r\n"[..])).unwrap();
    /// assert_eq!((codec.fallback_report().runs, codec.fallback_report().bytes), (1, 1));
    /// ```
    pub fn fallback_report(&self) -> FallbackReport {
        self.fallback.as_ref().map(|fallback| fallback.report()).unwrap_or_default()
    }
}

impl Default for Utf8LinesCodec {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: AsRef<str>> Encoder<T> for Utf8LinesCodec {
    type Error = CodecError;

    /// Writes `text` and the delimiter. Text that would be read back as other lines is refused: it
    /// contains the delimiter, or it ends in bytes that would become part of it. The limit is the
    /// reader's; a U+FEFF in front of the first line is a signature to those who strip it.
    fn encode(&mut self, text: T, dst: &mut BytesMut) -> Result<(), CodecError> {
        let text = text.as_ref();
        if let Some(offset) = self.delimiter.find_in_text(text) {
            return Err(CodecError::EmbeddedDelimiter { offset });
        }
        let delimiter = self.delimiter.as_str();
        dst.reserve(text.len() + delimiter.len());
        for bytes in self.encoder.push(text) {
            dst.extend_from_slice(bytes);
        }
        dst.extend_from_slice(delimiter.as_bytes());
        Ok(())
    }
}
