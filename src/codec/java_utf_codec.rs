//! A tokio-util codec for the strings of Java's `DataOutput`.

use std::io;

use bytes::{Buf, BufMut, BytesMut};
use bytestring::ByteString;
use tokio_util::codec::{Decoder, Encoder};
use utf8_simd::text::take_text;

use crate::codec::CodecError;
use crate::decoder::{AtEnd, ErrorMode, Status, Step};
use crate::dialect::grammar::ErrorSpan;
use crate::dialect::scanner::DialectScanner;
use crate::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError, DialectPiece};

/// Decodes and encodes the strings of Java's `DataInput.readUTF` and `DataOutput.writeUTF`: a length of two
/// bytes, big-endian, then that number of bytes of Modified UTF-8.
///
/// Strings are validated as bytes arrive. In [`ErrorMode::Fatal`], the default, an invalid string
/// yields one error as soon as the byte that decides it arrives. The rest of the string is
/// discarded, and the next string is unaffected. An unpaired surrogate, legal in a Java string but
/// not in a `str`, is an error too. The other modes repair errors and keep every string. An error
/// is an item, so a `FramedRead` continues after it. Offsets count from the start of the stream,
/// including the lengths.
///
/// A string has at most 65,535 bytes, because of its length field. An incomplete string stays in
/// the read buffer. A short string that is plain UTF-8 is not copied.
///
/// # Errors
///
/// [`io::Error`] of the reader, and [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the stream
/// ends inside a string or its length. Rejected strings are items. [`CodecError::TooLong`] for a text of more
/// than 65,535 encoded bytes.
///
/// # Examples
///
/// ```
/// use futures::{SinkExt, StreamExt};
/// use tokio_util::codec::{FramedRead, FramedWrite};
/// use utf8_codec::codec::JavaUtfCodec;
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
#[must_use]
pub struct JavaUtfCodec {
    decoder: DialectDecoder,
    mode: ErrorMode,
    state: JavaState,
}

/// ```text
///           two bytes                  len bytes
///  Length ────────────► String ──────────────────────► Length
///                          │ an error     left bytes      ▲
///                          └───────────► Rejected ────────┘
/// ```
#[derive(Clone, Copy, Debug)]
enum JavaState {
    /// Before a string.
    Length,
    /// In a string of `len` bytes, which starts at the front of the buffer.
    String {
        len: usize,
        /// The number of bytes that have been validated.
        checked: usize,
        /// The scanner at the start of the string.
        start: DialectScanner,
    },
    /// In a rejected string of which this many bytes are left.
    Rejected { left: usize },
}

impl JavaUtfCodec {
    /// Creates a codec in [`ErrorMode::Fatal`].
    pub fn new() -> Self {
        let decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
        Self { decoder, mode: ErrorMode::Fatal, state: JavaState::Length }
    }

    /// Sets what replaces ill-formed parts and surrogates.
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Starts a new stream.
    pub fn reset(&mut self) {
        self.decoder.reset();
        self.state = JavaState::Length;
    }

    /// Returns the inner decoder, for the position in the stream and its errors.
    pub fn decoder(&self) -> &DialectDecoder {
        &self.decoder
    }

    /// Validates the new bytes of a string, and takes the string once it is complete.
    fn continue_string(
        &mut self,
        len: usize,
        mut checked: usize,
        start: DialectScanner,
        src: &mut BytesMut,
    ) -> Option<Result<ByteString, DialectError>> {
        if src.len() < checked {
            // The buffer is a different one: start the string again.
            checked = 0;
            self.decoder.continue_from(start);
        }
        let (known, at_end) = match src.get(..len) {
            Some(whole) => (whole, AtEnd::Yes),
            None => (&src[..], AtEnd::No),
        };
        while self.mode == ErrorMode::Fatal {
            let scanner = self.decoder.scanner_mut();
            let (taken, error) = match scanner.step(&known[checked..], at_end, ErrorSpan::Prompt) {
                Step::NeedMore => break,
                Step::Text((DialectPiece::CodePoint(code_point @ 0xD800..=0xDFFF), len)) => {
                    (len, Some(scanner.not_scalar(code_point)))
                }
                Step::Text((_, len)) | Step::Skip(len) => (len, None),
                Step::Error(error) => (error.bytes().len(), Some(error)),
            };
            checked += taken;
            let Some(error) = error else { continue };
            src.advance(checked);
            self.state = JavaState::Rejected { left: len - checked };
            return Some(Err(self.decoder.note(error)));
        }
        if at_end == AtEnd::No {
            self.state = JavaState::String { len, checked, start };
            src.reserve(len - src.len());
            return None;
        }
        self.decoder.continue_from(start);
        let text = self.take_clean(src, len).unwrap_or_else(|| self.take_repaired(src, len));
        self.state = JavaState::Length;
        Some(Ok(text))
    }

    /// Takes the `len` bytes of a string off `src` if they are plain text.
    fn take_clean(&mut self, src: &mut BytesMut, len: usize) -> Option<ByteString> {
        let mut scanner = self.decoder.scanner();
        let span = scanner.span(self.mode);
        let text = take_text(src, |bytes| match scanner.step(&bytes[..len], AtEnd::Yes, span) {
            Step::Text((DialectPiece::Text(text), _)) if text.len() == len => text,
            _ => "",
        });
        (text.len() == len).then(|| {
            self.decoder.continue_from(scanner);
            text
        })
    }

    /// Takes the `len` bytes of a string off `src`. In [`ErrorMode::Fatal`] they have been
    /// validated.
    fn take_repaired(&mut self, src: &mut BytesMut, len: usize) -> ByteString {
        let bytes = src.split_to(len);
        let mut text = String::with_capacity(len);
        let repaired = self.decoder.push_to_string(&bytes, self.mode, &mut text);
        let ended = self.decoder.finish_to_string(self.mode, &mut text);
        debug_assert_eq!((repaired.status, ended), (Status::Done, Ok(())));
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
                JavaState::Length => {
                    let Some(&length) = src.first_chunk::<2>() else { return Ok(None) };
                    src.advance(2);
                    self.decoder.scanner_mut().skip(2);
                    let (len, start) = (u16::from_be_bytes(length).into(), self.decoder.scanner());
                    self.state = JavaState::String { len, checked: 0, start };
                }
                JavaState::String { len, checked, start } => {
                    return Ok(self.continue_string(len, checked, start, src));
                }
                JavaState::Rejected { left } => {
                    let skipped = left.min(src.len());
                    src.advance(skipped);
                    self.decoder.scanner_mut().skip(skipped);
                    if skipped < left {
                        self.state = JavaState::Rejected { left: left - skipped };
                        return Ok(None);
                    }
                    self.state = JavaState::Length;
                }
            }
        }
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, io::Error> {
        if let Some(item) = self.decode(src)? {
            return Ok(Some(item));
        }
        if matches!(self.state, JavaState::Length) && src.is_empty() {
            return Ok(None);
        }
        let part = match self.state {
            JavaState::Length => "the length of a string",
            JavaState::String { start, .. } => {
                self.decoder.continue_from(start);
                "a string"
            }
            JavaState::Rejected { .. } => "a rejected string",
        };
        self.decoder.scanner_mut().skip(src.len());
        src.clear();
        self.state = JavaState::Length;
        let end = self.decoder.position();
        let message = format!("unexpected end of the stream at byte {end}, inside {part}");
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, message))
    }
}

impl<T: AsRef<str>> Encoder<T> for JavaUtfCodec {
    type Error = CodecError;

    fn encode(&mut self, text: T, dst: &mut BytesMut) -> Result<(), Self::Error> {
        let text = text.as_ref();
        let before = dst.len();
        dst.reserve(2 + text.len());
        dst.put_u16(0);
        // Text is never rejected.
        let write = |bytes: &[u8]| dst.extend_from_slice(bytes);
        let written = DialectEncoder::new(Dialect::ModifiedUtf8).push_to(text, write);
        debug_assert_eq!(written, Ok(()));
        let length = dst.len() - before - 2;
        let Ok(prefix) = u16::try_from(length) else {
            dst.truncate(before);
            return Err(CodecError::TooLong { length, max_length: u16::MAX.into() });
        };
        dst[before..before + 2].copy_from_slice(&prefix.to_be_bytes());
        Ok(())
    }
}
