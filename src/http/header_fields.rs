//! Which header fields describe the bytes of a body, and what becomes of them if the bytes change?

use http::header::{CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue};

use crate::http::content_type::{BodyCharset, in_utf8};
use crate::http::{BodyError, Utf8Body};

impl<B> Utf8Body<B> {
    /// Changes the header fields of a message so that they describe this text. Call it before the first poll, if
    /// you send the body on or give it to code that reads the headers.
    ///
    /// If the charset is not UTF-8, the `Content-Type` then names UTF-8. If the bytes can change, because they are
    /// converted, a BOM is removed, or the mode is lossy, the fields that describe them change:
    ///
    /// | field | becomes |
    /// | --- | --- |
    /// | `Content-Length`, `Accept-Ranges`, `Content-Digest`, `Repr-Digest` (RFC 9530), `Digest`, `Content-MD5` | removed |
    /// | `ETag` | weak (RFC 9110, section 8.8.1); removed if it is malformed |
    ///
    /// All others are unchanged: `Last-Modified` describes the resource and not its bytes. Verify digests, and signed
    /// messages (RFC 9421), before you wrap the body. The same fields of trailers change if the bytes have
    /// changed; this needs no call.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http::Response;
    /// use http_body_util::Full;
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::http::Utf8Body;
    ///
    /// # fn main() -> Result<(), http::Error> {
    /// let response = Response::builder().header("content-length", 5).header("etag", r#""v1""#);
    /// let (mut head, body) = response.body(Full::<Bytes>::from(&b"caf\xE9!"[..]))?.into_parts();
    /// let body = Utf8Body::new(body).with_error_mode(ErrorMode::Replacement);
    /// body.update_headers(&mut head.headers);
    /// assert!(!head.headers.contains_key("content-length"));
    /// assert_eq!(head.headers["etag"], r#"W/"v1""#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_headers(&self, headers: &mut HeaderMap) {
        if self.chunks.charset() != BodyCharset::Utf8 {
            name_utf8(headers);
        }
        if !self.keeps_bytes() {
            forget_bytes(headers);
        }
    }
}

/// Fields that describe the bytes of a body, besides `ETag`.
const OF_BYTES: [&str; 6] = [
    "accept-ranges",  // RFC 9110, section 14.3: offsets in these bytes
    "content-digest", // RFC 9530, section 2
    "content-length", // RFC 9110, section 8.6
    "content-md5",    // RFC 2616, section 14.15
    "digest",         // RFC 3230
    "repr-digest",    // RFC 9530, section 3
];

/// Removes or weakens the fields that describe the bytes of a body. `fields` are headers or trailers.
pub(super) fn forget_bytes(fields: &mut HeaderMap) {
    for name in OF_BYTES {
        fields.remove(name);
    }
    let Some(tag) = fields.remove(ETAG) else { return };
    let weak = match tag.as_bytes() {
        [b'W', b'/', ..] => Ok(tag),
        [b'"', ..] => HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat()),
        _ => return,
    };
    if let Ok(weak) = weak {
        fields.insert(ETAG, weak);
    }
}

/// Makes each `Content-Type` name UTF-8.
fn name_utf8(headers: &mut HeaderMap) {
    let fields = headers.get_all(CONTENT_TYPE).into_iter();
    let fields: Vec<_> = fields.filter_map(|field| in_utf8(field.as_bytes()).ok()).collect();
    headers.remove(CONTENT_TYPE);
    for field in fields.iter().filter_map(|field| HeaderValue::from_bytes(field).ok()) {
        headers.append(CONTENT_TYPE, field);
    }
}

/// Returns an error if the body is compressed, encoded in another way, or a part of a text.
pub(super) fn require_whole(headers: &HeaderMap) -> Result<(), BodyError> {
    if let Some(coding) = content_coding(headers) {
        let coding = coding.escape_ascii().take(40).map(char::from).collect();
        return Err(BodyError::UnsupportedContentCoding { coding });
    }
    if names_part(headers) { Err(BodyError::PartialContent) } else { Ok(()) }
}

/// Returns the first content coding. Empty elements of the list, and `identity`, are none (RFC 9110, sections 5.6.1.2
/// and 8.4.1).
pub(super) fn content_coding(headers: &HeaderMap) -> Option<&[u8]> {
    let fields = headers.get_all(CONTENT_ENCODING).into_iter();
    let codings = fields.flat_map(|field| field.as_bytes().split(|&byte| byte == b','));
    let mut codings = codings.map(<[u8]>::trim_ascii);
    codings.find(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

/// Whether a `Content-Range` names a range. `bytes */1234` names none (RFC 9110, section 14.4).
pub(super) fn names_part(headers: &HeaderMap) -> bool {
    let mut ranges = headers.get_all(CONTENT_RANGE).into_iter();
    ranges.any(|range| !range.as_bytes().windows(2).any(|pair| pair == b"*/"))
}
