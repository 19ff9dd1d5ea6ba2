//! The extractors and the layers with real peers: axum, tower-http and reqwest, curl and node, over loopback
//! sockets. A peer that is not installed is skipped, and named.

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body_util::BodyExt;
use reqwest::Client;
use servers::text::{checked_client, router};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::time::timeout;
use tower::ServiceExt;
use tower::util::MapResponseLayer;
use tower_http::limit::RequestBodyLimitLayer;
use utf8_codec::ErrorMode;
use utf8_codec::payload::http::{BodyError, Utf8Body, Utf8Layer, Utf8Text};
use utf8_codec::stream::Utf8StreamExt;

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

// ---- axum and reqwest ----------------------------------------------------------------------------

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

#[tokio::test]
async fn limits_of_axum_and_of_tower_http_are_answered_with_413() {
    async fn count(body: Utf8Body<Body>) -> Result<String, BodyError> {
        Ok(body.collect_text(1 << 20).await?.len().to_string())
    }
    let own = post(|body: Utf8Body<Body>| async { count(body.with_max_length(10)).await });
    let router = Router::new()
        .route("/extractor", post(|Utf8Text(text): Utf8Text| async { text }))
        .layer(DefaultBodyLimit::max(10))
        .route("/tower-http", post(count).layer(RequestBodyLimitLayer::new(10)))
        .route("/own", own)
        // The limit is inside, and axum's own extractor answers.
        .route(
            "/layer",
            post(|text: String| async { text }).layer(Utf8Layer::new().with_max_length(10)),
        );
    let address = serve(router).await;
    for path in ["/extractor", "/tower-http", "/own", "/layer"] {
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
async fn a_limit_outside_of_the_text_is_recognised_by_axum() {
    // `into_boxed` makes the error that axum's extractors recognise.
    async fn inner(request: Request) -> Response {
        let (head, body) = request.into_parts();
        let body = Utf8Body::new(body).with_max_length(10).map_err(BodyError::into_boxed);
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
