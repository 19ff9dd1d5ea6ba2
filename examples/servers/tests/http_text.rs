//! `Utf8Body`, the extractors and the layer with real peers: hyper, axum, tower-http and reqwest, curl and node, over
//! loopback sockets. A peer that is not installed is skipped, and named.

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper_util::rt::{TokioExecutor, TokioIo};
use reqwest::Client;
use servers::text::{checked_client, router};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::Notify;
use tokio::time::timeout;
use tower::ServiceExt;
use tower::util::MapResponseLayer;
use tower_http::limit::RequestBodyLimitLayer;
use utf8_codec::http::{BodyError, Utf8Body, Utf8Layer, Utf8Text};
use utf8_codec::stream::Utf8StreamExt;
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

const TEXT: &str = "Grüße\nПривет\n色は匂へど 👋🏽";

async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(60), future).await.expect("hangs")
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

/// The status and the text of the answer to a body in these chunks.
async fn upload(
    address: SocketAddr,
    path: &str,
    media_type: &str,
    chunks: Vec<Vec<u8>>,
) -> (u16, String) {
    let body =
        reqwest::Body::wrap_stream(stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)));
    let request = Client::new().post(format!("http://{address}{path}")).body(body);
    let response = soon(request.header("content-type", media_type).send()).await.unwrap();
    (response.status().as_u16(), soon(response.text()).await.unwrap())
}

fn pieces(bytes: &[u8], size: usize) -> Vec<Vec<u8>> {
    bytes.chunks(size).map(<[u8]>::to_vec).collect()
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

// ---- extractors and the layer: axum and reqwest ----------------------------------------------------

#[tokio::test]
async fn extractors_take_text_however_it_is_split() {
    let address = serve(router()).await;
    let count = TEXT.chars().count().to_string();
    for size in [1, 2, 3, 7, 1000] {
        let plain = |path| upload(address, path, "text/plain", pieces(TEXT.as_bytes(), size));
        assert_eq!(plain("/count").await, (200, count.clone()), "{size}");
        assert_eq!(plain("/lines").await, (200, "3 lines, 0 damaged".to_owned()), "{size}");
        assert_eq!(plain("/echo").await, (200, TEXT.to_owned()), "{size}");
        let utf16: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let utf16 = upload(address, "/echo", "text/plain;charset=utf-16le", pieces(&utf16, size));
        assert_eq!(utf16.await, (200, TEXT.to_owned()), "{size}");
    }
}

#[tokio::test]
async fn rejections_have_a_status_and_an_offset() {
    let address = serve(router()).await;
    let bytes = b"Gr\xC3\xBC\xC3\x9Fe \xED\xA0\x80";
    let message = "invalid UTF-8 in the body at byte 8: encoded surrogate (ed, followed by a0)";
    for size in 1..=bytes.len() {
        let count = upload(address, "/count", "text/plain", pieces(bytes, size)).await;
        assert_eq!(count, (400, message.to_owned()), "{size}");
        // axum words the errors of its own extractors.
        let (status, json) =
            upload(address, "/json", "application/json", pieces(bytes, size)).await;
        assert!(status == 400 && json.contains(message), "{size}: {status} {json}");
    }
    let answer = upload(address, "/count", "text/plain; charset=klingon", vec![]).await;
    assert_eq!(answer, (415, "unsupported charset: klingon".to_owned()));
    let answer = upload(address, "/json", "text/plain", pieces(b"[]", 1)).await;
    assert_eq!(answer, (415, "unsupported media type: text/plain".to_owned()));
    let answer =
        upload(address, "/json", "application/json", pieces("[\"é\"]".as_bytes(), 1)).await;
    assert_eq!(answer, (200, "[\"é\"]".to_owned()));
}

/// With unread bytes, closing the connection would reset it.
#[tokio::test]
async fn a_client_that_sends_everything_first_receives_the_early_answer() {
    let address = serve(router()).await;
    for (path, media_type, length, byte, status) in [
        ("/count", "text/plain", 500_000, 0xFF, "400"),
        ("/count", "text/plain; charset=klingon", 500_000, 0xFF, "415"),
        ("/json", "text/plain", 500_000, 0xFF, "415"),
        ("/json", "application/json", 500_000, 0xFF, "400"),
        ("/count", "text/plain", 16 << 20, b'x', "413"),
    ] {
        let mut body = vec![b'x'; length];
        body[100] = byte;
        for _ in 0..20 {
            let mut socket = TcpStream::connect(address).await.unwrap();
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {media_type}\r\n\
                 Content-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            soon(socket.write_all(head.as_bytes())).await.unwrap();
            soon(socket.write_all(&body)).await.unwrap();
            let mut answer = String::new();
            soon(socket.read_to_string(&mut answer)).await.unwrap();
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
        }
    }
}

#[tokio::test]
async fn a_rejected_client_that_waits_for_100_continue_sends_no_body() {
    let address = serve(router()).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = "POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n\
                Content-Length: 500000\r\nExpect: 100-continue\r\n\r\n";
    socket.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon(socket.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 415 "), "{answer}");
}

#[tokio::test]
async fn limits_of_axum_and_of_tower_http_are_answered_with_413() {
    async fn count(body: Utf8Body<Body>) -> Result<String, BodyError> {
        Ok(body.collect_text(1 << 20).await?.len().to_string())
    }
    let own = post(|body: Utf8Body<Body>| async { count(body.with_max_length(10)).await });
    let router = Router::new()
        .route("/extractor", post(|Utf8Text(text): Utf8Text| async { text }))
        .route("/as-it-arrives", post(count))
        .layer(DefaultBodyLimit::max(10))
        .route("/tower-http", post(count).layer(RequestBodyLimitLayer::new(10)))
        .route("/own", own)
        // The limit is inside, and axum's own extractor answers.
        .route(
            "/layer",
            post(|text: String| async { text }).layer(Utf8Layer::new().with_max_length(10)),
        );
    let address = serve(router).await;
    for path in ["/extractor", "/as-it-arrives", "/tower-http", "/own", "/layer"] {
        // In two chunks, so that no Content-Length is sent.
        let send = |text: &str| upload(address, path, "text/plain", pieces(text.as_bytes(), 7));
        assert_eq!(send("ten bytes.").await.0, 200, "{path}");
        assert_eq!(send("eleven byte").await.0, 413, "{path}");
        assert_eq!(send("tenbytes\u{FF}").await.0, 200, "{path}");
        let length = Client::new().post(format!("http://{address}{path}")).body("eleven byte");
        let length = length.header("content-type", "text/plain");
        assert_eq!(soon(length.send()).await.unwrap().status(), 413, "{path}");
    }
}

#[tokio::test]
async fn an_extension_sets_the_options_of_both_extractors() {
    async fn all(body: Utf8Body<Body>) -> Result<String, BodyError> {
        body.collect_text(1 << 20).await
    }
    let options = Utf8Options::new().with_bom(BomPolicy::Strip).reject_nul();
    let router = Router::new()
        .route("/whole", post(|Utf8Text(text): Utf8Text| async { text }))
        .route("/as-it-arrives", post(all))
        .layer(Extension(options));
    let address = serve(router).await;
    for path in ["/whole", "/as-it-arrives"] {
        for size in [1, 2, 100] {
            let send =
                |text: &str| upload(address, path, "text/plain", pieces(text.as_bytes(), size));
            assert_eq!(send("\u{FEFF}Grüße").await, (200, "Grüße".to_owned()), "{path}");
            assert_eq!(send("a\0b").await.0, 400, "{path}");
        }
    }
}

#[tokio::test]
async fn a_limit_inside_the_text_is_recognised_by_axum() {
    // `into_boxed` returns the error of `Limited`, which axum's extractors recognise.
    async fn inner(request: Request) -> Response {
        let (head, body) = request.into_parts();
        let body = Utf8Body::new(Limited::new(body, 10)).map_err(BodyError::into_boxed);
        let request = Request::from_parts(head, Body::new(body));
        match String::from_request(request, &()).await {
            Ok(text) => text.into_response(),
            Err(rejection) => rejection.into_response(),
        }
    }
    let address = serve(Router::new().route("/", post(inner))).await;
    let send = |bytes: &'static [u8]| upload(address, "/", "text/plain", pieces(bytes, 4));
    assert_eq!(send(b"ten bytes.").await.0, 200);
    assert_eq!(send(b"eleven byte").await.0, 413);
    assert_eq!(send(b"\xFF").await.0, 400);
}

#[tokio::test]
async fn map_response_validates_what_reqwest_receives() {
    let page = |media_type: &'static str, body: &'static [u8]| {
        get(move || async move { ([("content-type", media_type)], body) })
    };
    let router = Router::new()
        .route("/text", page("text/plain; charset=utf-8", b"caf\xC3\xA9"))
        .route("/damaged", page("text/html", b"caf\xE9"))
        .route("/latin1", page("text/plain; charset=latin1", b"caf\xE9"))
        .route("/image", page("image/png", b"\x89PNG"))
        .route("/unknown", page("text/plain; charset=klingon", b"nuqneH"));
    let address = serve(router).await;
    let client = checked_client(Client::new(), Utf8Layer::new());
    let get = async |path: &str| {
        let request = reqwest::Request::new(
            reqwest::Method::GET,
            format!("http://{address}{path}").parse().unwrap(),
        );
        let response = soon(client.clone().oneshot(request)).await.unwrap();
        let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
        let body = soon(response.into_body().collect()).await.map(|body| body.to_bytes());
        (media_type, body.map_err(|error| error.downcast::<BodyError>().unwrap().to_string()))
    };
    let text = |text: &'static str| Ok(Bytes::from(text));
    assert_eq!(get("/text").await, ("text/plain; charset=utf-8".to_owned(), text("café")));
    assert_eq!(get("/latin1").await, ("text/plain; charset=utf-8".to_owned(), text("café")));
    assert_eq!(get("/image").await.1, Ok(Bytes::from_static(b"\x89PNG")));
    let message = "invalid UTF-8 in the body at byte 3: unexpected end inside a character (e9)";
    assert_eq!(get("/damaged").await.1, Err(message.to_owned()));
    assert_eq!(get("/unknown").await.1, Err("unsupported charset: klingon".to_owned()));
}

#[tokio::test]
async fn media_types_that_the_caller_adds_are_validated_between_reqwest_and_axum() {
    let layer = Utf8Layer::new().with_media_types(&[
        "application/x-ndjson",
        "application/json-seq",
        "+xml",
        "application/yaml",
        "application/graphql",
        "application/x-www-form-urlencoded",
    ]);
    let echo = post(|body: Bytes| async { body });
    let address = serve(Router::new().route("/", echo).layer(layer)).await;
    for media_type in [
        "application/x-ndjson",
        "application/json-seq",
        "image/svg+xml",
        "application/yaml",
        "application/graphql",
        "application/x-www-form-urlencoded",
    ] {
        let good = upload(address, "/", media_type, pieces("café".as_bytes(), 1)).await;
        assert_eq!(good, (200, "café".to_owned()), "{media_type}");
        assert_eq!(
            upload(address, "/", media_type, pieces(b"caf\xE9", 1)).await.0,
            400,
            "{media_type}"
        );
    }
    assert_eq!(upload(address, "/", "application/pdf", pieces(b"caf\xE9", 1)).await.0, 200);
}

#[tokio::test]
async fn map_response_validates_what_a_server_sends() {
    let page = |body: &'static [u8]| {
        get(move || async move { ([("content-type", "text/plain; charset=latin1")], body) })
    };
    let json = get(|| async { ([("content-type", "application/json")], &b"\"caf\xE9\""[..]) });
    let layer = Utf8Layer::new().with_max_length(5);
    let check = MapResponseLayer::new(move |response: Response| layer.check_response(response));
    let router = Router::new()
        .route("/short", page(b"caf\xE9"))
        .route("/long", page(b"caf\xE9, th\xE9"))
        .route("/json", json)
        .layer(check);
    let address = serve(router).await;
    let get = async |path: &str| {
        let response = soon(reqwest::get(format!("http://{address}{path}"))).await?;
        let media_type = response.headers()["content-type"].to_str().unwrap().to_owned();
        Ok::<_, reqwest::Error>((media_type, soon(response.text()).await?))
    };
    let converted = ("text/plain; charset=utf-8".to_owned(), "café".to_owned());
    assert_eq!(get("/short").await.unwrap(), converted);
    assert!(get("/long").await.is_err(), "the response is aborted");
    assert!(get("/json").await.is_err(), "the response is aborted");
}

#[tokio::test]
async fn a_stream_of_text_is_a_body_of_axum_and_of_reqwest() {
    async fn repaired(body: Body) -> Body {
        let texts = body.into_data_stream().utf8().with_error_mode(ErrorMode::Replacement);
        Body::from_stream(texts.into_byte_stream())
    }
    let address = serve(Router::new().route("/", post(repaired))).await;
    let chunks = stream::iter([&b"caf\xC3"[..], b"\xA9"].map(Ok::<_, std::io::Error>));
    let body = reqwest::Body::wrap_stream(chunks.utf8().into_byte_stream());
    let response = soon(Client::new().post(format!("http://{address}/")).body(body).send()).await;
    assert_eq!(soon(response.unwrap().text()).await.unwrap(), "café");
    let answer = upload(address, "/", "text/plain", pieces(b"caf\xE9 \xE2\x82\xAC", 1)).await;
    assert_eq!(answer, (200, "caf\u{FFFD} €".to_owned()));
}

#[tokio::test]
async fn a_large_upload_is_checked_while_it_arrives() {
    let address = serve(router()).await;
    let text = Bytes::from("Привет\n".repeat(10_000));
    let chunks = stream::iter(std::iter::repeat_n(text, 64)).map(Ok::<_, Infallible>);
    let body = reqwest::Body::wrap_stream(chunks);
    let response = soon(Client::new().post(format!("http://{address}/lines")).body(body).send());
    let answer = soon(response.await.unwrap().text()).await.unwrap();
    assert_eq!(answer, "640000 lines, 0 damaged");
}

// ---- curl and node -------------------------------------------------------------------------------

/// The output of a program with this input, or `None` if it is not installed.
async fn output(program: &str, arguments: &[&str], input: &[u8]) -> Option<String> {
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let Ok(mut child) = child else {
        println!("SKIPPED: {program} is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    // The program may end before it has read everything.
    let _unread = stdin.write_all(input).await;
    drop(stdin);
    let output = soon(child.wait_with_output()).await.unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

#[tokio::test]
async fn curl_receives_the_answers() {
    let address = serve(router()).await;
    for (path, media_type, body, answer) in [
        ("/count", "text/plain", TEXT.as_bytes(), "21 200"),
        ("/count", "text/plain; charset=latin1", b"caf\xE9", "4 200"),
        ("/lines", "text/plain", b"a\n\xFF\nb", "3 lines, 1 damaged 200"),
        ("/json", "application/json", b"[1]", "[1] 200"),
        ("/json", "text/plain", b"[1]", "unsupported media type: text/plain 415"),
        (
            "/count",
            "text/plain",
            b"a\xFF",
            "invalid UTF-8 in the body at byte 1: invalid byte (ff) 400",
        ),
    ] {
        let url = format!("http://{address}{path}");
        let header = format!("content-type: {media_type}");
        for transfer in ["expect: 100-continue", "transfer-encoding: chunked"] {
            let arguments = [
                "--silent",
                "--max-time",
                "30",
                "--data-binary",
                "@-",
                "-H",
                &header,
                "-H",
                transfer,
                "-w",
                " %{http_code}",
                &url,
            ];
            let Some(found) = output("curl", &arguments, body).await else { return };
            assert_eq!(found, answer, "{path} {media_type} {transfer}");
        }
    }
}

#[tokio::test]
async fn node_fetch_receives_the_answers_to_streamed_bodies() {
    const SCRIPT: &str = r#"
        const [address] = process.argv.slice(1);
        const post = async (path, type, chunks) => {
            const body = new ReadableStream({
                async start(controller) {
                    for (const chunk of chunks) {
                        controller.enqueue(new Uint8Array(chunk));
                        await new Promise((resolve) => setTimeout(resolve, 5));
                    }
                    controller.close();
                },
            });
            const headers = { "content-type": type };
            const answer = await fetch(address + path, { method: "POST", body, headers, duplex: "half" });
            console.log(answer.status, await answer.text());
        };
        await post("/count", "text/plain", [[0x35, 0xe2], [0x82], [0xac]]);
        await post("/echo", "text/plain; charset=utf-16be", [[0xd8], [0x3e, 0xdd], [0x80]]);
        await post("/count", "text/plain", [[0x35, 0xe2], [0x82]]);
        await post("/json", "application/json", [[0x5b], [0x5d]]);
        await post("/json", "text/html", [[0x5b], [0x5d]]);
    "#;
    let address = format!("http://{}", serve(router()).await);
    let arguments = ["--input-type=module", "--eval", SCRIPT, &address];
    let Some(found) = output("node", &arguments, b"").await else { return };
    let expected = "200 2\n200 🦀\n\
        400 invalid UTF-8 in the body at byte 1: unexpected end inside a character (e2 82)\n\
        200 []\n415 unsupported media type: text/html\n";
    assert_eq!(found, expected);
}
