//! The one error type of the codecs.

use std::io;

use crate::core::error::Utf8Error;

/// Why a codec failed to decode or to encode.
///
/// `E` is the error of invalid input: a [`Utf8Error`] for the codecs of this module. The message contains that
/// of the source.
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
    Invalid(#[source] E),
    /// The text contains a delimiter, so a reader would end the line before the end of the text. Nothing was
    /// written.
    #[error("text contains a line ending at byte {offset}")]
    EmbeddedDelimiter {
        /// The offset in the text of the first byte of the delimiter.
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
    #[error("I/O error: {0}")]
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
