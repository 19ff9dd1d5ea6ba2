//! A server that answers one request with chunks.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

pub struct Server {
    port: u16,
}

impl Server {
    /// Answers the first request with `chunks`, so far apart that a client reads them one by one.
    pub fn start(chunks: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        thread::spawn(move || {
            let (stream, _) = listener.accept()?;
            answer(stream, &chunks)
        });
        Self { port }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn answer(mut stream: TcpStream, chunks: &[Vec<u8>]) -> io::Result<()> {
    // The requests are short: head and body come in one piece or two.
    let mut request = [0; 16 << 10];
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    while matches!(stream.read(&mut request), Ok(len) if len > 0) {}
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    )?;
    for chunk in chunks {
        write!(stream, "{:x}\r\n", chunk.len())?;
        stream.write_all(chunk)?;
        stream.write_all(b"\r\n")?;
        thread::sleep(Duration::from_millis(200));
    }
    stream.write_all(b"0\r\n\r\n")
}
