//! Encoding: UTF-16 to UTF-8, and text to a writer.

use std::convert::identity;
use std::hint::black_box;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::executor::block_on;
use futures::{Sink, SinkExt};
use tokio::io::AsyncWrite;
use tokio_util::codec::{BytesCodec, FramedWrite};
use utf8_codec::decoder::Status;
use utf8_codec::stream::Utf8Writer;
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::{ByteString, ErrorMode, boundary};

use super::support::{Bench, Corpus, Row, Work};

const SIZES: [usize; 3] = [64, 1460, 8192];

/// The length of one text.
const LEN: usize = 64 << 10;

pub(crate) type Utf16Peers = for<'a> fn(&mut Row<'a>, &'a [&'a [u16]]);

/// UTF-16 in chunks to a new `String` each. Pairs are not split, because not every peer can join them.
pub(crate) fn from_utf16(bench: &mut Bench, peers: Utf16Peers) {
    for size in SIZES {
        for corpus in Corpus::SCRIPTS {
            let Some(name) = bench.name("from-utf-16", corpus.name(), size.to_string()) else {
                continue;
            };
            let text = corpus.text(LEN, 0);
            let units: Vec<_> = text.encode_utf16().collect();
            let chunks = whole_chunks(&units, size);

            let mut row = Row::new(name, Work::new(2 * units.len(), chunks.len(), "chunk"));
            row.expect(LEN);
            row.ours(strings(&chunks, utf16_ours));
            row.peer("std", strings(&chunks, utf16_std));
            peers(&mut row, &chunks);
            bench.measure(row);
        }
    }
}

/// UTF-16 with unpaired surrogates, one in this many units, to a `String`: each becomes U+FFFD.
pub(crate) fn repair_utf16(bench: &mut Bench, peers: Utf16Peers) {
    for every in [16, 64, 1000] {
        for corpus in Corpus::SCRIPTS {
            let size = format!("1-in-{every}");
            let Some(name) = bench.name("repair-utf-16", corpus.name(), size) else { continue };
            let mut units: Vec<_> = corpus.text(LEN, 0).encode_utf16().collect();
            units.iter_mut().step_by(every).for_each(|unit| *unit = 0xD800);
            let chunks: Vec<_> = units.chunks(SIZES[2]).collect();

            let mut row = Row::new(name, Work::new(2 * units.len(), units.len() / every, "error"));
            row.expect(chunks.iter().map(|units| String::from_utf16_lossy(units).len()).sum());
            row.ours(strings(&chunks, |units, text| {
                let (mut decoder, mode) = (Utf16Decoder::new(), ErrorMode::Replacement);
                let _ = decoder.push_to_string(units, mode, text);
                let _ = decoder.finish_to_string(mode, text);
            }));
            row.peer(
                "std",
                strings(&chunks, |units, text| {
                    let chars = char::decode_utf16(units.iter().copied());
                    text.extend(chars.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
                }),
            );
            peers(&mut row, &chunks);
            bench.measure(row);
        }
    }
}

fn whole_chunks(mut units: &[u16], size: usize) -> Vec<&[u16]> {
    let mut chunks = Vec::new();
    while !units.is_empty() {
        let end = size.min(units.len());
        let cut = matches!(units[end - 1], 0xD800..0xDC00);
        let (chunk, rest) = units.split_at(end - usize::from(cut));
        chunks.push(chunk);
        units = rest;
    }
    chunks
}

/// The sum of the lengths of all strings.
pub(crate) fn strings<'a>(
    chunks: &'a [&'a [u16]],
    contender: impl Fn(&[u16], &mut String) + 'a,
) -> impl FnMut() -> u64 + 'a {
    let mut text = String::with_capacity(3 * SIZES[2]);
    move || {
        let mut sum = 0;
        for chunk in black_box(chunks) {
            text.clear();
            contender(chunk, &mut text);
            sum += text.len();
        }
        sum as u64
    }
}

fn utf16_ours(units: &[u16], text: &mut String) {
    let mut decoder = Utf16Decoder::new();
    let progress = decoder.push_to_string(units, ErrorMode::Fatal, text);
    assert_eq!(progress.status, Status::Done);
    decoder.finish().expect("pairs are complete");
}

fn utf16_std(units: &[u16], text: &mut String) {
    let chars = char::decode_utf16(units.iter().copied());
    text.extend(chars.map(|c| c.expect("pairs are complete")));
}

/// Texts of some length to a writer with vectored writes that accepts everything.
pub(crate) fn writer(bench: &mut Bench) {
    for size in SIZES {
        let corpus = Corpus::Mixed;
        let Some(name) = bench.name("write", corpus.name(), size.to_string()) else { continue };
        let text = ByteString::from(corpus.text(LEN, 0));
        let texts: Vec<_> = boundary::owned_at_most(text, size).collect();

        let mut row = Row::new(name, Work::new(LEN, texts.len(), "text"));
        row.expect(LEN);
        row.ours(written(&texts, Utf8Writer::new, Utf8Writer::into_inner, identity));
        row.floor("(BytesCodec)", {
            let new = |taker| FramedWrite::new(taker, BytesCodec::new());
            written(&texts, new, FramedWrite::into_inner, ByteString::into_bytes)
        });
        bench.measure(row);
    }
}

/// The number of bytes that a writer in a sink accepted after all texts were fed.
fn written<'a, S, T>(
    texts: &'a [ByteString],
    new: impl Fn(Taker) -> S + 'a,
    into_inner: impl Fn(S) -> Taker + 'a,
    item: impl Fn(ByteString) -> T + 'a,
) -> impl FnMut() -> u64 + 'a
where
    S: Sink<T> + Unpin,
    S::Error: std::fmt::Debug,
{
    move || {
        let mut sink = new(Taker(0));
        block_on(async {
            for text in black_box(texts) {
                sink.feed(item(text.clone())).await.expect("the writer accepts everything");
            }
            sink.flush().await.expect("the writer accepts everything");
        });
        into_inner(sink).0 as u64
    }
}

/// Counts the bytes that it accepts.
struct Taker(usize);

impl AsyncWrite for Taker {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0 += bytes.len();
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let len = slices.iter().map(|slice| slice.len()).sum();
        self.0 += len;
        Poll::Ready(Ok(len))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
