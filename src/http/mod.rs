//! Bodies of HTTP messages as text, for servers and clients.
//!
//! [`Utf8Body`] wraps any `http_body::Body`: the request and response bodies of hyper, axum, tonic
//! and reqwest, and those of http-body-util. It is a body itself. Its frames hold whole characters,
//! however the bytes are split into frames, packets and chunks.
//!
//! | for | use |
//! | --- | --- |
//! | a body in the encoding that its headers name | [`Utf8Body::from_headers`] |
//! | a body that is UTF-8 by definition, such as JSON | [`Utf8Body::new`] |
//! | the whole text, of limited length | [`Utf8Body::collect_text`] |
//! | text as it arrives | [`Utf8Body::next_text`], or [`text_frame`](Utf8Body::text_frame) with trailers |
//! | a stream of text, lines or `char`s | [`Utf8Body::into_text_stream`], [`into_lines`](Utf8Body::into_lines), [`into_chars`](Utf8Body::into_chars) |
//! | a body for a handler, a client or a server | the [`Utf8Body`] itself |
//! | the status of an error: 400, 413 or 415 | [`BodyError::status`] |
//! | a check of the media type | [`require_text`], [`require_json`], [`require_text_or_json`], [`require_checkable`] |
//! | the headers of a message whose body you send on | [`Utf8Body::update_headers`] |
//! | an argument of a handler of axum | [`Utf8Text`], [`Utf8Body`] (feature `axum`) |
//! | a layer that checks the requests of any service of tower | [`Utf8Layer`] (feature `tower`) |
//! | a check of responses, in a client or a server | [`Utf8Layer::check_response`] (feature `tower`) |
//!
//! A request on a server. `Full` is used in place of the server's body type.
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, StatusCode};
//! use http_body_util::Full;
//! use utf8_codec::http::{BodyError, Utf8Body};
//!
//! async fn count(request: Request<Full<Bytes>>) -> Result<usize, BodyError> {
//!     let (head, body) = request.into_parts();
//!     let text = Utf8Body::from_headers(&head.headers, body)?.collect_text(64 << 10).await?;
//!     Ok(text.chars().count())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), http::Error> {
//! let post = |charset: &str, body: &'static [u8]| {
//!     Request::post("/").header("content-type", format!("text/plain; charset={charset}")).body(Full::<Bytes>::from(body))
//! };
//! assert_eq!(count(post("utf-8", b"Gr\xC3\xBC\xC3\x9Fe")?).await.unwrap(), 5);
//! let status = |result: Result<_, BodyError>| result.unwrap_err().status();
//! assert_eq!(status(count(post("utf-8", b"Gr\xFC\xDFe")?).await), StatusCode::BAD_REQUEST);
//! assert_eq!(status(count(post("utf-8", &[b' '; 65537])?).await), StatusCode::PAYLOAD_TOO_LARGE);
//! assert_eq!(status(count(post("x-none", b"")?).await), StatusCode::UNSUPPORTED_MEDIA_TYPE);
//! # Ok(())
//! # }
//! ```
//!
//! # Charsets
//!
//! The charset is the parameter `charset` of a `Content-Type`, UTF-8 by default. Its values are the
//! labels of the WHATWG Encoding Standard, in any case. UTF-8, UTF-16 and windows-1252 (whose labels include `latin1`,
//! `iso-8859-1` and `us-ascii`) are always supported. The other encodings need the feature `encoding_rs`. Encodings
//! that the standard maps to its `replacement` encoding, such as `iso-2022-kr`, are never supported.
//!
//! These media types are always UTF-8, so a `charset` has no effect: `application/json` and `*+json` (RFC 8259,
//! sections 8.1 and 11), `text/event-stream` (WHATWG HTML, section 9.2.6) and `text/vtt` (WebVTT, section 4.1).
//!
//! A BOM is kept as U+FEFF, in UTF-16 too; [`BomPolicy::Strip`](crate::BomPolicy::Strip) removes it.
//! Encodings other than UTF-8 are converted as the bytes arrive, so frames always hold UTF-8. If
//! you forward such a body, call [`Utf8Body::update_headers`].
//!
//! `Content-Encoding`, such as gzip, is ignored: wrap the decompressed body.
//!

#![cfg_attr(not(feature = "axum"), doc = "[`Utf8Text`]: crate#features")]
#![cfg_attr(not(feature = "tower"), doc = "[`Utf8Layer`]: crate#features")]
#![cfg_attr(not(feature = "tower"), doc = "[`Utf8Layer::check_response`]: crate#features")]

#[cfg(feature = "axum")]
mod axum;
mod body;
mod body_chunks;
mod content_type;
mod error;
mod header_fields;
#[cfg(feature = "tower")]
mod layer;
#[cfg(any(feature = "axum", feature = "tower"))]
mod rejection;
#[cfg(any(feature = "axum", feature = "tower"))]
mod within_limit;

#[cfg(feature = "axum")]
pub use self::axum::Utf8Text;
pub use body::Utf8Body;
#[cfg(feature = "stream")]
pub use body_chunks::BodyChunks;
pub use content_type::{require_checkable, require_json, require_text, require_text_or_json};
pub use error::BodyError;
#[cfg(feature = "tower")]
pub use layer::{CheckedBody, ServiceFuture, Utf8Layer, Utf8Service};
