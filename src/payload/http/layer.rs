//! How do services of tower receive validated text?

use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

use crate::core::mode::ErrorMode;
use crate::core::options::Utf8Options;
use crate::payload::http::checked_body::{Checks, ServiceFuture};
use crate::payload::http::error::BoxError;
#[cfg(doc)]
use crate::payload::http::{BodyError, Utf8Body};
use crate::payload::http::{CheckedBody, MediaTypes};

/// A layer that validates the text of requests before a service reads it.
///
/// The service receives its requests with a [`CheckedBody`], in frames of whole characters. Bodies of the
/// types `text/*`, `application/json` and `*+json` are validated, all others pass unchanged. So do bodies with
/// a `Content-Encoding` or a `Content-Range`: put this layer inside a layer that decompresses.
///
/// Text in another charset is converted. The `Content-Type` then names UTF-8, and the `Content-Length` is
/// removed. JSON is always UTF-8. Nothing accumulates here: a frame is passed on as soon as it arrives.
///
/// # Errors
///
/// If the headers decide, the layer answers with the [`status`](BodyError::status) and the message of the
/// error, and does not call the service: 415 for an unsupported charset or media type, 400 for a malformed
/// `Content-Type`, 413 for a `Content-Length` beyond the limit. An error in the text is an error of the body.
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
/// use utf8_codec::payload::http::{BodyError, CheckedBody, Utf8RequestLayer};
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
/// let mut service = Utf8RequestLayer::new().layer(Echo);
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Utf8RequestLayer {
    checks: Checks,
    required: Option<MediaTypes>,
}

impl Utf8RequestLayer {
    /// Creates a layer with the default options, in [`ErrorMode::Fatal`], without a limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use tower_layer::Layer;
    /// use utf8_codec::payload::http::Utf8RequestLayer;
    ///
    /// let _service = Utf8RequestLayer::new().layer(());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how a text begins and what it may contain; see [`Utf8Body::with_options`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::Utf8RequestLayer;
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let _layer = Utf8RequestLayer::new().with_options(strip);
    /// ```
    #[must_use]
    pub fn with_options(mut self, options: Utf8Options) -> Self {
        self.checks.options = options;
        self
    }

    /// Sets what replaces ill-formed parts; see [`Utf8Body::with_error_mode`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::payload::http::Utf8RequestLayer;
    ///
    /// let _layer = Utf8RequestLayer::new().with_error_mode(ErrorMode::Replacement);
    /// ```
    #[must_use]
    pub fn with_error_mode(mut self, mode: ErrorMode) -> Self {
        self.checks.mode = mode;
        self
    }

    /// Sets the maximum length of a text, in bytes as received; see [`Utf8Body::with_max_length`]. Other
    /// bodies are not limited.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::Utf8RequestLayer;
    ///
    /// let _layer = Utf8RequestLayer::new().with_max_length(1 << 20);
    /// ```
    #[must_use]
    pub fn with_max_length(mut self, max_length: u64) -> Self {
        self.checks.max_length = max_length;
        self
    }

    /// Answers 415 to requests with a body of another type, instead of passing it unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::{MediaTypes, Utf8RequestLayer};
    ///
    /// let _layer = Utf8RequestLayer::new().with_required_types(MediaTypes::Json);
    /// ```
    #[must_use]
    pub fn with_required_types(mut self, types: MediaTypes) -> Self {
        self.required = Some(types);
        self
    }
}

impl<S> Layer<S> for Utf8RequestLayer {
    type Service = Utf8RequestService<S>;

    fn layer(&self, inner: S) -> Utf8RequestService<S> {
        Utf8RequestService { inner, layer: *self }
    }
}

/// The service of a [`Utf8RequestLayer`].
///
/// # Examples
///
/// ```
/// use tower_layer::Layer;
/// use utf8_codec::payload::http::{Utf8RequestLayer, Utf8RequestService};
///
/// let _service: Utf8RequestService<&str> = Utf8RequestLayer::new().layer("a service");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Utf8RequestService<S> {
    inner: S,
    layer: Utf8RequestLayer,
}

impl<S, B, R> Service<Request<B>> for Utf8RequestService<S>
where
    S: Service<Request<CheckedBody<B>>, Response = Response<R>>,
    B: Body<Error: Into<BoxError>>,
    R: Body<Error: Into<BoxError>>,
{
    type Response = Response<CheckedBody<R>>;
    type Error = S::Error;
    type Future = ServiceFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let Utf8RequestLayer { checks, required } = self.layer;
        match checks.apply(&mut head.headers, body, required) {
            Ok(body) => ServiceFuture::passing(self.inner.call(Request::from_parts(head, body))),
            Err((error, _)) => ServiceFuture::rejecting(&error),
        }
    }
}

/// A layer that validates the text of responses before a client reads it.
///
/// The client receives its responses with a [`CheckedBody`], in frames of whole characters. Which bodies are
/// validated, and what happens to other charsets, is the same as in [`Utf8RequestLayer`].
///
/// # Errors
///
/// All errors are errors of the body, also those that the headers decide: the first frame is a
/// [`BodyError`].
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use http_body_util::{BodyExt, Full};
/// use tower_layer::Layer;
/// use tower_service::Service;
/// use utf8_codec::payload::http::{BodyError, Utf8ResponseLayer};
///
/// # #[derive(Clone)]
/// struct Client; // in production, a client of hyper-util or reqwest
///
/// # impl Service<Request<()>> for Client {
/// #     type Response = Response<Full<Bytes>>;
/// #     type Error = BodyError;
/// #     type Future = std::future::Ready<Result<Self::Response, BodyError>>;
/// #     fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), BodyError>> {
/// #         std::task::Poll::Ready(Ok(()))
/// #     }
/// #     fn call(&mut self, _: Request<()>) -> Self::Future {
/// #         let body = Full::from(&b"caf\xE9."[..]);
/// #         let response = Response::builder().header("content-type", "application/json").body(body);
/// #         std::future::ready(Ok(response.unwrap()))
/// #     }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BodyError> {
/// let response = Utf8ResponseLayer::new().layer(Client).call(Request::default()).await?;
/// let mut body = response.into_body();
/// assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "caf");
/// let error = body.frame().await.unwrap().unwrap_err();
/// assert_eq!(error.downcast_ref::<BodyError>().unwrap().offset(), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Utf8ResponseLayer {
    checks: Checks,
}

impl Utf8ResponseLayer {
    /// Creates a layer with the default options, in [`ErrorMode::Fatal`], without a limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use tower_layer::Layer;
    /// use utf8_codec::payload::http::Utf8ResponseLayer;
    ///
    /// let _service = Utf8ResponseLayer::new().layer(());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how a text begins and what it may contain; see [`Utf8Body::with_options`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::Utf8ResponseLayer;
    /// use utf8_codec::{BomPolicy, Utf8Options};
    ///
    /// let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let _layer = Utf8ResponseLayer::new().with_options(strip);
    /// ```
    #[must_use]
    pub fn with_options(mut self, options: Utf8Options) -> Self {
        self.checks.options = options;
        self
    }

    /// Sets what replaces ill-formed parts; see [`Utf8Body::with_error_mode`].
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::payload::http::Utf8ResponseLayer;
    ///
    /// let _layer = Utf8ResponseLayer::new().with_error_mode(ErrorMode::Replacement);
    /// ```
    #[must_use]
    pub fn with_error_mode(mut self, mode: ErrorMode) -> Self {
        self.checks.mode = mode;
        self
    }

    /// Sets the maximum length of a text, in bytes as received; see [`Utf8Body::with_max_length`]. Other
    /// bodies are not limited.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::payload::http::Utf8ResponseLayer;
    ///
    /// let _layer = Utf8ResponseLayer::new().with_max_length(1 << 20);
    /// ```
    #[must_use]
    pub fn with_max_length(mut self, max_length: u64) -> Self {
        self.checks.max_length = max_length;
        self
    }
}

impl<S> Layer<S> for Utf8ResponseLayer {
    type Service = Utf8ResponseService<S>;

    fn layer(&self, inner: S) -> Utf8ResponseService<S> {
        Utf8ResponseService { inner, checks: self.checks }
    }
}

/// The service of a [`Utf8ResponseLayer`].
///
/// # Examples
///
/// ```
/// use tower_layer::Layer;
/// use utf8_codec::payload::http::{Utf8ResponseLayer, Utf8ResponseService};
///
/// let _service: Utf8ResponseService<&str> = Utf8ResponseLayer::new().layer("a client");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Utf8ResponseService<S> {
    inner: S,
    checks: Checks,
}

impl<S, Q, R> Service<Q> for Utf8ResponseService<S>
where
    S: Service<Q, Response = Response<R>>,
    R: Body<Error: Into<BoxError>>,
{
    type Response = Response<CheckedBody<R>>;
    type Error = S::Error;
    type Future = ServiceFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Q) -> Self::Future {
        ServiceFuture::checking(self.inner.call(request), self.checks)
    }
}
