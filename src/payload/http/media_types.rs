//! Which media types does a program accept?

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::payload::http::BodyError;
use crate::payload::http::content_type::Parameters;

/// Media types that a program accepts.
///
/// # Examples
///
/// ```
/// use http::Request;
/// use utf8_codec::payload::http::{BodyError, MediaTypes};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let request = Request::post("/").header("content-type", "application/problem+json").body(())?;
/// MediaTypes::Json.check(request.headers())?;
/// let error = MediaTypes::Text.check(request.headers()).unwrap_err();
/// assert_eq!(error.to_string(), "unsupported media type: application/problem+json");
/// assert_eq!(error.status(), 415);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MediaTypes {
    /// `text/*`.
    Text,
    /// `application/json`, and every type whose subtype ends in `+json` (RFC 6839 section 3.1).
    Json,
    /// Both.
    TextOrJson,
}

/// What kind of text a media type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    /// In the charset of the `Content-Type`.
    Text,
    /// In UTF-8, whatever the `Content-Type` (RFC 8259 sections 8.1 and 11).
    Json,
}

impl MediaTypes {
    /// Checks the media type of a request or a response. If there are several `Content-Type` fields, all of
    /// them must be accepted.
    ///
    /// # Errors
    ///
    /// [`BodyError::UnsupportedMediaType`] if the type is another one, or if there is none;
    /// [`BodyError::MalformedContentType`]; [`BodyError::ContradictoryCharsets`] if one field is text and
    /// another one JSON.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::HeaderMap;
    /// use utf8_codec::payload::http::MediaTypes;
    ///
    /// let error = MediaTypes::TextOrJson.check(&HeaderMap::new()).unwrap_err();
    /// assert_eq!(error.to_string(), "missing Content-Type");
    /// ```
    pub fn check(self, headers: &HeaderMap) -> Result<(), BodyError> {
        self.kind(headers).map(drop)
    }

    /// Like [`check`](Self::check), and returns the kind.
    pub(super) fn kind(self, headers: &HeaderMap) -> Result<TextKind, BodyError> {
        let mut kind = None;
        for field in headers.get_all(CONTENT_TYPE) {
            let parameters = Parameters::of(field.as_bytes())?;
            let (main, subtype) = parameters.media_type;
            let Some(next) = kind_of(main, subtype).filter(|kind| self.includes(*kind)) else {
                let media_type = [main, b"/", subtype].concat();
                let media_type = media_type.escape_ascii().take(80).map(char::from).collect();
                return Err(BodyError::UnsupportedMediaType { media_type });
            };
            if kind.is_some_and(|first| first != next) {
                return Err(BodyError::ContradictoryCharsets);
            }
            kind = Some(next);
        }
        kind.ok_or(BodyError::UnsupportedMediaType { media_type: String::new() })
    }

    fn includes(self, kind: TextKind) -> bool {
        match self {
            Self::Text => kind == TextKind::Text,
            Self::Json => kind == TextKind::Json,
            Self::TextOrJson => true,
        }
    }
}

fn kind_of(main: &[u8], subtype: &[u8]) -> Option<TextKind> {
    let ends_in_json =
        subtype.len() >= 5 && subtype[subtype.len() - 5..].eq_ignore_ascii_case(b"+json");
    let is_json =
        main.eq_ignore_ascii_case(b"application") && subtype.eq_ignore_ascii_case(b"json");
    if is_json || ends_in_json {
        return Some(TextKind::Json);
    }
    main.eq_ignore_ascii_case(b"text").then_some(TextKind::Text)
}
