//! A server that counts the text of uploads of any size, in constant memory.
//!
//! | answer | when | JSON |
//! | --- | --- | --- |
//! | 200 | the body is text | `charset`, `bytes` (of the text in UTF-8), `chars`, `lines` |
//! | 400 | the body is ill-formed or incomplete | `error`, `kind`; for an ill-formed part also `offset`, `line`, `bytes` |
//! | 413 | the body is longer than allowed | `error`, `kind`, `limit` |
//! | 415 | the charset is unknown | `error`, `kind` |

pub mod self_test;

use std::error::Error;
use std::iter;
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

/// The service: `POST` or `PUT` to `/`, at most `limit` bytes.
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
            // A client that still waits for `100 Continue` has sent no body to read.
            if !(is_untouched && head.headers.contains_key(EXPECT)) {
                tokio::spawn(linger(body));
            }
            (error.status(), Json(counts.explain(&error))).into_response()
        }
    };
    // Pages of any origin may read the answer: it contains only what they sent.
    let any = HeaderValue::from_static("*");
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, any);
    response
}

/// Counts the text of the body, and returns the name of its encoding.
async fn count(
    mut body: Utf8Body<&mut Body>,
    counts: &mut Counts,
) -> Result<&'static str, BodyError<axum::Error>> {
    while let Some(frame) = body.text_frame().await {
        // Trailers are ignored.
        if let Ok(text) = frame?.into_data() {
            counts.add(&text);
        }
    }
    Ok(body.charset())
}

/// The counts of the text so far.
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

    /// The number of lines. The last need not end with LF.
    fn lines(&self) -> u64 {
        self.newlines + u64::from(self.is_line_open)
    }

    /// The answer for an error after the text so far.
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

/// The kind of an error, for programs.
fn kind<E>(error: &BodyError<E>) -> String {
    match error {
        BodyError::Utf8(error) => error.kind().to_string(),
        BodyError::Legacy { .. } => "ill-formed".to_owned(),
        _ if is_of_charset(error) => "charset".to_owned(),
        BodyError::TooLong { .. } => "too long".to_owned(),
        _ => "failed".to_owned(),
    }
}

/// Whether the error is in the header, not in the body.
fn is_of_charset<E>(error: &BodyError<E>) -> bool {
    matches!(
        error,
        BodyError::UnsupportedCharset { .. }
            | BodyError::MalformedContentType { .. }
            | BodyError::ContradictoryCharsets
    )
}

/// The error and its causes. Its own message includes that of the first.
fn in_words(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |&cause| cause.source()).skip(1);
    causes.fold(error.to_string(), |words, cause| format!("{words}: {cause}"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

/// Reads and discards what a rejected client still sends, for a limited time. Closing the connection with
/// unread data would reset it, and the client might never receive the answer.
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
    // The result does not matter.
    let _ = tokio::time::timeout(LINGER_TIME, read).await;
}

const LINGER_BYTES: usize = 1 << 20;
const LINGER_TIME: Duration = Duration::from_secs(2);
