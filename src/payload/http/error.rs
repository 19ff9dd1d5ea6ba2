//! What keeps a body from being text, and with which status?

use std::convert::Infallible;
use std::error::Error;
use std::io;

use http::StatusCode;

use crate::core::error::Utf8Error;
use crate::payload::http::{CharsetError, LegacyError};

/// An error of a [`Utf8Body`](crate::payload::http::Utf8Body); `E` is the error of the inner body.
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
/// let BodyError::Utf8(error) = error else { panic!("{error}") };
/// assert_eq!(error.to_string(), "ill-formed utf-8 at byte 3: truncated (e9, then 2c)");
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError<E> {
    /// The bytes are not UTF-8, or the options reject them. The rejected bytes are consumed; decoding
    /// continues after them.
    ///
    /// Its offset counts bytes of the UTF-8 text: the body itself, or the text converted from another
    /// [`Charset`](crate::payload::http::Charset).
    #[error("the body is not acceptable utf-8")]
    Utf8(#[from] Utf8Error),
    /// The bytes are ill-formed in another charset. They are consumed; decoding continues after them.
    #[error("the body is not acceptable {}", .0.encoding())]
    Legacy(#[from] LegacyError),
    /// The charset is unknown.
    #[error("the encoding of the body is not known")]
    Charset(#[from] CharsetError),
    /// The body, or the collected text, is too long. Nothing follows.
    #[error("the body is longer than {max_length} bytes")]
    TooLong {
        /// The limit, in bytes: of the body with
        /// [`with_max_length`](crate::payload::http::Utf8Body::with_max_length), of the text with
        /// [`collect_text`](crate::payload::http::Utf8Body::collect_text).
        max_length: u64,
    },
    /// The inner body failed, for example because the client disconnected. Nothing follows.
    #[error("the body failed")]
    Inner(#[source] E),
}

impl<E> BodyError<E> {
    /// Returns the status of a response to a request with such a body.
    ///
    /// | error | status |
    /// | --- | --- |
    /// | [`Utf8`](Self::Utf8), [`Legacy`](Self::Legacy), [`Inner`](Self::Inner) | 400 Bad Request |
    /// | [`TooLong`](Self::TooLong) | 413 Content Too Large |
    /// | [`Charset`](Self::Charset) | that of [`CharsetError::status`]: 415 Unsupported Media Type, or 400 |
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::BodyError;
    ///
    /// assert_eq!(BodyError::<()>::TooLong { max_length: 1000 }.status(), 413);
    /// assert_eq!(BodyError::Inner("connection reset").status(), 400);
    /// ```
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Charset(error) => error.status(),
            Self::Utf8(_) | Self::Legacy(_) | Self::Inner(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// Returns the offset of the rejected bytes, for [`Utf8`](Self::Utf8) and [`Legacy`](Self::Legacy).
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
            Self::Legacy(error) => Some(error.offset()),
            Self::Charset(_) | Self::TooLong { .. } | Self::Inner(_) => None,
        }
    }
}

impl BodyError<Infallible> {
    /// Returns the same error, for a body that can fail.
    pub(super) fn widen<E>(self) -> BodyError<E> {
        match self {
            Self::Utf8(error) => BodyError::Utf8(error),
            Self::Legacy(error) => BodyError::Legacy(error),
            Self::Charset(error) => BodyError::Charset(error),
            Self::TooLong { max_length } => BodyError::TooLong { max_length },
            Self::Inner(never) => match never {},
        }
    }
}

/// Returns an inner error unchanged if it is an [`io::Error`], and wraps it otherwise. A body that is too
/// long or has an unknown charset is [`InvalidData`](io::ErrorKind::InvalidData); a [`Utf8Error`] becomes
/// what its own conversion says.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<BodyError<E>> for io::Error {
    fn from(error: BodyError<E>) -> Self {
        match error {
            BodyError::Utf8(error) => error.into(),
            BodyError::Legacy(error) => Self::new(io::ErrorKind::InvalidData, error),
            BodyError::Charset(error) => Self::new(io::ErrorKind::InvalidData, error),
            BodyError::TooLong { max_length } => {
                let error = BodyError::<Self>::TooLong { max_length };
                Self::new(io::ErrorKind::InvalidData, error)
            }
            BodyError::Inner(error) => match error.into().downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => Self::other(error),
            },
        }
    }
}
