//! What reads text from an `AsyncRead`?

mod reader_chunks;
mod utf8_byte_reader;
mod utf8_reader;

pub use reader_chunks::ReaderChunks;
pub use utf8_byte_reader::Utf8ByteReader;
pub use utf8_reader::Utf8Reader;

use std::io;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// Reads into `room`. Returns how many bytes were read, 0 at the end.
///
/// Safe code can replace the `ReadBuf` by another: then nothing was read into `room`, and this is an error.
#[inline]
fn poll_read_into(
    reader: Pin<&mut impl AsyncRead>,
    cx: &mut Context<'_>,
    room: &mut [u8],
) -> Poll<io::Result<usize>> {
    let start = room.as_ptr();
    let mut room = ReadBuf::new(room);
    reader.poll_read(cx, &mut room).map(|result| {
        result?;
        match ptr::eq(room.filled().as_ptr(), start) {
            true => Ok(room.filled().len()),
            false => Err(io::Error::other("the reader replaced the `ReadBuf` that it was given")),
        }
    })
}
