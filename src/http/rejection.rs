//! What answers a request that is rejected?

use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderValue, Response};
use http_body_util::Full;

use crate::http::BodyError;

/// Returns the answer to a request that is rejected.
pub(super) fn rejection(error: &BodyError) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(error.to_string()));
    *response.status_mut() = error.status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    // RFC 9110, section 12.5.3
    if let BodyError::UnsupportedContentCoding { .. } = error {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    }
    response
}
