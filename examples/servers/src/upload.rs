//! A server that counts the text of uploads of any size, in constant memory.
//!
//! | answer | when | JSON |
//! | --- | --- | --- |
//! | 200 | the body is text | `charset`, `bytes` (of the text in UTF-8), `chars`, `lines` |
//! | 400 | the body is ill-formed or incomplete | `error`, `kind`; for an ill-formed part also `offset`, `line`, `bytes` |
//! | 408 | the body does not arrive in time | `error`, `kind` |
//! | 413 | the body is longer than allowed | `error`, `kind`, `limit` |
//! | 415 | the charset is unknown | `error`, `kind` |
//!
//! [`Limits`] bounds what a client can take: time, bytes and connections.

use std::error::Error;
use std::iter;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONNECTION, EXPECT};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::post;
use futures::future::{Either, select};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use utf8_codec::http::{BodyError, Utf8Body};

use crate::drained_body::drain_body;
use crate::socket::WriteTimeout;

/// What a client may take. The default values suit a server whose proxy limits the connections of each
/// client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest body, in bytes. Default: no limit.
    pub body: u64,
    /// The longest time for the header of a request, also before its first byte. After so long without a new request, a connection
    /// ends with those that it has, at the latest after the times of a body and of a write. Default: 30 s.
    pub header: Duration,
    /// The longest time without a byte of the body. Default: 30 s.
    pub idle: Duration,
    /// The longest time for a whole body. Default: one hour.
    pub upload: Duration,
    /// The longest time in which the client accepts no byte of the answer. Default: 30 s.
    pub write: Duration,
    /// How long to read what a rejected client still sends. Default: 30 s.
    pub drain: Duration,
    /// How many bytes to read of what a rejected client still sends. Default: 64 MiB.
    pub drain_bytes: u64,
    /// The most connections at a time; others wait. Default: 1024.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: u64::MAX,
            header: Duration::from_secs(30),
            idle: Duration::from_secs(30),
            upload: Duration::from_secs(3600),
            write: Duration::from_secs(30),
            drain: Duration::from_secs(30),
            drain_bytes: 64 << 20,
            connections: 1024,
        }
    }
}

/// Starts a server on a free port.
///
/// # Errors
///
/// Those of the socket.
pub async fn start(limits: Limits) -> std::io::Result<(SocketAddr, JoinHandle<()>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    Ok((address, tokio::spawn(serve(listener, limits))))
}

/// Serves the clients of `listener`, as long as it is polled.
pub async fn serve(listener: TcpListener, limits: Limits) {
    serve_router(listener, router(limits), limits).await;
}

/// Serves `router` to the clients of `listener`, with the limits of headers, idle connections, writes and
/// connections. How long a body may take is up to the handlers, as long as the client sends requests; an idle connection ends
/// after the times of a body and of a write.
pub async fn serve_router(listener: TcpListener, router: Router, limits: Limits) {
    let free = Arc::new(Semaphore::new(limits.connections));
    while let Ok(permit) = Arc::clone(&free).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    serve_one(stream, router, limits).await;
                    drop(permit);
                });
            }
            // Such as too many open files: try again later.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve_one(stream: TcpStream, router: Router, limits: Limits) {
    let _without = stream.set_nodelay(true);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(limits.idle)
        .keep_alive_timeout(limits.idle);

    let (begun, router) = (Notify::new(), TowerToHyperService::new(router));
    let service = service_fn(|request| {
        begun.notify_one();
        router.call(request)
    });
    let socket = TokioIo::new(WriteTimeout::new(stream, limits.write));
    let mut connection = pin!(builder.serve_connection(socket, service));
    // The builder waits for the bytes that tell HTTP/1 from HTTP/2 without a limit, and HTTP/2 for the next request.
    let mut has_begun = false;
    loop {
        let next = pin!(begun.notified());
        match timeout(limits.header, select(connection.as_mut(), next)).await {
            // An error ends this connection only.
            Ok(Either::Left(_)) => return,
            Ok(Either::Right(_)) => has_begun = true,
            Err(_) if has_begun => break,
            Err(_) => return,
        }
    }
    connection.as_mut().graceful_shutdown();
    // A client of HTTP/2 can accept nothing of an answer without a write that waits.
    let _lost = timeout(limits.upload.saturating_add(limits.write), connection).await;
}

/// The service: `POST` or `PUT` to `/`.
fn router(limits: Limits) -> Router {
    Router::new().route("/", post(upload).put(upload)).with_state(limits)
}

async fn upload(State(limits): State<Limits>, request: Request) -> Response {
    let (head, mut body) = request.into_parts();
    let mut counts = Counts::default();
    let outcome = match Utf8Body::from_headers(&head.headers, &mut body) {
        Ok(body) => {
            let counting = count(body.with_max_length(limits.body), &mut counts, limits.idle);
            timeout(limits.upload, counting).await.unwrap_or(Err(Failure::Late))
        }
        Err(error) => Err(Failure::Body(error)),
    };
    let mut response = match outcome {
        Ok(charset) => {
            let Counts { bytes, chars, .. } = counts;
            let lines = counts.lines();
            Json(json!({ "charset": charset, "bytes": bytes, "chars": chars, "lines": lines }))
                .into_response()
        }
        Err(Failure::Late) => {
            let answer = json!({ "error": "the body did not arrive in time", "kind": "timeout" });
            (StatusCode::REQUEST_TIMEOUT, [(CONNECTION, "close")], Json(answer)).into_response()
        }
        Err(Failure::Body(error)) => {
            let is_untouched = counts.bytes == 0
                && (is_of_charset(&error) || matches!(error, BodyError::TooLong { .. }));
            // A client that still waits for `100 Continue` has sent no body to read.
            if !(is_untouched && head.headers.contains_key(EXPECT)) {
                tokio::spawn(drain_body(body, limits.drain, limits.drain_bytes));
            }
            (error.status(), Json(counts.explain(&error))).into_response()
        }
    };
    // Pages of any origin may read the answer: it contains only what they sent.
    let any = HeaderValue::from_static("*");
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, any);
    response
}

/// Why a body is not counted.
enum Failure {
    /// It did not arrive in time.
    Late,
    Body(BodyError),
}

/// Counts the text of the body, and returns the name of its encoding. Waits at most `idle` for the next bytes.
async fn count(
    mut body: Utf8Body<&mut Body>,
    counts: &mut Counts,
    idle: Duration,
) -> Result<&'static str, Failure> {
    while let Some(frame) = timeout(idle, body.text_frame()).await.map_err(|_| Failure::Late)? {
        // Trailers are ignored.
        if let Ok(text) = frame.map_err(Failure::Body)?.into_data() {
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
    fn explain(&self, error: &BodyError) -> Value {
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
fn kind(error: &BodyError) -> String {
    match error {
        BodyError::Utf8(error) => error.kind().to_string(),
        BodyError::Legacy { .. } => "ill-formed".to_owned(),
        _ if is_of_charset(error) => "charset".to_owned(),
        BodyError::TooLong { .. } => "too long".to_owned(),
        _ => "failed".to_owned(),
    }
}

/// Whether the error is in the header, not in the body.
fn is_of_charset(error: &BodyError) -> bool {
    matches!(
        error,
        BodyError::UnsupportedCharset { .. }
            | BodyError::MalformedContentType { .. }
            | BodyError::ContradictoryCharsets
    )
}

/// The error and its causes. The messages of some, such as axum's, include that of their cause.
fn in_words(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |&cause| cause.source());
    causes.map(ToString::to_string).fold(error.to_string(), |words, cause| {
        if words.ends_with(&cause) { words } else { format!("{words}: {cause}") }
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
