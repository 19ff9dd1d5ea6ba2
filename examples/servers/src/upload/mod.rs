//! A server that counts the text of uploads, of any size, in constant memory.
//!
//! | answer | when | JSON |
//! | --- | --- | --- |
//! | 200 | the body was text to its end | `charset`, `bytes` (of the text in UTF-8), `chars`, `lines` |
//! | 400 | it was not, or its end never came | `error`, `kind`; of what is ill-formed also `offset`, `line`, `bytes` |
//! | 413 | it is longer than allowed | `error`, `kind`, `limit` |
//! | 415 | its charset is none that is known | `error`, `kind` |

pub mod self_test;

use std::error::Error;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, EXPECT};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::post;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use utf8_codec::payload::http::{BodyError, Utf8Body};

/// The service: `POST` or `PUT` to `/`, with at most `limit` bytes.
pub fn router(limit: u64) -> Router {
    Router::new().route("/", post(upload).put(upload)).with_state(limit)
}

async fn upload(State(limit): State<u64>, request: Request) -> Response {
    let (head, mut body) = request.into_parts();
    let mut counts = Counts::default();
    let outcome = match Utf8Body::from_headers(&head.headers, &mut body) {
        Ok(body) => count(body.with_max_length(limit), &mut counts).await,
        Err(error) => Err(error),
    };
    let mut response = match outcome {
        Ok(charset) => {
            let Counts { bytes, chars, .. } = counts;
            let lines = counts.lines();
            Json(json!({ "charset": charset, "bytes": bytes, "chars": chars, "lines": lines }))
                .into_response()
        }
        Err(error) => {
            let is_untouched = counts.bytes == 0
                && (is_of_charset(&error) || matches!(error, BodyError::TooLong { .. }));
            // Who waits to be asked for the body, and has not been, is not asked now.
            if !(is_untouched && head.headers.contains_key(EXPECT)) {
                tokio::spawn(linger(body));
            }
            (error.status(), Json(counts.explain(&error))).into_response()
        }
    };
    // Pages of any origin may read the answer: it says nothing but what they have sent.
    let any = HeaderValue::from_static("*");
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, any);
    response
}

/// Follows the body to its end, and tells its encoding.
async fn count(
    mut body: Utf8Body<&mut Body>,
    counts: &mut Counts,
) -> Result<&'static str, BodyError<axum::Error>> {
    while let Some(frame) = body.text_frame().await {
        // Trailers do not count.
        if let Ok(text) = frame?.into_data() {
            counts.add(&text);
        }
    }
    Ok(body.charset())
}

/// What there was of text.
#[derive(Debug, Default)]
struct Counts {
    bytes: u64,
    chars: u64,
    newlines: u64,
    is_line_open: bool,
}

impl Counts {
    fn add(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.chars += text.chars().count() as u64;
        self.newlines += text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.is_line_open = !text.ends_with('\n');
    }

    /// Lines end with LF; the last may do without.
    fn lines(&self) -> u64 {
        self.newlines + u64::from(self.is_line_open)
    }

    /// Says what is wrong behind the text so far.
    fn explain<E: Error + 'static>(&self, error: &BodyError<E>) -> Value {
        let mut answer = json!({ "error": in_words(error), "kind": kind(error) });
        let bytes = match error {
            BodyError::Utf8(error) => error.bytes(),
            BodyError::Legacy { bytes, .. } => bytes,
            BodyError::TooLong { max_length: limit } => {
                answer["limit"] = json!(limit);
                return answer;
            }
            _ => return answer,
        };
        answer["offset"] = json!(error.offset());
        answer["line"] = json!(self.newlines + 1);
        answer["bytes"] = json!(hex(bytes));
        answer
    }
}

/// One word or two for programs.
fn kind<E>(error: &BodyError<E>) -> String {
    match error {
        BodyError::Utf8(error) => error.kind().to_string(),
        BodyError::Legacy { .. } => "ill-formed".to_owned(),
        _ if is_of_charset(error) => "charset".to_owned(),
        BodyError::TooLong { .. } => "too long".to_owned(),
        _ => "failed".to_owned(),
    }
}

/// Whether the header is at fault, not the body.
fn is_of_charset<E>(error: &BodyError<E>) -> bool {
    matches!(
        error,
        BodyError::UnsupportedCharset { .. }
            | BodyError::MalformedContentType { .. }
            | BodyError::ContradictoryCharsets
    )
}

/// The error and its causes.
fn in_words(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", in_words(cause)),
        None => error.to_string(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// Goes on reading for a while what a client still sends that has been refused. If the connection
/// were closed at once, that would reset it, and the client might never see the answer.
async fn linger(mut body: Body) {
    let mut left = LINGER_BYTES;
    let read = async {
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, |data| data.len()));
            if left == 0 {
                break;
            }
        }
    };
    // Out of time or not, that was it.
    let _ = tokio::time::timeout(LINGER_TIME, read).await;
}

const LINGER_BYTES: usize = 1 << 20;
const LINGER_TIME: Duration = Duration::from_secs(2);
