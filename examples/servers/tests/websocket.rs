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

/// Sends `frame` repeatedly, after a pause each time, in packets that end inside the next frame, and receives an answer to each.
async fn assert_answered(
    client: &mut Client,
    (frame, at): (&[u8], usize),
    (times, pause): (usize, Duration),
    answer: Opcode,
) {
    let (first, rest) = frame.split_at(at);
    client.send(first).await.unwrap();
    for _ in 0..times {
        tokio::time::sleep(pause).await;
        client.send(&[rest, first].concat()).await.unwrap();
        let frame = timeout(PATIENCE, client.receive()).await.unwrap().unwrap().unwrap();
        assert_eq!(frame.opcode, answer);
    }
}

#[tokio::test]
async fn the_time_of_a_message_starts_after_the_message_before_it() {
    let address = brief_server(|timeouts| timeouts.message = 4 * BRIEF).await;
    let mut client = raw(address).await;
    // A message is always begun, and none takes long.
    let message = Client::frame(Opcode::Text, true, b"a");
    assert_answered(&mut client, (&message, 1), (40, BRIEF / 6), Opcode::Text).await;
}

#[tokio::test]
async fn a_client_that_only_sends_pings_stays_however_they_are_cut() {
    let address = brief_server(|timeouts| timeouts.message = 2 * BRIEF).await;
    let mut client = raw(address).await;
    let ping = Client::frame(Opcode::Ping, true, b"still here");
    assert_answered(&mut client, (&ping, 3), (20, BRIEF / 5), Opcode::Pong).await;
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

mod codec {
    //! `MessageCodec` as a server and as a client, with tungstenite at the other end of a loopback socket.

    use std::io;
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use futures::{SinkExt, StreamExt};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::protocol::frame::Frame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
    use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
    use tokio_tungstenite::tungstenite::{Error, Message as Theirs};
    use tokio_util::codec::Framed;
    use utf8_codec::codec::MessageCodec;
    use utf8_codec::websocket::Message;

    type Ours = Framed<TcpStream, MessageCodec>;

    async fn sockets() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (client, listener.accept().await.unwrap().0)
    }

    /// The codec at one end, tungstenite at the other.
    async fn ends(ours: Role) -> (Ours, WebSocketStream<TcpStream>) {
        let (client, server) = sockets().await;
        let (socket, peer, codec, theirs) = match ours {
            Role::Server => (server, client, MessageCodec::server(), Role::Client),
            Role::Client => {
                (client, server, MessageCodec::client(|| *b"\x37\xFA\x21\x3D"), Role::Server)
            }
        };
        (Framed::new(socket, codec), WebSocketStream::from_raw_socket(peer, theirs, None).await)
    }

    /// The loop in the guide.
    async fn echo(mut connection: Ours) -> io::Result<()> {
        while let Some(message) = connection.next().await {
            let answer = match message? {
                Ok(Message::Ping(payload)) => Message::Pong(payload),
                Ok(Message::Pong(_)) => continue,
                Ok(message) => message,
                Err(error) => error.into(),
            };
            let is_last = matches!(answer, Message::Close(_));
            connection.send(answer).await?;
            if is_last {
                connection.close().await?;
            }
        }
        Ok(())
    }

    async fn soon<F: Future>(future: F) -> F::Output {
        timeout(Duration::from_secs(30), future).await.expect("it takes too long")
    }

    fn sent() -> [Theirs; 4] {
        [
            Theirs::text("žluť 👋 ".repeat(50_000)),
            Theirs::binary(vec![0xFF; 70_000]),
            Theirs::text(""),
            Theirs::text("é".repeat(63)),
        ]
    }

    #[tokio::test]
    async fn messages_of_tungstenite_are_echoed_and_the_close_handshake_ends_both() {
        for role in [Role::Server, Role::Client] {
            let (ours, mut theirs) = ends(role).await;
            let echo = tokio::spawn(echo(ours));
            for message in sent() {
                soon(theirs.send(message.clone())).await.unwrap();
                assert_eq!(soon(theirs.next()).await.unwrap().unwrap(), message);
            }
            soon(theirs.send(Theirs::Ping(b"?"[..].into()))).await.unwrap();
            assert_eq!(soon(theirs.next()).await.unwrap().unwrap(), Theirs::Pong(b"?"[..].into()));
            let close = CloseFrame { code: CloseCode::Normal, reason: "bye".into() };
            soon(theirs.close(Some(close.clone()))).await.unwrap();
            assert_eq!(soon(theirs.next()).await.unwrap().unwrap(), Theirs::Close(Some(close)));
            assert!(soon(theirs.next()).await.is_none());
            drop(theirs);
            soon(echo).await.unwrap().unwrap();
        }
    }

    #[tokio::test]
    async fn tungstenite_accepts_what_the_codec_sends_and_answers_its_close_frame() {
        for role in [Role::Server, Role::Client] {
            let (mut ours, mut theirs) = ends(role).await;
            let peer = tokio::spawn(async move {
                let mut received = Vec::new();
                while let Some(message) = theirs.next().await {
                    match message {
                        Ok(message) => received.push(message),
                        Err(Error::ConnectionClosed) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
                received
            });
            let close = Message::Close(Some((4000, "žluť".into())));
            for message in [
                Message::Text("žluť 👋 ".repeat(50_000).into()),
                Message::Binary(vec![0xFF; 70_000].into()),
                Message::Text("".into()),
                Message::Text("é".repeat(63).into()),
                close.clone(),
            ] {
                soon(ours.send(message)).await.unwrap();
            }
            assert_eq!(soon(ours.next()).await.unwrap().unwrap(), Ok(close));
            soon(ours.close()).await.unwrap();
            assert!(soon(ours.next()).await.is_none());
            drop(ours);
            let received = soon(peer).await.unwrap();
            assert_eq!(received[..4], sent());
            assert!(matches!(&received[4], Theirs::Close(Some(frame)) if frame.reason == "žluť"));
        }
    }

    #[tokio::test]
    async fn an_ill_formed_text_is_answered_with_1007() {
        let (mut ours, mut theirs) = ends(Role::Client).await;
        let echo = tokio::spawn(async move {
            let error = ours.next().await.unwrap().unwrap().unwrap_err();
            ours.send(error.into()).await.unwrap();
            ours.close().await.unwrap();
            ours.next().await.is_none()
        });
        let frame = Frame::message(b"caf\xE9!".to_vec(), OpCode::Data(Data::Text), true);
        soon(theirs.send(Theirs::Frame(frame))).await.unwrap();
        let Theirs::Close(Some(close)) = soon(theirs.next()).await.unwrap().unwrap() else {
            panic!()
        };
        assert_eq!(u16::from(close.code), 1007);
        assert_eq!(
            close.reason,
            "invalid UTF-8 at byte 3: truncated character (e9, followed by 21)"
        );
        while theirs.next().await.is_some_and(|end| end.is_ok()) {}
        drop(theirs);
        assert!(soon(echo).await.unwrap());
    }

    /// RFC 6455, section 7.1.1: a socket that is closed with unread bytes resets the connection, and the close frame is lost.
    #[tokio::test]
    async fn a_peer_that_keeps_sending_receives_the_close_frame_and_is_disconnected_at_the_limit() {
        const CLOSE: [u8; 6] = [0x88, 0x80, 0, 0, 0, 0];
        for (len, is_cut_off) in [(900_000, false), (4 << 20, true)] {
            let (mut peer, server) = sockets().await;
            let echo = tokio::spawn(echo(Framed::new(server, MessageCodec::server())));
            soon(peer.write_all(&CLOSE)).await.unwrap();
            // The close frame arrives while the peer is still sending.
            let mut answer = [0; 2];
            soon(peer.read_exact(&mut answer)).await.unwrap();
            assert_eq!(answer, [0x88, 0]);
            let sent = soon(peer.write_all(&vec![0xFF; len])).await;
            if !is_cut_off {
                sent.unwrap();
                soon(peer.shutdown()).await.unwrap();
                assert_eq!(soon(peer.read(&mut answer)).await.unwrap(), 0, "no reset");
            }
            assert_eq!(soon(echo).await.unwrap().is_err(), is_cut_off);
        }
    }
}

mod peers {
    //! The WebSocket servers with the clients of other projects: node's own `WebSocket`, the npm package `ws`, and
    //! tungstenite, over loopback sockets; and the text of tungstenite in the streams of this crate. A peer that is
    //! not installed is skipped, and named.

    use std::net::{Ipv4Addr, SocketAddr};
    use std::process::Stdio;
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use futures::{SinkExt, StreamExt, TryStreamExt, stream};
    use servers::websocket::Server;
    use tokio::io::{AsyncBufReadExt, BufReader};
    use tokio::process::{Child, Command};
    use tokio::time::timeout;
    use tokio_tungstenite::connect_async;
    use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
    use utf8_codec::ByteString;
    use utf8_codec::stream::Utf8StreamExt;
    use utf8_codec::websocket;

    const TEXT: &str = "Grüße, κόσμε, 日本語, 🦀";

    const PATIENCE: Duration = Duration::from_secs(60);

    async fn echo_server() -> SocketAddr {
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0), 1 << 20).await.unwrap();
        let address = server.address().unwrap();
        tokio::spawn(server.run());
        address
    }

    /// Starts `upgrade_echo`, and returns its address.
    async fn upgrade_echo() -> (Child, SocketAddr) {
        let mut server = Command::new(env!("CARGO_BIN_EXE_upgrade_echo"))
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = server.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).await.unwrap();
        let address = line.trim().trim_start_matches("listening on ws://").trim_end_matches('/');
        (server, address.parse().unwrap())
    }

    // ---- node ------------------------------------------------------------------------------------------

    /// Sends text, binary and long messages with `WebSocket`, the interface of browsers, and prints what comes back.
    const BROWSER: &str = r#"
    const [address] = process.argv.slice(1);
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    const sent = ["Grüße, κόσμε, 日本語, 🦀", "", "é".repeat(70000), new Uint8Array([255, 0, 128])];
    let n = 0;
    socket.onopen = () => socket.send(sent[0]);
    socket.onmessage = ({ data }) => {
        const same = typeof data === "string" ? data === sent[n] : new Uint8Array(data).join() === sent[n].join();
        console.log(n, same);
        n += 1;
        if (n < sent.length) socket.send(sent[n]); else socket.close(4001, "終わり");
    };
    socket.onclose = ({ code, reason, wasClean }) => console.log(code, reason, wasClean);
    socket.onerror = () => console.log("error");
"#;

    /// Sends fragments that split characters, pings, and text that is not UTF-8, with the package `ws`.
    const WS: &str = r#"
    import { createRequire } from "node:module";
    const WebSocket = createRequire(process.cwd() + "/")("ws");
    const [address] = process.argv.slice(1);
    const open = () => new Promise((resolve) => {
        const socket = new WebSocket(address, { perMessageDeflate: false });
        socket.on("open", () => resolve(socket));
    });
    const closed = (socket) => new Promise((resolve) => {
        socket.on("close", (code, reason) => resolve(`${code} ${reason}`));
    });
    let socket = await open();
    socket.on("pong", (data) => console.log("pong", String(data)));
    socket.on("message", (data, isBinary) => console.log(isBinary, String(data)));
    let end = closed(socket);
    const text = { fin: false, binary: false };
    socket.send(Buffer.from([0x35, 0xe2, 0x82]), text);
    socket.ping("between");
    socket.send(Buffer.from([0xac]), { ...text, fin: true });
    socket.close(1000, "done");
    console.log(await end);
    socket = await open();
    end = closed(socket);
    socket.send(Buffer.from([0x35, 0xff]), { binary: false });
    console.log(await end);
"#;

    /// The output of a script, or `None` if node or what it needs is not installed.
    async fn node(arguments: &[&str], script: &str, address: SocketAddr) -> Option<String> {
        let output = Command::new("node")
            .args(arguments)
            .args(["--input-type=module", "--eval", script, &format!("ws://{address}/")])
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .output();
        let Ok(output) = timeout(PATIENCE, output).await.expect("node hangs") else {
            println!("SKIPPED: node is not installed");
            return None;
        };
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_missing =
            errors.contains("bad option") || errors.contains("Cannot find module 'ws'");
        if is_missing {
            println!("SKIPPED: node has no {arguments:?}, or no package ws (npm install ws)");
            return None;
        }
        assert!(output.status.success(), "{errors}");
        Some(String::from_utf8(output.stdout).unwrap())
    }

    #[tokio::test]
    async fn nodes_websocket_is_echoed() {
        let (_server, short) = upgrade_echo().await;
        for address in [echo_server().await, short] {
            let Some(found) = node(&["--experimental-websocket"], BROWSER, address).await else {
                return;
            };
            assert_eq!(found, "0 true\n1 true\n2 true\n3 true\n4001 終わり true\n");
        }
    }

    #[tokio::test]
    async fn the_package_ws_is_echoed_and_its_invalid_text_rejected() {
        let (_server, short) = upgrade_echo().await;
        for address in [echo_server().await, short] {
            let Some(found) = node(&[], WS, address).await else { return };
            let expected = "pong between\nfalse 5€\n1000 done\n\
            1007 invalid UTF-8 at byte 1: invalid byte (ff)\n";
            assert_eq!(found, expected);
        }
    }

    // ---- tungstenite -----------------------------------------------------------------------------------

    #[tokio::test]
    async fn the_short_server_echoes_tungstenite() {
        let (_server, address) = upgrade_echo().await;
        let mut client = connect_async(format!("ws://{address}/")).await.unwrap().0;
        for message in
            [Message::text(TEXT), Message::binary(vec![0xFF; 100_000]), Message::text("")]
        {
            client.send(message.clone()).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), message);
        }
        client.close(None).await.unwrap();
        assert_eq!(client.next().await.unwrap().unwrap(), Message::Close(None));
    }

    #[tokio::test]
    async fn lines_span_the_messages_of_tungstenite() {
        let client = connect_async(format!("ws://{}/", echo_server().await)).await.unwrap().0;
        let (mut sink, messages) = client.split();
        for part in ["one li", "ne\ncaf", "é\r\n"] {
            sink.send(Message::text(part)).await.unwrap();
        }
        sink.close().await.unwrap();
        let texts = messages.try_filter_map(async |message| match message {
            Message::Text(text) => Ok::<Option<Utf8Bytes>, Error>(Some(text)),
            _ => Ok(None),
        });
        let lines: Vec<_> = Box::pin(texts).text_lines().try_collect().await.unwrap();
        assert_eq!(lines, ["one line", "café"]);
    }

    #[tokio::test]
    async fn text_lines_takes_every_kind_of_text() {
        async fn lines<T: AsRef<str>>(texts: [T; 2]) -> Vec<String> {
            let texts = stream::iter(texts.map(Ok::<_, std::io::Error>));
            texts.text_lines().map(|line| line.unwrap().to_string()).collect().await
        }
        let parts = ["o", "ne\ntwo"];
        assert_eq!(lines(parts).await, ["one", "two"]);
        assert_eq!(lines(parts.map(String::from)).await, ["one", "two"]);
        assert_eq!(lines(parts.map(Arc::<str>::from)).await, ["one", "two"]);
        assert_eq!(lines(parts.map(ByteString::from)).await, ["one", "two"]);
        assert_eq!(lines(parts.map(Utf8Bytes::from)).await, ["one", "two"]);
        let chunks = stream::iter(parts.map(Bytes::from).map(Ok::<_, std::io::Error>));
        let found: Vec<_> = chunks.utf8().lines().try_collect().await.unwrap();
        assert_eq!(found, ["one", "two"]);
    }

    #[test]
    fn text_converts_to_and_from_other_types_without_validation() {
        // Infallible: no conversion below returns a `Result`.
        let text = || ByteString::from(TEXT);
        let from = [
            ByteString::from(TEXT),
            ByteString::from(TEXT.to_owned()),
            ByteString::from(TEXT.to_owned().into_boxed_str()),
            ByteString::from(&*Arc::<str>::from(TEXT)),
            ByteString::from(Utf8Bytes::from(TEXT).as_str()),
        ];
        assert_eq!(from, [text(), text(), text(), text(), text()]);
        let bytes = text().into_bytes();
        assert_eq!(bytes, TEXT);
        assert_eq!(String::from(text()), TEXT);
        assert_eq!(&*Arc::<str>::from(&*text()), TEXT);
        assert_eq!(Utf8Bytes::from(&*text()), TEXT);

        // Not copied either: a `String` that owns its memory, and `Bytes`.
        let string = TEXT.to_owned();
        let address = string.as_ptr();
        let text = ByteString::from(string);
        assert_eq!(text.as_ptr(), address);
        let message = websocket::Message::Text(text);
        let websocket::Message::Text(text) = message else { unreachable!() };
        let string = String::from(text);
        assert_eq!(string.as_ptr(), address);
        let message = Utf8Bytes::from(string);
        assert_eq!((message.as_str().as_ptr(), Bytes::from(message).as_ptr()), (address, address));
    }
}
