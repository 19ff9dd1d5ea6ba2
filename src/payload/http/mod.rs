//! Bodies of HTTP messages as text, for servers and clients.
//!
//! [`Utf8Body`] goes around any `http_body::Body`: those that hyper, axum, tonic and reqwest give
//! for requests and responses, and those of http-body-util. It is a body itself. Its frames hold
//! whole characters, whatever the frames, packets and chunks were in which the bytes came.
//!
//! | for | take |
//! | --- | --- |
//! | a body in the encoding that its headers name | [`Utf8Body::from_headers`] |
//! | a body that is UTF-8 by definition, such as JSON | [`Utf8Body::new`] |
//! | the whole text, of limited length | [`Utf8Body::collect_text`] |
//! | text as it comes | [`Utf8Body::text_frame`] |
//! | a body to hand on, to a handler, a client or a server | the [`Utf8Body`] itself |
//! | the status for what went wrong: 400, 413 or 415 | [`BodyError::status`] |
//!
//! A request on a server. (`Full` stands for the body that the server gives.)
//!
//! ```
//! use bytes::Bytes;
//! use http::{Request, StatusCode};
//! use http_body::Body;
//! use http_body_util::Full;
//! use utf8_codec::payload::http::{BodyError, Utf8Body};
//!
//! async fn count<B: Body>(request: Request<B>) -> Result<usize, BodyError<B::Error>> {
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
//! assert_eq!(count(post("utf-8", b"Gr\xC3\xBC\xC3\x9Fe")?).await, Ok(5));
//! let status = |result: Result<_, BodyError<_>>| result.unwrap_err().status();
//! assert_eq!(status(count(post("utf-8", b"Gr\xFC\xDFe")?).await), StatusCode::BAD_REQUEST);
//! assert_eq!(status(count(post("utf-8", &[b' '; 65537])?).await), StatusCode::PAYLOAD_TOO_LARGE);
//! assert_eq!(status(count(post("x-none", b"")?).await), StatusCode::UNSUPPORTED_MEDIA_TYPE);
//! # Ok(())
//! # }
//! ```
//!
//! # Charsets
//!
//! [`Charset`] is what the parameter `charset` of a `Content-Type` names; without it, UTF-8. Other
//! encodings than UTF-8 need the feature `encoding_rs`, and are converted as they come: frames hold
//! UTF-8 in any case. Who sends such a body on says so in the `Content-Type`, and leaves out the
//! `Content-Length`.
//!
//! A `Content-Encoding`, such as gzip, is not looked at: a body that undoes it goes within.

mod body;
mod charset;
mod content_type;
mod decoding;
mod error;
mod legacy;
mod legacy_error;

pub use body::Utf8Body;
pub use charset::{Charset, CharsetError};
pub use error::BodyError;
pub use legacy_error::LegacyError;
