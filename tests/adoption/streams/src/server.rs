//! A server that answers each connection with a stream of events.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::LIMIT;

pub(crate) struct Server {
    pub(crate) url: String,
    /// The head and the body of each request.
    pub(crate) requests: Receiver<String>,
}

/// What one connection sends.
pub(crate) enum Answer {
    Whole(String),
    /// The connection ends inside the body.
    Broken(String),
}

impl Server {
    /// Answers one connection after another, in chunks of `len` bytes.
    pub(crate) fn start<const N: usize>(len: usize, answers: [Answer; N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (sender, requests) = channel();
        thread::spawn(move || -> io::Result<()> {
            for answer in answers {
                let (mut stream, _) = listener.accept()?;
                stream.set_read_timeout(Some(LIMIT))?;
                let _sent = sender.send(request(&stream)?);
                send(&mut stream, answer, len)?;
            }
            Ok(())
        });
        Self { url: format!("http://{address}"), requests }
    }
}

fn request(stream: &TcpStream) -> io::Result<String> {
    let mut stream = BufReader::new(stream);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if stream.read_line(&mut request)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let length = request.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then_some(value)
    });
    let length = length.map_or(0, |length| length.parse().expect("it is a number"));
    stream.take(length).read_to_string(&mut request)?;
    Ok(request)
}

fn send(stream: &mut TcpStream, answer: Answer, len: usize) -> io::Result<()> {
    let (body, end) = match answer {
        Answer::Whole(body) => (body, "0\r\n\r\n"),
        Answer::Broken(body) => (body, ""),
    };
    let mut bytes = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\
        Transfer-Encoding: chunked\r\n\r\n"
        .to_vec();
    for chunk in body.as_bytes().chunks(len) {
        write!(bytes, "{:x}\r\n", chunk.len())?;
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(end.as_bytes());
    stream.write_all(&bytes)
}
