//! How do services and clients of tower receive validated text?

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::MapErr;
use http_body_util::{BodyExt, Either, Full};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use crate::adaptor::charset::Charset;
use crate::decoder::{ErrorMode, Utf8Options};
use crate::http::content_type::{charset_in_headers, is_text};
use crate::http::error::BoxError;
use crate::http::header_fields::{content_coding, names_part, require_whole};
use crate::http::rejection::rejection;
use crate::http::within_limit::WithinLimit;
use crate::http::{BodyError, Utf8Body};

/// The body of a message that has passed a [`Utf8Layer`]. `Left` is text, validated as it is read; `Right` is any
/// other body, unchanged.
///
/// An error in the text is a boxed [`BodyError`]: downcast it for its offset, or wrap it in [`BodyError::Inner`] for
/// its [`status`](BodyError::status), as in the example of [`Utf8Layer`]. If the limit is exceeded while the body is
/// read, the error is an [`http_body_util::LengthLimitError`]. An error of the inner body is passed through unchanged.
pub type CheckedBody<B> =
    Either<MapErr<Utf8Body<WithinLimit<B>>, fn(BodyError) -> Box<dyn Error + Send + Sync>>, B>;

/// A layer that validates the text of requests before a service reads it. Its method
/// [`check_response`](Self::check_response) validates responses.
///
/// The service receives its requests with a [`CheckedBody`], in frames of whole characters. Bodies of the
/// types `text/*`, `application/json` and `*+json`, and of those that you
/// [add](Self::with_media_types), are validated; all others pass unchanged. The data of the
/// bodies is `Bytes`, as it is in hyper, axum, reqwest and tonic.
///
/// Text in another charset is converted; see [the module](crate::http#charsets). If the bytes can change,
/// the header fields that describe them change too; see [`Utf8Body::update_headers`]. A proxy must not change the
/// bytes of a message with `Cache-Control: no-transform` (RFC 9110, section 7.7).
/// Nothing accumulates here: a frame is passed on as soon as it arrives.
///
/// # What a peer can choose
///
/// The headers come from the peer. By default they decide whether a body is validated:
///
/// | headers | the body |
/// | --- | --- |
/// | a `Content-Encoding` other than `identity` | passes unchanged: put this layer inside a layer that decompresses |
/// | a `Content-Range`, in a request or in a response with the status 206 | passes unchanged, as it can begin inside a character |
/// | a media type that is not validated, or none | passes unchanged |
/// | several media types, and only some of them are text or JSON | is rejected with 400 |
///
/// To reject what is not validated, use [`with_header_check`](Self::with_header_check): [`require_checkable`] rejects
/// the first two, and a `Content-Range` with any status, for text and JSON; [`require_text`], [`require_json`] and
/// [`require_text_or_json`] also reject other media types.
///
/// [`require_checkable`]: crate::http::require_checkable
/// [`require_text`]: crate::http::require_text
/// [`require_json`]: crate::http::require_json
/// [`require_text_or_json`]: crate::http::require_text_or_json
///
/// # Errors
///
/// If the headers decide, the layer answers with the [`status`](BodyError::status) and the message of the
/// error, and does not call the service: 415 for an unsupported charset or media type, 400 for a malformed
/// `Content-Type` or a contradictory one of text or JSON, 413 for a `Content-Length` beyond the limit. An error in the text is an error of
/// the body.
/// Axum's extractors answer it with 400, or with 413 if the body is too long.
///
/// # Examples
///
/// ```
/// use std::convert::Infallible;
///
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use http_body_util::{BodyExt, Full};
/// use tower_layer::Layer;
/// use tower_service::Service;
/// use utf8_codec::http::{BodyError, CheckedBody, Utf8Layer};
///
/// # #[derive(Clone)]
/// struct Echo;
///
/// // In production, an axum `Router`, or a `tower::service_fn`.
/// # impl Service<Request<CheckedBody<Full<Bytes>>>> for Echo {
/// #     type Response = Response<Full<Bytes>>;
/// #     type Error = Infallible;
/// #     type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>>>>;
/// #     fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
/// #         std::task::Poll::Ready(Ok(()))
/// #     }
/// #     fn call(&mut self, request: Request<CheckedBody<Full<Bytes>>>) -> Self::Future {
/// #         Box::pin(echo(request))
/// #     }
/// # }
/// async fn echo(request: Request<CheckedBody<Full<Bytes>>>) -> Result<Response<Full<Bytes>>, Infallible> {
///     let mut response = Response::default();
///     match request.into_body().collect().await {
///         Ok(body) => *response.body_mut() = body.to_bytes().into(),
///         Err(error) => *response.status_mut() = BodyError::Inner(error).status(),
///     }
///     Ok(response)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let mut service = Utf8Layer::new().layer(Echo);
/// let post = |media_type: &str, body: &'static [u8]| {
///     Request::post("/").header("content-type", media_type).body(Full::<Bytes>::from(body)).unwrap()
/// };
/// assert_eq!(service.call(post("text/plain", b"caf\xC3\xA9")).await?.status(), 200);
/// assert_eq!(service.call(post("text/plain", b"caf\xE9")).await?.status(), 400);
/// assert_eq!(service.call(post("text/plain; charset=x-none", b"")).await?.status(), 415);
/// assert_eq!(service.call(post("image/png", b"\x89PNG")).await?.status(), 200);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Utf8Layer {
    options: Utf8Options,
    mode: ErrorMode,
    max_length: u64,
    header_check: Option<HeaderCheck>,
    media_types: &'static [&'static str],
}

type HeaderCheck = fn(&HeaderMap) -> Result<(), BodyError>;

impl Default for Utf8Layer {
    fn default() -> Self {
        Self {
            options: Utf8Options::default(),
            mode: ErrorMode::Fatal,
            max_length: u64::MAX,
            header_check: None,
            media_types: &[],
        }
    }
}

impl Utf8Layer {
    /// Creates a layer with the default options, in [`ErrorMode::Fatal`], without a limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how a text begins and what it may contain; see [`Utf8Body::with_options`].
    pub fn with_options(self, options: Utf8Options) -> Self {
        Self { options, ..self }
    }

    /// Sets what replaces ill-formed parts; see [`Utf8Body::with_error_mode`].
    pub fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Sets the maximum length of a text, in bytes as received; see [`Utf8Body::with_max_length`]. Other
    /// bodies are not limited.
    pub fn with_max_length(self, max_length: u64) -> Self {
        Self { max_length, ..self }
    }

    /// Rejects messages whose headers do not pass `check`, such as [`require_json`], [`require_text`] or your own:
    /// a function, or a closure that captures nothing.
    ///
    /// A request is answered with the status and the message of the error. A response has the error as the first
    /// frame of its body. An empty body without a
    /// `Content-Type` is not checked. Which bodies are validated as text does not depend on `check`.
    ///
    /// [`require_json`]: crate::http::require_json
    /// [`require_text`]: crate::http::require_text
    pub fn with_header_check(self, check: fn(&HeaderMap) -> Result<(), BodyError>) -> Self {
        Self { header_check: Some(check), ..self }
    }

    /// Also validates bodies of these media types, whose case is ignored. An entry is a type such as `application/x-ndjson`,
    /// or a suffix such as `+xml`, which matches all types that end with it. The parameter `charset` has the same effect as
    /// for `text/*`.
    ///
    /// The media types of many text formats do not show that they are text: newline-delimited JSON (`application/x-ndjson`), JSON
    /// text sequences (`application/json-seq`), XML (`application/xml`, `+xml`), YAML (`application/yaml`, `+yaml`),
    /// GraphQL (`application/graphql`), and forms (`application/x-www-form-urlencoded`, whose text is ASCII; the bytes
    /// that it escapes are not validated). Do not add `multipart/form-data`: its parts can be binary.
    ///
    /// [`require_text`] and [`require_json`] do not accept these types. With any other
    /// [header check](Self::with_header_check), a body of these types that cannot be validated, because of a content coding or a
    /// `Content-Range`, is rejected.
    ///
    /// [`require_json`]: crate::http::require_json
    /// [`require_text`]: crate::http::require_text
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use futures::executor::block_on;
    /// use http::Response;
    /// use http_body_util::{BodyExt, Full};
    /// use utf8_codec::http::Utf8Layer;
    ///
    /// let layer = Utf8Layer::new().with_media_types(&["application/x-ndjson", "+xml"]);
    /// for media_type in ["Application/X-NDJSON; charset=utf-8", "image/svg+xml"] {
    ///     let response = Response::builder().header("content-type", media_type);
    ///     let response = response.body(Full::<Bytes>::from(&b"caf\xE9"[..])).unwrap();
    ///     assert!(block_on(layer.check_response(response).collect()).is_err());
    /// }
    /// ```
    pub fn with_media_types(self, media_types: &'static [&'static str]) -> Self {
        Self { media_types, ..self }
    }

    /// Validates the text of a response, on a client before the program reads it, or on a server before it is
    /// sent.
    ///
    /// Apply it with tower's `map_response` (of `ServiceExt` or `ServiceBuilder`) or with its
    /// `MapResponseLayer`. Which bodies are validated, and what happens to other charsets, is the same as for
    /// requests: a response without a `Content-Type` passes unchanged.
    ///
    /// A response of reqwest converts into an `http::Response` and back; see [the guide](crate::guide::http).
    ///
    /// # Errors
    ///
    /// All errors are errors of the body, including those that the headers decide: the first frame is a
    /// [`BodyError`], boxed as [`CheckedBody`] describes.
    ///
    /// # Examples
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http::Response;
    /// use http_body_util::{BodyExt, Full};
    /// use utf8_codec::http::{BodyError, Utf8Layer};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), http::Error> {
    /// // For all responses: `client.map_response(move |response| layer.check_response(response))`
    /// let layer = Utf8Layer::new();
    /// let response = Response::builder().header("content-type", "application/json");
    /// let response = response.body(Full::<Bytes>::from(&b"caf\xE9."[..]))?;
    ///
    /// let mut body = layer.check_response(response).into_body();
    /// assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "caf");
    /// let error = body.frame().await.unwrap().unwrap_err();
    /// assert_eq!(error.downcast_ref::<BodyError>().unwrap().offset(), Some(3));
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_response<B>(&self, response: Response<B>) -> Response<CheckedBody<B>>
    where
        B: Body<Data = Bytes, Error: Into<BoxError>>,
    {
        let (mut head, body) = response.into_parts();
        // In other responses the field has no meaning (RFC 9110, section 14.4).
        let is_part = head.status == StatusCode::PARTIAL_CONTENT && names_part(&head.headers);
        let body = match self.charset(&head.headers, is_part, &body) {
            Ok(charset) => self.wrap(&mut head.headers, charset, body),
            Err(error) => {
                let mut body = self.limited(body);
                body.chunks.fail(error);
                checked(body)
            }
        };
        Response::from_parts(head, body)
    }

    /// Returns the charset of the body if the headers describe text that can be validated. `is_part` is whether the body
    /// is a part of a text.
    fn charset(
        &self,
        headers: &HeaderMap,
        is_part: bool,
        body: &impl Body,
    ) -> Result<Option<Charset>, BodyError> {
        let is_absent = body.is_end_stream() && !headers.contains_key(CONTENT_TYPE);
        if let Some(header_check) = self.header_check.filter(|_| !is_absent) {
            header_check(headers)?;
        }
        if !is_text(headers, self.media_types)? {
            return Ok(None);
        }
        if is_part || content_coding(headers).is_some() {
            // The check does not know the media types that were added.
            if self.header_check.is_some() && !matches!(is_text(headers, &[]), Ok(true)) {
                require_whole(headers)?;
            }
            return Ok(None);
        }
        let charset = charset_in_headers(headers)?;
        if body.size_hint().lower() > self.max_length {
            return Err(BodyError::TooLong { max_length: self.max_length });
        }
        Ok(Some(charset))
    }

    /// Wraps the body if it has a charset, and changes the headers if the body changes.
    fn wrap<B>(&self, headers: &mut HeaderMap, charset: Option<Charset>, body: B) -> CheckedBody<B>
    where
        B: Body<Data = Bytes, Error: Into<BoxError>>,
    {
        let Some(charset) = charset else { return Either::Right(body) };
        let text = self.limited(body).in_charset(charset).with_options(self.options);
        let text = text.with_error_mode(self.mode);
        text.update_headers(headers);
        checked(text)
    }

    /// Limits the inner body, rather than with `Utf8Body::with_max_length`: axum answers only the error of http-body-util with 413.
    fn limited<B>(&self, body: B) -> Utf8Body<WithinLimit<B>> {
        Utf8Body::new(WithinLimit::new(body, self.max_length))
    }
}

fn checked<B>(text: Utf8Body<WithinLimit<B>>) -> CheckedBody<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    Either::Left(text.map_err(BodyError::into_boxed as fn(BodyError) -> BoxError))
}

impl<S> Layer<S> for Utf8Layer {
    type Service = Utf8Service<S>;

    fn layer(&self, inner: S) -> Utf8Service<S> {
        Utf8Service { inner, layer: *self }
    }
}

/// The service of a [`Utf8Layer`].
///
/// Its response has the body of the inner service, or the message of an error as `Full<Bytes>`.
#[derive(Clone, Copy, Debug)]
pub struct Utf8Service<S> {
    inner: S,
    layer: Utf8Layer,
}

impl<S, B, R> Service<Request<B>> for Utf8Service<S>
where
    S: Service<Request<CheckedBody<B>>, Response = Response<R>>,
    B: Body<Data = Bytes, Error: Into<BoxError>>,
    R: Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Response = Response<Either<R, Full<Bytes>>>;
    type Error = S::Error;
    type Future = ServiceFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let is_part = names_part(&head.headers);
        let (inner, rejection) = match self.layer.charset(&head.headers, is_part, &body) {
            Ok(charset) => {
                let body = self.layer.wrap(&mut head.headers, charset, body);
                (Some(self.inner.call(Request::from_parts(head, body))), None)
            }
            Err(error) => (None, Some(rejection(&error))),
        };
        ServiceFuture { inner, rejection }
    }
}

pin_project! {
    /// The future of a [`Utf8Service`]. It panics if it is polled after completion.
    #[derive(Debug)]
    pub struct ServiceFuture<F> {
        // `None` if the inner service is not called.
        #[pin]
        inner: Option<F>,
        rejection: Option<Response<Full<Bytes>>>,
    }
}

impl<F, R, E> Future for ServiceFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<Either<R, Full<Bytes>>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        Poll::Ready(Ok(match this.inner.as_pin_mut() {
            Some(inner) => ready!(inner.poll(cx))?.map(Either::Left),
            None => {
                let rejection = this.rejection.take();
                rejection.expect("polled after completion").map(Either::Right)
            }
        }))
    }
}
