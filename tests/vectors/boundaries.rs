//! Every vector at every split, at every pair of splits, byte by byte, with empty chunks, and inside
//! long clean text at the boundaries of blocks and buffers.

#![cfg(feature = "codec")]

use crate::support;

use crate::support::reference::{self, Config, Delimiter, LineItem, Mode};
use crate::support::{
    Atom, Expected, MODES, PLAIN, atoms, cases, check, check_ends, check_repaired, config,
    delimiter, inputs, line_items, options, subjects, undated_item, unhex, validate,
};
use utf8_codec::ErrorMode;
use utf8_codec::codec::Utf8LinesCodec;

/// The splits of `len` bytes: none, each alone, byte by byte, and the same with empty chunks between.
fn single_cuts(len: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![], vec![0, 0], vec![len, len], (0..=len).collect()];
    all.push((0..=len).flat_map(|at| [at, at]).collect());
    all.extend((1..len).map(|at| vec![at]));
    all.extend((1..len).map(|at| vec![at, at]));
    all
}

/// Every pair of splits, with an empty chunk between equal ones.
fn double_cuts(len: usize) -> Vec<Vec<usize>> {
    (0..=len).flat_map(|first| (first..=len).map(move |second| vec![first, second])).collect()
}

fn validator_agrees(bytes: &[u8], cuts: &[usize], config: Config, expected: &Expected) {
    let chunks: Vec<_> =
        support::chunks(bytes.len(), cuts).map(|(from, to)| &bytes[from..to]).collect();
    let errors: Vec<_> =
        expected.ended.iter().filter(|atom| matches!(atom, Atom::Error(_))).cloned().collect();
    let held = expected.held[bytes.len()];
    assert_eq!(validate(&chunks, config), (errors, held), "{bytes:02x?} split at {cuts:?}");
}

#[test]
fn every_vector_decodes_as_expected_at_every_split() {
    let inputs = inputs();
    assert!(inputs.len() > 1000, "only {} inputs", inputs.len());
    for (bytes, config) in inputs {
        let expected = Expected::new(&bytes, config);
        for cuts in single_cuts(bytes.len()) {
            validator_agrees(&bytes, &cuts, config, &expected);
            for (name, subject) in subjects(config, ErrorMode::Fatal) {
                check(name, subject, &bytes, &cuts, &expected);
            }
        }
    }
}

#[test]
fn every_vector_is_repaired_as_expected_at_every_split() {
    for (bytes, config) in inputs() {
        are_repaired_as_expected(&bytes, config, single_cuts(bytes.len()));
    }
}

#[test]
fn every_vector_is_repaired_whole_and_split_in_the_middle() {
    for (bytes, config) in inputs() {
        are_repaired_as_expected(&bytes, config, [vec![], vec![bytes.len() / 2]]);
    }
}

/// Repairs `bytes` in each lossy mode, by each subject, with each of `splits`.
fn are_repaired_as_expected(
    bytes: &[u8],
    config: Config,
    splits: impl IntoIterator<Item = Vec<usize>>,
) {
    let expected = Expected::new(bytes, config);
    for cuts in splits {
        for (model_mode, mode) in MODES.into_iter().skip(1) {
            for (name, subject) in subjects(config, mode) {
                check_repaired(name, subject, bytes, &cuts, &expected, model_mode);
            }
        }
    }
}

#[test]
fn every_short_vector_decodes_as_expected_at_every_pair_of_splits() {
    for (bytes, config) in inputs().into_iter().filter(|(bytes, _)| bytes.len() <= 16) {
        let expected = Expected::new(&bytes, config);
        for cuts in double_cuts(bytes.len()) {
            validator_agrees(&bytes, &cuts, config, &expected);
            for (name, subject) in subjects(config, ErrorMode::Fatal) {
                check(name, subject, &bytes, &cuts, &expected);
            }
        }
    }
}

#[test]
fn every_longer_vector_decodes_as_expected_at_every_pair_of_splits() {
    for (bytes, config) in inputs().into_iter().filter(|(bytes, _)| bytes.len() > 16) {
        let expected = Expected::new(&bytes, config);
        for cuts in double_cuts(bytes.len()) {
            for (name, subject) in subjects(config, ErrorMode::Fatal).step_by(4) {
                check_ends(name, subject, &bytes, &cuts, &expected);
            }
        }
    }
}

#[test]
fn every_short_vector_decodes_as_expected_inside_clean_text() {
    let fill: [&dyn Fn(usize) -> String; 2] =
        [&|len| "a".repeat(len), &|len| format!("{}{}", "я".repeat(len / 2), "z".repeat(len % 2))];
    let inputs = inputs().into_iter().filter(|(bytes, config)| {
        bytes.len() <= 12 && config.start == PLAIN.start && !bytes.is_empty()
    });
    for (bytes, config) in inputs {
        // ASCII follows, which ends any sequence; the model receives one byte of it.
        let mut tailed = bytes.clone();
        tailed.push(b'.');
        let model = atoms(&reference::decode_prefix(&tailed, config, true).events);
        for edge in [64, 1024, 8192] {
            for (at, fill) in (edge - 4..=edge + 4).zip(fill.into_iter().cycle()) {
                let before = fill(at);
                let text = [before.as_bytes(), &tailed, &[b'.'; 80]].concat();
                let mut expected: Vec<_> = before.chars().map(Atom::Char).collect();
                expected.extend(model.iter().map(|atom| moved(atom, at as u64)));
                expected.extend(std::iter::repeat_n(Atom::Char('.'), 80));
                for cuts in [vec![], vec![at + 1], vec![edge], vec![edge, at + bytes.len()]] {
                    let mut cuts = cuts;
                    cuts.sort_unstable();
                    for (name, mut subject) in subjects(config, ErrorMode::Fatal).take(2) {
                        let mut out = Vec::new();
                        for (from, to) in support::chunks(text.len(), &cuts) {
                            out.extend(subject.push(&text[from..to]));
                        }
                        out.extend(subject.finish());
                        assert!(out == expected, "{name}: {bytes:02x?} at {at}, split at {cuts:?}");
                    }
                }
            }
        }
    }
}

fn moved(atom: &Atom, by: u64) -> Atom {
    match atom {
        Atom::Char(c) => Atom::Char(*c),
        Atom::Error(error) => {
            Atom::Error(reference::Error { offset: error.offset + by, ..error.clone() })
        }
    }
}

/// The items that the lines codec must have yielded after each prefix, and at the end.
struct ExpectedLines {
    prefixes: Vec<Vec<LineItem>>,
    ended: Vec<LineItem>,
}

impl ExpectedLines {
    fn new(bytes: &[u8], config: Config, mode: Mode, delimiter: &Delimiter, limit: usize) -> Self {
        let items = |k: usize, ended| {
            let items = reference::lines_prefix(&bytes[..k], config, mode, delimiter, limit, ended);
            items.into_iter().map(undated_item).collect()
        };
        Self {
            prefixes: (0..=bytes.len()).map(|k| items(k, false)).collect(),
            ended: items(bytes.len(), true),
        }
    }

    fn check(&self, codec: &Utf8LinesCodec, bytes: &[u8], cuts: &[usize]) {
        let mut steps = line_items(codec.clone(), bytes, cuts);
        let last = steps.pop().unwrap();
        let mut out = Vec::new();
        for (step, (_, to)) in steps.into_iter().zip(support::chunks(bytes.len(), cuts)) {
            out.extend(step);
            assert_eq!(
                out, self.prefixes[to],
                "{codec:?}: {bytes:02x?} cut at {cuts:?}, up to {to}"
            );
        }
        out.extend(last);
        assert_eq!(out, self.ended, "{codec:?}: {bytes:02x?} split at {cuts:?}, at the end");
    }
}

#[test]
fn every_line_vector_splits_as_expected_in_every_mode_at_every_pair_of_splits() {
    let cases: Vec<_> = cases().into_iter().filter(|case| case["op"] == "lines").collect();
    assert!(cases.len() > 200, "only {} cases", cases.len());
    for case in cases {
        let chunks = case["chunks"].as_array().unwrap();
        let bytes: Vec<u8> = chunks.iter().flat_map(|hex| unhex(hex.as_str().unwrap())).collect();
        let (config, limit) = (config(&case), case["limit"].as_u64().unwrap() as usize);
        let model_delimiter = match case["delimiter"].as_str() {
            Some("lf") => Delimiter::Lf,
            Some("any") => Delimiter::Any,
            Some("nul") => Delimiter::Nul,
            _ => {
                let text = unhex(case["delimiter"]["str"].as_str().unwrap());
                Delimiter::Str(String::from_utf8(text).unwrap())
            }
        };
        for (model_mode, mode) in MODES {
            let expected = ExpectedLines::new(&bytes, config, model_mode, &model_delimiter, limit);
            let codec = Utf8LinesCodec::new()
                .with_options(options(config))
                .with_error_mode(mode)
                .with_delimiter(delimiter(&model_delimiter))
                .with_max_length(limit);
            let cuts = if bytes.len() <= 24 { double_cuts } else { single_cuts };
            for cuts in cuts(bytes.len()).into_iter().chain(single_cuts(bytes.len())) {
                expected.check(&codec, &bytes, &cuts);
            }
        }
    }
}

#[test]
fn every_decoding_vector_splits_into_lines_as_expected_at_every_split() {
    for (bytes, config) in inputs().into_iter().filter(|(bytes, _)| bytes.len() <= 24) {
        for (model_mode, mode) in [MODES[0], MODES[3]] {
            for limit in [4, 1 << 16] {
                let expected =
                    ExpectedLines::new(&bytes, config, model_mode, &Delimiter::Lf, limit);
                let codec = Utf8LinesCodec::new()
                    .with_options(options(config))
                    .with_error_mode(mode)
                    .with_max_length(limit);
                for cuts in single_cuts(bytes.len()) {
                    expected.check(&codec, &bytes, &cuts);
                }
            }
        }
    }
}
