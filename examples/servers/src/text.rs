//! Handlers of axum that take and return text: extractors, a layer, and errors that are answers; and a client
//! whose responses are checked.
//!
//! | path | takes | answers |
//! | --- | --- | --- |
//! | `/count` | [`Utf8Text`]: the whole text, up to axum's limit | the number of characters |
//! | `/lines` | [`Utf8Body`]: the text as it arrives | the number of lines, and of those that are not UTF-8 |
//! | `/echo` | the same | the text, while it arrives |
//! | `/json` | axum's `Json`, inside a [`Utf8Layer`] | the value |
//!
//! A text that is not UTF-8 is answered with 400 and the offset of the error (`/lines` counts such lines), one that is too long with
//! 413, an unknown charset or another media type with 415, one that takes more than a minute with 408. `/echo` has begun its answer
//! before it knows: an error, or 30 seconds without text, cuts the answer off. Its length and its total time have no limit.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::post;
use axum::{BoxError, Router};
use futures::{StreamExt, stream};
use serde_json::Value;
use tokio::time::timeout;
use tower::{Service, ServiceExt};
use utf8_codec::http::{BodyError, CheckedBody, Utf8Body, Utf8Layer, Utf8Text, require_json};
use utf8_codec::stream::StreamError;

use crate::drained_body::drained;

/// The service.
pub fn router() -> Router {
    let checked = Utf8Layer::new().with_header_check(require_json);
    let router = Router::new()
        .route("/count", post(count))
        .route("/lines", post(lines).layer(DefaultBodyLimit::disable()))
        .route("/echo", post(echo).layer(DefaultBodyLimit::disable()))
        .route("/json", post(json).layer(checked))
        .layer(middleware::from_fn(in_time));
    drained(router, IDLE, MAX_REST)
}

/// How many bytes to read of what a rejected client still sends.
const MAX_REST: u64 = 64 << 20;

/// The longest time for a body and the beginning of the answer.
const LONGEST: Duration = Duration::from_secs(60);
/// The longest time until the next text of `/echo`, and for the rest of a rejected body.
const IDLE: Duration = Duration::from_secs(30);

async fn in_time(request: Request, next: Next) -> Response {
    let answer = timeout(LONGEST, next.run(request)).await;
    answer.unwrap_or_else(|_| StatusCode::REQUEST_TIMEOUT.into_response())
}

async fn count(Utf8Text(text): Utf8Text) -> String {
    text.chars().count().to_string()
}

async fn lines(body: Utf8Body<Body>) -> Result<String, BodyError> {
    let mut lines = body.with_max_length(1 << 30).into_lines();
    let (mut all, mut damaged) = (0, 0);
    while let Some(line) = lines.next().await {
        all += 1;
        match line {
            Ok(_) => {}
            Err(StreamError::Inner(error)) => return Err(error),
            Err(_) => damaged += 1,
        }
    }
    Ok(format!("{all} lines, {damaged} damaged"))
}

async fn echo(body: Utf8Body<Body>) -> Response {
    let texts = Box::pin(body.into_text_stream().into_byte_stream());
    // The answer is cut off, not ended, if the next text takes too long.
    let texts = stream::unfold(Some(texts), async |texts| {
        let mut texts = texts?;
        match timeout(IDLE, texts.next()).await {
            Ok(text) => Some((text?.map_err(BoxError::from), Some(texts))),
            Err(late) => Some((Err(late.into()), None)),
        }
    });
    Response::new(Body::from_stream(texts))
}

async fn json(Json(value): Json<Value>) -> Json<Value> {
    Json(value)
}

/// A client that checks the text of its responses, with `layer`.
pub fn checked_client(
    client: reqwest::Client,
    layer: Utf8Layer,
) -> impl Service<
    reqwest::Request,
    Response = axum::http::Response<CheckedBody<reqwest::Body>>,
    Error = reqwest::Error,
> + Clone {
    client
        .map_response(axum::http::Response::<reqwest::Body>::from)
        .map_response(move |response| layer.check_response(response))
}
