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
    let is_missing = errors.contains("bad option") || errors.contains("Cannot find module 'ws'");
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
    for message in [Message::text(TEXT), Message::binary(vec![0xFF; 100_000]), Message::text("")] {
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
