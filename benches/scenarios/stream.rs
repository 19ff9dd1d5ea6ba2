//! Streams in chunks that can end inside a character.

use std::hint::black_box;

use utf8_codec::{Utf8Decoder, Utf8Validator};

use super::support::{Bench, Corpus, Name, Row, Work};

const CHUNKS: [usize; 3] = [64, 1460, 8192];

/// The length of a stream, and the number of streams, each split at other offsets.
const STREAM: usize = 64 << 10;
const PHASES: usize = 4;

/// The chunks of a stream.
pub(crate) type Chunks<'a> = Vec<&'a [u8]>;

pub(crate) type StreamPeers = for<'a> fn(&mut Row<'a>, &'a [Chunks<'a>]);

/// The text of each chunk, borrowed if the contender can.
pub(crate) fn decode(bench: &mut Bench, peers: StreamPeers) {
    measure(bench, "decode", STREAM * PHASES, |row, streams| {
        row.ours(over(streams, ours_decode));
        row.peer("std", over(streams, std_decode));
        peers(row, streams);
    });
}

/// Whether each stream is UTF-8, and nothing else.
pub(crate) fn verdict(bench: &mut Bench, peers: StreamPeers) {
    measure(bench, "verdict", PHASES, |row, streams| {
        row.ours(over(streams, ours_verdict));
        peers(row, streams);
    });
}

fn measure(
    bench: &mut Bench,
    what: &str,
    answer: usize,
    contenders: impl for<'a> Fn(&mut Row<'a>, &'a [Chunks<'a>]),
) {
    for chunk in CHUNKS {
        for corpus in Corpus::SCRIPTS {
            let Some(name) = bench.name(what, corpus.name(), chunk.to_string()) else { continue };
            let texts: Vec<_> = (0..PHASES).map(|n| corpus.text(STREAM, n as u64)).collect();
            let streams: Vec<_> =
                texts.iter().enumerate().map(|(phase, text)| cut(text, chunk, phase)).collect();
            assert_every_phase(&name, &texts, &streams, corpus);

            let chunks = streams.iter().map(Vec::len).sum();
            let mut row = Row::new(name, Work::new(STREAM * PHASES, chunks, "chunk"));
            row.expect(answer);
            contenders(&mut row, &streams);
            bench.measure(row);
        }
    }
}

/// Splits a text into chunks, the first of them shorter by `phase` bytes.
fn cut(text: &str, chunk: usize, phase: usize) -> Chunks<'_> {
    let (first, rest) = text.as_bytes().split_at(chunk - phase);
    std::iter::once(first).chain(rest.chunks(chunk)).collect()
}

/// Checks that some character is split after each of its bytes.
fn assert_every_phase(name: &Name, texts: &[String], streams: &[Chunks<'_>], corpus: Corpus) {
    let mut seen = [false; 4];
    for (text, chunks) in texts.iter().zip(streams) {
        let mut at = 0;
        for chunk in chunks {
            let back = (0..4).find(|back| text.is_char_boundary(at - back)).unwrap_or(0);
            seen[back] = true;
            at += chunk.len();
        }
    }
    assert!(seen[..corpus.width()].iter().all(|&seen| seen), "{name}: split only at {seen:?}");
}

/// The sum of the answers of a contender for all streams.
pub(crate) fn over<'a>(
    streams: &'a [Chunks<'a>],
    mut contender: impl FnMut(&[&'a [u8]]) -> usize + 'a,
) -> impl FnMut() -> u64 + 'a {
    move || black_box(streams).iter().map(|chunks| contender(chunks) as u64).sum()
}

fn ours_decode(chunks: &[&[u8]]) -> usize {
    let mut decoder = Utf8Decoder::new();
    let mut len = 0;
    for chunk in chunks {
        for piece in decoder.push(chunk) {
            len += piece.expect("the text is UTF-8").len();
        }
    }
    decoder.finish().expect("the text is complete");
    len
}

/// The usual hand-written code: append, `str::from_utf8`, keep the rest.
fn std_decode(chunks: &[&[u8]]) -> usize {
    let mut buffer = Vec::new();
    let mut len = 0;
    for chunk in chunks {
        buffer.extend_from_slice(chunk);
        let text = match std::str::from_utf8(&buffer) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => panic!("the text is UTF-8: {error}"),
        };
        len += text;
        buffer.drain(..text);
    }
    assert!(buffer.is_empty(), "the text is complete");
    len
}

fn ours_verdict(chunks: &[&[u8]]) -> usize {
    let mut validator = Utf8Validator::new();
    for chunk in chunks {
        validator.push(chunk).expect("the text is UTF-8");
    }
    usize::from(validator.finish().is_ok())
}
