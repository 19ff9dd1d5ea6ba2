//! What the text of a whole input is, written plainly; and inputs.

use proptest::prelude::*;
use utf8_codec::fallback::{Fallback, FallbackDecoder, FallbackReport, LegacyEncoding};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Part,
    Line(usize),
    Rest,
}

pub(crate) const EXTENTS: [Extent; 6] = [
    Extent::Part,
    Extent::Line(usize::MAX),
    Extent::Line(0),
    Extent::Line(1),
    Extent::Line(5),
    Extent::Rest,
];

impl Extent {
    pub(crate) fn fallback(self, encoding: LegacyEncoding) -> Fallback {
        match self {
            Self::Part => Fallback::part(encoding),
            Self::Line(limit) => Fallback::line(encoding).with_max_length(limit),
            Self::Rest => Fallback::rest(encoding),
        }
    }
}

/// Text, and how often and how much of it was legacy, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub text: String,
    pub runs: u64,
    pub bytes: u64,
    pub first: Option<u64>,
}

impl Outcome {
    pub(crate) fn new(text: String, report: FallbackReport) -> Self {
        Self { text, runs: report.runs, bytes: report.bytes, first: report.first }
    }

    fn legacy(&mut self, at: usize, bytes: &[u8], read: impl Fn(&[u8]) -> String) {
        self.text += &read(bytes);
        self.runs += 1;
        self.bytes += bytes.len() as u64;
        self.first.get_or_insert(at as u64);
    }
}

pub(crate) fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

pub(crate) fn model(
    bytes: &[u8],
    extent: Extent,
    read: impl Fn(&[u8]) -> String + Copy,
) -> Outcome {
    let mut outcome = Outcome::default();
    match extent {
        Extent::Part => parts(&mut outcome, 0, bytes, read),
        Extent::Rest => {
            let (text, rest) = bytes.split_at(valid_len(bytes));
            outcome.text += str::from_utf8(text).unwrap();
            if !rest.is_empty() {
                outcome.legacy(text.len(), rest, read);
            }
        }
        Extent::Line(limit) => {
            let mut at = 0;
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                let ascii_len = line.iter().take_while(|byte| byte.is_ascii()).count();
                let (ascii, other) = line.split_at(ascii_len);
                outcome.text += str::from_utf8(ascii).unwrap();
                let valid = valid_len(other);
                if valid == other.len() {
                    outcome.text += str::from_utf8(other).unwrap();
                } else if valid == 0 || valid < limit {
                    outcome.legacy(at + ascii_len, other, read);
                } else {
                    parts(&mut outcome, at + ascii_len, other, read);
                }
                at += line.len();
            }
        }
    }
    outcome
}

fn parts(outcome: &mut Outcome, at: usize, bytes: &[u8], read: impl Fn(&[u8]) -> String) {
    let mut at = at;
    let mut run = Vec::new();
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() && !run.is_empty() {
            outcome.legacy(at - run.len(), &run, &read);
            run.clear();
        }
        outcome.text += chunk.valid();
        run.extend_from_slice(chunk.invalid());
        at += chunk.valid().len() + chunk.invalid().len();
    }
    if !run.is_empty() {
        outcome.legacy(at - run.len(), &run, &read);
    }
}

fn valid_len(bytes: &[u8]) -> usize {
    str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len)
}

pub(crate) fn decode<'a>(
    mut decoder: FallbackDecoder,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    let mut text = String::new();
    for chunk in chunks {
        decoder.push(chunk, &mut text).unwrap();
    }
    decoder.finish(&mut text).unwrap();
    Outcome::new(text, decoder.report())
}

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
