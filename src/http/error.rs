//! Why is a body rejected, and with which status?

use std::error::Error;
use std::fmt;
use std::io;
use std::iter;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::LengthLimitError;

use crate::adaptor::StreamError;
use crate::adaptor::legacy::{LegacyError, fmt_ill_formed};
use crate::decoder::Utf8Error;
use crate::lines::LineError;
use crate::sse::EventPart;

/// An error of any type, as http-body-util, axum and tower pass it on.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// An error of a [`Utf8Body`](crate::http::Utf8Body).
///
/// The message contains the reason, and the offset of an ill-formed part. The message and the source of
/// [`Inner`](Self::Inner) are those of the error inside.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use http::StatusCode;
/// use http_body_util::Full;
/// use utf8_codec::http::{BodyError, Utf8Body};
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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The bytes are not UTF-8, or the options reject them. The rejected bytes are consumed, and
    /// decoding continues after them.
    ///
    /// The offset counts bytes of the UTF-8 text: of the body itself, or of the text converted from
    /// another charset.
    #[error("{}", .0.message_in(place_of(.0)))]
    Utf8(Utf8Error),
    /// The bytes are ill-formed in another charset. They are consumed, and decoding continues after
    /// them.
    ///
    /// The extent is that of the WHATWG Encoding Standard: the bytes that one U+FFFD replaces.
    #[error(fmt = fmt_legacy)]
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
    /// The media type is not one that the program accepts; see
    /// [`require_text`](crate::http::require_text).
    #[error(fmt = fmt_media_type)]
    UnsupportedMediaType {
        /// At most 80 characters of the type and subtype; empty if there is no `Content-Type`.
        media_type: String,
    },
    /// The `Content-Type` does not follow RFC 9110.
    #[error("malformed Content-Type at byte {offset}")]
    MalformedContentType {
        /// The offset of the error in the field, in bytes.
        offset: usize,
    },
    /// Several charsets are given, and they differ; or several media types, and only some of them are text.
    #[error("contradictory media types or charsets in Content-Type")]
    ContradictoryCharsets,
    /// The body has a content coding, such as `gzip`, so its text cannot be checked; see
    /// [`require_checkable`](crate::http::require_checkable).
    #[error("unsupported content coding: {coding}")]
    UnsupportedContentCoding {
        /// At most 40 characters of the coding. Non-ASCII characters are escaped.
        coding: String,
    },
    /// The body is a part of a text (it has a `Content-Range`), so it can begin inside a character.
    #[error("unsupported Content-Range: the body is a part of a text")]
    PartialContent,
    /// The body, or the collected text, is too long. Nothing follows.
    #[error("body or its text is longer than {max_length} bytes")]
    TooLong {
        /// The limit, in bytes: of the body with
        /// [`with_max_length`](crate::http::Utf8Body::with_max_length), of the text with
        /// [`collect_text`](crate::http::Utf8Body::collect_text).
        max_length: u64,
    },
    /// A server-sent event in the body, or its ID, is too long. Only the conversion of a [`StreamError`] returns
    /// this.
    #[error("{part} at byte {offset} of the body is longer than {max_length} bytes")]
    EventTooLong {
        /// What is too long.
        part: EventPart,
        /// The offset of the event in the body, in bytes.
        offset: u64,
        /// The limit, in bytes.
        max_length: usize,
    },
    /// A line of the body was rejected. Only the conversion of a [`StreamError`] returns this.
    #[error(transparent)]
    Line(LineError),
    /// The inner body failed, for example because the client disconnected, or because it has a limit of
    /// its own. Nothing follows.
    #[error(transparent)]
    Inner(Box<dyn Error + Send + Sync>),
}

impl BodyError {
    /// Returns the status of the response to a request with such a body.
    ///
    /// | error | status |
    /// | --- | --- |
    /// | [`TooLong`](Self::TooLong), [`EventTooLong`](Self::EventTooLong), a line that is too long | 413 Content Too Large |
    /// | [`UnsupportedCharset`](Self::UnsupportedCharset), [`UnsupportedMediaType`](Self::UnsupportedMediaType), [`UnsupportedContentCoding`](Self::UnsupportedContentCoding) | 415 Unsupported Media Type |
    /// | [`Inner`](Self::Inner), caused by a length limit or by another `BodyError` | 413, or the status of that error |
    /// | any other | 400 Bad Request |
    ///
    /// The length limits of http-body-util (`Limited`), axum (`DefaultBodyLimit`) and tower-http
    /// (`RequestBodyLimit`) are recognised, at any depth of the source chain.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLong { .. }
            | Self::EventTooLong { .. }
            | Self::Line(LineError::TooLong { .. }) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedCharset { .. }
            | Self::UnsupportedMediaType { .. }
            | Self::UnsupportedContentCoding { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Inner(error) => inner_status(&**error),
            // `PartialContent` as well: RFC 9110, section 14.5
            _ => StatusCode::BAD_REQUEST,
        }
    }

    /// Returns the offset of the rejected bytes, or of the rejected event or line if it is too long. `None` for an
    /// error that is not in the text.
    ///
    /// If the charset is not UTF-8, the offset counts bytes of the text that was converted to UTF-8. That of
    /// [`Legacy`](Self::Legacy) counts bytes of the body.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::Utf8(error) | Self::Line(LineError::Utf8 { error, .. }) => {
                Some(error.valid_up_to())
            }
            Self::Legacy { offset, .. }
            | Self::EventTooLong { offset, .. }
            | Self::Line(
                LineError::TooLong { offset, .. }
                | LineError::BareLf { lf_offset: offset, .. }
                | LineError::BareCr { cr_offset: offset, .. },
            ) => Some(*offset),
            _ => None,
        }
    }

    /// Converts the error into the form that outer layers expect: an inner error is returned unchanged, and any
    /// other error is boxed.
    ///
    /// The extractors of axum answer 413 for an [`http_body_util::LengthLimitError`], and 400 for any other error. They
    /// do not look at sources. Only http-body-util creates a `LengthLimitError`. If you give a body to them, set the
    /// limit with `Limited` inside, and map the errors with `http_body_util::BodyExt::map_err(body, BodyError::into_boxed)`.
    /// A `Utf8Layer` does both. Do not send such a body on: for `Limited`, a longer body is one as long as the limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
    /// use utf8_codec::http::{BodyError, Utf8Body};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limited = Limited::new(Full::<Bytes>::from("six €"), 6);
    /// let mut body = Utf8Body::new(limited).map_err(BodyError::into_boxed);
    /// assert!(body.frame().await.unwrap().unwrap_err().is::<LengthLimitError>());
    /// # }
    /// ```
    pub fn into_boxed(self) -> Box<dyn Error + Send + Sync> {
        match self {
            Self::Inner(error) => error,
            error => error.into(),
        }
    }
}

impl From<LegacyError> for BodyError {
    fn from(LegacyError { encoding, error }: LegacyError) -> Self {
        let bytes = Bytes::copy_from_slice(error.bytes());
        Self::Legacy { encoding, offset: error.valid_up_to(), bytes }
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

/// Returns the cause of an error. The source of an `io::Error` or a `StreamError` is not the error that it wraps, but the
/// source of that.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return error.get_ref().map(|wrapped| wrapped as _);
    }
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(StreamError::<BodyError>::Inner(wrapped)), _) => Some(wrapped),
        (_, Some(StreamError::<io::Error>::Inner(wrapped))) => Some(wrapped),
        _ => error.source(),
    }
}

/// Converted text is well-formed, but the options can reject its characters. Their offsets are those of the text.
fn place_of(error: &Utf8Error) -> &'static str {
    if error.kind().is_ill_formed() { " in the body" } else { " in the text of the body" }
}

fn fmt_legacy(
    encoding: &str,
    offset: &u64,
    bytes: &[u8],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "invalid {encoding} in the body at byte {offset}: ")?;
    fmt_ill_formed(encoding, bytes, f)
}

/// Writes the message of `BodyError::UnsupportedMediaType`.
fn fmt_media_type(media_type: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match media_type {
        "" => f.write_str("missing Content-Type"),
        _ => write!(f, "unsupported media type: {media_type}"),
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
            StreamError::Line(error) => Self::Line(error),
            StreamError::Inner(error) => error,
            StreamError::TooLong { max_length } => Self::TooLong { max_length: max_length as u64 },
            StreamError::EventTooLong { part, offset, max_length } => {
                Self::EventTooLong { part, offset, max_length }
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
            BodyError::Line(error) => error.into(),
            BodyError::Inner(error) => match error.downcast::<Self>() {
                Ok(error) => *error,
                Err(error) => Self::other(error),
            },
            error => Self::new(io::ErrorKind::InvalidData, error),
        }
    }
}
