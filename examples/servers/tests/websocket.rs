//! The WebSocket server with real clients, over loopback sockets.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use futures::{SinkExt, StreamExt};
use serde_json::Value;
use servers::websocket::client::{Client, Frame, masked, self_test};
use servers::websocket::{Report, Server, Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame as RawFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use utf8_codec::websocket::{Opcode, parse_close};

const TEXT: &str = "Grüße, κόσμε, 日本語, 🦀 \u{FEFF}\u{10FFFF}";
const MIB: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(30);

type Tungstenite = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Starts a server, and passes its address to `client`.
fn with_server<F: Future<Output = ()>>(max_length: u64, client: impl FnOnce(SocketAddr) -> F) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0), max_length).await.unwrap();
        let address = server.address().unwrap();
        tokio::spawn(server.run());
        timeout(PATIENCE, client(address)).await.expect("timed out");
        // The server still works after any client.
        let mut other = tungstenite(address).await;
        other.send(Message::text("still there?")).await.unwrap();
        assert_eq!(other.next().await.unwrap().unwrap(), Message::text("still there?"));
        other.close(None).await.unwrap();
    });
}

async fn tungstenite(address: SocketAddr) -> Tungstenite {
    let url = format!("ws://{address}/echo");
    connect_async_with_config(url, None, true).await.unwrap().0
}

async fn raw(address: SocketAddr) -> Client {
    Client::connect(address, "/echo").await.unwrap()
}

/// The code and the reason that the server closes with.
async fn closed(client: &mut Client) -> (u16, String) {
    let (code, reason) = client.closed().await.unwrap().expect("a code");
    (code, reason.into())
}

fn text_frame(data: &[u8], first: bool, fin: bool) -> Message {
    let data_opcode = if first { Data::Text } else { Data::Continue };
    Message::Frame(RawFrame::message(data.to_vec(), OpCode::Data(data_opcode), fin))
}

// ---- clients that follow the protocol -----------------------------------------------------------

#[test]
fn the_self_test_passes() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(self_test()).unwrap();
}

#[test]
fn messages_of_every_size_are_echoed() {
    with_server(16 * MIB, |address| async move {
        let mut client = tungstenite(address).await;
        for len in [0, 1, 2, 125, 126, 127, 1460, 65_535, 65_536, 70_001, 1_000_000] {
            for text in ["a", "é", "語", "🦀"] {
                let message =
                    Message::text(text.repeat(len / text.len()) + &"x".repeat(len % text.len()));
                client.send(message.clone()).await.unwrap();
                assert_eq!(client.next().await.unwrap().unwrap(), message);
            }
            let message = Message::binary(vec![0xFF; len]);
            client.send(message.clone()).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), message);
        }
    });
}

#[test]
fn pipelined_messages_are_echoed_in_order() {
    with_server(MIB, |address| async move {
        let (mut sink, mut stream) = tungstenite(address).await.split();
        let message = |n: usize| Message::text(TEXT.repeat(n % 50) + &n.to_string());
        let sending = async {
            for n in 0..3000 {
                sink.feed(message(n)).await.unwrap();
            }
            sink.flush().await.unwrap();
        };
        let receiving = async {
            for n in 0..3000 {
                assert_eq!(stream.next().await.unwrap().unwrap(), message(n));
            }
        };
        tokio::join!(sending, receiving);
    });
}

#[test]
fn a_message_fragmented_at_any_byte_is_echoed() {
    with_server(MIB, |address| async move {
        let mut client = tungstenite(address).await;
        for at in 0..=TEXT.len() {
            let (first, second) = TEXT.as_bytes().split_at(at);
            client.send(text_frame(first, true, false)).await.unwrap();
            client.send(Message::Ping(vec![0xFF, 0xC0].into())).await.unwrap();
            client.send(text_frame(second, false, true)).await.unwrap();
            let pong = client.next().await.unwrap().unwrap();
            assert_eq!(pong, Message::Pong(vec![0xFF, 0xC0].into()), "{at}");
            assert_eq!(client.next().await.unwrap().unwrap(), Message::text(TEXT), "{at}");
        }
    });
}

#[test]
fn one_byte_fragments_are_echoed_as_one_message() {
    with_server(MIB, |address| async move {
        let mut client = tungstenite(address).await;
        let text = TEXT.repeat(2000);
        for (n, byte) in text.bytes().enumerate() {
            client.feed(text_frame(&[byte], n == 0, n + 1 == text.len())).await.unwrap();
        }
        client.flush().await.unwrap();
        assert_eq!(client.next().await.unwrap().unwrap(), Message::text(text));
    });
}

#[test]
fn the_closing_handshake_returns_the_code() {
    with_server(MIB, |address| async move {
        let mut client = tungstenite(address).await;
        let close = CloseFrame { code: CloseCode::Library(4321), reason: "☃".into() };
        client.close(Some(close.clone())).await.unwrap();
        assert_eq!(client.next().await.unwrap().unwrap(), Message::Close(Some(close)));
        assert!(client.next().await.is_none());

        let mut client = tungstenite(address).await;
        client.close(None).await.unwrap();
        assert_eq!(client.next().await.unwrap().unwrap(), Message::Close(None));
        assert!(client.next().await.is_none());
    });
}

// ---- clients that break the protocol ------------------------------------------------------------

#[test]
fn invalid_text_closes_with_1007() {
    with_server(MIB, |address| async move {
        let bad: [&[u8]; 6] = [
            b"\xFF",
            b"abc\xC0\xAF",
            b"\xED\xA0\x80",
            b"\xF4\x90\x80\x80",
            b"half \xE2\x82",
            b"\x80",
        ];
        for bytes in bad {
            for cut in 0..=bytes.len() {
                let mut client = tungstenite(address).await;
                let (first, second) = bytes.split_at(cut);
                client.feed(text_frame(first, true, false)).await.unwrap();
                client.feed(text_frame(second, false, true)).await.unwrap();
                // The server may have closed already.
                let _gone = client.flush().await;
                let Some(Ok(Message::Close(Some(close)))) = client.next().await else {
                    panic!("{bytes:02x?} cut at {cut} is not rejected")
                };
                assert_eq!(close.code, CloseCode::Invalid, "{bytes:02x?} cut at {cut}");
            }
        }
    });
}

#[test]
fn a_1_gib_frame_is_rejected_at_its_first_invalid_byte() {
    with_server(1 << 30, |address| async move {
        for (text, times) in [("a", 700), ("é", 350), ("語", 333), ("🦀", 1), (TEXT, 10_000)] {
            let mut client = raw(address).await;
            let mut payload = text.repeat(times).into_bytes();
            let place = payload.len();
            payload.extend(b"\xED\xA0");
            client.send(&Client::header(Opcode::Text, true, 1 << 30)).await.unwrap();
            // Nothing else is sent.
            client.send(&masked(&payload)).await.unwrap();
            let reason =
                format!("invalid UTF-8 at byte {place}: encoded surrogate (ed, followed by a0)");
            assert_eq!(closed(&mut client).await, (1007, reason));
        }
    });
}

/// Each case of the vectors, sent chop by chop, is echoed or rejected with its code. A rejection before the end
/// is decided by its first invalid byte: nothing is sent after that byte.
#[test]
fn every_vector_is_echoed_or_closed_as_expected() {
    with_server(MIB, |address| async move {
        let cases = cases();
        assert!(cases.len() > 220, "only {} cases", cases.len());
        for case in cases {
            let expect = &case["expect"];
            let mut client = raw(address).await;
            let mut allowed =
                expect["fail_fast_at"].as_u64().map_or(usize::MAX, |at| at as usize + 1);
            for frame in case["frames"].as_array().unwrap() {
                let chops: Vec<_> = frame["chops"].as_array().unwrap().iter().map(unhex).collect();
                let payload = chops.concat();
                let opcode = Opcode::try_from(frame["opcode"].as_u64().unwrap() as u8).unwrap();
                let bytes = Client::frame(opcode, frame["fin"] == true, &payload);
                let (header, mut payload) = bytes.split_at(bytes.len() - payload.len());
                client.send(header).await.unwrap();
                for chop in &chops {
                    let (piece, rest) = payload.split_at(chop.len());
                    payload = rest;
                    if opcode.is_control() {
                        client.send(piece).await.unwrap();
                        continue;
                    }
                    let len = piece.len().min(allowed);
                    client.send(&piece[..len]).await.unwrap();
                    allowed -= len;
                    if allowed == 0 {
                        break;
                    }
                }
                if allowed == 0 {
                    break;
                }
            }
            let id = &case["id"];
            if let Some(echo) = expect["ws"]["echo"].as_str() {
                let wanted = Frame { opcode: Opcode::Text, payload: unhex(&echo.into()).into() };
                loop {
                    let frame = client.receive().await.unwrap().unwrap();
                    if frame.opcode != Opcode::Pong {
                        assert_eq!(frame, wanted, "{id}");
                        break;
                    }
                }
                client.send_frame(Opcode::Close, true, b"\x03\xE8").await.unwrap();
            }
            let code = expect["ws"]["close"].as_u64().unwrap();
            assert_eq!(u64::from(closed(&mut client).await.0), code, "{id}");
        }
    });
}

#[test]
fn a_connection_lost_inside_a_character_does_not_affect_others() {
    with_server(MIB, |address| async move {
        let mut client = raw(address).await;
        client.send_frame(Opcode::Text, false, b"half a \xE2\x82").await.unwrap();
        client.send_frame(Opcode::Close, true, b"\x03\xE8").await.unwrap();
        assert_eq!(closed(&mut client).await.0, 1000);

        for end in 0..20 {
            let mut client = raw(address).await;
            let bytes = Client::frame(Opcode::Text, true, "日本語語".as_bytes());
            client.send(&bytes[..end.min(bytes.len() - 1)]).await.unwrap();
            drop(client);
        }
    });
}

#[test]
fn a_too_long_message_closes_with_1009() {
    with_server(1000, |address| async move {
        let mut client = raw(address).await;
        client.send(&Client::header(Opcode::Text, true, 1001)).await.unwrap();
        assert_eq!(closed(&mut client).await.0, 1009);

        let mut client = raw(address).await;
        client.send(&Client::header(Opcode::Text, true, u64::MAX >> 1)).await.unwrap();
        assert_eq!(closed(&mut client).await.0, 1009);

        let mut client = tungstenite(address).await;
        client.send(Message::text("a".repeat(1000))).await.unwrap();
        assert_eq!(client.next().await.unwrap().unwrap(), Message::text("a".repeat(1000)));
        client.send(Message::text("a".repeat(1001))).await.unwrap();
        let Some(Ok(Message::Close(Some(close)))) = client.next().await else {
            panic!("it is not rejected")
        };
        assert_eq!(close.code, CloseCode::Size);
    });
}

#[test]
fn an_endless_message_closes_with_1009() {
    with_server(100_000, |address| async move {
        for opcode in [Opcode::Text, Opcode::Binary] {
            for size in [1, 1000] {
                let mut client = raw(address).await;
                let mut frames = Client::frame(opcode, false, b"");
                let more = Client::frame(Opcode::Continuation, false, &vec![b'a'; size]);
                frames.extend(more.repeat(100_000 / size + 1));
                client.send(&frames).await.unwrap();
                assert_eq!(closed(&mut client).await.0, 1009, "{opcode:?} in {size}");
            }
        }
    });
}

#[test]
fn protocol_violations_close_with_1002() {
    let frame = Client::frame;
    let cases: [(&str, Vec<u8>); 12] = [
        ("continuation of nothing", frame(Opcode::Continuation, true, b"")),
        (
            "text within text",
            [frame(Opcode::Text, false, b"a"), frame(Opcode::Text, true, b"b")].concat(),
        ),
        ("fragmented ping", frame(Opcode::Ping, false, b"")),
        ("long ping", Client::header(Opcode::Ping, true, 126)),
        ("close code of one byte", frame(Opcode::Close, true, b"\x03")),
        ("close code 1005", frame(Opcode::Close, true, b"\x03\xED")),
        ("close code 5000", frame(Opcode::Close, true, b"\x13\x88")),
        ("not masked", vec![0x81, 0x00]),
        ("a bit of an extension", vec![0xC1, 0x80, 0, 0, 0, 0]),
        ("reserved opcode", vec![0x8B]),
        ("length in too many bytes", vec![0x81, 0xFE, 0, 5]),
        ("length of 64 bits", vec![0x82, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0]),
    ];
    with_server(MIB, |address| async move {
        for (name, bytes) in cases {
            for size in [1, bytes.len()] {
                let mut client = raw(address).await;
                for piece in bytes.chunks(size) {
                    client.send(piece).await.unwrap();
                }
                let (code, reason) = closed(&mut client).await;
                assert_eq!(code, 1002, "{name}: {reason}");
            }
        }
    });
}

#[test]
fn an_invalid_close_reason_closes_with_1007() {
    with_server(MIB, |address| async move {
        let mut client = raw(address).await;
        client
            .send_frame(Opcode::Close, true, b"\x03\xE8\xCE\xBA\xE1\xBD\xB9\xED\xA0\x80")
            .await
            .unwrap();
        assert_eq!(closed(&mut client).await.0, 1007);
    });
}

#[test]
fn a_client_that_keeps_sending_receives_the_close_frame() {
    with_server(MIB, |address| async move {
        let mut client = raw(address).await;
        client.send_frame(Opcode::Text, false, b"\xFF").await.unwrap();
        let more = Client::frame(Opcode::Continuation, false, &[b'a'; 60_000]);
        for _ in 0..100 {
            client.send(&more).await.unwrap();
        }
        assert_eq!(closed(&mut client).await.0, 1007);
    });
}

/// RFC 6455 section 7.1.1: the server closes the socket only after it has read what the client sent.
#[test]
fn a_client_that_sends_a_long_frame_first_receives_1007() {
    with_server(MIB, |address| async move {
        let mut text = vec![b'x'; 500_000];
        text[100] = 0xFF;
        for _ in 0..20 {
            let mut client = raw(address).await;
            client.send_frame(Opcode::Text, true, &text).await.unwrap();
            let (code, reason) = closed(&mut client).await;
            assert_eq!((code, &*reason), (1007, "invalid UTF-8 at byte 100: invalid byte (ff)"));
        }
    });
}

// ---- clients that take their time ----------------------------------------------------------------

/// Starts a server with timeouts that end within a test.
async fn brief_server(change: impl FnOnce(&mut Timeouts)) -> SocketAddr {
    let mut timeouts = Timeouts::default();
    change(&mut timeouts);
    let server = Server::bind((Ipv4Addr::LOCALHOST, 0), MIB).await.unwrap();
    let address = server.address().unwrap();
    tokio::spawn(server.with_timeouts(timeouts).run());
    address
}

const BRIEF: Duration = Duration::from_millis(300);

#[tokio::test]
async fn an_idle_client_is_pinged_and_closed_if_it_does_not_answer() {
    let address = brief_server(|timeouts| timeouts.idle = BRIEF).await;
    let mut client = raw(address).await;
    for _ in 0..3 {
        let ping = timeout(PATIENCE, client.receive()).await.unwrap().unwrap().unwrap();
        assert_eq!(ping.opcode, Opcode::Ping);
        client.send_frame(Opcode::Pong, true, &ping.payload).await.unwrap();
    }
    let (code, reason) = timeout(PATIENCE, closed(&mut client)).await.unwrap();
    assert_eq!((code, &*reason), (1008, "no answer to a ping"));
}

#[tokio::test]
async fn a_message_that_takes_too_long_closes_with_1008() {
    let address = brief_server(|timeouts| (timeouts.idle, timeouts.message) = (BRIEF, BRIEF)).await;
    let header = Client::header(Opcode::Binary, true, 1000);
    let fragment = Client::frame(Opcode::Text, false, b"a");
    let ping = Client::frame(Opcode::Ping, true, b"");
    let cases = [
        (&header[..3], &b""[..]),
        (&header, b""),
        (&header, b"a"),
        (&fragment, &b""[..]),
        (&fragment, &*ping),
    ];
    // They run at the same time, because each of them waits.
    let clients = cases.map(async |(first, drip)| {
        let mut client = raw(address).await;
        client.send(first).await.unwrap();
        let dripping = async {
            let close = loop {
                match timeout(BRIEF / 10, client.receive()).await {
                    Ok(frame) => {
                        let Frame { opcode, payload } = frame.unwrap().expect("a close frame");
                        if opcode == Opcode::Close {
                            break payload;
                        }
                    }
                    Err(_) => client.send(drip).await.unwrap(),
                }
            };
            let close = parse_close(close).unwrap().unwrap();
            assert_eq!(close, (1008, "a message takes too long".into()));
        };
        timeout(PATIENCE, dripping).await.unwrap();
    });
    join_all(clients).await;
}

#[tokio::test]
async fn the_time_of_a_message_starts_after_the_message_before_it() {
    let address = brief_server(|timeouts| timeouts.message = 4 * BRIEF).await;
    let mut client = raw(address).await;
    let message = Client::frame(Opcode::Text, true, b"a");
    let (first, rest) = message.split_at(1);
    // A message is always begun, and none takes long.
    client.send(first).await.unwrap();
    for _ in 0..40 {
        tokio::time::sleep(BRIEF / 6).await;
        client.send(&[rest, first].concat()).await.unwrap();
        let frame = timeout(PATIENCE, client.receive()).await.unwrap().unwrap().unwrap();
        assert_eq!(frame.opcode, Opcode::Text);
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let address = brief_server(|timeouts| timeouts.write = BRIEF).await;
    let mut client = raw(address).await;
    let message = Client::frame(Opcode::Binary, true, &[0; 60_000]);
    let sending = async { while client.send(&message).await.is_ok() {} };
    timeout(PATIENCE, sending).await.expect("it is still connected");
}

// ---- HTTP ---------------------------------------------------------------------------------------

#[test]
fn rejected_upgrades_have_the_right_status() {
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let asks = "Connection: upgrade\r\nUpgrade: websocket\r\n";
    let cases = [
        ("GET /echo", "".to_owned(), "426"),
        ("GET /echo", format!("{asks}{key}Sec-WebSocket-Version: 8\r\n"), "426"),
        ("GET /echo", format!("{asks}Sec-WebSocket-Version: 13\r\n"), "400"),
        ("POST /echo", format!("{asks}{key}Sec-WebSocket-Version: 13\r\n"), "400"),
        ("GET /echo", format!("{asks}{key}Sec-WebSocket-Version: 13\r\n"), "101"),
        ("GET /", format!("{asks}{key}Sec-WebSocket-Version: 13\r\n"), "101"),
        ("GET /", format!("{asks}Sec-WebSocket-Version: 13\r\n"), "400"),
        ("GET /nowhere", "".to_owned(), "404"),
        ("GET /", "".to_owned(), "200"),
        ("POST /report?passed", "Content-Length: 0\r\n".to_owned(), "404"),
    ];
    with_server(MIB, |address| async move {
        for (what, headers, status) in cases {
            let request = format!("{what} HTTP/1.1\r\nHost: {address}\r\n{headers}\r\n");
            let answer = answer(address, &request).await.unwrap();
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}{answer}");
            let version = answer.to_ascii_lowercase().contains("sec-websocket-version: 13");
            assert_eq!(version, matches!(status, "426" | "400"), "{answer}");
        }
    });
}

/// The head of the answer to a request.
async fn answer(address: SocketAddr, request: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    while !answer.windows(4).any(|end| end == b"\r\n\r\n")
        && stream.read_buf(&mut answer).await? > 0
    {}
    String::from_utf8(answer).map_err(io::Error::other)
}

#[test]
fn the_browser_report_is_forwarded() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (sender, mut reports) = mpsc::channel(1);
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0), MIB).await.unwrap();
        let address = server.address().unwrap();
        tokio::spawn(server.with_reports(sender).run());
        for (query, passed) in [("passed", true), ("failed", false)] {
            let request = format!(
                "POST /report?{query} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 6\r\n\r\nfine.\n"
            );
            let answering = answer(address, &request);
            let answer = timeout(PATIENCE, answering).await.unwrap().unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
            let report = reports.recv().await.unwrap();
            assert_eq!(report, Report { passed, text: "fine.\n".to_owned() });
        }
    });
}

// ---- the vectors --------------------------------------------------------------------------------

fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let text = fs::read_to_string(folder.join("websocket.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn unhex(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}
