//! `FramedRead` behind a reader that is always ready.

use std::fmt::Debug;
use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::StreamExt;
use futures::executor::block_on;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::codec::{Decoder, FramedRead};

pub(crate) const LEN: usize = 256 << 10;

/// What a read brings: a TCP segment over Ethernet.
pub(crate) const READ: usize = 1460;

/// The sum of `count` over all that a codec makes of the input.
pub(crate) fn framed<'a, D>(
    input: &'a [u8],
    codec: impl Fn() -> D + 'a,
    count: impl Fn(D::Item) -> usize + 'a,
) -> impl FnMut() -> u64 + 'a
where
    D: Decoder<Error: Debug>,
{
    framed_in(READ, input, codec, count)
}

/// As [`framed`], with `read` bytes from a read.
pub(crate) fn framed_in<'a, D>(
    read: usize,
    input: &'a [u8],
    codec: impl Fn() -> D + 'a,
    count: impl Fn(D::Item) -> usize + 'a,
) -> impl FnMut() -> u64 + 'a
where
    D: Decoder<Error: Debug>,
{
    move || {
        let mut frames = FramedRead::new(Reader::new(black_box(input), read), codec());
        let mut sum = 0;
        block_on(async {
            while let Some(frame) = frames.next().await {
                sum += count(frame.expect("the text is UTF-8"));
            }
        });
        sum as u64
    }
}

/// Gives what is left of a slice, so much at once.
pub(crate) struct Reader<'a>(&'a [u8], usize);

impl<'a> Reader<'a> {
    pub(crate) const fn new(input: &'a [u8], read: usize) -> Self {
        Self(input, read)
    }
}

impl AsyncRead for Reader<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let len = self.1.min(buffer.remaining()).min(self.0.len());
        let (read, rest) = self.0.split_at(len);
        buffer.put_slice(read);
        self.0 = rest;
        Poll::Ready(Ok(()))
    }
}
