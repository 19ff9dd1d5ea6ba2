//! Tests of the statements in COMPARISON.md: the modules have a section per task, one test per statement.
#![cfg(test)]

mod bodies;
mod encodings;
mod events;
mod lines;
mod slices;
mod streams;
mod websocket;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

// ---- inputs that several modules share ------------------------------------------------------------

/// Byte strings of all lengths up to four, over bytes of every kind that UTF-8 distinguishes.
pub(crate) fn byte_strings() -> Vec<Vec<u8>> {
    const KINDS: [u8; 14] =
        [b'a', 0x80, 0x90, 0xA0, 0xBF, 0xC0, 0xC3, 0xE0, 0xE2, 0xED, 0xF0, 0xF1, 0xF4, 0xFF];
    let mut strings = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..4 {
        let to = strings.len();
        for n in from..to {
            for byte in KINDS {
                let mut longer = strings[n].clone();
                longer.push(byte);
                strings.push(longer);
            }
        }
        from = to;
    }
    strings
}

/// A reader that returns one chunk per read, then the end. What is written to it is kept.
#[derive(Debug)]
pub(crate) struct Script {
    chunks: std::vec::IntoIter<Vec<u8>>,
    /// Whether the peer keeps the connection open after the last chunk.
    open: bool,
    pub(crate) written: Vec<u8>,
}

impl Script {
    pub(crate) fn new<C: AsRef<[u8]>>(chunks: &[C]) -> Self {
        let chunks: Vec<_> = chunks.iter().map(|chunk| chunk.as_ref().to_vec()).collect();
        Self { chunks: chunks.into_iter(), open: false, written: Vec::new() }
    }

    pub(crate) fn open<C: AsRef<[u8]>>(chunks: &[C]) -> Self {
        Self { open: true, ..Self::new(chunks) }
    }

    fn next(&mut self, room: usize) -> Option<Vec<u8>> {
        let chunk = self.chunks.next();
        assert!(chunk.as_ref().is_none_or(|chunk| chunk.len() <= room), "a chunk is too long");
        chunk
    }
}

impl io::Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.next(buffer.len()) {
            None if self.open => Err(io::ErrorKind::WouldBlock.into()),
            None => Ok(0),
            Some(chunk) => {
                buffer[..chunk.len()].copy_from_slice(&chunk);
                Ok(chunk.len())
            }
        }
    }
}

impl io::Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.next(buffer.remaining()) {
            None if self.open => return Poll::Pending,
            None => {}
            Some(chunk) => buffer.put_slice(&chunk),
        }
        Poll::Ready(Ok(()))
    }
}

impl futures::io::AsyncRead for Script {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(io::Read::read(&mut *self, buffer))
    }
}

impl AsyncWrite for Script {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(io::Write::write(&mut *self, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
