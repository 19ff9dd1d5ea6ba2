//! Whole buffers: is the input UTF-8, and where is the first error?

use std::hint::black_box;
use std::ops::RangeInclusive;

use utf8_simd::Level;

use super::support::corpus::Pool;
use super::support::{Bench, Corpus, Rng, Row, Work};

/// Messages up to 8 KiB form a pool that fits the L1 cache, with many short messages.
const SIZES: [(&str, RangeInclusive<usize>); 9] = [
    ("4-32", 4..=32),
    ("16-128", 16..=128),
    ("64", 64..=64),
    ("1KiB", 1024..=1024),
    ("1460", 1460..=1460),
    ("8KiB", 8192..=8192),
    ("64KiB", 65_536..=65_536),
    ("512KiB", 524_288..=524_288),
    ("1MiB", 1_048_576..=1_048_576),
];
const POOL: usize = 24 << 10;

/// Branch predictors learn where runs of ASCII and other text alternate: within 1 MiB a peer was twice
/// as fast as within 4 MiB. So there are several mixtures.
const MIXTURES: usize = 4;

/// Floors are measured from this size on.
const LONG: usize = 1024;

pub(crate) type ValidatePeers = for<'a> fn(&mut Row<'a>, &'a [&'a [u8]]);

/// Whether all messages are UTF-8.
pub(crate) fn validate(bench: &mut Bench, peers: ValidatePeers) {
    for (size, lengths) in SIZES {
        for corpus in Corpus::SCRIPTS {
            validate_row(bench, corpus, size, lengths.clone(), peers);
        }
        if size == "1MiB" {
            validate_row(bench, Corpus::Mixed, size, lengths, peers);
        }
    }
}

fn validate_row(
    bench: &mut Bench,
    corpus: Corpus,
    size: &str,
    lengths: RangeInclusive<usize>,
    peers: ValidatePeers,
) {
    let Some(name) = bench.name("validate", corpus.name(), size) else { return };
    let longest = *lengths.end();
    let count = if corpus == Corpus::Mixed { MIXTURES } else { 1 };
    let pool = Pool::new(corpus, lengths, POOL.max(count * longest));
    let messages = pool.messages();
    let bytes = messages.iter().map(|message| message.len()).sum();
    let mut copy = vec![0; longest];

    let mut row = Row::new(name, Work::new(bytes, messages.len(), "message"));
    row.expect(1);
    row.ours(all(&messages, |message| utf8_codec::from_utf8(message).is_ok()));
    row.peer("std", all(&messages, |message| std::str::from_utf8(message).is_ok()));
    peers(&mut row, &messages);
    if longest >= LONG {
        row.expect(usize::from(corpus == Corpus::Ascii));
        row.floor("(read)", all(&messages, |message| read(message) < 0x80));
        row.expect(bytes);
        row.floor("(memcpy)", || copy_all(&messages, &mut copy));
    }
    bench.measure(row);
}

/// Validates all messages in a loop with nothing else in it.
pub(crate) fn all<'a>(
    messages: &'a [&'a [u8]],
    is_valid: impl Fn(&[u8]) -> bool + 'a,
) -> impl FnMut() -> u64 + 'a {
    move || {
        let verdict = black_box(messages).iter().fold(true, |all, message| all & is_valid(message));
        u64::from(verdict)
    }
}

/// Reads all bytes with as little work as possible.
fn read(message: &[u8]) -> u8 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn read_avx2(message: &[u8]) -> u8 {
            union(message)
        }
        // SAFETY: AVX2 was just detected.
        #[allow(unsafe_code)]
        return unsafe { read_avx2(message) };
    }
    union(message)
}

#[inline(always)]
fn union(message: &[u8]) -> u8 {
    let mut lanes = [0; 256];
    let (blocks, tail) = message.as_chunks::<256>();
    for block in blocks {
        for (lane, byte) in lanes.iter_mut().zip(block) {
            *lane |= byte;
        }
    }
    lanes.iter().chain(tail).fold(0, |all, byte| all | byte)
}

fn copy_all(messages: &[&[u8]], copy: &mut [u8]) -> u64 {
    let mut copied = 0;
    for message in black_box(messages) {
        copy[..message.len()].copy_from_slice(message);
        copied += black_box(&copy[..message.len()]).len();
    }
    copied as u64
}

/// The offset of the error, which is near the start of 8 KiB, in the middle or near the end.
pub(crate) fn locate(bench: &mut Bench, peers: ValidatePeers) {
    const LEN: usize = 8192;
    for (place, at) in [("start", 0), ("middle", LEN / 2), ("end", LEN - 64)] {
        for corpus in [Corpus::Ascii, Corpus::Cyrillic, Corpus::Cjk] {
            let Some(name) = bench.name("locate", corpus.name(), place) else { continue };
            let inputs: Vec<_> = (0..32).map(|n| broken(corpus, LEN, at, n)).collect();
            let messages: Vec<_> = inputs.iter().map(Vec::as_slice).collect();
            let found: usize = messages.iter().map(|message| locate_std(message)).sum();

            let mut row = Row::new(name, Work::new(found, messages.len(), "error"));
            row.expect(found);
            row.ours(sum(&messages, |message| Level::detect().validate(message).valid_up_to));
            row.peer("std", sum(&messages, locate_std));
            peers(&mut row, &messages);
            bench.measure(row);
        }
    }
}

/// A text with an FF somewhere in the 64 bytes from `at` on.
fn broken(corpus: Corpus, len: usize, at: usize, seed: u64) -> Vec<u8> {
    let mut input = corpus.text(len, seed).into_bytes();
    input[at + Rng::new(seed).range(0..=63)] = 0xFF;
    input
}

fn locate_std(message: &[u8]) -> usize {
    std::str::from_utf8(message).map_or_else(|error| error.valid_up_to(), str::len)
}

/// The sum of the offsets, in a loop with nothing else in it.
pub(crate) fn sum<'a>(
    messages: &'a [&'a [u8]],
    place: impl Fn(&[u8]) -> usize + 'a,
) -> impl FnMut() -> u64 + 'a {
    move || black_box(messages).iter().map(|message| place(message) as u64).sum()
}
