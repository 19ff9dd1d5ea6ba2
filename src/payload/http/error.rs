//! Why is a body rejected, and with which status?

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::io;

use bytes::Bytes;
use http::StatusCode;

use crate::core::error::Utf8Error;

/// An error of a [`Utf8Body`](crate::payload::http::Utf8Body); `E` is the error of the inner body.
///
/// The message contains the reason, the offset of an ill-formed part, and the message of the source.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use http::StatusCode;
/// use http_body_util::Full;
/// use utf8_codec::payload::http::{BodyError, Utf8Body};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let body = Utf8Body::new(Full::<Bytes>::from(&b"caf\xE9, th\xE9"[..]));
/// let error = body.collect_text(1000).await.unwrap_err();
/// assert_eq!((error.status(), error.offset()), (StatusCode::BAD_REQUEST, Some(3)));
/// let message = "invalid UTF-8 in the body at byte 3: truncated character (e9, followed by 2c)";
/// assert_eq!(error.to_string(), message);
/// assert!(matches!(error, BodyError::Utf8(error) if error.bytes() == b"\xE9"));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError<E> {
    /// The bytes are not UTF-8, or the options reject them. The rejected bytes are consumed, and
    /// decoding continues after them.
    ///
    /// The offset counts bytes of the UTF-8 text: of the body itself, or of the text converted from
    /// another charset.
    #[error(fmt = fmt_utf8)]
    Utf8(#[from] Utf8Error),
    /// The bytes are ill-formed in another charset. They are consumed, and decoding continues after
    /// them.
    ///
    /// The extent is that of the WHATWG Encoding Standard: the bytes that one U+FFFD replaces.
    /// Without the feature `encoding_rs`, this error does not occur.
    #[error("invalid {encoding} in the body at byte {offset}: {}", Hex(.bytes))]
    Legacy {
        /// The name of the encoding in the Encoding Standard.
        encoding: &'static str,
        /// The offset in the body, in bytes.
        offset: u64,
        /// The ill-formed bytes: one to four.
        bytes: Bytes,
    },
    /// The charset is not a known label, or names an encoding that this build cannot decode.
    #[error("unsupported charset: {label}")]
    UnsupportedCharset {
        /// At most 40 characters of the label. Non-ASCII characters are escaped.
        label: String,
    },
    /// The `Content-Type` does not follow RFC 9110.
    #[error("malformed Content-Type at byte {offset}")]
    MalformedContentType {
        /// The offset of the error in the field, in bytes.
        offset: usize,
    },
    /// Several charsets are given, and they differ.
    #[error("contradictory charsets in Content-Type")]
    ContradictoryCharsets,
    /// The body, or the collected text, is too long. Nothing follows.
    #[error("body is longer than {max_length} bytes")]
    TooLong {
        /// The limit, in bytes: of the body with
        /// [`with_max_length`](crate::payload::http::Utf8Body::with_max_length), of the text with
        /// [`collect_text`](crate::payload::http::Utf8Body::collect_text).
        max_length: u64,
    },
    /// The inner body failed, for example because the client disconnected. Nothing follows.
    #[error("reading the body failed: {0}")]
    Inner(#[source] E),
}

impl<E> BodyError<E> {
    /// Returns the status of the response to a request with such a body.
    ///
    /// | error | status |
    /// | --- | --- |
    /// | [`TooLong`](Self::TooLong) | 413 Content Too Large |
    /// | [`UnsupportedCharset`](Self::UnsupportedCharset) | 415 Unsupported Media Type |
    /// | any other | 400 Bad Request |
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::BodyError;
    ///
    /// assert_eq!(BodyError::<()>::TooLong { max_length: 1000 }.status(), 413);
    /// let label = "klingon".to_owned();
    /// assert_eq!(BodyError::<()>::UnsupportedCharset { label }.status(), 415);
    /// assert_eq!(BodyError::<()>::ContradictoryCharsets.status(), 400);
    /// assert_eq!(BodyError::Inner("connection reset").status(), 400);
    /// ```
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedCharset { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Utf8(_)
            | Self::Legacy { .. }
            | Self::MalformedContentType { .. }
            | Self::ContradictoryCharsets
            | Self::Inner(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// Returns the offset of the rejected bytes for [`Utf8`](Self::Utf8) and
    /// [`Legacy`](Self::Legacy), and `None` for an error that is not in the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::BodyError;
    ///
    /// assert_eq!(BodyError::<()>::TooLong { max_length: 1000 }.offset(), None);
    /// ```
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Utf8(error) => Some(error.valid_up_to()),
            Self::Legacy { offset, .. } => Some(*offset),
            Self::UnsupportedCharset { .. }
            | Self::MalformedContentType { .. }
            | Self::ContradictoryCharsets
            | Self::TooLong { .. }
            | Self::Inner(_) => None,
        }
    }

    /// Returns the same error for another type of inner body, or the error of the inner body.
    fn separate<F>(self) -> Result<BodyError<F>, E> {
        Ok(match self {
            Self::Utf8(error) => BodyError::Utf8(error),
            Self::Legacy { encoding, offset, bytes } => {
                BodyError::Legacy { encoding, offset, bytes }
            }
            Self::UnsupportedCharset { label } => BodyError::UnsupportedCharset { label },
            Self::MalformedContentType { offset } => BodyError::MalformedContentType { offset },
            Self::ContradictoryCharsets => BodyError::ContradictoryCharsets,
            Self::TooLong { max_length } => BodyError::TooLong { max_length },
            Self::Inner(error) => return Err(error),
        })
    }
}

impl BodyError<Infallible> {
    /// Returns the same error for a body that can fail.
    pub(super) fn widen<E>(self) -> BodyError<E> {
        match self.separate() {
            Ok(error) => error,
            Err(never) => match never {},
        }
    }
}

/// Returns an inner error unchanged if it is an [`io::Error`], and wraps it otherwise. A
/// [`Utf8Error`] is converted by its own `From`. Any other error is
/// [`InvalidData`](io::ErrorKind::InvalidData).
impl<E: Into<Box<dyn Error + Send + Sync>>> From<BodyError<E>> for io::Error {
    fn from(error: BodyError<E>) -> Self {
        match error.separate::<Infallible>() {
            Ok(BodyError::Utf8(error)) => error.into(),
            Ok(error) => Self::new(io::ErrorKind::InvalidData, error),
            Err(error) => match error.into().downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => Self::other(error),
            },
        }
    }
}

fn fmt_utf8(error: &Utf8Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    error.fmt_in(" in the body", f)
}

/// Displays bytes as hexadecimal numbers, for example `81 ff`.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            write!(f, "{}{byte:02x}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}
