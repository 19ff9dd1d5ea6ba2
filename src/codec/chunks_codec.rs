use std::io;

use bytes::BytesMut;
use bytestring::ByteString;
use tokio_util::codec::{Decoder, Encoder};

use crate::core::decoder::Utf8Decoder;
use crate::core::decoder::input::Taken;
use crate::core::error::Utf8Error;
use crate::core::options::Utf8Options;
use crate::core::text::Ending;

/// A part of a stream: text, or what is not text.
///
/// # Examples
///
/// ```
/// use utf8_codec::codec::Utf8Chunk;
///
/// let chunk = Utf8Chunk::Text("abc".into());
/// assert_eq!(chunk.as_bytes(), b"abc");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Utf8Chunk {
    /// A run of whole characters, never empty when decoded.
    Text(ByteString),
    /// One ill-formed part, or one refused character.
    IllFormed(Utf8Error),
}

impl Utf8Chunk {
    /// Returns the bytes of the stream that this is, as they came.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::Utf8Validator;
    /// use utf8_codec::codec::Utf8Chunk;
    ///
    /// let error = Utf8Validator::new().push(b"\xF0\x9F!").unwrap_err();
    /// assert_eq!(Utf8Chunk::IllFormed(error).as_bytes(), b"\xF0\x9F");
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::IllFormed(error) => error.bytes(),
        }
    }
}

/// Bytes to text and errors, in order, with every byte in one of them: nothing is lost.
///
/// An error is an item, so that a `FramedRead` goes on behind it at once. Written out again by the
/// same codec, the items give the bytes that came, with [`BomPolicy::Keep`](crate::BomPolicy::Keep)
/// and without a mid-stream start (a removed signature and skipped bytes are in no item).
///
/// Text is handed on without copying. Holds no bytes: an unfinished sequence stays in the read
/// buffer, three bytes at the most.
///
/// # Errors
///
/// Only those of the reader.
///
/// # Examples
///
/// ```
/// use futures::StreamExt;
/// use tokio_util::codec::FramedRead;
/// use utf8_codec::codec::{Utf8Chunk, Utf8ChunksCodec};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let file = &b"name=Ren\xE9e"[..]; // Latin-1, not UTF-8
/// let mut chunks = FramedRead::new(file, Utf8ChunksCodec::new());
/// let mut seen = Vec::new();
/// while let Some(chunk) = chunks.next().await {
///     seen.push(match chunk? {
///         Utf8Chunk::Text(text) => text.to_string(),
///         Utf8Chunk::IllFormed(error) => error.to_string(),
///     });
/// }
/// assert_eq!(seen, ["name=Ren", "ill-formed utf-8 at byte 8: truncated (e9, then 65)", "e"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Utf8ChunksCodec {
    decoder: Utf8Decoder,
}

impl Utf8ChunksCodec {
    /// Creates a codec with the default options.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::{Utf8Chunk, Utf8ChunksCodec};
    ///
    /// let mut buffer = BytesMut::from(&b"ok\xC3"[..]);
    /// let chunk = Utf8ChunksCodec::new().decode(&mut buffer).unwrap();
    /// assert_eq!(chunk, Some(Utf8Chunk::Text("ok".into())));
    /// assert_eq!(buffer, b"\xC3"[..]);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how streams begin and what they may contain: for before the first byte, as it starts a
    /// new stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::{Utf8Chunk, Utf8ChunksCodec};
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_bom(BomPolicy::Forbid);
    /// let mut codec = Utf8ChunksCodec::new().with_options(options);
    /// let chunk = codec.decode(&mut BytesMut::from("\u{FEFF}")).unwrap();
    /// assert!(matches!(chunk, Some(Utf8Chunk::IllFormed(_))));
    /// ```
    #[must_use]
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { decoder: Utf8Decoder::new().with_options(options) }
    }

    /// Starts a new stream with the same options.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8ChunksCodec;
    ///
    /// let mut codec = Utf8ChunksCodec::new();
    /// codec.decode(&mut BytesMut::from("text")).unwrap();
    /// codec.reset();
    /// assert_eq!(codec.decoder().position(), 0);
    /// ```
    pub fn reset(&mut self) {
        self.decoder.reset();
    }

    /// Returns the decoder within, which knows the position in the stream, the number of errors,
    /// whether a signature was removed, and how many bytes were skipped.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use tokio_util::codec::Decoder;
    /// use utf8_codec::codec::Utf8ChunksCodec;
    ///
    /// let mut codec = Utf8ChunksCodec::new();
    /// codec.decode(&mut BytesMut::from(&b"\xFF"[..])).unwrap();
    /// assert_eq!(codec.decoder().error_count(), 1);
    /// ```
    pub fn decoder(&self) -> &Utf8Decoder {
        &self.decoder
    }
}

impl Decoder for Utf8ChunksCodec {
    type Item = Utf8Chunk;
    type Error = io::Error;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<Utf8Chunk>, io::Error> {
        if let Some((text, ending)) = self.decoder.take_plain(src) {
            if !text.is_empty() {
                return Ok(Some(Utf8Chunk::Text(text)));
            }
            if ending == Ending::End {
                return Ok(None);
            }
        }
        Ok(match self.decoder.take_step(src) {
            Taken::Hold => None,
            Taken::Text(text) => Some(Utf8Chunk::Text(text)),
            Taken::Error(error) => Some(Utf8Chunk::IllFormed(error)),
        })
    }

    fn decode_eof(&mut self, src: &mut BytesMut) -> Result<Option<Utf8Chunk>, io::Error> {
        if let Some(chunk) = self.decode(src)? {
            return Ok(Some(chunk));
        }
        Ok(self.decoder.finish_after(src).map(|error| {
            let _consumed = src.split_to(error.bytes().len());
            Utf8Chunk::IllFormed(error)
        }))
    }
}

impl Encoder<Utf8Chunk> for Utf8ChunksCodec {
    type Error = io::Error;

    fn encode(&mut self, chunk: Utf8Chunk, dst: &mut BytesMut) -> Result<(), io::Error> {
        dst.extend_from_slice(chunk.as_bytes());
        Ok(())
    }
}
