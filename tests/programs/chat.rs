//! `examples/chat.rs` as a process: its scripted chat, and misbehaving clients.
#![cfg(all(feature = "codec", feature = "stream"))]

use crate::program;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use program::Program;

const PATIENCE: Duration = Duration::from_secs(30);

const CHAT: Program = Program("chat");

/// A server process, killed at the end of the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut child = CHAT
            .command()
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let address = CHAT.address(child.stdout.take().unwrap());
        Self { child, address }
    }

    fn connect(&self, name: &str) -> Client {
        let socket = TcpStream::connect(&self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_write_timeout(Some(PATIENCE)).unwrap();
        let mut client = Client(BufReader::new(socket));
        client.say(format!("{name}\n").as_bytes());
        client
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

struct Client(BufReader<TcpStream>);

impl Client {
    fn say(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    fn hears(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }
}

#[test]
fn the_scripted_chat_succeeds() {
    let output = CHAT.command().output().unwrap();
    let (said, complained) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    assert!(output.status.success(), "{said:?} {complained:?}");
    assert!(said.unwrap().ends_with("Each client has received the expected lines.\n"));
}

/// The server closes the socket with unread bytes unless it drains it.
#[test]
fn a_client_that_sends_everything_first_is_told_that_the_room_is_full() {
    let server = Server::start(&["--max-clients", "1"]);
    let mut first = server.connect("first");
    assert_eq!(first.hears(), "* welcome, first: 1 here\n");
    let lines = b"x\n".repeat(250_000);
    for _ in 0..20 {
        let mut second = server.connect("second");
        second.say(&lines);
        assert_eq!(second.hears(), "* the room is full\n");
    }
}

#[test]
fn an_address_that_cannot_be_bound_is_named() {
    let outcome = CHAT.run(["--listen", "nowhere"], b"");
    assert_eq!((outcome.status, outcome.text()), (1, ""));
    assert!(outcome.stderr.starts_with("chat: nowhere: "), "{}", outcome.stderr);
}

#[test]
fn the_room_size_is_limited_and_names_are_truncated_at_characters() {
    let server = Server::start(&["--max-clients", "1"]);
    let mut first = server.connect(&"é€".repeat(10));
    assert_eq!(first.hears(), format!("* welcome, {}é: 1 here\n", "é€".repeat(4)));
    let mut second = server.connect("second");
    assert_eq!(second.hears(), "* the room is full\n");
    assert_eq!(second.hears(), "");
}

#[test]
fn an_endless_line_is_dropped_and_its_sender_stays() {
    let server = Server::start(&["--max-line", "64"]);
    let mut flood = server.connect("flood");
    flood.hears();
    let mut other = server.connect("other");
    other.hears();
    flood.hears();
    flood.say(&vec![b'x'; 10_000_000]);
    flood.say("\nand now: é\n".as_bytes());
    assert_eq!(flood.hears(), "* line 2 is longer than 64 bytes: dropped\n");
    assert_eq!(other.hears(), "flood: and now: é\n");
}

#[test]
fn a_client_that_does_not_read_is_disconnected() {
    let server = Server::start(&["--max-line", "100000", "--patience", "1"]);
    let mut deaf = server.connect("deaf");
    assert_eq!(deaf.hears(), "* welcome, deaf: 1 here\n");
    let mut other = server.connect("other");
    let mut talker = server.connect("talker");
    assert_eq!(other.hears(), "* welcome, other: 2 here\n");
    assert_eq!(other.hears(), "* talker has joined\n");
    assert_eq!(talker.hears(), "* welcome, talker: 3 here\n");
    let line = format!("{}\n", "é".repeat(40_000));
    // Far more than 64 messages and the socket buffers can hold.
    let mut gone = false;
    for _ in 0..600 {
        talker.say(line.as_bytes());
        let mut heard = other.hears();
        if heard == "* deaf has left\n" {
            gone = true;
            heard = other.hears();
        }
        assert_eq!(heard, format!("talker: {line}"));
    }
    assert!(gone || other.hears() == "* deaf has left\n");
    let mut heard = Vec::new();
    // The connection is closed or reset, so the read returns.
    let _ended = deaf.0.read_to_end(&mut heard);
    assert!(heard.len() < 600 * line.len());
}
