use std::io;

use bytes::{Buf, BufMut, BytesMut};
use bytestring::ByteString;
use tokio_util::codec::{Decoder, Encoder};

use crate::core::mode::ErrorMode;
use crate::core::text::take_text;
use crate::dialect::grammar::Behind;
use crate::dialect::scanner::{DialectScanner, DialectStep};
use crate::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError};

/// Strings as Java's `DataOutput.writeUTF` writes them and `DataInput.readUTF` reads them: the length
/// in two bytes, the higher first, then so many bytes of Modified UTF-8.
///
/// Validation goes along as bytes arrive. In [`ErrorMode::Fatal`], the default, what is wrong with a
/// string is delivered as one error by the call that brings the byte which decides it; the rest of
/// that string is passed over, and the next one comes as if nothing had been. So is half a pair of
/// surrogates, which a Java string may have and a `str` may not. The other modes repair it and keep
/// every string. An error is an item, so that a `FramedRead` goes on behind it at once. Offsets count
/// from the first byte of the stream, lengths included.
///
/// A string has 65,535 bytes at the most, by its nature. One that is not finished stays in the read
/// buffer; one that is plain UTF-8 and short is handed on without copying.
///
/// # Errors
///
/// Those of the reader, and [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) where the stream ends
/// inside a string. Strings that are refused are items.
///
/// # Examples
///
/// ```
/// use futures::{SinkExt, StreamExt};
/// use tokio_util::codec::{FramedRead, FramedWrite};
/// use utf8_codec::dialect::JavaUtfCodec;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut sent = FramedWrite::new(Vec::new(), JavaUtfCodec::new());
/// sent.send("a\0😀").await?;
/// assert_eq!(sent.get_ref(), b"\x00\x09a\xC0\x80\xED\xA0\xBD\xED\xB8\x80");
///
/// let bytes = sent.into_inner();
/// let mut strings = FramedRead::with_capacity(&bytes[..], JavaUtfCodec::new(), 1);
/// assert_eq!(strings.next().await.unwrap()??, "a\0😀");
/// assert!(strings.next().await.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct JavaUtfCodec {
    decoder: DialectDecoder,
    state: State,
}

/// ```text
///           two bytes                  len bytes
///  Length ────────────► String ──────────────────────► Length
///                          │ an error     left bytes      ▲
///                          └────────────► Refused ────────┘
/// ```
#[derive(Clone, Copy, Debug)]
enum State {
    /// Before a string.
    Length,
    /// In a string of `len` bytes, which begins at the front of the buffer.
    String {
        len: usize,
        /// Bytes that have been looked at.
        checked: usize,
        /// The scanner at the start of the string.
        start: DialectScanner,
    },
    /// In a string that has been refused; so many bytes of it are to come.
    Refused { left: usize },
}

impl JavaUtfCodec {
    /// Creates a codec in [`ErrorMode::Fatal`].
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::dialect::JavaUtfCodec;
    ///
    /// let mut buffer = BytesMut::from(&b"\x00\x03one\x00\x02\xFF."[..]);
    /// let mut codec = JavaUtfCodec::new();
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "one");
    /// let error = codec.decode(&mut buffer).unwrap().unwrap().unwrap_err();
    /// assert_eq!(error.to_string(), "ill-formed modified utf-8 at byte 7: invalid byte (ff)");
    /// ```
    pub fn new() -> Self {
        Self { decoder: DialectDecoder::new(Dialect::ModifiedUtf8), state: State::Length }
    }

    /// Sets what becomes of ill-formed parts and of surrogates: for before the first byte, as it
    /// starts a new stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::JavaUtfCodec;
    ///
    /// let mut codec = JavaUtfCodec::new().with_error_mode(ErrorMode::Replacement);
    /// let mut buffer = BytesMut::from(&b"\x00\x04\xED\xA0\xBD."[..]);
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "\u{FFFD}.");
    /// ```
    #[must_use]
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { decoder: self.decoder.with_error_mode(mode), state: State::Length }
    }

    /// Starts a new stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::dialect::JavaUtfCodec;
    ///
    /// let mut codec = JavaUtfCodec::new();
    /// assert!(codec.decode(&mut BytesMut::from(&b"\x00\x05ab"[..])).unwrap().is_none());
    /// codec.reset();
    /// let mut buffer = BytesMut::from(&b"\x00\x02cd"[..]);
    /// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "cd");
    /// ```
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.state = State::Length;
    }

    /// Returns the decoder within, which knows how many errors there have been, and the first.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::dialect::JavaUtfCodec;
    ///
    /// let mut codec = JavaUtfCodec::new();
    /// codec.decode(&mut BytesMut::from(&b"\x00\x01\x00"[..])).unwrap();
    /// assert_eq!(codec.decoder().error_count(), 1);
    /// ```
    pub fn decoder(&self) -> &DialectDecoder {
        &self.decoder
    }

    /// Looks at what is new in a string, and takes it once it is all there.
    fn go_on(
        &mut self,
        len: usize,
        mut checked: usize,
        start: DialectScanner,
        src: &mut BytesMut,
    ) -> Option<Result<ByteString, DialectError>> {
        if src.len() < checked {
            // This is not the buffer that was: begin the string again.
            checked = 0;
            self.decoder.scanner = start;
        }
        let (known, behind) = match src.get(..len) {
            Some(whole) => (whole, Behind::End),
            None => (&src[..], Behind::More),
        };
        while self.decoder.error_mode() == ErrorMode::Fatal {
            let scanner = &mut self.decoder.scanner;
            let (taken, error) = match scanner.step(&known[checked..], behind) {
                DialectStep::Hold => break,
                DialectStep::Text(text) => (text.len(), None),
                DialectStep::Silent(len) => (len, None),
                DialectStep::CodePoint(code_point, len) => match code_point.to_char() {
                    Some(_) => (len, None),
                    None => (len, Some(scanner.not_scalar(code_point))),
                },
                DialectStep::Error(error) => (error.bytes().len(), Some(error)),
            };
            checked += taken;
            let Some(error) = error else { continue };
            src.advance(checked);
            self.state = State::Refused { left: len - checked };
            return Some(Err(self.decoder.tally.note(error)));
        }
        if behind == Behind::More {
            self.state = State::String { len, checked, start };
            src.reserve(len - src.len());
            return None;
        }
        self.decoder.scanner = start;
        let text = self.take_clean(src, len).unwrap_or_else(|| self.take_repaired(src, len));
        self.state = State::Length;
        Some(Ok(text))
    }

    /// Takes the `len` bytes of a string off `src` if they are plain text.
    fn take_clean(&mut self, src: &mut BytesMut, len: usize) -> Option<ByteString> {
        let mut scanner = self.decoder.scanner;
        let text = take_text(src, |bytes| match scanner.step(&bytes[..len], Behind::End) {
            DialectStep::Text(text) if text.len() == len => text,
            _ => "",
        });
        (text.len() == len).then(|| {
            self.decoder.scanner = scanner;
            text
        })
    }

    /// Takes the `len` bytes of a string off `src`. In [`ErrorMode::Fatal`] nothing is wrong with
    /// them.
    fn take_repaired(&mut self, src: &mut BytesMut, len: usize) -> ByteString {
        let bytes = src.split_to(len);
        let mut text = String::with_capacity(len);
        let repaired = self.decoder.push_to_string(&bytes, &mut text);
        let ended = self.decoder.finish_to_string(&mut text);
        debug_assert_eq!((repaired, ended), (Ok(()), Ok(())));
        text.into()
    }
}

impl Default for JavaUtfCodec {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder for JavaUtfCodec {
    type Item = Result<ByteString, DialectError>;
    type Error = io::Error;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        loop {
            match self.state {
                State::Length => {
                    let Some(&length) = src.first_chunk::<2>() else { return Ok(None) };
                    src.advance(2);
                    self.decoder.scanner.pass(2);
                    let (len, start) = (u16::from_be_bytes(length).into(), self.decoder.scanner);
                    self.state = State::String { len, checked: 0, start };
                }
                State::String { len, checked, start } => {
                    return Ok(self.go_on(len, checked, start, src));
                }
                State::Refused { left } => {
                    let passed = left.min(src.len());
                    src.advance(passed);
                    self.decoder.scanner.pass(passed);
                    if passed < left {
                        self.state = State::Refused { left: left - passed };
                        return Ok(None);
                    }
                    self.state = State::Length;
                }
            }
        }
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        if let Some(item) = self.decode(src)? {
            return Ok(Some(item));
        }
        if matches!(self.state, State::Length) && src.is_empty() {
            return Ok(None);
        }
        if let State::String { start, .. } = self.state {
            self.decoder.scanner = start;
        }
        self.decoder.scanner.pass(src.len());
        src.clear();
        self.state = State::Length;
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the stream ended inside a string"))
    }
}

impl<T: AsRef<str>> Encoder<T> for JavaUtfCodec {
    type Error = EncodeJavaUtfError;

    fn encode(&mut self, text: T, dst: &mut BytesMut) -> Result<(), EncodeJavaUtfError> {
        let text = text.as_ref();
        let before = dst.len();
        dst.reserve(2 + text.len());
        dst.put_u16(0);
        // Text is never refused.
        let written = DialectEncoder::new(Dialect::ModifiedUtf8).push_to(text, dst);
        debug_assert_eq!(written, Ok(()));
        let len = dst.len() - before - 2;
        match u16::try_from(len) {
            Ok(length) => dst[before..before + 2].copy_from_slice(&length.to_be_bytes()),
            Err(_) => {
                dst.truncate(before);
                return Err(EncodeJavaUtfError::TooLong { len });
            }
        }
        Ok(())
    }
}

/// What keeps a string from being written by a [`JavaUtfCodec`].
///
/// # Examples
///
/// ```
/// use bytes::BytesMut;
/// use tokio_util::codec::Encoder;
/// use utf8_codec::dialect::{EncodeJavaUtfError, JavaUtfCodec};
///
/// let mut buffer = BytesMut::new();
/// let error = JavaUtfCodec::new().encode("\0".repeat(40_000), &mut buffer).unwrap_err();
/// assert!(matches!(error, EncodeJavaUtfError::TooLong { len: 80_000 }));
/// assert!(buffer.is_empty());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeJavaUtfError {
    /// The string has more bytes than its length can say. Nothing has been written.
    #[error("the string has {len} bytes in modified utf-8, more than 65535")]
    TooLong {
        /// Its length in bytes of Modified UTF-8.
        len: usize,
    },
    /// Writing failed.
    #[error("output failed")]
    Io(#[from] io::Error),
}

/// [`InvalidInput`](io::ErrorKind::InvalidInput) for a string that is refused.
impl From<EncodeJavaUtfError> for io::Error {
    fn from(error: EncodeJavaUtfError) -> Self {
        match error {
            EncodeJavaUtfError::TooLong { .. } => Self::new(io::ErrorKind::InvalidInput, error),
            EncodeJavaUtfError::Io(error) => error,
        }
    }
}
