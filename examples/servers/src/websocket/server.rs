//! The HTTP server: its pages, and the upgrade to WebSocket, with the opening handshake (RFC 6455 section 4.2).

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use sha1::{Digest, Sha1};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::connection::{self, Service, Timeouts};
use crate::socket::WriteTimeout;

/// The page that checks the server in a browser.
const PAGE: &str = include_str!("page.html");

/// The longest report of a page, in bytes.
const MAX_REPORT: usize = 64 << 10;

/// A listening server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    max_length: u64,
    max_connections: usize,
    timeouts: Timeouts,
    reports: Option<mpsc::Sender<Report>>,
}

/// The most connections at a time, unless set.
pub const MAX_CONNECTIONS: usize = 16_384;

/// The result of the page in a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether all checks passed.
    pub passed: bool,
    /// The results in words, one line per check.
    pub text: String,
}

/// What all connections share.
struct Shared {
    max_length: u64,
    timeouts: Timeouts,
    reports: Option<mpsc::Sender<Report>>,
}

impl Server {
    /// Listens on `address`. A message has at most `max_length` bytes.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub async fn bind(address: impl ToSocketAddrs, max_length: u64) -> io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind(address).await?,
            max_length,
            max_connections: MAX_CONNECTIONS,
            timeouts: Timeouts::default(),
            reports: None,
        })
    }

    /// Sets how long a client may take.
    #[must_use]
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }

    /// Sets the most connections at a time; others wait. Default: [`MAX_CONNECTIONS`].
    #[must_use]
    pub fn with_max_connections(self, max_connections: usize) -> Self {
        Self { max_connections, ..self }
    }

    /// Sends the reports of the page to `reports`. Without it, reports are answered with 404.
    #[must_use]
    pub fn with_reports(self, reports: mpsc::Sender<Report>) -> Self {
        Self { reports: Some(reports), ..self }
    }

    /// Returns the address it listens on.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves each client in a task of its own, as long as it is polled.
    pub async fn run(self) {
        let Self { listener, max_length, max_connections, timeouts, reports } = self;
        let shared = Arc::new(Shared { max_length, timeouts, reports });
        let free = Arc::new(Semaphore::new(max_connections));
        while let Ok(permit) = Arc::clone(&free).acquire_owned().await {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let client = Client { shared: Arc::clone(&shared), permit: Arc::new(permit) };
                    tokio::spawn(serve(stream, client));
                }
                // Such as too many open files: try again later.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

/// A connection, also after its upgrade.
#[derive(Clone)]
struct Client {
    shared: Arc<Shared>,
    permit: Arc<OwnedSemaphorePermit>,
}

async fn serve(stream: TcpStream, client: Client) {
    let _without = stream.set_nodelay(true);
    let timeouts = client.shared.timeouts;
    let service = service_fn(|request| answer(request, client.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.header)
        .serve_connection(TokioIo::new(WriteTimeout::new(stream, timeouts.write)), service)
        .with_upgrades();
    // An error ends this connection only.
    let _lost = connection.await;
}

async fn answer(
    request: Request<Incoming>,
    client: Client,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path();
    let service = match path {
        "/echo" => Service::Echo,
        "/decode" => Service::Decode,
        "/" if request.headers().contains_key(header::UPGRADE) => Service::Echo,
        "/" if request.method() == Method::GET => return Ok(page()),
        "/report" if request.method() == Method::POST => {
            return Ok(report(request, &client.shared).await);
        }
        _ => return Ok(plain(StatusCode::NOT_FOUND, "The paths are /, /echo and /decode.\n")),
    };
    Ok(match accept(&request) {
        Ok(accept) => upgrade(request, accept, service, client),
        Err(error) => {
            let mut response =
                plain(error.status(), "This path needs a WebSocket upgrade, version 13.\n");
            offer_upgrade(response.headers_mut());
            response
        }
    })
}

fn upgrade(
    request: Request<Incoming>,
    accept: HeaderValue,
    service: Service,
    client: Client,
) -> Response<Full<Bytes>> {
    tokio::spawn(async move {
        let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
        let (socket, buffer) = (TokioIo::new(upgraded), BytesMut::new());
        let Shared { max_length, timeouts, .. } = *client.shared;
        let _lost = connection::serve(socket, buffer, service, max_length, timeouts).await;
        drop(client.permit);
    });
    let mut response = plain(StatusCode::SWITCHING_PROTOCOLS, "");
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    response
}

async fn report(request: Request<Incoming>, shared: &Shared) -> Response<Full<Bytes>> {
    let Some(reports) = &shared.reports else {
        return plain(StatusCode::NOT_FOUND, "No report is expected.\n");
    };
    let passed = request.uri().query() == Some("passed");
    let Ok(body) = Limited::new(request.into_body(), MAX_REPORT).collect().await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "The report is too long.\n");
    };
    let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    let _gone = reports.send(Report { passed, text }).await;
    plain(StatusCode::OK, "Thank you.\n")
}

fn page() -> Response<Full<Bytes>> {
    let mut response = plain(StatusCode::OK, PAGE);
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, html);
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    response
}

// ---- the opening handshake -----------------------------------------------------------------------

/// Why a request cannot be upgraded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeError {
    /// It does not ask for an upgrade.
    NotAsked,
    /// It asks for a version of the protocol other than 13.
    Version,
    /// It has no key of 16 bytes, or is not an HTTP/1.1 GET.
    Malformed,
}

/// Returns the `Sec-WebSocket-Accept` header of the answer to an upgrade request.
///
/// # Errors
///
/// If the request cannot be upgraded. The answer then [offers](offer_upgrade) an upgrade.
pub fn accept<B>(request: &Request<B>) -> Result<HeaderValue, HandshakeError> {
    let headers = request.headers();
    if !has_token(headers, header::CONNECTION, "upgrade")
        || !has_token(headers, header::UPGRADE, "websocket")
    {
        return Err(HandshakeError::NotAsked);
    }
    if headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(HandshakeError::Version);
    }
    let key = headers.get(header::SEC_WEBSOCKET_KEY).ok_or(HandshakeError::Malformed)?;
    let is_key = STANDARD.decode(key).is_ok_and(|key| key.len() == 16);
    if !is_key || request.method() != Method::GET || request.version() < Version::HTTP_11 {
        return Err(HandshakeError::Malformed);
    }
    HeaderValue::try_from(accept_key(key.as_bytes())).map_err(|_| HandshakeError::Malformed)
}

/// Adds the headers of an answer that offers an upgrade (RFC 9110, section 15.5.22, and RFC 6455, section 4.4).
pub fn offer_upgrade(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
}

/// Returns the answer to a `Sec-WebSocket-Key`.
fn accept_key(key: &[u8]) -> String {
    const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    STANDARD.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

impl HandshakeError {
    /// Returns the status of the answer.
    pub const fn status(self) -> StatusCode {
        match self {
            Self::NotAsked | Self::Version => StatusCode::UPGRADE_REQUIRED,
            Self::Malformed => StatusCode::BAD_REQUEST,
        }
    }
}

/// Whether `token` is among the comma-separated values of a header.
fn has_token(headers: &HeaderMap, name: HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|word| word.trim().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_key_of_the_rfc_gives_its_accept_value() {
        let answer = accept_key(b"dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(answer, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn requests_are_upgraded_or_rejected_with_a_status() {
        let good = [
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "WebSocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let outcome = |changed: (&str, Option<&str>), method: &str| {
            let mut request = Request::builder().method(method);
            for (name, value) in good {
                let value = if name == changed.0 { changed.1 } else { Some(value) };
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
            accept(&request.body(()).unwrap()).map(drop)
        };
        assert_eq!(outcome(("", None), "GET"), Ok(()));
        assert_eq!(outcome(("", None), "POST"), Err(HandshakeError::Malformed));
        let cases = [
            ("connection", None, HandshakeError::NotAsked),
            ("connection", Some("close"), HandshakeError::NotAsked),
            ("upgrade", Some("h2c"), HandshakeError::NotAsked),
            ("sec-websocket-version", Some("8"), HandshakeError::Version),
            ("sec-websocket-version", None, HandshakeError::Version),
            ("sec-websocket-key", None, HandshakeError::Malformed),
            ("sec-websocket-key", Some("short"), HandshakeError::Malformed),
            ("sec-websocket-key", Some("c2hvcnQ="), HandshakeError::Malformed),
        ];
        for (name, value, error) in cases {
            assert_eq!(outcome((name, value), "GET"), Err(error), "{name}: {value:?}");
        }
    }
}
