//! The upload server with real clients: reqwest, hyper, and a socket for what those cannot do.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, FuturesUnordered};
use futures::{StreamExt, channel::mpsc};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use reqwest::Client;
use serde_json::{Value, json};
use servers::upload::{Limits, start};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const TEXT: &str = "Grüße\nПривет\n色は匂へど 👋🏽";

const LIMIT: u64 = 1000;

async fn server() -> SocketAddr {
    server_with(Limits::default()).await
}

async fn server_with(limits: Limits) -> SocketAddr {
    start(Limits { body: LIMIT, ..limits }).await.unwrap().0
}

async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future).await.expect("hangs")
}

/// The status and the answer to an upload by reqwest.
async fn post(address: SocketAddr, charset: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
    let request = Client::new().post(format!("http://{address}/")).body(body);
    let content_type = format!("text/plain; charset={charset}");
    let response = soon(request.header("content-type", content_type).send()).await.unwrap();
    let status = response.status().as_u16();
    (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}

/// A body in these chunks.
fn chunked(chunks: Vec<Vec<u8>>) -> reqwest::Body {
    reqwest::Body::wrap_stream(stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)))
}

fn counts(text: &str) -> Value {
    let lines = text.split_inclusive('\n').count();
    json!({ "charset": "UTF-8", "bytes": text.len(), "chars": text.chars().count(), "lines": lines })
}

// ---- reqwest ----------------------------------------------------------------------------------

#[tokio::test]
async fn every_split_gives_the_same_answer() {
    let address = server().await;
    for at in 0..=TEXT.len() {
        let (before, after) = TEXT.as_bytes().split_at(at);
        let answer = post(address, "utf-8", chunked(vec![before.into(), after.into()])).await;
        assert_eq!(answer, (200, counts(TEXT)), "{at}");
    }
    for size in 1..7 {
        let chunks = TEXT.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
        assert_eq!(post(address, "UTF8", chunked(chunks)).await, (200, counts(TEXT)), "{size}");
    }
    assert_eq!(post(address, "utf-8", TEXT).await, (200, counts(TEXT)), "with a content-length");
    assert_eq!(post(address, "utf-8", "").await, (200, counts("")));
}

#[tokio::test]
async fn a_400_response_has_the_same_offset_at_every_split() {
    let address = server().await;
    let bytes = b"Gr\xC3\xBC\xC3\x9Fe\n\xE8\x89\xB2 \xED\xA0\x80 later \xFF";
    for size in 1..=bytes.len() {
        let chunks = bytes.chunks(size).map(<[u8]>::to_vec).collect();
        let (status, answer) = post(address, "utf-8", chunked(chunks)).await;
        let error = "invalid UTF-8 in the body at byte 12: \
                     encoded surrogate (ed, followed by a0)";
        let expected = json!({
            "error": error, "kind": "encoded surrogate", "offset": 12, "line": 2, "bytes": "ed",
        });
        assert_eq!((status, answer), (400, expected), "{size}");
    }
    let (status, answer) = post(address, "utf-8", chunked(vec![b"a\xF0\x9F".into()])).await;
    assert_eq!(
        (status, &answer["kind"], &answer["offset"]),
        (400, &json!("unexpected end inside a character"), &json!(1))
    );
}

#[tokio::test]
async fn other_charsets_are_decoded_and_counted() {
    let address = server().await;
    let utf16: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for size in [1, 2, 3, 1000] {
        let chunks = utf16.chunks(size).map(<[u8]>::to_vec).collect();
        let (status, mut answer) = post(address, "utf-16be", chunked(chunks)).await;
        assert_eq!((status, answer["charset"].take()), (200, json!("UTF-16BE")));
        let mut expected = counts(TEXT);
        expected["charset"].take();
        assert_eq!(answer, expected);
    }
    let (status, answer) = post(address, "euc-jp", &b"ok\n\xFF"[..]).await;
    let expected = json!({
        "error": "invalid EUC-JP in the body at byte 3: ill-formed bytes (ff)",
        "kind": "ill-formed", "offset": 3, "line": 2, "bytes": "ff",
    });
    assert_eq!((status, answer), (400, expected));
    for charset in ["klingon", "\"\"", "iso-2022-kr"] {
        let (status, answer) = post(address, charset, "text").await;
        assert_eq!((status, &answer["kind"]), (415, &json!("charset")), "{charset}");
    }
    let (status, answer) = post(address, "", "text").await;
    assert_eq!((status, &answer["error"]), (400, &json!("malformed Content-Type at byte 20")));
}

#[tokio::test]
async fn the_charset_of_the_answer_has_the_byte_order_of_the_bom() {
    let address = server().await;
    for (unit, name) in
        [(u16::to_le_bytes as fn(u16) -> [u8; 2], "UTF-16LE"), (u16::to_be_bytes, "UTF-16BE")]
    {
        for charset in ["utf-16", "utf-16le", "utf-16be"] {
            let bytes: Vec<u8> = "\u{FEFF}é\n".encode_utf16().flat_map(unit).collect();
            for size in [1, 3, 100] {
                let chunks = bytes.chunks(size).map(<[u8]>::to_vec).collect();
                let (status, answer) = post(address, charset, chunked(chunks)).await;
                assert_eq!((status, &answer["charset"]), (200, &json!(name)), "{charset}");
            }
        }
    }
}

#[tokio::test]
async fn a_broken_body_is_explained_once() {
    let address = server().await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot a number\r\n";
    ask(&mut socket, head).await;
    let mut answer = Vec::new();
    let _reset = soon(socket.read_to_end(&mut answer)).await;
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let error = answer["error"].as_str().unwrap();
    let causes: Vec<_> = error.split(": ").collect();
    let repeated = causes.iter().enumerate().find(|(n, cause)| causes[..*n].contains(cause));
    assert_eq!(repeated, None, "{error}");
}

#[tokio::test]
async fn too_long_uploads_are_rejected_with_and_without_content_length() {
    let address = server().await;
    let fits = "x".repeat(LIMIT as usize);
    assert_eq!(post(address, "utf-8", fits.clone()).await.0, 200);
    assert_eq!(post(address, "utf-8", chunked(vec![fits.clone().into()])).await.0, 200);
    let error = "body or its text is longer than 1000 bytes";
    let too_long = json!({ "error": error, "kind": "too long", "limit": 1000 });
    let chunks = vec![fits.clone().into(), b"x".to_vec()];
    assert_eq!(post(address, "utf-8", chunked(chunks)).await, (413, too_long.clone()));
    assert_eq!(post(address, "utf-8", fits + "x").await, (413, too_long));
}

#[tokio::test]
async fn concurrent_clients_each_get_their_own_answer() {
    let address = server().await;
    let clients: FuturesUnordered<_> = (0..50)
        .map(|n| async move {
            let text = TEXT.repeat(n % 10);
            let chunks = text.as_bytes().chunks(n + 1).map(<[u8]>::to_vec).collect();
            assert_eq!(post(address, "utf-8", chunked(chunks)).await, (200, counts(&text)));
        })
        .collect();
    soon(clients.collect::<Vec<_>>()).await;
}

// ---- hyper ------------------------------------------------------------------------------------

type Frames = StreamBody<mpsc::UnboundedReceiver<Result<Frame<Bytes>, Infallible>>>;

/// A body whose frames come from a channel.
fn frames() -> (mpsc::UnboundedSender<Result<Frame<Bytes>, Infallible>>, Frames) {
    let (sender, receiver) = mpsc::unbounded();
    (sender, StreamBody::new(receiver))
}

/// A connection of hyper.
enum Connection<B> {
    Http1(http1::SendRequest<B>),
    Http2(http2::SendRequest<B>),
}

impl<B> Connection<B>
where
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    async fn new(address: SocketAddr, version: Version) -> Self {
        let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
        if version == Version::HTTP_2 {
            let (sender, connection) =
                http2::handshake(TokioExecutor::new(), socket).await.unwrap();
            tokio::spawn(connection);
            return Self::Http2(sender);
        }
        let (sender, connection) = http1::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        Self::Http1(sender)
    }

    async fn send(&mut self, request: Request<B>) -> Response<Incoming> {
        let response = match self {
            Self::Http1(sender) => soon(sender.send_request(request)).await,
            Self::Http2(sender) => soon(sender.send_request(request)).await,
        };
        response.unwrap()
    }
}

/// Uploads a body over a connection of its own.
async fn upload(address: SocketAddr, version: Version, body: Frames) -> (u16, Value) {
    let request = Request::post(format!("http://{address}/"))
        .header("host", "x")
        .header("trailer", "x-checksum")
        .body(body)
        .unwrap();
    let response = Connection::new(address, version).await.send(request).await;
    assert_eq!(response.version(), version);
    let status = response.status().as_u16();
    let answer = soon(response.into_body().collect()).await.unwrap().to_bytes();
    (status, serde_json::from_slice(&answer).unwrap())
}

#[tokio::test]
async fn an_idle_connection_leaves_its_place_to_others() {
    let limits = Limits { header: Duration::from_millis(300), connections: 1, ..Limits::default() };
    for version in [Version::HTTP_11, Version::HTTP_2] {
        let address = server_with(limits).await;
        let mut idle = Connection::new(address, version).await;
        let request = Request::post(format!("http://{address}/")).header("host", "x");
        let response = idle.send(request.body(Full::<Bytes>::from("first")).unwrap()).await;
        assert_eq!(response.status(), 200);
        // It answers every PING, and keeps the connection.
        let (status, answer) = soon(post(address, "utf-8", "next")).await;
        assert_eq!((status, answer), (200, counts("next")), "{version:?}");
        drop(idle);
    }
}

fn trailers() -> Frame<Bytes> {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-checksum", HeaderValue::from_static("42"));
    Frame::trailers(trailers)
}

#[tokio::test]
async fn an_incomplete_end_before_trailers_is_reported() {
    let address = server().await;
    for version in [Version::HTTP_11, Version::HTTP_2] {
        for size in [1, 2, 5, 100] {
            let (sender, body) = frames();
            for chunk in TEXT.as_bytes().chunks(size) {
                sender.unbounded_send(Ok(Frame::data(Bytes::from_static(chunk)))).unwrap();
            }
            sender.unbounded_send(Ok(trailers())).unwrap();
            drop(sender);
            assert_eq!(upload(address, version, body).await, (200, counts(TEXT)), "{version:?}");
        }
        let (sender, body) = frames();
        sender.unbounded_send(Ok(Frame::data(Bytes::from_static(b"ok \xE2\x82")))).unwrap();
        sender.unbounded_send(Ok(trailers())).unwrap();
        drop(sender);
        let (status, answer) = upload(address, version, body).await;
        assert_eq!(
            (status, &answer["kind"]),
            (400, &json!("unexpected end inside a character")),
            "{version:?}"
        );
        assert_eq!(answer["offset"], json!(3));
    }
}

#[tokio::test]
async fn an_error_is_answered_before_the_body_ends() {
    let address = server().await;
    for version in [Version::HTTP_11, Version::HTTP_2] {
        let (sender, body) = frames();
        sender.unbounded_send(Ok(Frame::data(Bytes::from_static(b"abc\xE2\x82")))).unwrap();
        sender.unbounded_send(Ok(Frame::data(Bytes::from_static(b"d")))).unwrap();
        let (status, answer) = upload(address, version, body).await;
        assert_eq!((status, &answer["kind"]), (400, &json!("truncated character")), "{version:?}");
        drop(sender); // open until here
    }
}

#[tokio::test]
async fn a_client_that_keeps_sending_can_read_the_rejection() {
    let address = server().await;
    // More than a socket buffers; the server reads and discards it.
    let bytes = Bytes::from([b"\xFF".to_vec(), vec![b'x'; 800_000]].concat());
    let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) = hyper::client::conn::http1::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post("/").header("host", "x");
    let chunks =
        (0..bytes.len()).step_by(1000).map(|at| bytes.slice(at..bytes.len().min(at + 1000)));
    let chunks: Vec<_> = chunks.map(|chunk| Ok::<_, Infallible>(Frame::data(chunk))).collect();
    let request = request.body(StreamBody::new(stream::iter(chunks))).unwrap();
    let response = soon(sender.send_request(request)).await.unwrap();
    assert_eq!(response.status(), 400);
    soon(response.into_body().collect()).await.unwrap();
    // The whole body has been read, so the connection accepts another request.
    soon(sender.ready()).await.unwrap();
}

#[tokio::test]
async fn several_uploads_share_a_connection() {
    let address = server().await;
    let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) = hyper::client::conn::http1::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    for (body, status) in [("ok", 200), ("\u{FEFF}bom", 200), ("again", 200)] {
        soon(sender.ready()).await.unwrap();
        let request = Request::put("/")
            .header("host", "x")
            .header(CONTENT_TYPE, "text/plain")
            .body(Full::<Bytes>::from(body))
            .unwrap();
        let response = soon(sender.send_request(request)).await.unwrap();
        assert_eq!(response.status(), status);
        let answer = soon(response.into_body().collect()).await.unwrap().to_bytes();
        assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap(), counts(body));
    }
}

// ---- a socket -----------------------------------------------------------------------------------

/// Sends these bytes, and reads up to the first empty line.
async fn ask(socket: &mut TcpStream, bytes: &[u8]) -> String {
    socket.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(soon(socket.read_u8()).await.unwrap());
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_client_waiting_for_100_continue_receives_it() {
    let mut socket = TcpStream::connect(server().await).await.unwrap();
    let head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
    let answer = ask(&mut socket, head).await;
    assert!(answer.starts_with("HTTP/1.1 100 "), "{answer}");
    let answer = ask(&mut socket, "€".as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn a_client_waiting_for_100_continue_can_be_rejected_first() {
    let address = server().await;
    for (fields, status) in [
        ("Content-Length: 1001\r\n", "413"),
        ("Content-Length: 3\r\nContent-Type: text/plain; charset=klingon\r\n", "415"),
        ("Transfer-Encoding: chunked\r\nContent-Type: text/plain; charset=\r\n", "400"),
    ] {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let head = format!("POST / HTTP/1.1\r\nHost: x\r\n{fields}Expect: 100-continue\r\n\r\n");
        let answer = ask(&mut socket, head.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        let mut rest = String::new();
        soon(socket.read_to_string(&mut rest)).await.unwrap();
        assert!(!rest.contains("100 Continue"), "{rest}");
    }
}

/// The bodies are longer than the buffers of the sockets.
#[tokio::test]
async fn a_client_that_reads_after_it_has_sent_everything_receives_the_rejection() {
    let address = server().await;
    let body = vec![b'x'; 16 << 20];
    for (charset, first, status) in
        [("utf-8", b'\xFF', "400"), ("utf-8", b'x', "413"), ("klingon", b'x', "415")]
    {
        let mut socket = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain; charset={charset}\r\n\
             Transfer-Encoding: chunked\r\n\r\n1\r\n"
        );
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(&[first]).await.unwrap();
        let size = format!("\r\n{:x}\r\n", body.len());
        socket.write_all(size.as_bytes()).await.unwrap();
        let sent = soon(socket.write_all(&body)).await;
        assert!(sent.is_ok(), "{status}: {sent:?} while sending");
        let answer = ask(&mut socket, b"\r\n0\r\n\r\n").await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

#[tokio::test]
async fn a_rejected_client_that_never_stops_sending_is_disconnected() {
    let brief = Duration::from_millis(200);
    for limits in [
        Limits { drain_bytes: 1 << 20, ..Limits::default() },
        Limits { drain: brief, drain_bytes: u64::MAX, ..Limits::default() },
    ] {
        let mut socket = TcpStream::connect(server_with(limits).await).await.unwrap();
        let head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000000\r\n\r\n\xFF";
        let answer = ask(&mut socket, head).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        let piece = vec![b'x'; 1 << 16];
        soon(async { while socket.write_all(&piece).await.is_ok() {} }).await;
    }
}

// ---- clients that take their time ----------------------------------------------------------------

/// Limits that end within a test.
fn brief() -> Limits {
    let brief = Duration::from_millis(300);
    Limits { header: brief, idle: brief, write: brief, ..Limits::default() }
}

/// Sends `bytes`, then one byte of `drip` at a time, and returns what the server sends before it closes.
async fn drip(address: SocketAddr, bytes: &[u8], drip: &[u8]) -> String {
    let socket = TcpStream::connect(address).await.unwrap();
    let (mut read, mut write) = socket.into_split();
    write.write_all(bytes).await.unwrap();
    let drip = drip.to_vec();
    let dripping = tokio::spawn(async move {
        for byte in drip.iter().cycle() {
            tokio::time::sleep(Duration::from_millis(50)).await;
            if write.write_all(&[*byte]).await.is_err() {
                return;
            }
        }
        std::future::pending().await
    });
    let mut answer = Vec::new();
    // A connection closed with unread bytes is reset.
    let _reset = soon(read.read_to_end(&mut answer)).await;
    dripping.abort();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn silent_and_slow_headers_are_disconnected() {
    let address = server_with(brief()).await;
    let (whole, half) =
        (b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", b"PUT / HTTP/1.1\r\nHo");
    let cases = [
        (&b""[..], &b""[..], false),
        (b"P", b"", false),
        (b"PRI * HTTP", b"", false),
        (half, b"", false),
        (half, b"x", false),
        (whole, b"", true),
        (whole, b"PUT / HTTP/1.1\r\nH", true),
    ];
    // They run at the same time, because each of them waits.
    let clients = cases.map(async |(bytes, slowly, answered)| {
        let answer = drip(address, bytes, slowly).await;
        assert_eq!(answer.starts_with("HTTP/1.1 200 "), answered, "{answer}");
    });
    futures::future::join_all(clients).await;
}

#[tokio::test]
async fn silent_and_slow_bodies_are_answered_with_408() {
    let upload = Limits { upload: Duration::from_millis(300), ..Limits::default() };
    for (limits, slowly) in [(brief(), &b""[..]), (upload, b"x")] {
        let address = server_with(limits).await;
        for head in ["Content-Length: 500", "Transfer-Encoding: chunked"] {
            let request = format!("POST / HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n1f4\r\nabc");
            let answer = drip(address, request.as_bytes(), slowly).await;
            assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
            assert!(answer.contains("\"kind\":\"timeout\""), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let address = server_with(brief()).await;
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".repeat(1000);
    soon(async { while socket.write_all(&request).await.is_ok() {} }).await;
}

#[tokio::test]
async fn a_client_of_http_2_that_accepts_no_data_is_disconnected() {
    let address = server_with(Limits { upload: Duration::from_millis(300), ..brief() }).await;
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(0);
    let socket = TcpStream::connect(address).await.unwrap();
    let handshake = builder.handshake::<_, Full<Bytes>>(TokioIo::new(socket)).await;
    let (mut client, connection) = handshake.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::post(format!("http://{address}/")).body(Full::from("text")).unwrap();
    // Its answer has begun, and waits for a window. Every PING is answered.
    let response = soon(client.send_request(request)).await.unwrap();
    assert_eq!(response.status(), 200);
    let _lost = soon(connection).await.unwrap();
    assert!(soon(response.into_body().collect()).await.is_err());
}

#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let address = server_with(Limits { connections: 1, ..Limits::default() }).await;
    let request = b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
    let mut first = TcpStream::connect(address).await.unwrap();
    ask(&mut first, request).await;
    let mut second = TcpStream::connect(address).await.unwrap();
    second.write_all(request).await.unwrap();
    let waiting = timeout(Duration::from_millis(200), second.read_u8()).await;
    assert!(waiting.is_err(), "it is answered: {waiting:?}");
    drop(first);
    assert_eq!(soon(second.read_u8()).await.unwrap(), b'H');
}

#[tokio::test]
async fn disconnects_and_malformed_requests_do_not_affect_other_clients() {
    let address = server().await;
    let heads = [
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc€",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot a number\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\n",
        "",
        "\u{FEFF}\r\n\r\n",
    ];
    for head in heads {
        for cut in [0, 1, 2] {
            let mut socket = TcpStream::connect(address).await.unwrap();
            socket.write_all(&head.as_bytes()[..head.len().saturating_sub(cut)]).await.unwrap();
            if cut == 1 {
                socket.set_zero_linger().unwrap(); // a reset instead of an end
            }
            drop(socket);
        }
        assert_eq!(post(address, "utf-8", TEXT).await, (200, counts(TEXT)), "{head:?}");
    }
}

#[tokio::test]
async fn one_byte_chunks_with_extensions_and_trailers_are_read() {
    let mut socket = TcpStream::connect(server().await).await.unwrap();
    let mut request = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for byte in "œuf\n".as_bytes() {
        request.extend_from_slice(b"1;ext=\"\xC3\"\r\n");
        request.extend_from_slice(&[*byte, b'\r', b'\n']);
    }
    request.extend_from_slice(b"0\r\nX-Trailer: 1\r\n\r\n");
    // In packets of different sizes.
    for piece in request.chunks(3) {
        socket.write_all(piece).await.unwrap();
        socket.flush().await.unwrap();
        tokio::task::yield_now().await;
    }
    let answer = ask(&mut socket, b"").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}
