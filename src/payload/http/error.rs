use std::convert::Infallible;
use std::error::Error;
use std::io;

use http::StatusCode;

use crate::core::error::Utf8Error;
use crate::payload::http::{CharsetError, LegacyError};

/// What keeps a body from being text; `E` is the error of the body within.
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
    /// The bytes are not UTF-8, or what the options refuse. The bytes at fault are consumed; the
    /// next frame is what stands behind them.
    ///
    /// Its offset counts bytes of the UTF-8 text: that is the body itself, or what it was converted
    /// to from another [`Charset`](crate::payload::http::Charset).
    #[error("the body is not acceptable utf-8")]
    Utf8(#[from] Utf8Error),
    /// The bytes are not what another charset allows. They are consumed; the next frame is what
    /// stands behind them.
    #[error("the body is not acceptable {}", .0.encoding())]
    Legacy(#[from] LegacyError),
    /// The `Content-Type` does not tell what the bytes are.
    #[error("the encoding of the body is not known")]
    Charset(#[from] CharsetError),
    /// The body, or the text that was to be collected, is longer than allowed. Nothing follows.
    #[error("the body is longer than {limit} bytes")]
    TooLong {
        /// The limit, in bytes: of the body with
        /// [`with_limit`](crate::payload::http::Utf8Body::with_limit), of the text with
        /// [`collect_text`](crate::payload::http::Utf8Body::collect_text).
        limit: u64,
    },
    /// The body within failed; of a request, because the client went away, for example. Nothing
    /// follows.
    #[error("the body failed")]
    Inner(#[source] E),
}

impl<E> BodyError<E> {
    /// Returns the status for an answer to a request with such a body.
    ///
    /// | error | status |
    /// | --- | --- |
    /// | [`Utf8`](Self::Utf8), [`Legacy`](Self::Legacy), [`Inner`](Self::Inner) | 400 Bad Request |
    /// | [`TooLong`](Self::TooLong) | 413 Content Too Large |
    /// | [`Charset`](Self::Charset) | what [`CharsetError::status`] says: 415 Unsupported Media Type, or 400 |
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::BodyError;
    ///
    /// assert_eq!(BodyError::<()>::TooLong { limit: 1000 }.status(), 413);
    /// assert_eq!(BodyError::Inner("connection reset").status(), 400);
    /// ```
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Charset(error) => error.status(),
            Self::Utf8(_) | Self::Legacy(_) | Self::Inner(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// Returns where the bytes at fault begin, for those errors that have a place.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::BodyError;
    ///
    /// assert_eq!(BodyError::<()>::TooLong { limit: 1000 }.offset(), None);
    /// ```
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Utf8(error) => Some(error.valid_up_to()),
            Self::Legacy(error) => Some(error.valid_up_to()),
            Self::Charset(_) | Self::TooLong { .. } | Self::Inner(_) => None,
        }
    }
}

impl BodyError<Infallible> {
    /// The same error, of a body that can fail.
    pub(super) fn widen<E>(self) -> BodyError<E> {
        match self {
            Self::Utf8(error) => BodyError::Utf8(error),
            Self::Legacy(error) => BodyError::Legacy(error),
            Self::Charset(error) => BodyError::Charset(error),
            Self::TooLong { limit } => BodyError::TooLong { limit },
            Self::Inner(never) => match never {},
        }
    }
}

/// An inner error as it was if it is an [`io::Error`], within one if not;
/// [`InvalidData`](io::ErrorKind::InvalidData) where the body is too long or its encoding not known;
/// the others as [`Utf8Error`] has it.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<BodyError<E>> for io::Error {
    fn from(error: BodyError<E>) -> Self {
        match error {
            BodyError::Utf8(error) => error.into(),
            BodyError::Legacy(error) => Self::new(io::ErrorKind::InvalidData, error),
            BodyError::Charset(error) => Self::new(io::ErrorKind::InvalidData, error),
            BodyError::TooLong { limit } => {
                let error = BodyError::<Self>::TooLong { limit };
                Self::new(io::ErrorKind::InvalidData, error)
            }
            BodyError::Inner(error) => match error.into().downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => Self::other(error),
            },
        }
    }
}
