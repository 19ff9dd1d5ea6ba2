//! Which header fields describe the bytes of a body, and what becomes of them if the bytes change?

use http::header::{CONTENT_ENCODING, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue};

use crate::http::BodyError;

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
    // RFC 9110, section 8.8.3.
    let opaque = tag.as_bytes().strip_prefix(b"W/").unwrap_or(tag.as_bytes());
    if let [b'"', inner @ .., b'"'] = opaque
        && inner.iter().all(|byte| matches!(byte, 0x21 | 0x23..=0x7E | 0x80..))
        && let Ok(weak) = HeaderValue::from_bytes(&[b"W/", opaque].concat())
    {
        fields.insert(ETAG, weak);
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
