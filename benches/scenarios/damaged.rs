//! Input that is only partly UTF-8.

use std::hint::black_box;

use utf8_codec::{ErrorMode, Utf8Decoder};

use utf8_codec::decoder::Status;

use super::support::{Bench, Corpus, Rng, Room, Row, Work};

const LEN: usize = 1 << 20;

/// The number of bytes per error.
const DENSITIES: [usize; 3] = [8, 64, 1024];

const MODES: [(&str, ErrorMode); 5] = [
    ("replace", ErrorMode::Replacement),
    ("skip", ErrorMode::Skip),
    ("escape", ErrorMode::Escape),
    ("as-latin1", ErrorMode::Latin1),
    ("as-windows1252", ErrorMode::Windows1252),
];

/// The kind of damage.
#[derive(Clone, Copy)]
enum Damage {
    /// Latin-1 text: one letter with a diacritic per this many bytes, otherwise ASCII.
    Latin1(usize),
    /// One byte in this many is replaced by another non-ASCII byte.
    Random(Corpus, usize),
    /// Every byte is FF.
    Everything,
}

impl Damage {
    fn all() -> Vec<Self> {
        let mut all = Vec::from(DENSITIES.map(Self::Latin1));
        for corpus in [Corpus::Ascii, Corpus::Cyrillic, Corpus::Cjk] {
            all.extend(DENSITIES.map(|every| Self::Random(corpus, every)));
        }
        all.push(Self::Everything);
        all
    }

    /// For rows that only differ in the repair: the shortest and the longest errors.
    fn some() -> Vec<Self> {
        let is_one = |damage: &Self| match damage {
            Self::Random(corpus, _) => *corpus == Corpus::Cjk,
            Self::Latin1(_) | Self::Everything => true,
        };
        Self::all().into_iter().filter(is_one).collect()
    }

    fn corpus(self) -> &'static str {
        match self {
            Self::Latin1(_) => "latin-1",
            Self::Random(corpus, _) => corpus.name(),
            Self::Everything => "ff",
        }
    }

    fn size(self) -> String {
        match self {
            Self::Latin1(every) | Self::Random(_, every) => format!("1-in-{every}"),
            Self::Everything => "all".to_owned(),
        }
    }

    fn input(self) -> Vec<u8> {
        match self {
            Self::Latin1(every) => hit(Corpus::Ascii, every, 0xC0..=0xFF),
            Self::Random(corpus, every) => hit(corpus, every, 0x80..=0xFF),
            Self::Everything => vec![0xFF; LEN],
        }
    }
}

/// Replaces one byte in each `every` bytes of the text.
fn hit(corpus: Corpus, every: usize, by: std::ops::RangeInclusive<usize>) -> Vec<u8> {
    let mut rng = Rng::new(every as u64);
    let mut input = corpus.text(LEN, 0).into_bytes();
    for part in input.chunks_mut(every) {
        part[rng.range(0..=part.len() - 1)] = rng.range(by.clone()) as u8;
    }
    input
}

/// The number of errors.
fn errors(input: &[u8]) -> usize {
    input.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count()
}

pub(crate) type DamagedPeers = for<'a> fn(&mut Row<'a>, &'a [u8]);

/// Repairs the input into a new `String`. Peers support only replacement and use it in every mode.
pub(crate) fn repair(bench: &mut Bench, peers: DamagedPeers) {
    for (what, mode) in MODES {
        let is_first = mode == ErrorMode::Replacement;
        for damage in if is_first { Damage::all() } else { Damage::some() } {
            let Some(name) = bench.name(what, damage.corpus(), damage.size()) else { continue };
            let input = damage.input();
            let lossy = String::from_utf8_lossy(&input);
            let expected = repaired(&input, mode);
            assert!(!is_first || expected == lossy, "{name}: the repairs");

            let mut row = Row::new(name, Work::new(LEN, errors(&input), "error"));
            row.expect(expected.len());
            row.ours(|| black_box(repaired(black_box(&input), mode)).len() as u64);
            row.expect(lossy.len());
            row.peer("std", || black_box(String::from_utf8_lossy(black_box(&input))).len() as u64);
            peers(&mut row, &input);
            bench.measure(row);
        }
    }
}

fn repaired(input: &[u8], mode: ErrorMode) -> String {
    let mut decoder = Utf8Decoder::new();
    let mut text = String::new();
    let progress = decoder.push_to_string(input, mode, &mut text);
    assert_eq!(progress.status, Status::Done, "a lossy mode");
    decoder.finish_to_string(mode, &mut text).expect("a lossy mode");
    text
}

/// Repairs the input with U+FFFD into a slice of UTF-16.
pub(crate) fn repair_utf16(bench: &mut Bench, peers: DamagedPeers) {
    for damage in Damage::all() {
        let name = bench.name("replace-utf-16", damage.corpus(), damage.size());
        let Some(name) = name else { continue };
        let input = damage.input();
        let units = String::from_utf8_lossy(&input).encode_utf16().count();

        let mut out = Room::new(LEN);
        let mut row = Row::new(name, Work::new(LEN, errors(&input), "error"));
        row.expect(units);
        row.ours(|| repaired_utf16(black_box(&input), black_box(&mut out)) as u64);
        peers(&mut row, &input);
        bench.measure(row);
    }
}

fn repaired_utf16(input: &[u8], out: &mut [u16]) -> usize {
    let (mut decoder, mode) = (Utf8Decoder::new(), ErrorMode::Replacement);
    let progress = decoder.push_to_utf16(input, mode, out);
    assert_eq!(progress.status, Status::Done, "there is room for all");
    progress.written + decoder.finish_to_utf16(mode, &mut out[progress.written..]).written
}

/// Yields the text borrowed, and the errors between.
pub(crate) fn pieces(bench: &mut Bench, peers: DamagedPeers) {
    for damage in Damage::all() {
        let Some(name) = bench.name("pieces", damage.corpus(), damage.size()) else { continue };
        let input = damage.input();
        let (errors, chunks) = (errors(&input), input.utf8_chunks());
        let text: usize = chunks.map(|chunk| chunk.valid().len()).sum();

        let mut row = Row::new(name, Work::new(LEN, errors, "error"));
        row.expect(text + errors);
        row.ours(|| ours_pieces(black_box(&input)) as u64);
        row.peer("std", || std_pieces(black_box(&input)) as u64);
        peers(&mut row, &input);
        bench.measure(row);
    }
}

fn ours_pieces(input: &[u8]) -> usize {
    let mut decoder = Utf8Decoder::new();
    let pieces = decoder.push(input);
    let seen: usize = pieces.map(|piece| piece.map_or(1, str::len)).sum();
    seen + usize::from(decoder.finish().is_err())
}

fn std_pieces(input: &[u8]) -> usize {
    let chunks = input.utf8_chunks();
    chunks.map(|chunk| chunk.valid().len() + usize::from(!chunk.invalid().is_empty())).sum()
}
