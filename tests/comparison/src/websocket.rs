//! Text messages of a WebSocket: when is an error found, what does the peer hear, what is the limit?

use std::task::Poll;

use fastwebsockets::{FragmentCollector, OpCode, WebSocket as FastWebSocket, WebSocketError};
use futures::executor::block_on;
use futures::{FutureExt, StreamExt, poll};
use tokio::io::AsyncWriteExt;
use tokio_websockets::{Limits, ServerBuilder, proto::ProtocolError};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, WebSocket};
use utf8_codec::websocket::{Message, MessageAssembler, MessageError, Opcode};

use crate::Script;

const TEXT: u8 = 1;
const CONTINUATION: u8 = 0;
const FIN: u8 = 0x80;

/// The header of a client's frame, masked with zeros.
fn header(first: u8, len: u8) -> Vec<u8> {
    assert!(len < 126);
    vec![first, 0x80 | len, 0, 0, 0, 0]
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    [&header(first, payload.len() as u8), payload].concat()
}

fn tungstenite_of(script: Script) -> WebSocket<Script> {
    WebSocket::from_raw_socket(script, Role::Server, None)
}

fn tokio_websockets_of(script: Script) -> tokio_websockets::WebSocketStream<Script> {
    ServerBuilder::new().serve(script)
}

fn fastwebsockets_of(script: Script) -> FastWebSocket<Script> {
    FastWebSocket::after_handshake(script, fastwebsockets::Role::Server)
}

/// A character cut in two by frames.
fn cut_character() -> Script {
    Script::open(&[frame(TEXT, b"10 \xE2"), frame(CONTINUATION | FIN, b"\x82\xAC")])
}

#[test]
fn all_join_a_character_split_across_frames() {
    assert_eq!(tungstenite_of(cut_character()).read().unwrap().into_text().unwrap(), "10 €");

    let message = block_on(tokio_websockets_of(cut_character()).next()).unwrap().unwrap();
    assert_eq!(message.as_text(), Some("10 €"));

    let mut fast = FragmentCollector::new(fastwebsockets_of(cut_character()));
    assert_eq!(&*block_on(fast.read_frame()).unwrap().payload, "10 €".as_bytes());

    let mut ours = MessageAssembler::new();
    ours.start_frame(Opcode::Text, false, None).unwrap();
    ours.push(&mut b"10 \xE2".to_owned()).unwrap();
    ours.end_frame().unwrap();
    ours.start_frame(Opcode::Continuation, true, None).unwrap();
    ours.push(&mut b"\x82\xAC".to_owned()).unwrap();
    assert_eq!(ours.end_frame().unwrap(), Some(Message::Text("10 €".into())));
}

/// An invalid byte, and a frame that is far from its end.
fn bad_start_of_a_frame() -> Script {
    Script::open(&[[&header(TEXT | FIN, 100), &b"\xFF"[..]].concat()])
}

/// An invalid byte in the first of several frames.
fn bad_first_frame() -> Script {
    Script::open(&[frame(TEXT, b"abc\xFF")])
}

#[test]
fn tungstenite_reports_an_error_at_the_end_of_the_frame() {
    let Err(Error::Io(error)) = tungstenite_of(bad_start_of_a_frame()).read() else {
        panic!("it is waiting");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    assert!(matches!(tungstenite_of(bad_first_frame()).read(), Err(Error::Utf8(_))));
}

#[test]
fn tungstenite_error_is_a_string() {
    let Err(Error::Utf8(error)) = tungstenite_of(bad_first_frame()).read() else {
        panic!("it is not UTF-8");
    };
    assert_eq!(error, "\u{FFFD}");

    let whole = Script::open(&[frame(TEXT | FIN, b"abc\xFF")]);
    let Err(Error::Utf8(error)) = tungstenite_of(whole).read() else {
        panic!("it is not UTF-8");
    };
    assert_eq!(error, "invalid utf-8 sequence of 1 bytes from index 3");
}

#[test]
fn tungstenite_sends_no_close_frame_by_itself() {
    let mut socket = tungstenite_of(bad_first_frame());
    assert!(socket.read().is_err());
    socket.flush().unwrap();
    assert!(socket.get_ref().written.is_empty());
}

#[test]
fn tungstenite_limits_messages_to_64_mib() {
    let config = WebSocketConfig::default();
    assert_eq!(config.max_message_size, Some(64 << 20));
    assert_eq!(config.max_frame_size, Some(16 << 20));
}

#[test]
fn tokio_websockets_reports_an_error_before_the_end_of_the_frame() {
    let error = block_on(tokio_websockets_of(bad_start_of_a_frame()).next()).unwrap().unwrap_err();
    assert!(matches!(error, tokio_websockets::Error::Protocol(ProtocolError::InvalidUtf8)));
}

#[test]
fn tokio_websockets_closes_with_1007() {
    let mut socket = tokio_websockets_of(bad_first_frame());
    assert!(block_on(socket.next()).unwrap().is_err());
    block_on(poll_to_the_end(&mut socket));
    let written = &socket.get_ref().written;
    assert_eq!(written[..4], [0x88, written[1], 0x03, 0xEF]); // 03EF is 1007
}

/// Polls until nothing moves any more.
async fn poll_to_the_end(socket: &mut tokio_websockets::WebSocketStream<Script>) {
    while let Poll::Ready(Some(_)) = poll!(socket.next()) {}
}

#[test]
fn tokio_websockets_limits_messages_to_64_mib() {
    let limits = format!("{:?}", Limits::default());
    assert!(limits.contains(&(64 << 20).to_string()), "{limits}");
}

#[test]
fn fastwebsockets_reports_an_error_at_the_end_of_the_frame() {
    let mut waiting = FragmentCollector::new(fastwebsockets_of(bad_start_of_a_frame()));
    assert!(waiting.read_frame().now_or_never().is_none());
    let mut failed = FragmentCollector::new(fastwebsockets_of(bad_first_frame()));
    let result = block_on(failed.read_frame());
    assert!(matches!(result, Err(WebSocketError::InvalidUTF8)));
}

#[test]
fn fastwebsockets_without_a_collector_does_not_validate_fragments() {
    let mut socket = fastwebsockets_of(bad_first_frame());
    let frame = block_on(socket.read_frame()).unwrap();
    assert_eq!((frame.opcode, &*frame.payload), (OpCode::Text, &b"abc\xFF"[..]));
}

#[test]
fn fastwebsockets_drops_half_a_character_at_the_end_of_a_fragmented_message() {
    let script = Script::open(&[frame(TEXT, b"10 "), frame(CONTINUATION | FIN, b"\xE2\x82")]);
    let mut socket = FragmentCollector::new(fastwebsockets_of(script));
    assert_eq!(&*block_on(socket.read_frame()).unwrap().payload, b"10 ");
}

#[test]
fn tungstenite_and_tokio_websockets_reject_half_a_character_at_the_end() {
    let script = || Script::open(&[frame(TEXT, b"10 "), frame(CONTINUATION | FIN, b"\xE2\x82")]);
    assert!(matches!(tungstenite_of(script()).read(), Err(Error::Utf8(_))));
    assert!(block_on(tokio_websockets_of(script()).next()).unwrap().is_err());
}

#[test]
fn fastwebsockets_limits_frames_and_not_messages() {
    let first = frame(TEXT, &[b'a'; 90]);
    let chunks: Vec<_> = std::iter::once(first)
        .chain((0..98).map(|_| frame(CONTINUATION, &[b'a'; 90])))
        .chain([frame(CONTINUATION | FIN, &[b'a'; 90])])
        .collect();
    let mut socket = fastwebsockets_of(Script::open(&chunks));
    socket.set_max_message_size(100);
    let mut socket = FragmentCollector::new(socket);
    assert_eq!(block_on(socket.read_frame()).unwrap().payload.len(), 9000);
}

#[tokio::test]
async fn fastwebsockets_loses_a_frame_header_when_cancelled() {
    let (mut peer, socket) = tokio::io::duplex(1000);
    let mut socket = FastWebSocket::after_handshake(socket, fastwebsockets::Role::Server);
    peer.write_all(&[&header(TEXT | FIN, 10), &b"hello"[..]].concat()).await.unwrap();
    assert!(socket.read_frame().now_or_never().is_none());
    peer.write_all(b"world").await.unwrap();
    // The payload is read as a header: 68 ('h') has reserved bits set.
    let result = socket.read_frame().await;
    assert!(matches!(result, Err(WebSocketError::ReservedBitsNotZero)));
}

#[test]
fn ours_reports_an_error_before_the_end_of_the_frame() {
    let mut ours = MessageAssembler::new();
    ours.start_frame(Opcode::Text, true, None).unwrap();
    let error = ours.push(&mut b"abc\xFF".to_owned()).unwrap_err();
    assert_eq!((error.offset(), error.close_code()), (Some(3), 1007));
}

#[test]
fn ours_rejects_half_a_character_at_the_end() {
    let mut ours = MessageAssembler::new();
    ours.start_frame(Opcode::Text, true, None).unwrap();
    ours.push(&mut b"10 \xE2\x82".to_owned()).unwrap();
    assert_eq!(ours.end_frame().unwrap_err().close_code(), 1007);
}

#[test]
fn ours_limits_messages_to_16_mib() {
    let mut ours = MessageAssembler::new();
    ours.start_frame(Opcode::Text, false, None).unwrap();
    ours.announce(16 << 20).unwrap();
    let error = ours.announce((16 << 20) + 1).unwrap_err();
    assert_eq!((error, error.close_code()), (MessageError::TooLong { max_length: 16 << 20 }, 1009));
}
