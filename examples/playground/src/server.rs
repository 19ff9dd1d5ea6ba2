//! Serves a few files over HTTP/1 to the browsers of this machine.
//!
//! | limit | default |
//! | --- | --- |
//! | time of a connection, from its start to its end | 10 s |
//! | requests of a connection | 1 |
//! | header of a request | 16 KiB |
//! | connections at a time; others wait | 64 |
//!
//! Bodies of requests are not read. Requests for other hosts than this machine are rejected, so that no page of another
//! site can read this one after its own name has been resolved to loopback (DNS rebinding).

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// What the page may do: run its own scripts and wasm modules, and load from its own origin. The icon is a `data:` URL.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer. The two about other origins give the page a clock of 5 microseconds for the race.
const HEADERS: [(&str, &str); 7] = [
    ("cache-control", "no-store"),
    ("content-security-policy", POLICY),
    ("cross-origin-embedder-policy", "require-corp"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
];

/// The longest header of a request, in bytes.
const MAX_HEADER: usize = 16 << 10;

/// A file that is served.
#[derive(Clone, Debug)]
pub(crate) struct Asset {
    path: String,
    content_type: &'static str,
    bytes: Bytes,
}

impl Asset {
    /// Creates a file. Its type follows from the end of `path`.
    pub(crate) fn new(path: &str, bytes: impl Into<Bytes>) -> Self {
        let content_type = match path.rsplit_once('.') {
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "wasm")) => "application/wasm",
            _ => "text/html; charset=utf-8",
        };
        Self { path: path.into(), content_type, bytes: bytes.into() }
    }
}

/// What a client can take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The longest time of a connection. It includes the request, its answer and all waiting.
    pub(crate) connection: Duration,
    /// The most connections at a time; others wait.
    pub(crate) connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connection: Duration::from_secs(10), connections: 64 }
    }
}

/// Serves the clients of `listener`, as long as it is polled.
pub(crate) async fn serve(listener: TcpListener, assets: Vec<Asset>, limits: Limits) {
    let (assets, free) = (Arc::new(assets), Arc::new(Semaphore::new(limits.connections)));
    while let Ok(permit) = Arc::clone(&free).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let assets = Arc::clone(&assets);
                tokio::spawn(async move {
                    // An error or the end of the time ends this connection only.
                    let _ended = timeout(limits.connection, serve_one(stream, assets)).await;
                    drop(permit);
                });
            }
            // Such as too many open files: try again later.
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve_one(stream: TcpStream, assets: Arc<Vec<Asset>>) -> hyper::Result<()> {
    let service = service_fn(move |request| {
        let response = answer(&request, &assets);
        async move { Ok::<_, Infallible>(response) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(false)
        .max_buf_size(MAX_HEADER)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

fn answer<B>(request: &Request<B>, assets: &[Asset]) -> Response<Full<Bytes>> {
    if !is_for_this_machine(request.headers()) {
        return respond(
            StatusCode::MISDIRECTED_REQUEST,
            "text/plain",
            "This server is for 127.0.0.1.\n",
        );
    }
    // hyper omits the body of the answer to HEAD.
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut response =
            respond(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "GET and HEAD only.\n");
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match assets.iter().find(|asset| asset.path == request.uri().path()) {
        Some(asset) => respond(StatusCode::OK, asset.content_type, asset.bytes.clone()),
        None => respond(StatusCode::NOT_FOUND, "text/plain", "The page is at /.\n"),
    }
}

fn is_for_this_machine(headers: &HeaderMap) -> bool {
    headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok()?.parse::<Authority>().ok())
        .is_some_and(|host| matches!(host.host(), "127.0.0.1" | "localhost"))
}

fn respond(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn server(limits: Limits) -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let assets = vec![Asset::new("/", "<!doctype html>"), Asset::new("/wasm/a.wasm", "\0asm")];
        tokio::spawn(serve(listener, assets, limits));
        address
    }

    /// Returns the answer to `request`, up to the end of the connection.
    async fn ask(request: &str) -> String {
        let mut socket = TcpStream::connect(server(Limits::default()).await).await.unwrap();
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn the_page_has_a_policy_that_allows_its_own_origin_only() {
        let answer = ask("GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("content-type: text/html; charset=utf-8\r\n"), "{answer}");
        assert!(answer.contains("\r\ncontent-security-policy: default-src 'none'; "), "{answer}");
        assert!(answer.ends_with("\r\n\r\n<!doctype html>"), "{answer}");
    }

    #[tokio::test]
    async fn a_module_is_served_as_wasm() {
        let answer = ask("GET /wasm/a.wasm HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        assert!(answer.contains("\r\ncontent-type: application/wasm\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\n\0asm"), "{answer}");
    }

    #[tokio::test]
    async fn other_paths_methods_and_hosts_are_rejected() {
        for (request, status) in [
            ("GET /../Cargo.toml HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
            ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", "405"),
            ("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", "421"),
            ("GET / HTTP/1.0\r\n\r\n", "421"),
            ("nonsense\r\n\r\n", "400"),
        ] {
            let answer = ask(request).await;
            assert_eq!(answer.split(' ').nth(1), Some(status), "{request}: {answer}");
        }
        let long =
            format!("GET / HTTP/1.1\r\nHost: localhost\r\nA: {}\r\n\r\n", "a".repeat(MAX_HEADER));
        assert_eq!(ask(&long).await.split(' ').nth(1), Some("431"));
    }

    #[tokio::test]
    async fn a_silent_client_is_disconnected_and_does_not_hold_a_place() {
        let limits = Limits { connection: Duration::from_millis(100), connections: 1 };
        let address = server(limits).await;
        let mut silent = TcpStream::connect(address).await.unwrap();
        let mut slow = TcpStream::connect(address).await.unwrap();
        slow.write_all(b"GET / HT").await.unwrap();
        let mut rest = Vec::new();
        assert_eq!(silent.read_to_end(&mut rest).await.unwrap_or(0), 0);
        assert_eq!(slow.read_to_end(&mut rest).await.unwrap_or(0), 0);
    }
}
