//! `Utf8Body` as the body of requests and responses, sent and received by hyper, axum and reqwest.

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;
use utf8_codec::payload::http::{BodyError, Utf8Body};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

const TEXT: &str = "Grüße\nПривет\n色は匂へど 👋🏽";

async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future).await.expect("hangs")
}

async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Serves one connection: reads a request without a body, and writes the answer in small pieces.
async fn say(answer: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(socket.read_u8().await.unwrap());
        }
        for piece in answer.chunks(3) {
            socket.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
    });
    address
}

fn chunked(head: &str, chunks: &[&[u8]], end: &str) -> Vec<u8> {
    let mut answer =
        format!("HTTP/1.1 200 OK\r\n{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for chunk in chunks {
        answer.extend(format!("{:x}\r\n", chunk.len()).bytes());
        answer.extend_from_slice(chunk);
        answer.extend_from_slice(b"\r\n");
    }
    answer.extend_from_slice(end.as_bytes());
    answer
}

async fn by_reqwest(address: SocketAddr) -> http::Response<reqwest::Body> {
    soon(reqwest::get(format!("http://{address}/"))).await.unwrap().into()
}

async fn by_hyper<B>(
    address: SocketAddr,
    version: u8,
    request: hyper::Request<B>,
) -> hyper::Response<Incoming>
where
    B: http_body::Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
    B: Send + Unpin + 'static,
{
    let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
    if version == 2 {
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), socket).await.unwrap();
        tokio::spawn(connection);
        soon(sender.send_request(request)).await.unwrap()
    } else {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        soon(sender.send_request(request)).await.unwrap()
    }
}

// ---- responses, received ------------------------------------------------------------------------

#[tokio::test]
async fn a_response_in_another_charset_is_decoded_at_any_chunk_size() {
    let utf16: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let head = |charset: &str| format!("Content-Type: text/plain; charset={charset}\r\n");
    for (bytes, head) in [
        (TEXT.as_bytes(), head("utf-8")),
        (TEXT.as_bytes(), String::new()),
        (&utf16, head("utf-16le")),
    ] {
        for size in [1, 2, 3, 7] {
            let chunks: Vec<_> = bytes.chunks(size).collect();
            let answer = chunked(&head, &chunks, "0\r\n\r\n");

            let response = by_reqwest(say(answer.clone()).await).await;
            let (head, body) = response.into_parts();
            let body = Utf8Body::from_headers(&head.headers, body).unwrap();
            assert_eq!(soon(body.collect_text(100)).await.unwrap(), TEXT);

            let request = hyper::Request::get("/").body(Full::<Bytes>::default()).unwrap();
            let response = by_hyper(say(answer).await, 1, request).await;
            let (head, body) = response.into_parts();
            let body = Utf8Body::from_headers(&head.headers, body).unwrap();
            assert_eq!(soon(body.collect_text(100)).await.unwrap(), TEXT);
        }
    }
}

#[tokio::test]
async fn a_client_receives_text_then_the_error_then_the_trailers() {
    let end = "0\r\nX-Checksum: 42\r\n\r\n";
    let answer = chunked("Trailer: X-Checksum\r\n", &[b"5 \xE2\x82", b"\xAC \xE2"], end);
    let request = hyper::Request::get("/").body(Full::<Bytes>::default()).unwrap();
    let response = by_hyper(say(answer).await, 1, request).await;
    let mut body = Utf8Body::new(response.into_body());
    let mut text = String::new();
    let error = loop {
        match soon(body.text_frame()).await.unwrap() {
            Ok(frame) => text.push_str(&frame.into_data().expect("no trailers before the error")),
            Err(error) => break error,
        }
    };
    assert_eq!((&*text, error.offset()), ("5 € ", Some(6)));
    let trailers = soon(body.text_frame()).await.unwrap().unwrap().into_trailers().unwrap();
    assert_eq!(trailers["x-checksum"], "42");
    assert!(soon(body.text_frame()).await.is_none());
    assert!(body.is_end_stream());
}

#[tokio::test]
async fn a_broken_connection_reports_the_io_error_not_an_incomplete_character() {
    let short = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ntext \xE2\x82";
    let broken = [
        (chunked("", &[b"text \xE2\x82"], ""), "text [failed]"),
        (chunked("", &[b"text \xE2\x82"], "no number\r\n"), "text [failed]"),
        (chunked("", &[b"text \xE2\x82"], "5\r\nab"), "text [ill-formed]ab[failed]"),
        (short.to_vec(), "text [failed]"),
    ];
    for (answer, expected) in broken {
        let response = by_reqwest(say(answer).await).await;
        let mut body = Utf8Body::new(response.into_body());
        let mut seen = String::new();
        while let Some(frame) = soon(body.text_frame()).await {
            match frame {
                Ok(frame) => seen.push_str(&frame.into_data().unwrap()),
                Err(BodyError::Utf8(_)) => seen.push_str("[ill-formed]"),
                Err(BodyError::Inner(_)) => seen.push_str("[failed]"),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(seen, expected);
    }
}

// ---- responses, sent ------------------------------------------------------------------------------

/// Answers a request with its own body, in UTF-8.
async fn convert(request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = Utf8Body::from_headers(&head.headers, body).unwrap();
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    let body = body.with_options(options).with_error_mode(ErrorMode::Replacement);
    Response::builder()
        .header(CONTENT_TYPE, "text/plain; charset=utf-8")
        .header("trailer", "x-checksum")
        .body(Body::new(body))
        .unwrap()
}

#[tokio::test]
async fn a_converted_body_keeps_its_trailers() {
    let address = serve(Router::new().route("/", any(convert))).await;
    let utf16: Vec<u8> =
        format!("\u{FEFF}{TEXT}").encode_utf16().flat_map(u16::to_be_bytes).collect();
    for version in [1, 2] {
        for size in [1, 2, 5, 1000] {
            let mut trailers = HeaderMap::new();
            trailers.insert("x-checksum", HeaderValue::from_static("42"));
            let frames = utf16.chunks(size).map(|data| Frame::data(Bytes::copy_from_slice(data)));
            let frames: Vec<_> =
                frames.chain([Frame::trailers(trailers)]).map(Ok::<_, Infallible>).collect();
            let request = hyper::Request::post(format!("http://{address}/"))
                .header("content-type", "text/plain; charset=utf-16")
                .header("trailer", "x-checksum")
                .header("te", "trailers")
                .body(StreamBody::new(stream::iter(frames)))
                .unwrap();
            let response = by_hyper(address, version, request).await;
            let collected = soon(response.into_body().collect()).await.unwrap();
            assert_eq!(collected.trailers().unwrap()["x-checksum"], "42");
            assert_eq!(collected.to_bytes(), TEXT);
        }
    }
}

#[tokio::test]
async fn content_length_is_sent_only_for_unchanged_bodies() {
    let plain = || Utf8Body::new(Full::<Bytes>::from(TEXT));
    let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
    let router = Router::new()
        .route("/plain", any(move || async move { Response::new(Body::new(plain())) }))
        .route(
            "/strip",
            any(move || async move { Response::new(Body::new(plain().with_options(strip))) }),
        )
        .route(
            "/lossy",
            any(move || async move {
                Response::new(Body::new(plain().with_error_mode(ErrorMode::Replacement)))
            }),
        )
        .route(
            "/empty",
            any(move || async move {
                Response::new(Body::new(Utf8Body::new(http_body_util::Empty::<Bytes>::new())))
            }),
        );
    let address = serve(router).await;
    let len = TEXT.len().to_string();
    for (path, length, text) in [
        ("plain", Some(&*len), TEXT),
        ("strip", None, TEXT),
        ("lossy", None, TEXT),
        ("empty", Some("0"), ""),
    ] {
        let response = soon(reqwest::get(format!("http://{address}/{path}"))).await.unwrap();
        let found = response.headers().get(CONTENT_LENGTH).map(|value| value.to_str().unwrap());
        assert_eq!(found, length, "{path}");
        assert_eq!(soon(response.text()).await.unwrap(), text);
    }
}

#[tokio::test]
async fn an_invalid_response_is_aborted() {
    let seen = Arc::new(Notify::new());
    let wait = seen.clone();
    let bad = move || async move {
        let data = |data| Ok::<_, Infallible>(Frame::data(Bytes::from_static(data)));
        let first = stream::iter([data(b"good \xE2")]);
        let second = stream::once(async move {
            wait.notified().await;
            data(b"\x82bad")
        });
        Response::new(Body::new(Utf8Body::new(StreamBody::new(first.chain(second)))))
    };
    let address = serve(Router::new().route("/", any(bad))).await;
    let mut body = Utf8Body::new(by_reqwest(address).await.into_body());
    let mut text = String::new();
    while let Some(frame) = soon(body.text_frame()).await {
        match frame {
            Ok(frame) => {
                text.push_str(&frame.into_data().unwrap());
                seen.notify_one();
            }
            Err(error) => {
                assert!(matches!(error, BodyError::Inner(_)), "{error:?}");
                assert_eq!(text, "good ", "no ill-formed text, and nothing after it");
                return;
            }
        }
    }
    panic!("the client has taken {text:?} for all there was");
}

// ---- requests, sent -------------------------------------------------------------------------------

#[tokio::test]
async fn a_request_body_is_validated_while_it_is_sent() {
    async fn echo(body: Body) -> Body {
        body
    }
    let address = serve(Router::new().route("/", any(echo))).await;
    let client = reqwest::Client::new();
    let post = |chunks: Vec<&'static [u8]>| {
        let frames = chunks.into_iter().map(|data| Ok::<_, Infallible>(Frame::data(data)));
        let body = Utf8Body::new(StreamBody::new(stream::iter(frames.collect::<Vec<_>>())));
        client.post(format!("http://{address}/")).body(reqwest::Body::wrap(body)).send()
    };
    let response = soon(post(TEXT.as_bytes().chunks(2).collect())).await.unwrap();
    assert_eq!(soon(response.text()).await.unwrap(), TEXT);
    let failed = match soon(post(vec![b"good", b"\xFF", b"bad"])).await {
        Err(_) => true,
        Ok(response) => soon(response.text()).await.is_err(),
    };
    assert!(failed, "what is not text must not look as if it had arrived");
}
