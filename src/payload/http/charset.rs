//! In which encoding is a body?

use std::fmt;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};

use crate::payload::http::content_type::{Malformed, Parameters};
use crate::relatives::legacy::LegacyEncoding;

/// The encoding of a body, as its `Content-Type` names it.
///
/// Names are the labels of the WHATWG Encoding Standard, in any case. UTF-8 and its aliases (`utf8`,
/// `unicode-1-1-utf-8` and others) are always known; the other encodings need the feature `encoding_rs`.
/// Those that the standard maps to its `replacement` encoding, such as `iso-2022-kr`, are never known. The
/// default is UTF-8.
///
/// # Examples
///
/// ```
/// use utf8_codec::payload::http::Charset;
///
/// let charset = Charset::from_content_type(r#"text/html; Charset="UTF8""#)?;
/// assert_eq!(charset, Some(Charset::UTF_8));
/// assert_eq!(Charset::from_content_type("text/html")?, None);
/// assert!(Charset::from_content_type("text/html; charset=klingon").is_err());
/// # Ok::<_, utf8_codec::payload::http::CharsetError>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Charset(pub(super) Encoding);

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) enum Encoding {
    #[default]
    Utf8,
    Legacy(LegacyEncoding),
}

/// An error in the charset of a body.
///
/// # Examples
///
/// ```
/// use http::StatusCode;
/// use utf8_codec::payload::http::{Charset, CharsetError};
///
/// let error = Charset::from_content_type("text/plain; charset=ebcdic").unwrap_err();
/// assert_eq!(error.to_string(), "unsupported charset: ebcdic");
/// assert_eq!(error.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
///
/// let error = Charset::from_content_type("text/plain; charset=").unwrap_err();
/// assert_eq!(error, CharsetError::Malformed { offset: 20 });
/// assert_eq!(error.status(), StatusCode::BAD_REQUEST);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CharsetError {
    /// A label of no encoding, or of an encoding that this build cannot decode.
    #[error("unsupported charset: {label}")]
    Unsupported {
        /// At most 40 characters of the label, escaped where they are not ASCII.
        label: String,
    },
    /// The `Content-Type` does not follow RFC 9110.
    #[error("malformed content-type at byte {offset}")]
    Malformed {
        /// The offset of the error in the field, in bytes.
        offset: usize,
    },
    /// There are several charsets that differ.
    #[error("contradictory charsets in content-type")]
    Contradictory,
}

impl Charset {
    /// UTF-8.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::Charset;
    ///
    /// assert_eq!(Charset::UTF_8, Charset::default());
    /// ```
    pub const UTF_8: Self = Self(Encoding::Utf8);

    /// Finds the encoding with this label, ignoring case and ASCII whitespace around it.
    ///
    /// # Errors
    ///
    /// [`CharsetError::Unsupported`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::Charset;
    ///
    /// assert_eq!(Charset::from_label(" Unicode-1-1-UTF-8 "), Ok(Charset::UTF_8));
    /// # #[cfg(feature = "encoding_rs")]
    /// assert_eq!(Charset::from_label("latin1")?.name(), "windows-1252");
    /// # Ok::<_, utf8_codec::payload::http::CharsetError>(())
    /// ```
    pub fn from_label(label: impl AsRef<[u8]>) -> Result<Self, CharsetError> {
        let label = label.as_ref();
        let trimmed = label.trim_ascii();
        if UTF_8_LABELS.iter().any(|known| trimmed.eq_ignore_ascii_case(known.as_bytes())) {
            return Ok(Self::UTF_8);
        }
        if let Some(encoding) = LegacyEncoding::for_label(trimmed) {
            return Ok(Self(Encoding::Legacy(encoding)));
        }
        let label = label.escape_ascii().take(40).map(char::from).collect();
        Err(CharsetError::Unsupported { label })
    }

    /// Parses the parameter `charset` of a `Content-Type` field; returns `None` if there is none.
    ///
    /// The field is parsed by RFC 9110 (section 8.3.1): names in any case, values as tokens or as quoted
    /// strings. `charset` can be repeated if all name the same encoding.
    ///
    /// # Errors
    ///
    /// Any [`CharsetError`].
    ///
    /// # Examples
    ///
    /// ```
    /// use http::HeaderValue;
    /// use utf8_codec::payload::http::Charset;
    ///
    /// let field = HeaderValue::from_static(r#"text/plain; format=flowed; charset="utf\-8""#);
    /// assert_eq!(Charset::from_content_type(field)?, Some(Charset::UTF_8));
    /// # Ok::<_, utf8_codec::payload::http::CharsetError>(())
    /// ```
    pub fn from_content_type(field: impl AsRef<[u8]>) -> Result<Option<Self>, CharsetError> {
        let mut charset = None;
        let mut parameters = Parameters::of(field.as_ref())?;
        while let Some((name, value)) = parameters.next()? {
            if name.eq_ignore_ascii_case(b"charset") {
                agree(&mut charset, Self::from_label(value)?)?;
            }
        }
        Ok(charset)
    }

    /// Returns the charset in the headers of a request or a response: UTF-8 if there is none.
    ///
    /// # Errors
    ///
    /// Any [`CharsetError`]. [`Contradictory`](CharsetError::Contradictory) also for several
    /// `Content-Type` fields that name different encodings, or of which only some name one.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::Request;
    /// use utf8_codec::payload::http::Charset;
    ///
    /// let request = Request::post("/").header("content-type", "text/csv; charset=utf-8").body(())?;
    /// assert_eq!(Charset::from_headers(request.headers()), Ok(Charset::UTF_8));
    /// # Ok::<_, http::Error>(())
    /// ```
    pub fn from_headers(headers: &HeaderMap) -> Result<Self, CharsetError> {
        let mut charset = None;
        for field in headers.get_all(CONTENT_TYPE) {
            agree(&mut charset, Self::from_content_type(field)?)?;
        }
        Ok(charset.flatten().unwrap_or_default())
    }

    /// Returns the name of the encoding in the Encoding Standard.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::Charset;
    ///
    /// assert_eq!(Charset::UTF_8.name(), "UTF-8");
    /// ```
    pub fn name(self) -> &'static str {
        match self.0 {
            Encoding::Utf8 => "UTF-8",
            Encoding::Legacy(encoding) => encoding.name(),
        }
    }
}

impl fmt::Display for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Charset({})", self.name())
    }
}

impl CharsetError {
    /// Returns the status of a response: 415 if the encoding is [unsupported](Self::Unsupported), otherwise
    /// 400.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::CharsetError;
    ///
    /// assert_eq!(CharsetError::Contradictory.status(), 400);
    /// ```
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Unsupported { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Malformed { .. } | Self::Contradictory => StatusCode::BAD_REQUEST,
        }
    }
}

impl From<Malformed> for CharsetError {
    fn from(Malformed { at }: Malformed) -> Self {
        Self::Malformed { offset: at }
    }
}

/// Keeps the first answer, and rejects a different one.
fn agree<T: PartialEq>(first: &mut Option<T>, next: T) -> Result<(), CharsetError> {
    match first {
        Some(first) if *first != next => Err(CharsetError::Contradictory),
        _ => {
            *first = Some(next);
            Ok(())
        }
    }
}

/// WHATWG Encoding Standard, section 4.2.
const UTF_8_LABELS: [&str; 6] =
    ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"];
