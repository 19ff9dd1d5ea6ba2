//! CESU-8 and Modified UTF-8: streams in chunks. Peers receive the whole stream at once.

use std::hint::black_box;

use utf8_codec::decoder::Status;
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};
use utf8_codec::{ErrorMode, Utf8Decoder};

use super::support::{Bench, Corpus, Row, Work};

const CHUNKS: [usize; 2] = [1460, 8192];

/// The length of a stream, in bytes of UTF-8.
const STREAM: usize = 64 << 10;

pub(crate) type DialectPeers = for<'a> fn(&mut Row<'a>, Dialect, &'a Input);

/// A text, and its bytes in the dialect.
pub(crate) struct Input {
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
}

/// Decodes a stream to a `String`.
pub(crate) fn decode(bench: &mut Bench, peers: DialectPeers) {
    measure(bench, "decode", |row, dialect, input, chunk| {
        row.expect(input.text.len());
        row.ours(move || decode_dialect(dialect, black_box(&input.bytes), chunk));
        row.floor("(utf-8)", move || decode_utf8(black_box(input.text.as_bytes()), chunk));
        peers(row, dialect, input);
    });
}

/// Encodes a text to a `Vec`.
pub(crate) fn encode(bench: &mut Bench, peers: DialectPeers) {
    measure(bench, "encode", |row, dialect, input, chunk| {
        row.expect(input.bytes.len());
        row.ours(move || encode_dialect(dialect, black_box(&input.text), chunk));
        peers(row, dialect, input);
    });
}

fn measure(
    bench: &mut Bench,
    what: &str,
    contenders: impl for<'a> Fn(&mut Row<'a>, Dialect, &'a Input, usize),
) {
    for (dialect, name) in [(Dialect::Cesu8, "cesu-8"), (Dialect::ModifiedUtf8, "mutf-8")] {
        for (corpus, text) in texts(dialect) {
            let input = Input { bytes: encoded(dialect, &text), text };
            for chunk in CHUNKS {
                let what = format!("{name}-{what}");
                let Some(name) = bench.name(what, corpus, chunk.to_string()) else { continue };
                let chunks = input.bytes.len().div_ceil(chunk);
                let mut row = Row::new(name, Work::new(input.bytes.len(), chunks, "chunk"));
                contenders(&mut row, dialect, &input, chunk);
                bench.measure(row);
            }
        }
    }
}

/// Texts in every script, and some that alternate between plain and special text.
fn texts(dialect: Dialect) -> Vec<(&'static str, String)> {
    let of = |corpus: Corpus| (corpus.name(), corpus.text(STREAM, 0));
    let mut texts: Vec<_> = Corpus::SCRIPTS.map(of).into();
    texts.push(of(Corpus::Mixed));
    texts.push(("one-emoji-in-10", "letters, \u{1F600}".repeat(STREAM / 13)));
    texts.push(("one-emoji-in-2", "a\u{1F600}".repeat(STREAM / 5)));
    if dialect == Dialect::ModifiedUtf8 {
        texts.push(("nul-after-words", Corpus::Ascii.text(STREAM, 0).replace(' ', "\0")));
        texts.push(("nul", "\0".repeat(STREAM)));
    }
    texts
}

fn encoded(dialect: Dialect, text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    DialectEncoder::new(dialect).push_to_vec(text, &mut bytes).expect("text can be encoded");
    bytes
}

fn decode_dialect(dialect: Dialect, bytes: &[u8], chunk: usize) -> u64 {
    let mut decoder = DialectDecoder::new(dialect);
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.chunks(chunk) {
        let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
        assert_eq!(progress.status, Status::Done);
    }
    decoder.finish_to_string(ErrorMode::Fatal, &mut text).expect("the bytes are complete");
    black_box(text).len() as u64
}

/// Validates and copies the same text in UTF-8.
fn decode_utf8(bytes: &[u8], chunk: usize) -> u64 {
    let mut decoder = Utf8Decoder::new();
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.chunks(chunk) {
        let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
        assert_eq!(progress.status, Status::Done);
    }
    decoder.finish().expect("the text is complete");
    black_box(text).len() as u64
}

fn encode_dialect(dialect: Dialect, text: &str, chunk: usize) -> u64 {
    let mut encoder = DialectEncoder::new(dialect);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let most = chunk.min(rest.len());
        let at = (0..=most).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(most);
        encoder.push_to_vec(&rest[..at], &mut bytes).expect("text can be encoded");
        rest = &rest[at..];
    }
    black_box(bytes).len() as u64
}
