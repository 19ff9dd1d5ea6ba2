//! Bytes that matter to a fallback, and cuts.

use proptest::prelude::*;

/// Cuts `bytes` after each length in turn; an empty chunk where that is 0.
pub(crate) fn cut<'a>(bytes: &'a [u8], lens: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut chunks = Vec::new();
    for &len in lens.iter().cycle() {
        let (chunk, behind) = rest.split_at(len.min(rest.len()));
        chunks.push(chunk);
        rest = behind;
        if rest.is_empty() || lens.iter().all(|&len| len == 0) {
            break;
        }
    }
    chunks.push(rest);
    chunks
}

/// Bytes in which everything happens that a fallback knows.
pub(crate) fn inputs() -> impl Strategy<Value = Vec<u8>> {
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

pub(crate) fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0_usize..6, 1..5)
}
