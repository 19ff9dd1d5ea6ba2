//! The opening handshake (RFC 6455 section 4.2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode, Version};
use sha1::{Digest, Sha1};

/// Why a request cannot be upgraded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeError {
    /// It does not ask for an upgrade.
    NotAsked,
    /// It asks for a version of the protocol other than 13.
    Version,
    /// It has no key of 16 bytes, or is not an HTTP/1.1 GET.
    Malformed,
}

/// Returns the `Sec-WebSocket-Accept` header of the answer to an upgrade request.
///
/// # Errors
///
/// If the request cannot be upgraded.
pub fn accept<B>(request: &Request<B>) -> Result<HeaderValue, HandshakeError> {
    let headers = request.headers();
    if !has_token(headers, header::CONNECTION, "upgrade")
        || !has_token(headers, header::UPGRADE, "websocket")
    {
        return Err(HandshakeError::NotAsked);
    }
    if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(HandshakeError::Version);
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY).ok_or(HandshakeError::Malformed)?;
    let is_key = STANDARD.decode(key).is_ok_and(|key| key.len() == 16);
    if !is_key || request.method() != Method::GET || request.version() < Version::HTTP_11 {
        return Err(HandshakeError::Malformed);
    }
    HeaderValue::try_from(accept_key(key.as_bytes())).map_err(|_| HandshakeError::Malformed)
}

/// Returns the answer to a `Sec-WebSocket-Key`.
pub fn accept_key(key: &[u8]) -> String {
    const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    STANDARD.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

impl HandshakeError {
    /// Returns the status of the answer.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::NotAsked | Self::Version => StatusCode::UPGRADE_REQUIRED,
            Self::Malformed => StatusCode::BAD_REQUEST,
        }
    }
}

/// Whether `token` is among the comma-separated values of a header.
fn has_token(headers: &HeaderMap, name: HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_key_of_the_rfc_gives_its_accept_value() {
        let answer = accept_key(b"dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(answer, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn requests_are_upgraded_or_rejected_with_a_status() {
        let good = [
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let outcome = |changed: (&str, Option<&str>), method: &str| {
            let mut request = Request::builder().method(method);
            for (name, value) in good {
                let value = if name == changed.0 { changed.1 } else { Some(value) };
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
            accept(&request.body(()).unwrap()).map(drop)
        };
        assert_eq!(outcome(("", None), "GET"), Ok(()));
        assert_eq!(outcome(("", None), "POST"), Err(HandshakeError::Malformed));
        let cases = [
            ("connection", None, HandshakeError::NotAsked),
            ("connection", Some("close"), HandshakeError::NotAsked),
            ("upgrade", Some("h2c"), HandshakeError::NotAsked),
            ("sec-websocket-version", Some("8"), HandshakeError::Version),
            ("sec-websocket-version", None, HandshakeError::Version),
            ("sec-websocket-key", None, HandshakeError::Malformed),
            ("sec-websocket-key", Some("short"), HandshakeError::Malformed),
            ("sec-websocket-key", Some("c2hvcnQ="), HandshakeError::Malformed),
        ];
        for (name, value, error) in cases {
            assert_eq!(outcome((name, value), "GET"), Err(error), "{name}: {value:?}");
        }
    }
}
