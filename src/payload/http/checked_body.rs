//! Which bodies does a layer validate, and what does its service return?

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderValue,
};
use http::{Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use pin_project_lite::pin_project;

use crate::core::mode::ErrorMode;
use crate::core::options::Utf8Options;
use crate::payload::http::body_chunks::to_bytes;
use crate::payload::http::content_type::in_utf8;
use crate::payload::http::error::BoxError;
use crate::payload::http::media_types::TextKind;
use crate::payload::http::{BodyError, MediaTypes, Utf8Body};

pin_project! {
    /// The body of requests and responses that pass a layer: validated if it is text, unchanged otherwise.
    ///
    /// An error in the text is a boxed [`BodyError`], for its offset and [`status`](BodyError::status). A
    /// length limit is an [`http_body_util::LengthLimitError`], and an error of the inner body is that error;
    /// see [`BodyError::into_boxed`].
    ///
    /// # Examples
    ///
    /// See [`Utf8RequestLayer`](crate::payload::http::Utf8RequestLayer).
    #[derive(Debug)]
    #[must_use = "bodies do nothing unless polled"]
    pub struct CheckedBody<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project! {
    #[project = KindProjection]
    #[derive(Debug)]
    enum Kind<B> {
        Text { #[pin] body: Utf8Body<B> },
        Other { #[pin] body: B },
        Answer { #[pin] body: Full<Bytes> },
    }
}

impl<B> CheckedBody<B> {
    fn text(body: Utf8Body<B>) -> Self {
        Self { kind: Kind::Text { body } }
    }

    fn other(body: B) -> Self {
        Self { kind: Kind::Other { body } }
    }
}

impl<B: Body<Error: Into<BoxError>>> Body for CheckedBody<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = match self.project().kind.project() {
            KindProjection::Text { body } => {
                return body.poll_frame(cx).map_err(BodyError::into_boxed);
            }
            KindProjection::Answer { body } => return body.poll_frame(cx).map_err(Into::into),
            KindProjection::Other { body } => ready!(body.poll_frame(cx)),
        };
        Poll::Ready(frame.map(|frame| {
            let frame = frame.map_err(Into::into)?;
            Ok(frame.map_data(|data| {
                let len = data.remaining();
                to_bytes(data, len)
            }))
        }))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Text { body } => body.is_end_stream(),
            Kind::Other { body } => body.is_end_stream(),
            Kind::Answer { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Text { body } => body.size_hint(),
            Kind::Other { body } => body.size_hint(),
            Kind::Answer { body } => body.size_hint(),
        }
    }
}

/// The settings of a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checks {
    pub(super) options: Utf8Options,
    pub(super) mode: ErrorMode,
    pub(super) max_length: u64,
}

impl Default for Checks {
    fn default() -> Self {
        Self { options: Utf8Options::default(), mode: ErrorMode::Fatal, max_length: u64::MAX }
    }
}

impl Checks {
    /// Wraps the body if the headers describe text, and changes the headers if the body changes. If `required`
    /// is set, bodies of other types are an error.
    pub(super) fn apply<B: Body<Error: Into<BoxError>>>(
        self,
        headers: &mut HeaderMap,
        body: B,
        required: Option<MediaTypes>,
    ) -> Result<CheckedBody<B>, (BodyError, B)> {
        let is_absent = body.is_end_stream() && !headers.contains_key(CONTENT_TYPE);
        let kind = match required.unwrap_or(MediaTypes::TextOrJson).kind(headers) {
            Ok(kind) => kind,
            Err(BodyError::UnsupportedMediaType { .. }) if required.is_none() || is_absent => {
                return Ok(CheckedBody::other(body));
            }
            Err(error) => return Err((error, body)),
        };
        if is_coded(headers) || headers.contains_key(CONTENT_RANGE) {
            return Ok(CheckedBody::other(body));
        }
        let text = Utf8Body::new(()).with_options(self.options).with_error_mode(self.mode);
        let text = match kind {
            TextKind::Json => text,
            TextKind::Text => match text.with_charset_of(headers) {
                Ok(text) => text,
                Err(error) => return Err((error, body)),
            },
        };
        let text = text.with_max_length(self.max_length);
        if body.size_hint().lower() > self.max_length {
            return Err((BodyError::TooLong { max_length: self.max_length }, body));
        }
        if text.charset() != "UTF-8" {
            name_utf8(headers);
        }
        if !text.keeps_length() {
            headers.remove(CONTENT_LENGTH);
        }
        Ok(CheckedBody::text(text.with_inner(body)))
    }
}

/// Whether the body is compressed, or encoded in another way.
fn is_coded(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(CONTENT_ENCODING).into_iter();
    codings.any(|coding| !coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity"))
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

pin_project! {
    /// The response of a service with a layer.
    #[derive(Debug)]
    pub struct ServiceFuture<F> {
        #[pin]
        step: Step<F>,
    }
}

pin_project! {
    #[project = StepProjection]
    #[derive(Debug)]
    enum Step<F> {
        // The body of the response is not validated.
        Passing { #[pin] inner: F },
        Checking { #[pin] inner: F, checks: Checks },
        // The service is not called.
        Rejecting { status: StatusCode, message: Option<String> },
    }
}

impl<F> ServiceFuture<F> {
    pub(super) fn passing(inner: F) -> Self {
        Self { step: Step::Passing { inner } }
    }

    pub(super) fn checking(inner: F, checks: Checks) -> Self {
        Self { step: Step::Checking { inner, checks } }
    }

    pub(super) fn rejecting(error: &BodyError) -> Self {
        let (status, message) = (error.status(), Some(error.to_string()));
        Self { step: Step::Rejecting { status, message } }
    }
}

impl<F, R, E> Future for ServiceFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    R: Body<Error: Into<BoxError>>,
{
    type Output = Result<Response<CheckedBody<R>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = match self.project().step.project() {
            StepProjection::Passing { inner } => ready!(inner.poll(cx))?.map(CheckedBody::other),
            StepProjection::Checking { inner, checks } => {
                let (mut head, body) = ready!(inner.poll(cx))?.into_parts();
                let body = checks.apply(&mut head.headers, body, None);
                let body = body.unwrap_or_else(|(error, body)| {
                    CheckedBody::text(Utf8Body::failed(body, error))
                });
                Response::from_parts(head, body)
            }
            StepProjection::Rejecting { status, message } => {
                let body = Full::from(message.take().unwrap_or_default());
                let mut response = Response::new(CheckedBody { kind: Kind::Answer { body } });
                *response.status_mut() = *status;
                let plain = HeaderValue::from_static("text/plain; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, plain);
                response
            }
        };
        Poll::Ready(Ok(response))
    }
}
