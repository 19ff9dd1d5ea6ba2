//! How do handlers of axum take text, and answer errors?

use axum_core::RequestExt;
use axum_core::body::Body;
use axum_core::extract::{FromRequest, Request};
use axum_core::response::{IntoResponse, Response};

use crate::http::{BodyError, Utf8Body};

/// The whole text of a request, as an argument of a handler of axum.
///
/// It differs from axum's `String` in that the charset of the `Content-Type` is respected (see
/// [the module](crate::http#charsets)), and an error has the offset. It is collected up to the
/// limit of axum's `DefaultBodyLimit`, which is 2,097,152 bytes (2 MiB) unless a layer sets another one. The
/// limit applies to the bytes received. Text in another charset can become up to three times as long. The
/// media type is not checked. Call [`require_text`](crate::http::require_text), or put the handler
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
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Utf8Text(pub String);

impl<S: Send + Sync> FromRequest<S> for Utf8Text {
    type Rejection = BodyError;

    async fn from_request(request: Request, _: &S) -> Result<Self, BodyError> {
        let (head, body) = request.with_limited_body().into_parts();
        let text = Utf8Body::from_headers(&head.headers, body)?.collect_text(usize::MAX).await?;
        Ok(Self(text))
    }
}

/// An argument of a handler of axum: the text of a request as it arrives, in the charset of its headers.
///
/// Nothing accumulates, so axum's `DefaultBodyLimit` does not apply, as for axum's own `Body`. Set a limit with
/// [`with_max_length`](Utf8Body::with_max_length).
impl<S: Send + Sync> FromRequest<S> for Utf8Body<Body> {
    type Rejection = BodyError;

    async fn from_request(request: Request, _: &S) -> Result<Self, BodyError> {
        let (head, body) = request.into_parts();
        Self::from_headers(&head.headers, body)
    }
}

/// The response has the [`status`](BodyError::status), and the message as plain text.
impl IntoResponse for BodyError {
    fn into_response(self) -> Response {
        (self.status(), self.to_string()).into_response()
    }
}
