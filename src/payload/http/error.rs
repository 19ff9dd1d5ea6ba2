//! Why is a body rejected, and with which status?

use std::error::Error;
use std::fmt;
use std::io;
use std::iter;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use http_body_util::{Full, LengthLimitError, Limited};

use crate::adaptor::stream_error::StreamError;
use crate::core::error::Utf8Error;
#[cfg(feature = "lines")]
use crate::lines::LineError;

/// An error of any type, as http-body-util, axum and tower pass it on.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// An error of a [`Utf8Body`](crate::payload::http::Utf8Body).
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
#[derive(Debug)]
#[non_exhaustive]
pub enum BodyError {
    /// The bytes are not UTF-8, or the options reject them. The rejected bytes are consumed, and
    /// decoding continues after them.
    ///
    /// The offset counts bytes of the UTF-8 text: of the body itself, or of the text converted from
    /// another charset.
    Utf8(Utf8Error),
    /// The bytes are ill-formed in another charset. They are consumed, and decoding continues after
    /// them.
    ///
    /// The extent is that of the WHATWG Encoding Standard: the bytes that one U+FFFD replaces.
    /// Without the feature `encoding_rs`, this error does not occur.
    Legacy {
        /// The name of the encoding in the Encoding Standard.
        encoding: &'static str,
        /// The offset in the body, in bytes.
        offset: u64,
        /// The ill-formed bytes: one to four.
        bytes: Bytes,
    },
    /// The charset is not a known label, or names an encoding that this build cannot decode.
    UnsupportedCharset {
        /// At most 40 characters of the label. Non-ASCII characters are escaped.
        label: String,
    },
    /// The media type is not one that the program accepts; see
    /// [`require_text`](crate::payload::http::require_text).
    UnsupportedMediaType {
        /// At most 80 characters of the type and subtype; empty if there is no `Content-Type`.
        media_type: String,
    },
    /// The `Content-Type` does not follow RFC 9110.
    MalformedContentType {
        /// The offset of the error in the field, in bytes.
        offset: usize,
    },
    /// Several charsets are given, and they differ.
    ContradictoryCharsets,
    /// The body, or the collected text, is too long. Nothing follows. The source is an
    /// [`http_body_util::LengthLimitError`], which other layers recognise.
    TooLong {
        /// The limit, in bytes: of the body with
        /// [`with_max_length`](crate::payload::http::Utf8Body::with_max_length), of the text with
        /// [`collect_text`](crate::payload::http::Utf8Body::collect_text).
        max_length: u64,
    },
    /// A server-sent event in the body is too long. Only the conversion of a [`StreamError`] returns this. The source
    /// is that of [`TooLong`](Self::TooLong).
    EventTooLong {
        /// The offset of the event in the body, in bytes.
        offset: u64,
        /// The limit, in bytes.
        max_length: usize,
    },
    /// A line of the body was rejected. Only the conversion of a [`StreamError`] returns this. If the line is too
    /// long, the source is that of [`TooLong`](Self::TooLong).
    #[cfg(feature = "lines")]
    Line(LineError),
    /// The inner body failed, for example because the client disconnected, or because it has a limit of
    /// its own. Nothing follows.
    Inner(Box<dyn Error + Send + Sync>),
}

impl BodyError {
    /// Returns the status of the response to a request with such a body.
    ///
    /// | error | status |
    /// | --- | --- |
    /// | [`TooLong`](Self::TooLong), [`EventTooLong`](Self::EventTooLong), a line that is too long | 413 Content Too Large |
    /// | [`UnsupportedCharset`](Self::UnsupportedCharset), [`UnsupportedMediaType`](Self::UnsupportedMediaType) | 415 Unsupported Media Type |
    /// | [`Inner`](Self::Inner), caused by a length limit or by another `BodyError` | 413, or the status of that error |
    /// | any other | 400 Bad Request |
    ///
    /// The length limits of http-body-util (`Limited`), axum (`DefaultBodyLimit`) and tower-http
    /// (`RequestBodyLimit`) are recognised, at any depth of the source chain.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http_body_util::{Full, Limited};
    /// use utf8_codec::payload::http::{BodyError, Utf8Body};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert_eq!(BodyError::TooLong { max_length: 1000 }.status(), 413);
    /// let label = "klingon".to_owned();
    /// assert_eq!(BodyError::UnsupportedCharset { label }.status(), 415);
    /// assert_eq!(BodyError::ContradictoryCharsets.status(), 400);
    /// assert_eq!(BodyError::Inner("connection reset".into()).status(), 400);
    ///
    /// let inner = Limited::new(Full::<Bytes>::from("six €"), 6);
    /// assert_eq!(Utf8Body::new(inner).collect_text(100).await.unwrap_err().status(), 413);
    /// # }
    /// ```
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLong { .. } | Self::EventTooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            #[cfg(feature = "lines")]
            Self::Line(LineError::TooLong { .. }) => StatusCode::PAYLOAD_TOO_LARGE,
            #[cfg(feature = "lines")]
            Self::Line(_) => StatusCode::BAD_REQUEST,
            Self::UnsupportedCharset { .. } | Self::UnsupportedMediaType { .. } => {
                StatusCode::UNSUPPORTED_MEDIA_TYPE
            }
            Self::Inner(error) => inner_status(&**error),
            Self::Utf8(_)
            | Self::Legacy { .. }
            | Self::MalformedContentType { .. }
            | Self::ContradictoryCharsets => StatusCode::BAD_REQUEST,
        }
    }

    /// Returns the offset of the rejected bytes, or of the rejected event or line if it is too long. `None` for an
    /// error that is not in the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::BodyError;
    ///
    /// assert_eq!(BodyError::TooLong { max_length: 1000 }.offset(), None);
    /// ```
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Utf8(error) => Some(error.valid_up_to()),
            Self::Legacy { offset, .. } | Self::EventTooLong { offset, .. } => Some(*offset),
            #[cfg(feature = "lines")]
            Self::Line(LineError::Utf8 { error, .. }) => Some(error.valid_up_to()),
            #[cfg(feature = "lines")]
            Self::Line(LineError::TooLong { offset, .. })
            | Self::Line(LineError::BareLf { lf_offset: offset, .. })
            | Self::Line(LineError::BareCr { cr_offset: offset, .. }) => Some(*offset),
            Self::UnsupportedCharset { .. }
            | Self::UnsupportedMediaType { .. }
            | Self::MalformedContentType { .. }
            | Self::ContradictoryCharsets
            | Self::TooLong { .. }
            | Self::Inner(_) => None,
        }
    }

    /// Returns the error as outer layers recognise it. A length limit becomes an
    /// [`http_body_util::LengthLimitError`], and an inner error is returned as it was. Any other error is
    /// boxed unchanged.
    ///
    /// The extractors of axum answer 413 for a `LengthLimitError`, and 400 for any other error. They do not
    /// look at sources. If you give a body to them, map its errors with
    /// `http_body_util::BodyExt::map_err(body, BodyError::into_boxed)`.
    ///
    /// # Examples
    ///
    /// ```
    /// use http_body_util::LengthLimitError;
    /// use utf8_codec::payload::http::BodyError;
    ///
    /// assert!(BodyError::TooLong { max_length: 1000 }.into_boxed().is::<LengthLimitError>());
    /// assert!(BodyError::ContradictoryCharsets.into_boxed().is::<BodyError>());
    /// ```
    pub fn into_boxed(self) -> Box<dyn Error + Send + Sync> {
        match self {
            Self::Inner(error) => error,
            Self::TooLong { .. } | Self::EventTooLong { .. } => {
                length_limit_error().unwrap_or_else(|| self.into())
            }
            #[cfg(feature = "lines")]
            Self::Line(LineError::TooLong { .. }) => {
                length_limit_error().unwrap_or_else(|| self.into())
            }
            error => error.into(),
        }
    }
}

/// Returns the status for the error of an inner body.
fn inner_status(error: &(dyn Error + 'static)) -> StatusCode {
    for error in iter::successors(Some(error), |error| cause(*error)) {
        if error.is::<LengthLimitError>() {
            return StatusCode::PAYLOAD_TOO_LARGE;
        }
        if let Some(error) = error.downcast_ref::<BodyError>() {
            return error.status();
        }
    }
    StatusCode::BAD_REQUEST
}

/// Returns the cause of an error. The source of an `io::Error` is not the error that it wraps.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}

/// Returns the error of http-body-util for a body that is too long. Only a body that exceeds a limit creates
/// one.
fn length_limit_error() -> Option<BoxError> {
    let mut body = Limited::new(Full::new(Bytes::from_static(b"1")), 0);
    match Pin::new(&mut body).poll_frame(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(Err(error))) => Some(error),
        Poll::Ready(_) | Poll::Pending => None,
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8(error) => error.fmt_in(" in the body", f),
            Self::Legacy { encoding, offset, bytes } => {
                write!(
                    f,
                    "invalid {encoding} in the body at byte {offset}: ill-formed bytes ({})",
                    Hex(bytes)
                )
            }
            Self::UnsupportedCharset { label } => write!(f, "unsupported charset: {label}"),
            Self::UnsupportedMediaType { media_type } if media_type.is_empty() => {
                f.write_str("missing Content-Type")
            }
            Self::UnsupportedMediaType { media_type } => {
                write!(f, "unsupported media type: {media_type}")
            }
            Self::MalformedContentType { offset } => {
                write!(f, "malformed Content-Type at byte {offset}")
            }
            Self::ContradictoryCharsets => f.write_str("contradictory charsets in Content-Type"),
            Self::TooLong { max_length } => {
                write!(f, "body or its text is longer than {max_length} bytes")
            }
            Self::EventTooLong { offset, max_length } => {
                write!(f, "event at byte {offset} is longer than {max_length} bytes")
            }
            #[cfg(feature = "lines")]
            Self::Line(error) => error.fmt(f),
            Self::Inner(error) => write!(f, "reading the body failed: {error}"),
        }
    }
}

impl Error for BodyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        static TOO_LONG: LazyLock<Option<BoxError>> = LazyLock::new(length_limit_error);
        match self {
            Self::Utf8(error) => Some(error),
            Self::Inner(error) => Some(&**error),
            Self::TooLong { .. } | Self::EventTooLong { .. } => {
                TOO_LONG.as_deref().map(|error| error as _)
            }
            #[cfg(feature = "lines")]
            Self::Line(LineError::TooLong { .. }) => TOO_LONG.as_deref().map(|error| error as _),
            #[cfg(feature = "lines")]
            Self::Line(error) => error.source(),
            _ => None,
        }
    }
}

impl From<Utf8Error> for BodyError {
    fn from(error: Utf8Error) -> Self {
        Self::Utf8(error)
    }
}

/// Converts the error of a stream that reads a body.
impl From<StreamError<BodyError>> for BodyError {
    fn from(error: StreamError<BodyError>) -> Self {
        match error {
            StreamError::Utf8(error) => Self::Utf8(error),
            #[cfg(feature = "lines")]
            StreamError::Line(error) => Self::Line(error),
            StreamError::Inner(error) => error,
            StreamError::TooLong { max_length } => Self::TooLong { max_length: max_length as u64 },
            StreamError::EventTooLong { offset, max_length } => {
                Self::EventTooLong { offset, max_length }
            }
        }
    }
}

/// Returns an inner error unchanged if it is an [`io::Error`], and wraps it otherwise. A
/// [`Utf8Error`] and a `LineError` are converted by their own `From`. Any other error is
/// [`InvalidData`](io::ErrorKind::InvalidData).
impl From<BodyError> for io::Error {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Utf8(error) => error.into(),
            #[cfg(feature = "lines")]
            BodyError::Line(error) => error.into(),
            BodyError::Inner(error) => match error.downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => Self::other(error),
            },
            error => Self::new(io::ErrorKind::InvalidData, error),
        }
    }
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
