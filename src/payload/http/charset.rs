//! In which encoding is a body?

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::payload::http::BodyError;
use crate::payload::http::content_type::{Malformed, Parameters};
use crate::relatives::legacy::LegacyEncoding;

/// The encoding of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Charset {
    #[default]
    Utf8,
    Legacy(LegacyEncoding),
}

impl Charset {
    /// Finds the encoding with this label. Case, and ASCII whitespace around the label, are
    /// ignored.
    pub(super) fn from_label(label: &[u8]) -> Result<Self, BodyError> {
        let trimmed = label.trim_ascii();
        if UTF_8_LABELS.iter().any(|known| trimmed.eq_ignore_ascii_case(known.as_bytes())) {
            return Ok(Self::Utf8);
        }
        if let Some(encoding) = LegacyEncoding::for_label(trimmed) {
            return Ok(Self::Legacy(encoding));
        }
        let label = label.escape_ascii().take(40).map(char::from).collect();
        Err(BodyError::UnsupportedCharset { label })
    }

    /// Parses the parameter `charset` of a `Content-Type` field according to RFC 9110, section
    /// 8.3.1. Returns `None` if there is none. It can be repeated if all of them name the same
    /// encoding.
    pub(super) fn from_content_type(field: &[u8]) -> Result<Option<Self>, BodyError> {
        let mut charset = None;
        let mut parameters = Parameters::of(field)?;
        while let Some((name, value)) = parameters.next()? {
            if name.eq_ignore_ascii_case(b"charset") {
                agree(&mut charset, Self::from_label(&value)?)?;
            }
        }
        Ok(charset)
    }

    /// Returns the charset in the headers of a request or a response, or UTF-8 if there is none.
    pub(super) fn from_headers(headers: &HeaderMap) -> Result<Self, BodyError> {
        let mut charset = None;
        for field in headers.get_all(CONTENT_TYPE) {
            agree(&mut charset, Self::from_content_type(field.as_bytes())?)?;
        }
        Ok(charset.flatten().unwrap_or_default())
    }

    /// Returns the name of the encoding in the Encoding Standard.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Legacy(encoding) => encoding.name(),
        }
    }
}

impl From<Malformed> for BodyError {
    fn from(Malformed { at }: Malformed) -> Self {
        Self::MalformedContentType { offset: at }
    }
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

/// WHATWG Encoding Standard, section 4.2.
const UTF_8_LABELS: [&str; 6] =
    ["utf-8", "utf8", "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "x-unicode20utf8"];
