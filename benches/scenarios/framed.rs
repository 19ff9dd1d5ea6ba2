//! Codecs in `FramedRead` over a reader that is always ready.

use std::fmt::Debug;
use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use futures::executor::block_on;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::codec::{BytesCodec, Decoder, FramedRead, LinesCodec};
use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};

use super::support::{Bench, Corpus, Row, Work};

pub(crate) const LEN: usize = 256 << 10;

/// The bytes per read: a TCP segment over Ethernet.
pub(crate) const READ: usize = 1460;

pub(crate) type CodecPeers = for<'a> fn(&mut Row<'a>, &'a [u8]);

/// Text as it arrives, without copying.
pub(crate) fn codec(bench: &mut Bench, peers: CodecPeers) {
    for corpus in Corpus::SCRIPTS {
        let Some(name) = bench.name("codec", corpus.name(), READ.to_string()) else { continue };
        let text = corpus.text(LEN, 0);
        let input = text.as_bytes();

        let mut row = Row::new(name, Work::new(LEN, LEN.div_ceil(READ), "read"));
        row.expect(LEN);
        row.ours(framed(input, Utf8Codec::new, |text| text.len()));
        row.peer("std", framed(input, || WholeCharacters(up_to_tail_std), |text| text.len()));
        peers(&mut row, input);
        row.floor("(BytesCodec)", framed(input, BytesCodec::new, |bytes| bytes.len()));
        bench.measure(row);
    }
}

pub(crate) type LinesPeers = for<'a> fn(&mut Row<'a>, &'a [u8]);

/// Lines of some ten words each.
pub(crate) fn lines(bench: &mut Bench, peers: LinesPeers) {
    for corpus in Corpus::SCRIPTS {
        let Some(name) = bench.name("lines", corpus.name(), READ.to_string()) else { continue };
        let text = corpus.text(LEN, 0);
        let input = text.as_bytes();
        let lines = text.lines().count();

        let mut row = Row::new(name, Work::new(LEN, lines, "line"));
        row.expect(lines + text.lines().map(str::len).sum::<usize>());
        row.ours(framed(input, Utf8LinesCodec::new, |line| {
            1 + line.expect("the text is UTF-8").text.len()
        }));
        row.peer("tokio-util", framed(input, LinesCodec::new, |line| 1 + line.len()));
        peers(&mut row, input);
        bench.measure(row);
    }
}

/// The sum of `count` over all items of a codec.
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

/// Like [`framed`], with `read` bytes per read.
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

/// Reads a slice, this many bytes at once.
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

/// A codec on top of a validator: valid bytes become an item without copying; an incomplete character
/// stays in the buffer. The type of the item does not guarantee that it is text.
pub(crate) struct WholeCharacters(pub(crate) fn(&[u8]) -> Option<usize>);

impl Decoder for WholeCharacters {
    type Item = Bytes;
    type Error = io::Error;

    fn decode(&mut self, source: &mut BytesMut) -> io::Result<Option<Bytes>> {
        if source.is_empty() {
            return Ok(None);
        }
        match (self.0)(source) {
            Some(0) => Ok(None),
            Some(len) => Ok(Some(source.split_to(len).freeze())),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// The length of the valid prefix, if the other bytes are only an incomplete character.
fn up_to_tail_std(bytes: &[u8]) -> Option<usize> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.len()),
        Err(error) if error.error_len().is_none() => Some(error.valid_up_to()),
        Err(_) => None,
    }
}
