//! Input that is not UTF-8, decoded in a legacy encoding: per part, per line, and for the rest.

#![cfg(feature = "alloc")]

#[cfg(feature = "codec")]
mod codecs;
#[path = "../support/counting.rs"]
mod counting;
mod decoder;
#[path = "../support/fallback.rs"]
mod model;
#[path = "../support/reference.rs"]
#[allow(dead_code, reason = "each test binary uses its own part")]
mod reference;
#[cfg(feature = "stream")]
mod streams;
#[cfg(feature = "encoding_rs")]
mod whatwg;

use proptest::prelude::*;

/// Splits `bytes` at these lengths in turn; 0 is an empty chunk.
fn cut<'a>(bytes: &'a [u8], lens: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut chunks = Vec::new();
    for &len in lens.iter().cycle() {
        let (chunk, after) = rest.split_at(len.min(rest.len()));
        chunks.push(chunk);
        rest = after;
        if rest.is_empty() || lens.iter().all(|&len| len == 0) {
            break;
        }
    }
    chunks.push(rest);
    chunks
}

/// Bytes that trigger every case of a fallback.
fn inputs() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec![
        &b"a"[..],
        b"b0@",
        b"\n",
        b"\n",
        b"\r\n",
        b"\xC3\xA9",
        b"\xE2\x82\xAC",
        b"\xF0\x9F\x98\x80",
        b"\xE9",
        b"\xC3",
        b"\xE2\x82",
        b"\xF0\x9F\x98",
        b"\x80",
        b"\x93\xFA",
        b"\x81\x30",
        b"\x81\x30\x81\x30",
        b"\x8F\xA2",
        b"\xFF",
        b"\xC0\x80",
        b"\xED\xA0\x80",
        b"\xB0\xA1",
        b"\xEF\xBB\xBF",
        b"\0",
    ]);
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0_usize..6, 1..5)
}
