//! Text that may not be UTF-8: clean UTF-8, for which a fallback should cost nothing, and Windows-1252.

use std::convert::Infallible;
use std::hint::black_box;

use bytes::Bytes;
use futures::executor::block_on;
use futures::{StreamExt, stream};
use utf8_codec::codec::Utf8Codec;
use utf8_codec::decoder::Status;
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::stream::Utf8Stream;
use utf8_codec::{ErrorMode, Utf8Decoder};

use super::framed::{LEN, READ, framed};
use super::support::{Bench, Corpus, Rng, Row, Work};

/// An input.
pub(crate) struct Input {
    pub(crate) bytes: Vec<u8>,
    /// Whether it is Windows-1252. Peers need to know it.
    pub(crate) is_legacy: bool,
    /// The number of bytes of its text.
    len: usize,
}

pub(crate) type FallbackPeers = for<'a> fn(&mut Row<'a>, &'a Input);

/// Into a new `String`, with each extent of the fallback.
pub(crate) fn decode(bench: &mut Bench, peers: FallbackPeers) {
    for (what, fallback) in [
        ("fallback-rest", FallbackDecoder::rest as fn(LegacyEncoding) -> FallbackDecoder),
        ("fallback-line", FallbackDecoder::line),
        ("fallback-part", FallbackDecoder::part),
    ] {
        measure(bench, what, |row, input| {
            row.ours(move || {
                let decoder = fallback(LegacyEncoding::windows_1252());
                decode_with(decoder, black_box(&input.bytes)).len() as u64
            });
            peers(row, input);
            if !input.is_legacy {
                row.floor("(utf-8)", || decode_utf8(black_box(&input.bytes)).len() as u64);
            }
        });
    }
}

/// `Utf8Codec` in `FramedRead`.
pub(crate) fn codec(bench: &mut Bench, peers: FallbackPeers) {
    measure(bench, "fallback-codec", |row, input| {
        let codec = || Utf8Codec::new().with_fallback(rest());
        row.ours(framed(&input.bytes, codec, |text| text.len()));
        peers(row, input);
        if !input.is_legacy {
            row.floor("(utf-8)", framed(&input.bytes, Utf8Codec::new, |text| text.len()));
        }
    });
}

/// `Utf8Stream` over a stream of chunks that is always ready.
pub(crate) fn streams(bench: &mut Bench, peers: FallbackPeers) {
    measure(bench, "fallback-stream", |row, input| {
        let chunks = chunks(&input.bytes);
        let all = chunks.clone();
        row.ours(move || {
            let texts = Utf8Stream::new(stream::iter(black_box(&all).clone()));
            sum(texts.with_fallback(rest()).map(|text| text.expect("the input is text").len()))
        });
        peers(row, input);
        if !input.is_legacy {
            row.floor("(utf-8)", move || {
                let texts = Utf8Stream::new(stream::iter(black_box(&chunks).clone()));
                sum(texts.map(|text| text.expect("the text is UTF-8").len()))
            });
        }
    });
}

fn measure(bench: &mut Bench, what: &str, contenders: impl for<'a> Fn(&mut Row<'a>, &'a Input)) {
    for (corpus, input) in inputs() {
        let Some(name) = bench.name(what, corpus, READ.to_string()) else { continue };
        let mut row = Row::new(name, Work::new(LEN, LEN.div_ceil(READ), "read"));
        row.expect(input.len);
        contenders(&mut row, &input);
        bench.measure(row);
    }
}

fn inputs() -> Vec<(&'static str, Input)> {
    let clean = [Corpus::Ascii, Corpus::Latin, Corpus::Cyrillic, Corpus::Cjk].map(|corpus| {
        let bytes = corpus.text(LEN, 0).into_bytes();
        (corpus.name(), Input { bytes, is_legacy: false, len: LEN })
    });
    let mut inputs = Vec::from(clean);
    inputs.push(("windows-1252", legacy()));
    inputs
}

/// One letter in eight has a diacritic, including the first.
fn legacy() -> Input {
    let mut rng = Rng::new(1252);
    let mut bytes = Corpus::Ascii.text(LEN, 0).into_bytes();
    for (n, letter) in bytes.iter_mut().filter(|byte| byte.is_ascii_lowercase()).enumerate() {
        if n == 0 || rng.one_in(8) {
            // From E0 on it equals Latin-1.
            *letter = rng.range(0xE0..=0xFF) as u8;
        }
    }
    let len = bytes.len() + bytes.iter().filter(|byte| !byte.is_ascii()).count();
    Input { bytes, is_legacy: true, len }
}

fn rest() -> FallbackDecoder {
    FallbackDecoder::rest(LegacyEncoding::windows_1252())
}

fn chunks(bytes: &[u8]) -> Vec<Result<Bytes, Infallible>> {
    bytes.chunks(READ).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect()
}

fn sum(lengths: impl futures::Stream<Item = usize>) -> u64 {
    block_on(lengths.fold(0, async |sum, len| sum + len as u64))
}

fn decode_with(mut decoder: FallbackDecoder, bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for chunk in bytes.chunks(READ) {
        let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
        assert_eq!(progress.status, Status::Done);
    }
    decoder.finish_to_string(ErrorMode::Fatal, &mut text).expect("the input is text");
    text
}

fn decode_utf8(bytes: &[u8]) -> String {
    let mut decoder = Utf8Decoder::new();
    let mut text = String::with_capacity(2 * bytes.len());
    for chunk in bytes.chunks(READ) {
        let _ = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
    }
    decoder.finish().expect("the text is UTF-8");
    text
}
