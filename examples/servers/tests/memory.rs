//! The memory that hostile clients can make the WebSocket server use. It is a test of its own process, because
//! it measures the process.
#![cfg(target_os = "linux")]

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use servers::websocket::Server;
use servers::websocket::client::{Client, masked};
use tokio::task::JoinSet;
use tokio::time::timeout;
use utf8_codec::websocket::{Message, MessageAssembler, Opcode};

const MIB: u64 = 1 << 20;
const LIMIT: u64 = 16 * MIB;
const CLIENTS: u64 = 64;
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn an_announced_length_allocates_no_memory() {
    a_gibibyte_that_is_only_validated();

    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let server = Server::bind((Ipv4Addr::LOCALHOST, 0), LIMIT).await.unwrap();
        let address = server.address().unwrap();
        tokio::spawn(server.run());
        for client in [announces as fn(_) -> _, sends_single_bytes] {
            let before = peak();
            let mut clients = JoinSet::new();
            for _ in 0..CLIENTS {
                clients.spawn(client(address));
            }
            timeout(PATIENCE, clients.join_all()).await.expect("timed out");
            // The clients announced 1 GiB and sent 16 MiB.
            let grown = grown_since(before);
            assert!(grown < 96 * MIB, "{} MiB", grown / MIB);
        }
    });
}

/// Sends 256 KiB of the 16 MiB that it announces, then a byte that is rejected.
fn announces(address: SocketAddr) -> futures::future::BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut client = Client::connect(address, "/echo").await.unwrap();
        client.send(&Client::header(Opcode::Text, true, LIMIT)).await.unwrap();
        for _ in 0..64 {
            client.send(&masked("🦀".repeat(1024).as_bytes())).await.unwrap();
        }
        client.send(&masked(b"\xFF")).await.unwrap();
        let (code, reason) = client.closed().await.unwrap().unwrap();
        assert_eq!((code, reason.contains("at byte 262144")), (1007, true));
    })
}

/// Sends 16,384 frames of one byte.
fn sends_single_bytes(address: SocketAddr) -> futures::future::BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut client = Client::connect(address, "/echo").await.unwrap();
        client.send_frame(Opcode::Text, false, b"").await.unwrap();
        let more = Client::frame(Opcode::Continuation, false, b"a").repeat(1 << 10);
        for _ in 0..16 {
            client.send(&more).await.unwrap();
        }
        client.send_frame(Opcode::Text, true, b"").await.unwrap();
        assert_eq!(client.closed().await.unwrap().unwrap().0, 1002);
    })
}

fn a_gibibyte_that_is_only_validated() {
    let piece = masked("語".repeat(16 << 10).as_bytes());
    let mut scratch = piece.clone();
    let mut message = MessageAssembler::new().with_max_length(u64::MAX);
    let before = peak();
    message.start_frame(Opcode::Text, true, Some(servers::websocket::client::MASK)).unwrap();
    while message.position() < 1 << 30 {
        scratch.copy_from_slice(&piece);
        message.validate(&mut scratch).unwrap();
    }
    assert_eq!(message.end_frame(), Ok(Some(Message::Text("".into()))));
    let grown = grown_since(before);
    assert!(grown < MIB, "{} KiB", grown >> 10);
}

/// By how much the peak has grown. Linux counts pages per thread and adds them up later, so that the peak it reports can
/// be a little less than an earlier one.
fn grown_since(before: u64) -> u64 {
    peak().saturating_sub(before)
}

/// The peak memory of the process, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}
