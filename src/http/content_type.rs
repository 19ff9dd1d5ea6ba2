//! In which charset and of which media type is a body, according to its `Content-Type`?
//!
//! The grammar of the field is that of RFC 9110 (sections 5.6 and 8.3.1):
//!
//! ```text
//! media-type    = type "/" subtype *( OWS ";" OWS [ token "=" ( token / quoted-string ) ] )
//! quoted-string = DQUOTE *( qdtext / "\" ( HTAB / SP / VCHAR / obs-text ) ) DQUOTE
//! ```

use std::borrow::Cow;
use std::mem;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};

use crate::adaptor::charset::Charset;
use crate::http::{BodyError, Utf8Body, header_fields::require_whole};

impl<B> Utf8Body<B> {
    /// Reads `inner` in the charset of the `Content-Type` in `headers`, or in UTF-8 if there is
    /// none.
    ///
    /// # Errors
    ///
    /// The same as [`from_content_type`](Self::from_content_type).
    /// [`ContradictoryCharsets`](BodyError::ContradictoryCharsets) is also returned for several
    /// `Content-Type` fields that name different encodings, or if only some of them name one.
    pub fn from_headers(headers: &HeaderMap, inner: B) -> Result<Self, BodyError> {
        Ok(Self::new(inner).in_charset(charset_in_headers(headers)?))
    }

    /// Reads `inner` in the charset of the `Content-Type` field `field`, or in UTF-8 if it names
    /// none.
    ///
    /// The field is parsed according to RFC 9110 (section 8.3.1): names in any case, values as
    /// tokens or as quoted strings. `charset` can be repeated if all of them name the same
    /// encoding.
    ///
    /// # Errors
    ///
    /// [`BodyError::UnsupportedCharset`], [`BodyError::MalformedContentType`] or
    /// [`BodyError::ContradictoryCharsets`].
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http_body_util::Full;
    /// use utf8_codec::http::{BodyError, Utf8Body};
    ///
    /// let body = || Full::<Bytes>::from("text");
    /// let field = r#"text/plain; format=flowed; Charset="utf\-8""#;
    /// assert_eq!(Utf8Body::from_content_type(field, body())?.charset(), "UTF-8");
    ///
    /// let error = Utf8Body::from_content_type("text/plain; charset=", body()).unwrap_err();
    /// assert!(matches!(error, BodyError::MalformedContentType { offset: 20 }));
    /// # Ok::<_, BodyError>(())
    /// ```
    pub fn from_content_type(field: impl AsRef<[u8]>, inner: B) -> Result<Self, BodyError> {
        let charset = charset_in_content_type(field.as_ref())?;
        Ok(Self::new(inner).in_charset(charset.unwrap_or_default()))
    }

    /// Sets the charset to the encoding with this label. Case, and ASCII whitespace around the
    /// label, are ignored. Call it before the first poll.
    ///
    /// # Errors
    ///
    /// [`BodyError::UnsupportedCharset`].
    pub fn with_charset(self, label: impl AsRef<[u8]>) -> Result<Self, BodyError> {
        Ok(self.in_charset(charset_of(label.as_ref())?))
    }
}

/// Finds the encoding with this label.
fn charset_of(label: &[u8]) -> Result<Charset, BodyError> {
    Charset::from_label(label).ok_or_else(|| {
        let label = label.escape_ascii().take(40).map(char::from).collect();
        BodyError::UnsupportedCharset { label }
    })
}

/// Parses the parameter `charset` of a `Content-Type` field according to RFC 9110, section
/// 8.3.1. Returns `None` if there is none. It can be repeated if all of them name the same
/// encoding. A media type that is always UTF-8 has no such parameter.
fn charset_in_content_type(field: &[u8]) -> Result<Option<Charset>, BodyError> {
    let mut parameters = Parameters::of(field)?;
    let is_utf8 = is_always_utf8(parameters.media_type);
    let mut charset = is_utf8.then_some(Charset::Utf8);
    while let Some((name, value)) = parameters.next()? {
        if !is_utf8 && name.eq_ignore_ascii_case(b"charset") {
            agree(&mut charset, charset_of(&value)?)?;
        }
    }
    Ok(charset)
}

/// Returns the charset in the headers of a request or a response, or UTF-8 if there is none.
pub(super) fn charset_in_headers(headers: &HeaderMap) -> Result<Charset, BodyError> {
    let mut charset = None;
    for field in headers.get_all(CONTENT_TYPE) {
        agree(&mut charset, charset_in_content_type(field.as_bytes())?)?;
    }
    Ok(charset.flatten().unwrap_or_default())
}

/// Stores the first value, and rejects a different one.
fn agree<T: PartialEq>(first: &mut Option<T>, next: T) -> Result<(), BodyError> {
    match first {
        Some(first) if *first != next => Err(BodyError::ContradictoryCharsets),
        _ => {
            *first = Some(next);
            Ok(())
        }
    }
}

/// Requires the media type `text/*`, in a body whose text can be checked; see [`require_checkable`].
///
/// If there are several `Content-Type` fields, all of them must have an accepted type, as with
/// [`require_json`] and [`require_text_or_json`].
///
/// # Errors
///
/// [`BodyError::UnsupportedMediaType`] if the type is another one, or if there is none;
/// [`BodyError::MalformedContentType`]; [`BodyError::UnsupportedContentCoding`] for a content coding other than
/// `identity`; [`BodyError::PartialContent`] for a `Content-Range`.
///
/// # Examples
///
/// ```
/// use http::Request;
/// use utf8_codec::http::{BodyError, require_text};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let request = Request::post("/").header("content-type", "text/csv; header=absent").body(())?;
/// require_text(request.headers())?;
/// let request = Request::post("/").header("content-type", "image/png").body(())?;
/// let error = require_text(request.headers()).unwrap_err();
/// assert_eq!(error.to_string(), "unsupported media type: image/png");
/// assert_eq!(error.status(), 415);
/// # Ok(())
/// # }
/// ```
pub fn require_text(headers: &HeaderMap) -> Result<(), BodyError> {
    text_kind(headers, &[TextKind::Text], &[])?;
    require_whole(headers)
}

/// Requires the media type `application/json`, or one whose subtype ends in `+json` (RFC 6839, section 3.1).
///
/// # Errors
///
/// The same as [`require_text`].
pub fn require_json(headers: &HeaderMap) -> Result<(), BodyError> {
    text_kind(headers, &[TextKind::Json], &[])?;
    require_whole(headers)
}

/// Requires a media type of [`require_text`] or of [`require_json`].
///
/// # Errors
///
/// The same as [`require_text`]; [`BodyError::ContradictoryCharsets`] if one field is text and another one
/// JSON.
pub fn require_text_or_json(headers: &HeaderMap) -> Result<(), BodyError> {
    text_kind(headers, &TextKind::ALL, &[])?;
    require_whole(headers)
}

/// Requires that text and JSON can be validated: without a content coding, such as `gzip`, and without a
/// `Content-Range`. Accepts all other media types, and messages without one. What follows another media type is not parsed.
///
/// # Errors
///
/// [`BodyError::UnsupportedContentCoding`], [`BodyError::PartialContent`],
/// [`BodyError::MalformedContentType`]; [`BodyError::ContradictoryCharsets`] if only some of several media types are
/// text or JSON.
///
/// # Examples
///
/// ```
/// use http::Request;
/// use utf8_codec::http::require_checkable;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let post = |media_type| Request::post("/").header("content-type", media_type);
/// let image = post("image/png").header("content-encoding", "gzip").body(())?;
/// require_checkable(image.headers())?;
/// let text = post("text/plain").header("content-encoding", "gzip").body(())?;
/// let error = require_checkable(text.headers()).unwrap_err();
/// assert_eq!(error.to_string(), "unsupported content coding: gzip");
/// assert_eq!(error.status(), 415);
/// # Ok(())
/// # }
/// ```
pub fn require_checkable(headers: &HeaderMap) -> Result<(), BodyError> {
    if is_text(headers, &[])? { require_whole(headers) } else { Ok(()) }
}

/// What kind of text a media type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    Text,
    Json,
}

impl TextKind {
    const ALL: [Self; 2] = [Self::Text, Self::Json];
}

/// Whether the headers describe text, JSON, or one of the media types in `more`. If only some of several media types are
/// text, a reader of the first one and a reader of the last one differ (RFC 9110, section 8.3): that is an error.
pub(super) fn is_text(headers: &HeaderMap, more: &[&str]) -> Result<bool, BodyError> {
    match text_kind(headers, &TextKind::ALL, more) {
        Err(BodyError::UnsupportedMediaType { .. }) => {
            let mut fields = headers.get_all(CONTENT_TYPE).into_iter();
            match fields
                .any(|field| members(field.as_bytes()).any(|field| is_text_type(field, more)))
            {
                true => Err(BodyError::ContradictoryCharsets),
                false => Ok(false),
            }
        }
        kind => kind.map(|_| true),
    }
}

/// Splits a field at the commas outside quoted strings, as recipients do that read it as a list.
fn members(field: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    field.split(move |&byte| {
        let is_literal = mem::take(&mut is_escaped);
        match byte {
            b'\\' => is_escaped = is_quoted && !is_literal,
            b'"' => is_quoted ^= !is_literal,
            _ => {}
        }
        byte == b',' && !is_quoted
    })
}

fn is_text_type(field: &[u8], more: &[&str]) -> bool {
    Parameters::of(field).is_ok_and(|parameters| kind_of(parameters.media_type, more).is_some())
}

/// Returns the kind of text that the headers describe, if it is an accepted one.
fn text_kind(
    headers: &HeaderMap,
    accepted: &[TextKind],
    more: &[&str],
) -> Result<TextKind, BodyError> {
    let mut first = None;
    for field in headers.get_all(CONTENT_TYPE) {
        let mut parameters = Parameters::of(field.as_bytes())?;
        let media_type = parameters.media_type;
        let Some(kind) = kind_of(media_type, more).filter(|kind| accepted.contains(kind)) else {
            let media_type = media_type.escape_ascii().take(80).map(char::from).collect();
            return Err(BodyError::UnsupportedMediaType { media_type });
        };
        // `application/json, text/plain` is not JSON.
        while parameters.next()?.is_some() {}
        agree(&mut first, kind)?;
    }
    first.ok_or(BodyError::UnsupportedMediaType { media_type: String::new() })
}

/// `more` lists other types that are text, and suffixes of their names such as `+xml`.
fn kind_of(media_type: &[u8], more: &[&str]) -> Option<TextKind> {
    let is_one = |media_type: &[u8], known: &str| match known.starts_with('+') {
        true => media_type.ends_with(known.to_ascii_lowercase().as_bytes()),
        false => media_type.eq_ignore_ascii_case(known.as_bytes()),
    };
    match &*media_type.to_ascii_lowercase() {
        b"application/json" => Some(TextKind::Json),
        media_type if media_type.ends_with(b"+json") => Some(TextKind::Json),
        media_type if media_type.starts_with(b"text/") => Some(TextKind::Text),
        media_type if more.iter().any(|known| is_one(media_type, known)) => Some(TextKind::Text),
        _ => None,
    }
}

/// Whether the media type is always UTF-8, so that a `charset` has no effect. JSON is (RFC 8259, section 8.1), and has no
/// `charset` (section 11).
fn is_always_utf8(media_type: &[u8]) -> bool {
    match &*media_type.to_ascii_lowercase() {
        b"text/event-stream" => true, // WHATWG HTML, section 9.2.6
        b"text/vtt" => true,          // WebVTT, section 4.1
        media_type => kind_of(media_type, &[]) == Some(TextKind::Json),
    }
}

/// The parameters of a media type, in order.
#[derive(Debug)]
struct Parameters<'a> {
    field: &'a [u8],
    /// The type, a slash and the subtype.
    media_type: &'a [u8],
    /// Invariant: at most the length of `field`. All bytes before it follow the grammar.
    at: usize,
}

/// A name as written, and a value without quotes.
type Parameter<'a> = (&'a [u8], Cow<'a, [u8]>);

impl<'a> Parameters<'a> {
    /// Parses the media type, and stops before the parameters.
    fn of(field: &'a [u8]) -> Result<Self, BodyError> {
        let mut parameters = Self { field, media_type: b"", at: 0 };
        parameters.skip_whitespace();
        let start = parameters.at;
        parameters.token()?;
        parameters.require(b'/')?;
        parameters.token()?;
        parameters.media_type = &field[start..parameters.at];
        Ok(parameters)
    }

    fn next(&mut self) -> Result<Option<Parameter<'a>>, BodyError> {
        loop {
            self.skip_whitespace();
            if self.at == self.field.len() {
                return Ok(None);
            }
            self.require(b';')?;
            self.skip_whitespace();
            if !matches!(self.peek(), None | Some(b';')) {
                break;
            }
        }
        let name = self.token()?;
        self.require(b'=')?;
        let value = match self.peek() {
            Some(b'"') => Cow::Owned(self.quoted_string()?),
            _ => Cow::Borrowed(self.token()?),
        };
        Ok(Some((name, value)))
    }

    /// The field does not follow the grammar from here.
    fn malformed(&self) -> BodyError {
        BodyError::MalformedContentType { offset: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.field.get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn require(&mut self, byte: u8) -> Result<(), BodyError> {
        if self.peek() != Some(byte) {
            return Err(self.malformed());
        }
        self.at += 1;
        Ok(())
    }

    fn token(&mut self) -> Result<&'a [u8], BodyError> {
        let rest = &self.field[self.at..];
        let len = rest.iter().position(|&byte| !is_token(byte)).unwrap_or(rest.len());
        if len == 0 {
            return Err(self.malformed());
        }
        self.at += len;
        Ok(&rest[..len])
    }

    fn quoted_string(&mut self) -> Result<Vec<u8>, BodyError> {
        self.require(b'"')?;
        let mut value = Vec::new();
        while self.peek() != Some(b'"') {
            if self.peek() == Some(b'\\') {
                self.at += 1;
            }
            match self.peek() {
                Some(byte @ (b'\t' | b' '..=b'~' | 0x80..)) => value.push(byte),
                _ => return Err(self.malformed()),
            }
            self.at += 1;
        }
        self.require(b'"')?;
        Ok(value)
    }
}

/// Makes each `Content-Type` name UTF-8.
pub(super) fn name_utf8(headers: &mut HeaderMap) {
    let fields = headers.get_all(CONTENT_TYPE).into_iter();
    let fields: Vec<_> = fields.filter_map(|field| in_utf8(field.as_bytes()).ok()).collect();
    headers.remove(CONTENT_TYPE);
    for field in fields.iter().filter_map(|field| HeaderValue::from_bytes(field).ok()) {
        headers.append(CONTENT_TYPE, field);
    }
}

/// Returns the field with `charset=utf-8` instead of its charset. The other parameters are unchanged.
fn in_utf8(field: &[u8]) -> Result<Vec<u8>, BodyError> {
    let mut parameters = Parameters::of(field)?;
    let mut changed = field[..parameters.at].trim_ascii_start().to_vec();
    loop {
        let start = parameters.at;
        let Some((name, _)) = parameters.next()? else { break };
        if !name.eq_ignore_ascii_case(b"charset") {
            changed.extend_from_slice(&field[start..parameters.at]);
        }
    }
    changed.extend_from_slice(b"; charset=utf-8");
    Ok(changed)
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
