//! `Utf8Reader`, `CharStream` and `Utf8Lines`, compared with codecs in `FramedRead`.

use std::convert::Infallible;
use std::hint::black_box;

use bytes::Bytes;
use futures::executor::block_on;
use futures::stream;
use futures::{StreamExt, TryStream};
use tokio_util::codec::{BytesCodec, LinesCodec};
use utf8_codec::codec::{CharCodec, Utf8Codec, Utf8LinesCodec};
use utf8_codec::stream::{CharStream, Utf8Reader, Utf8StreamExt};

use super::framed::{LEN, READ, Reader, framed, framed_in};
use super::support::{Bench, Corpus, Row, Work};

/// The bytes per read: a small message, and a TCP segment over Ethernet.
const READS: [usize; 2] = [64, READ];

/// The bytes per chunk: the buffer of a busy reader.
const CHUNK: usize = 8192;

/// The peers, for an input and reads of this many bytes.
pub(crate) type ReadPeers = for<'a> fn(&mut Row<'a>, &'a [u8], usize);

/// The text of each read. Ours is borrowed.
pub(crate) fn read(bench: &mut Bench, peers: ReadPeers) {
    for read in READS {
        for corpus in Corpus::SCRIPTS {
            let Some(name) = bench.name("read", corpus.name(), read.to_string()) else { continue };
            let text = corpus.text(LEN, 0);
            let input = text.as_bytes();

            let mut row = Row::new(name, Work::new(LEN, LEN.div_ceil(read), "read"));
            row.expect(LEN);
            row.ours(move || {
                let mut reader = Utf8Reader::new(Reader::new(black_box(input), read));
                let mut len = 0;
                block_on(async {
                    while let Some(text) = reader.next_str().await.expect("the text is UTF-8") {
                        len += text.len();
                    }
                });
                len as u64
            });
            row.sibling("FramedRead", framed_in(read, input, Utf8Codec::new, |text| text.len()));
            peers(&mut row, input, read);
            let count = |bytes: bytes::BytesMut| bytes.len();
            row.floor("(BytesCodec)", framed_in(read, input, BytesCodec::new, count));
            bench.measure(row);
        }
    }
}

/// The sum of all characters, one by one.
pub(crate) fn chars(bench: &mut Bench) {
    for corpus in Corpus::SCRIPTS {
        let Some(name) = bench.name("chars", corpus.name(), CHUNK.to_string()) else { continue };
        let text = corpus.text(LEN, 0);
        let chunks = chunks(&text);

        let mut row = Row::new(name, Work::new(LEN, text.chars().count(), "char"));
        row.expect(text.chars().map(|c| c as usize).sum());
        row.ours(|| sum_of_chars(over(&chunks)));
        row.sibling("CharCodec", framed(text.as_bytes(), CharCodec::new, |c| c as usize));
        row.floor("(str::chars)", || sum_of_slice(black_box(&text)));
        bench.measure(row);
    }
}

/// The sum of all characters, block by block.
pub(crate) fn blocks(bench: &mut Bench) {
    for corpus in Corpus::SCRIPTS {
        let Some(name) = bench.name("blocks", corpus.name(), CHUNK.to_string()) else { continue };
        let text = corpus.text(LEN, 0);
        let chunks = chunks(&text);

        let mut row = Row::new(name, Work::new(LEN, text.chars().count(), "char"));
        row.expect(text.chars().map(|c| c as usize).sum());
        row.ours(|| sum_of_blocks(over(&chunks)));
        row.sibling("CharStream", || sum_of_chars(over(&chunks)));
        row.floor("(str::chars)", || sum_of_slice(black_box(&text)));
        bench.measure(row);
    }
}

/// Lines of some ten words each.
pub(crate) fn lines(bench: &mut Bench) {
    for corpus in Corpus::SCRIPTS {
        let Some(name) = bench.name("read-lines", corpus.name(), READ.to_string()) else {
            continue;
        };
        let text = corpus.text(LEN, 0);
        let input = text.as_bytes();
        let lines = text.lines().count();

        let mut row = Row::new(name, Work::new(LEN, lines, "line"));
        row.expect(lines + text.lines().map(str::len).sum::<usize>());
        row.ours(move || {
            let mut lines = Utf8Reader::new(Reader::new(black_box(input), READ)).into_lines();
            let mut sum = 0;
            block_on(async {
                while let Some(line) = lines.next().await {
                    let line = line.expect("the text is UTF-8");
                    sum += 1 + line.text.len();
                }
            });
            sum as u64
        });
        row.sibling(
            "FramedRead",
            framed(input, Utf8LinesCodec::new, |line| {
                1 + line.expect("the text is UTF-8").text.len()
            }),
        );
        row.peer("tokio-util", framed(input, LinesCodec::new, |line| 1 + line.len()));
        bench.measure(row);
    }
}

fn chunks(text: &str) -> Vec<Bytes> {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    (0..text.len()).step_by(CHUNK).map(|at| bytes.slice(at..text.len().min(at + CHUNK))).collect()
}

fn over(
    chunks: &[Bytes],
) -> CharStream<impl TryStream<Ok = Bytes, Error = Infallible> + Unpin + '_, Infallible> {
    let chunks = black_box(chunks).iter().cloned().map(Ok::<_, Infallible>);
    stream::iter(chunks).utf8().chars()
}

fn sum_of_chars<S: TryStream<Ok = Bytes> + Unpin>(mut chars: CharStream<S, S::Error>) -> u64 {
    let mut sum = 0;
    block_on(async {
        while let Some(Ok(c)) = chars.next().await {
            sum += u64::from(c);
        }
    });
    sum
}

fn sum_of_blocks<S: TryStream<Ok = Bytes> + Unpin>(mut chars: CharStream<S, S::Error>) -> u64 {
    let mut sum = 0;
    block_on(async {
        while let Some(Ok(block)) = chars.next_block().await {
            sum += block.iter().map(|&c| u64::from(c)).sum::<u64>();
        }
    });
    sum
}

fn sum_of_slice(text: &str) -> u64 {
    let mut sum = 0;
    for c in text.chars() {
        sum += u64::from(c);
    }
    sum
}
