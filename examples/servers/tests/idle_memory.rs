//! The memory that idle WebSocket connections keep. It is a test of its own process, because it counts what the
//! process allocates.

use std::alloc::System;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use servers::websocket::Server;
use servers::websocket::client::Client;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use utf8_codec::websocket::Opcode;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CLIENTS: usize = 100;

/// The most bytes that an idle connection keeps.
const MOST: usize = 12_000;

#[test]
fn an_idle_connection_keeps_little_memory_before_and_after_a_long_message() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind((Ipv4Addr::LOCALHOST, 0), 1 << 20)).unwrap();
    let address = server.address().unwrap();
    runtime.spawn(server.run());
    let text = vec![b'x'; 60_000];
    let message = Client::frame(Opcode::Text, true, &text);
    let mut echo = vec![0; 4 + text.len()];
    // The runtime and the server allocate what they share.
    let _first = connect(address);

    let before = heap();
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| connect(address)).collect();
    assert_settles("before a message", before);
    for client in &mut clients {
        client.write_all(&message).unwrap();
        client.read_exact(&mut echo).unwrap();
    }
    assert_settles("after a message", before);
}

/// Connects and upgrades, without memory on the heap.
fn connect(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
        .write_all(
            b"GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
              Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        )
        .unwrap();
    let (mut last, mut byte) = ([0; 4], [0]);
    while last != *b"\r\n\r\n" {
        stream.read_exact(&mut byte).unwrap();
        last.rotate_left(1);
        last[3] = byte[0];
    }
    stream
}

/// The server frees memory a moment after its answer arrives.
fn assert_settles(when: &str, before: usize) {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let each = heap().saturating_sub(before) / CLIENTS;
        if each <= MOST && Instant::now() > deadline - Duration::from_millis(4800) {
            println!("{when}: {each} bytes");
            return;
        }
        assert!(Instant::now() < deadline, "{when}: {each} bytes, more than {MOST}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn heap() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated)
}
