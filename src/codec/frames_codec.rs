//! The frames of another codec as text, and frames whose length is written in decimal digits.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use bytestring::ByteString;
use memchr::memmem;
use tokio_util::codec::{Decoder, Encoder};

use crate::decoder::{ErrorMode, Utf8Decoder, Utf8Error, Utf8Options};

/// Decodes each frame of another codec to text: any codec whose items are bytes.
///
/// A frame is whole, so a character that it cuts is ill-formed. It becomes an `Err` item, with the first error and its
/// offset in the frame, and the next frame follows; a lossy mode repairs it. Text that needs no repair is not copied. The errors
/// of the inner codec stay errors.
///
/// # Examples
///
/// Syslog over TCP (RFC 6587, octet counting):
///
/// ```
/// use bytes::BytesMut;
/// use tokio_util::codec::Decoder;
/// use utf8_codec::codec::{DecimalFrames, Utf8FramesCodec};
///
/// let mut codec = Utf8FramesCodec::new(DecimalFrames::octet_counting());
/// let mut buffer = BytesMut::from(&b"9 <34>caf\xC3\xA93 a\xFFb"[..]);
/// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap(), "<34>café");
/// let error = codec.decode(&mut buffer).unwrap().unwrap().unwrap_err();
/// assert_eq!(error.valid_up_to(), 1); // in this frame
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Utf8FramesCodec<C> {
    frames: C,
    options: Utf8Options,
    mode: ErrorMode,
    errors: u64,
}

impl<C> Utf8FramesCodec<C> {
    /// Decodes the frames of `frames`, with the default options, in [`ErrorMode::Fatal`].
    pub fn new(frames: C) -> Self {
        Self { frames, options: Utf8Options::new(), mode: ErrorMode::Fatal, errors: 0 }
    }

    /// Sets how each frame begins and what it may contain.
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { options, ..self }
    }

    /// Sets what replaces ill-formed parts.
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Returns the inner codec.
    pub fn get_ref(&self) -> &C {
        &self.frames
    }

    /// Returns the number of ill-formed parts and rejected characters in the frames so far: of a frame that is an error, one.
    pub fn error_count(&self) -> u64 {
        self.errors
    }

    fn text(&mut self, frame: Bytes) -> Result<ByteString, Utf8Error> {
        let mut decoder = Utf8Decoder::new().with_options(self.options);
        let text = self.decode_frame(&mut decoder, frame);
        self.errors += decoder.error_count();
        text
    }

    fn decode_frame(
        &self,
        decoder: &mut Utf8Decoder,
        mut frame: Bytes,
    ) -> Result<ByteString, Utf8Error> {
        let mut text = decoder.take_repaired(&mut frame, self.mode)?.unwrap_or_default();
        while let Some(error) = decoder.finish_after(&frame) {
            frame.advance(error.bytes().len());
            let repair = decoder.repair(self.mode, &error).ok_or(error)?;
            if !repair.is_empty() {
                text = [&*text, &*repair].concat().into();
            }
        }
        Ok(text)
    }
}

impl<C> Decoder for Utf8FramesCodec<C>
where
    C: Decoder,
    C::Item: Into<Bytes>,
{
    type Item = Result<ByteString, Utf8Error>;
    type Error = C::Error;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, C::Error> {
        let frame = self.frames.decode(src)?;
        Ok(frame.map(|frame| self.text(frame.into())))
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Self::Item>, C::Error> {
        let frame = self.frames.decode_eof(src)?;
        Ok(frame.map(|frame| self.text(frame.into())))
    }
}

impl<C: Encoder<Bytes>, T: Into<ByteString>> Encoder<T> for Utf8FramesCodec<C> {
    type Error = C::Error;

    fn encode(&mut self, text: T, dst: &mut BytesMut) -> Result<(), C::Error> {
        self.frames.encode(text.into().into_bytes(), dst)
    }
}

/// A codec of frames whose length in bytes precedes them, in decimal digits.
///
/// A frame has at most 1,048,576 bytes (1 MiB) unless [`with_max_length`](Self::with_max_length) sets another limit. Between
/// frames it holds nothing; the read buffer holds at most one frame and one read. A header is parsed once. Each stream needs a codec
/// of its own.
///
/// # Errors
///
/// [`InvalidData`](io::ErrorKind::InvalidData) if the length is missing, malformed or over the limit, a header field is
/// malformed, or no comma follows a netstring. Where the next frame
/// begins is then unknown: close the connection. [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the stream ends inside a frame.
///
/// # Examples
///
/// ```
/// use bytes::BytesMut;
/// use tokio_util::codec::{Decoder, Encoder};
/// use utf8_codec::codec::DecimalFrames;
///
/// // The base protocol of the Language Server Protocol.
/// let mut codec = DecimalFrames::content_length();
/// let mut buffer = BytesMut::new();
/// codec.encode(r#"{"id":"ž"}"#, &mut buffer).unwrap();
/// assert_eq!(buffer, "Content-Length: 11\r\n\r\n{\"id\":\"ž\"}");
/// assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), r#"{"id":"ž"}"#);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct DecimalFrames {
    framing: Framing,
    max_length: usize,
    /// The length of the frame that is arriving, whose header has been taken.
    open: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Framing {
    OctetCounting,
    Netstring,
    ContentLength,
}

/// The most bytes before a frame: fields of `ContentLength` that are ignored.
const MAX_HEADER: usize = 4096;
/// The digits of the largest length.
const MAX_DIGITS: usize = usize::MAX.ilog10() as usize + 1;

impl DecimalFrames {
    /// The length and a space, as in syslog over TCP (RFC 6587, section 3.4.1). A length has no leading zeros;
    /// a frame of length 0, which the RFC does not have, is accepted.
    pub const fn octet_counting() -> Self {
        Self::of(Framing::OctetCounting)
    }

    /// The length and a colon before a frame, a comma after it. A length has no leading zeros.
    pub const fn netstrings() -> Self {
        Self::of(Framing::Netstring)
    }

    /// Header fields with `Content-Length`, and an empty line, as in the Language Server Protocol and the Debug
    /// Adapter Protocol. Other fields are ignored. The header has at most 4,096 bytes.
    pub const fn content_length() -> Self {
        Self::of(Framing::ContentLength)
    }

    const fn of(framing: Framing) -> Self {
        Self { framing, max_length: 1024 * 1024, open: None }
    }

    /// Sets the limit on the length of a frame, in bytes, without what precedes and follows it. It applies from the next frame on.
    pub const fn with_max_length(self, max_length: usize) -> Self {
        Self { max_length, ..self }
    }

    /// Returns the number of bytes before the frame, and its length. Returns `None` if more bytes are needed.
    fn header(&self, src: &[u8]) -> io::Result<Option<(usize, usize)>> {
        let end = match self.framing {
            Framing::OctetCounting => &b" "[..],
            Framing::Netstring => b":",
            Framing::ContentLength => b"\r\n\r\n",
        };
        let most = if end.len() > 1 { MAX_HEADER } else { MAX_DIGITS + 1 };
        let window = &src[..src.len().min(most)];
        let Some(at) = memmem::find(window, end) else {
            return if window.len() == most {
                Err(invalid("no length of a frame"))
            } else {
                Ok(None)
            };
        };
        let header = &src[..at];
        let digits = match (self.framing, header) {
            (Framing::ContentLength, _) => content_length(header)?,
            (_, [b'0', _, ..]) => return Err(invalid("the length of a frame has leading zeros")),
            (_, digits) => digits,
        };
        // Nothing but digits: `parse` accepts a sign.
        let is_number = digits.iter().all(u8::is_ascii_digit);
        let len = str::from_utf8(digits).ok().filter(|_| is_number).and_then(|it| it.parse().ok());
        let len: usize = len.ok_or_else(|| invalid("the length of a frame is not a number"))?;
        if len > self.max_length {
            let limit = self.max_length;
            return Err(invalid(format!("a frame of {len} bytes is longer than {limit} bytes")));
        }
        Ok(Some((at + end.len(), len)))
    }
}

/// Returns the value of the field.
fn content_length(header: &[u8]) -> io::Result<&[u8]> {
    let mut found = None;
    let mut lines = header.split(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        // The CR LF at the end of the last line has been removed.
        let line = if lines.peek().is_some() { line.strip_suffix(b"\r") } else { Some(line) };
        let Some(line) = line.filter(|line| !line.contains(&b'\r')) else {
            return Err(invalid("a bare CR or LF in the header of a frame"));
        };
        let colon = line.iter().position(|&byte| byte == b':');
        let Some((name, value)) = colon.and_then(|at| line.split_at_checked(at)) else {
            return Err(invalid("a header field without a colon"));
        };
        if name.eq_ignore_ascii_case(b"Content-Length") {
            let value = value[1..].trim_ascii();
            if found.replace(value).is_some_and(|before| before != value) {
                return Err(invalid("two lengths of one frame"));
            }
        }
    }
    found.ok_or_else(|| invalid("no length of a frame"))
}

fn invalid(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

impl Decoder for DecimalFrames {
    type Item = Bytes;
    type Error = io::Error;

    fn decode(&mut self, src: &mut BytesMut) -> io::Result<Option<Bytes>> {
        // A header is parsed once, however its frame arrives.
        let len = match self.open {
            Some(len) => len,
            None => {
                let Some((start, len)) = self.header(src)? else { return Ok(None) };
                src.advance(start);
                *self.open.insert(len)
            }
        };
        let after = usize::from(matches!(self.framing, Framing::Netstring));
        // Without a limit, a peer can announce any length: the sum must not overflow.
        if src.len() < len.saturating_add(after) {
            return Ok(None);
        }
        if after > 0 && src[len] != b',' {
            return Err(invalid("no comma after a netstring"));
        }
        self.open = None;
        let frame = src.split_to(len).freeze();
        src.advance(after);
        Ok(Some(frame))
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> io::Result<Option<Bytes>> {
        let frame = self.decode(src)?;
        if frame.is_none() && (self.open.take().is_some() || !src.is_empty()) {
            src.clear();
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the stream ends inside a frame",
            ));
        }
        Ok(frame)
    }
}

impl<B: AsRef<[u8]>> Encoder<B> for DecimalFrames {
    type Error = io::Error;

    /// The limit does not apply.
    fn encode(&mut self, frame: B, dst: &mut BytesMut) -> io::Result<()> {
        let frame = frame.as_ref();
        let (before, after) = match self.framing {
            Framing::OctetCounting => (format!("{} ", frame.len()), ""),
            Framing::Netstring => (format!("{}:", frame.len()), ","),
            Framing::ContentLength => (format!("Content-Length: {}\r\n\r\n", frame.len()), ""),
        };
        dst.reserve(before.len() + frame.len() + after.len());
        for part in [before.as_bytes(), frame, after.as_bytes()] {
            dst.extend_from_slice(part);
        }
        Ok(())
    }
}
