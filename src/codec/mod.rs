//! Codecs for tokio-util's [`FramedRead`], [`FramedWrite`] and [`Framed`].
//!
//! | codec | decodes to | invalid input | encodes |
//! | --- | --- | --- | --- |
//! | [`Utf8Codec`] | [`ByteString`], a run of whole characters | ends the stream (or is repaired in a lossy mode) | `T: AsRef<str>` |
//! | [`Utf8ChunksCodec`] | `Result<`[`ByteString`]`, `[`Utf8Error`]`>`, lossless | becomes an `Err` item | its items |
//! | [`Utf8LinesCodec`] | `Result<`[`Line`]`, `[`LineError`]`>` | the line becomes an `Err` item (or is repaired in a lossy mode) | `T: AsRef<str>` |
//! | [`Utf8FramesCodec`] | `Result<`[`ByteString`]`, `[`Utf8Error`]`>`, a frame of another codec such as [`DecimalFrames`] | the frame becomes an `Err` item (or is repaired in a lossy mode) | text |
//! | [`MessageCodec`] | `Result<`[`Message`](crate::websocket::Message)`, `[`MessageError`](crate::websocket::MessageError)`>`, a WebSocket message | becomes the last item, an `Err` | [`Message`](crate::websocket::Message) |
//! | [`CharCodec`] | `char` | ends the stream (or is repaired in a lossy mode) | `char`, `&[char]` |
//! | [`DialectCodec`] | [`DialectPiece`](crate::dialect::DialectPiece), text or a code point of a [dialect](crate::dialect) | ends the stream (or is repaired in a lossy mode) | `T: AsRef<str>`, [`DialectPiece`](crate::dialect::DialectPiece) |
//! | [`JavaUtfCodec`] | `Result<`[`ByteString`]`, _>`, strings of Java's `writeUTF` | the string becomes an `Err` item (or is repaired in a lossy mode) | `T: AsRef<str>` |
//!
//! Incomplete input stays in the buffer that `Framed` owns, so `into_parts` loses nothing. It is at most three
//! bytes (five in a dialect), or a line, frame or string. [`MessageCodec`] holds an incomplete message itself,
//! [`JavaUtfCodec`] and [`DecimalFrames`] the length of the string or frame that is arriving, and [`CharCodec`] the rest of a repair.
//!
//! Codecs whose invalid input ends the stream decode with [`CodecError`]; the others, whose invalid input is an item, with
//! [`std::io::Error`] ([`Utf8FramesCodec`] with the error of the inner codec). Those that can reject a text encode with
//! [`CodecError`].
//!
//! # Errors and `FramedRead`
//!
//! `FramedRead` ends the stream after the first `Err`: it yields the error, then `None`. If you poll
//! it again, it waits for more input before it decodes the bytes that it already holds. After an error at the
//! end of the input it never calls the codec again.
//!
//! In [`ErrorMode::Fatal`](crate::ErrorMode::Fatal), an ill-formed part therefore ends the stream; the text
//! before it has been delivered. To continue after errors, use a lossy error mode, or a codec whose items
//! carry the error. If you call a codec directly, it continues after an ill-formed part in every mode.
//!
//! # Closing and flushing a `Framed`
//!
//! If a codec encodes more than one type, `framed.close()` and `framed.flush()` are ambiguous, and you name the
//! type. `send`, `forward` and the sink half of `split()` infer it.
//!
//! ```
//! use futures::{SinkExt, StreamExt};
//! use tokio_util::codec::Framed;
//! use utf8_codec::codec::Utf8LinesCodec;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let (client, server) = tokio::io::duplex(64);
//! let mut client = Framed::new(client, Utf8LinesCodec::new());
//! client.send("grüß dich").await?;
//! SinkExt::<&str>::close(&mut client).await?;
//!
//! let mut server = Framed::new(server, Utf8LinesCodec::new());
//! assert_eq!(server.next().await.unwrap()?.unwrap(), "grüß dich");
//! assert!(server.next().await.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! [`FramedRead`]: https://docs.rs/tokio-util/0.7/tokio_util/codec/struct.FramedRead.html
//! [`FramedWrite`]: https://docs.rs/tokio-util/0.7/tokio_util/codec/struct.FramedWrite.html
//! [`Framed`]: https://docs.rs/tokio-util/0.7/tokio_util/codec/struct.Framed.html
//! [`ByteString`]: bytestring::ByteString
//! [`Utf8Error`]: crate::Utf8Error

mod char_codec;
mod chunks_codec;
mod dialect_codec;
mod frames_codec;
mod java_utf_codec;
mod lines_codec;
mod message_codec;
mod utf8_codec;

#[doc(no_inline)]
pub use crate::lines::{Delimiter, Line, LineError, LongLines};
pub use char_codec::CharCodec;
pub use chunks_codec::Utf8ChunksCodec;
pub use dialect_codec::DialectCodec;
pub use frames_codec::{DecimalFrames, Utf8FramesCodec};
pub use java_utf_codec::JavaUtfCodec;
pub use lines_codec::Utf8LinesCodec;
pub use message_codec::MessageCodec;
pub use utf8_codec::Utf8Codec;

use std::io;

use crate::decoder::Utf8Error;

/// Why a codec failed to decode or to encode.
///
/// `E` is the error of invalid input: a [`Utf8Error`], or a [`DialectError`](crate::dialect::DialectError). The message of [`Invalid`](Self::Invalid)
/// and [`Io`](Self::Io) is that of the error inside.
///
/// # Examples
///
/// ```
/// use bytes::BytesMut;
/// use tokio_util::codec::{Decoder, Encoder};
/// use utf8_codec::codec::{CodecError, Utf8Codec, Utf8LinesCodec};
///
/// let error = Utf8Codec::new().decode(&mut BytesMut::from(&b"\xFF"[..])).unwrap_err();
/// assert!(matches!(error, CodecError::Invalid(error) if error.valid_up_to() == 0));
///
/// let mut buffer = BytesMut::new();
/// let error = Utf8LinesCodec::new().encode("two\nlines", &mut buffer).unwrap_err();
/// assert!(matches!(error, CodecError::EmbeddedDelimiter { offset: 3 }));
/// assert!(buffer.is_empty());
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError<E = Utf8Error> {
    /// The input is ill-formed, or the options reject it. A decoder has consumed the bytes of the error, and the
    /// next call continues after them. An encoder has written nothing.
    #[error("{0}")]
    Invalid(E),
    /// The text contains a delimiter, or a CR or LF that the delimiter forbids, so a reader would end or reject the line
    /// before the end of the text. Nothing was written.
    #[error("text contains a delimiter, or a bare CR or LF, at byte {offset}")]
    EmbeddedDelimiter {
        /// The offset in the text of the first of these bytes.
        offset: usize,
    },
    /// The encoded text is longer than the format allows. Nothing was written.
    #[error("text of {length} bytes is longer than {max_length} bytes")]
    TooLong {
        /// The length of the encoded text, in bytes.
        length: usize,
        /// The limit, in bytes.
        max_length: usize,
    },
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Utf8Error> for CodecError {
    fn from(error: Utf8Error) -> Self {
        Self::Invalid(error)
    }
}

/// Converts an inner error with its own conversion. The kind is
/// [`InvalidInput`](io::ErrorKind::InvalidInput) for a text that cannot be encoded.
impl<E: Into<io::Error>> From<CodecError<E>> for io::Error {
    fn from(error: CodecError<E>) -> Self {
        // The same error in a type that does not depend on `E`, so that an `io::Error` can hold it.
        let rejected: CodecError = match error {
            CodecError::Invalid(error) => return error.into(),
            CodecError::Io(error) => return error,
            CodecError::EmbeddedDelimiter { offset } => CodecError::EmbeddedDelimiter { offset },
            CodecError::TooLong { length, max_length } => {
                CodecError::TooLong { length, max_length }
            }
        };
        Self::new(io::ErrorKind::InvalidInput, rejected)
    }
}
