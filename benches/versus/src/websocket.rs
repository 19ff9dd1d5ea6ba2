//! Text messages from a WebSocket client to a server, and the unmasking and validation inside.

// The reader of the example server, included from its source.
#[path = "../../../examples/servers/src/websocket/reader.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is a library there")]
mod reader;

use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::{BufMut, BytesMut};
use fastwebsockets::{FragmentCollector, OpCode, WebSocket};
use futures::StreamExt;
use futures::executor::block_on;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as TungsteniteMessage;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_websockets::ServerBuilder;
use utf8_codec::websocket::{FrameHeader, Message, MessageAssembler, Opcode};
use utf8_simd::{ErrorLen, Level};

use crate::support::{Bench, Corpus, Rng, Row, Work};

use reader::MessageReader;

const SIZES: [(&str, usize); 4] = [("16", 16), ("125", 125), ("1460", 1460), ("64KiB", 65_536)];

/// Bytes of all messages of a row: they fit the nearest cache, except the largest size.
const TOTAL: usize = 16 << 10;

/// From a socket to delivered text, with every step between: reads, headers, unmasking, validation, the order of
/// frames, limits. Each contender keeps one connection.
///
/// In `message` a read returns one message, in `burst` as many as fit.
pub(crate) fn messages(bench: &mut Bench) {
    for (what, arrival) in [("message", Arrival::Single), ("burst", Arrival::Burst)] {
        for (size, len) in SIZES {
            for corpus in Corpus::SCRIPTS {
                let Some(name) = bench.name(what, corpus.name(), size) else { continue };
                let count = (TOTAL / len).max(4);
                let script = Script::new(corpus, len, count, arrival);

                let mut row = Row::new(name, Work::new(count * len, count, "message"));
                row.expect(count * len);
                row.ours(ours(script.clone(), count));
                row.peer("tokio-tungstenite", tokio_tungstenite(script.clone(), count));
                row.peer("tokio-websockets", tokio_websockets(script.clone(), count));
                row.peer("fastwebsockets", fastwebsockets(script, count));
                bench.measure(row);
            }
        }
    }
}

/// The sum of the lengths of the next `$count` texts that `$next` awaits.
macro_rules! sum_of_texts {
    ($count:expr, $next:expr) => {
        move || {
            block_on(async {
                let mut sum = 0;
                for _ in 0..$count {
                    sum += black_box($next).len();
                }
                sum as u64
            })
        }
    };
}

fn ours(script: Script, count: usize) -> impl FnMut() -> u64 {
    let mut reader = MessageReader::new(script, BytesMut::new(), MessageAssembler::new());
    sum_of_texts!(
        count,
        match reader.next().await {
            Ok(Some(Message::Text(text))) => text,
            other => panic!("{other:?}"),
        }
    )
}

fn tokio_tungstenite(script: Script, count: usize) -> impl FnMut() -> u64 {
    let mut stream = block_on(WebSocketStream::from_raw_socket(script, Role::Server, None));
    sum_of_texts!(
        count,
        match stream.next().await {
            Some(Ok(TungsteniteMessage::Text(text))) => text,
            other => panic!("{other:?}"),
        }
    )
}

fn tokio_websockets(script: Script, count: usize) -> impl FnMut() -> u64 {
    let mut stream = ServerBuilder::new().serve(script);
    sum_of_texts!(
        count,
        match stream.next().await {
            Some(Ok(message)) => {
                assert!(message.is_text());
                message.into_payload()
            }
            other => panic!("{other:?}"),
        }
    )
}

fn fastwebsockets(script: Script, count: usize) -> impl FnMut() -> u64 {
    let stream = WebSocket::after_handshake(script, fastwebsockets::Role::Server);
    let mut stream = FragmentCollector::new(stream);
    sum_of_texts!(
        count,
        match stream.read_frame().await {
            Ok(frame) if frame.opcode == OpCode::Text => frame.payload,
            Ok(frame) => panic!("{:?}", frame.opcode),
            Err(error) => panic!("{error:?}"),
        }
    )
}

/// How much a read returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// One message, or the part of it that fits.
    Single,
    /// As much as fits.
    Burst,
}

/// A client that sends the same messages repeatedly.
#[derive(Clone, Debug)]
struct Script {
    bytes: Rc<[u8]>,
    frame: usize,
    arrival: Arrival,
    at: usize,
}

impl Script {
    fn new(corpus: Corpus, len: usize, count: usize, arrival: Arrival) -> Self {
        let mut rng = Rng::new(len as u64);
        let mut bytes = BytesMut::new();
        for n in 0..count {
            let text = corpus.text(len, n as u64);
            let mask = (rng.next() as u32).to_le_bytes();
            let header = FrameHeader::new(Opcode::Text, true, Some(mask), len as u64);
            let header = header.expect("a valid header");
            bytes.extend_from_slice(header.encode(&mut [0; FrameHeader::MAX_LENGTH]));
            bytes.extend(text.bytes().zip(mask.into_iter().cycle()).map(|(byte, key)| byte ^ key));
        }
        Self { frame: bytes.len() / count, bytes: (*bytes).into(), arrival, at: 0 }
    }
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let len = match self.arrival {
            Arrival::Single => self.frame - self.at % self.frame,
            Arrival::Burst => self.bytes.len() - self.at,
        };
        let len = len.min(buffer.remaining());
        buffer.put_slice(&self.bytes[self.at..self.at + len]);
        self.at = (self.at + len) % self.bytes.len();
        Poll::Ready(Ok(()))
    }
}

/// Panics on writes: no contender needs to answer.
impl AsyncWrite for Script {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        panic!("unexpected answer: {bytes:02x?}");
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Unmasking and validating in one pass, against two passes: ours, and those of a peer.
///
/// The key is zero, so that unmasking in place can be repeated; no contender inspects it.
pub(crate) fn unmask(bench: &mut Bench) {
    for (size, len) in SIZES {
        for corpus in [Corpus::Ascii, Corpus::Cyrillic, Corpus::Cjk] {
            let Some(name) = bench.name("unmask", corpus.name(), size) else { continue };
            let count = (TOTAL / len).max(1);
            let pool = Pool::new(corpus, len, count);

            let mut row = Row::new(name, Work::new(count * len, count, "message"));
            row.expect(count);
            row.ours(pool.clone().all(|message, key| {
                let stop = Level::detect().unmask_and_validate(message, key);
                stop.error_len == ErrorLen::None && stop.valid_up_to == message.len()
            }));
            row.sibling(
                "two passes",
                pool.clone().all(|message, key| {
                    Level::detect().unmask(message, key);
                    let stop = Level::detect().validate(message);
                    stop.error_len == ErrorLen::None && stop.valid_up_to == message.len()
                }),
            );
            row.peer(
                "fastwebsockets",
                pool.all(|message, key| {
                    fastwebsockets::unmask(message, key);
                    simdutf8::basic::from_utf8(message).is_ok()
                }),
            );
            bench.measure(row);
        }
    }
}

/// Messages one after another, a header's length apart.
#[derive(Clone)]
struct Pool {
    bytes: Vec<u8>,
    len: usize,
}

impl Pool {
    const HEADER: usize = 6;

    fn new(corpus: Corpus, len: usize, count: usize) -> Self {
        let mut bytes = Vec::with_capacity(count * (Self::HEADER + len));
        for n in 0..count {
            bytes.put_bytes(0, Self::HEADER);
            bytes.put_slice(corpus.text(len, n as u64).as_bytes());
        }
        Self { bytes, len }
    }

    /// The number of valid messages.
    fn all(mut self, is_valid: impl Fn(&mut [u8], [u8; 4]) -> bool) -> impl FnMut() -> u64 {
        move || {
            let key = black_box([0; 4]);
            let messages = black_box(&mut self.bytes).chunks_exact_mut(Self::HEADER + self.len);
            let valid = messages.map(|message| is_valid(&mut message[Self::HEADER..], key));
            valid.map(u64::from).sum()
        }
    }
}
