//! How do handlers of axum take text, and answer errors?

use axum_core::RequestExt;
use axum_core::body::Body;
use axum_core::extract::{FromRequest, Request};
use axum_core::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body::Body as _;
use http_body_util::Full;

use crate::decoder::{ErrorMode, Utf8Options};
use crate::http::rejection::rejection;
use crate::http::within_limit::WithinLimit;
use crate::http::{BodyError, Utf8Body};

/// The whole text of a request, as an argument of a handler of axum.
///
/// It differs from axum's `String` in that the charset of the `Content-Type` is respected (see
/// [the module](crate::http#charsets)), and an error has the offset. It is collected up to the
/// limit of axum's `DefaultBodyLimit`, which is 2,097,152 bytes (2 MiB) unless a layer sets another one. The
/// limit applies to the bytes received. Text in another charset can become up to three times as long.
/// A BOM is kept, unless an axum `Extension` holds other [`Utf8Options`]:
/// `router.layer(Extension(Utf8Options::new().with_bom(BomPolicy::Strip)))`.
///
/// The media type is not checked. Call [`require_text`](crate::http::require_text), or put the handler
/// inside a `Utf8Layer` with a header check.
///
/// # Errors
///
/// The rejection is a [`BodyError`], which is a response with its [`status`](BodyError::status): 400, 413 or
/// 415.
///
/// # Examples
///
/// ```
/// use axum_core::body::Body;
/// use axum_core::extract::FromRequest;
/// use axum_core::response::IntoResponse;
/// use http::{Request, StatusCode};
/// use utf8_codec::http::Utf8Text;
/// use utf8_codec::{BomPolicy, Utf8Options};
///
/// // A handler, for `Router::new().route("/", post(count))`.
/// async fn count(Utf8Text(text): Utf8Text) -> String {
///     text.chars().count().to_string()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let request = Request::post("/").body(Body::from("Grüße")).unwrap();
/// assert_eq!(count(Utf8Text::from_request(request, &()).await.unwrap()).await, "5");
///
/// let request = Request::post("/").body(Body::from(&b"Gr\xFC\xDFe"[..])).unwrap();
/// let rejection = Utf8Text::from_request(request, &()).await.unwrap_err();
/// assert_eq!(rejection.offset(), Some(2));
/// assert_eq!(rejection.into_response().status(), StatusCode::BAD_REQUEST);
///
/// // This is what axum's layer `Extension` does.
/// let mut request = Request::post("/").body(Body::from("\u{FEFF}Grüße")).unwrap();
/// request.extensions_mut().insert(Utf8Options::new().with_bom(BomPolicy::Strip));
/// assert_eq!(Utf8Text::from_request(request, &()).await.unwrap(), Utf8Text("Grüße".into()));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Utf8Text(pub String);

impl<S: Send + Sync> FromRequest<S> for Utf8Text {
    type Rejection = BodyError;

    async fn from_request(request: Request, state: &S) -> Result<Self, BodyError> {
        let body = Utf8Body::from_request(request, state).await?;
        Ok(Self(body.collect_text(usize::MAX).await?))
    }
}

/// An argument of a handler of axum: the text of a request as it arrives, in the charset of its headers.
///
/// The limit of axum's `DefaultBodyLimit` applies to the bytes received, as for [`Utf8Text`]: 2 MiB unless a layer sets
/// another one. For longer bodies, put `DefaultBodyLimit::disable()` on the route and set a limit with
/// [`with_max_length`](Utf8Body::with_max_length). A body that is known to be longer is rejected at once. An `Extension` that holds
/// [`Utf8Options`] sets the options.
impl<S: Send + Sync> FromRequest<S> for Utf8Body<Body> {
    type Rejection = BodyError;

    async fn from_request(request: Request, _: &S) -> Result<Self, BodyError> {
        let (head, body) = request.into_parts();
        // The limit is the upper bound of a body of unknown length, which a body to repair has.
        let unknown =
            Utf8Body::new(Full::<Bytes>::from("?")).with_error_mode(ErrorMode::Replacement);
        let limited = Request::from_parts(head, Body::new(unknown)).with_limited_body();
        let (head, limited) = limited.into_parts();
        // `Limited` would return the limit as the length of a longer body, which whoever sends it on would believe.
        let body = match limited.size_hint().upper() {
            Some(max_length) if body.size_hint().lower() > max_length => {
                return Err(BodyError::TooLong { max_length });
            }
            Some(max_length) => Body::new(WithinLimit::new(body, max_length)),
            None => body,
        };
        let options = head.extensions.get::<Utf8Options>().copied().unwrap_or_default();
        Ok(Self::from_headers(&head.headers, body)?.with_options(options))
    }
}

/// The response has the [`status`](BodyError::status), the message as plain text, and for a content coding the field
/// `Accept-Encoding: identity` (RFC 9110, section 15.5.16).
impl IntoResponse for BodyError {
    fn into_response(self) -> Response {
        rejection(&self).map(Body::new)
    }
}
