//! Every vector at every split, at every pair of splits, byte by byte, with empty chunks, and inside
//! long clean text at the boundaries of blocks and buffers.

#![cfg(feature = "codec")]

use crate::random::sum_of;
use crate::support;

use crate::support::lines::LineSettings;
use crate::support::reference::{self, Config, Delimiter, Event, Limit, LineItem, Mode};
use crate::support::{
    Atom, Expected, MODES, PLAIN, cases, check, check_ends, check_repaired, config, inputs,
    line_items, line_settings, model_error, options, subjects, undated, undated_item, unhex,
    validate,
};
use bytes::Bytes;
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Error};

/// The splits of `len` bytes: none, each alone, byte by byte, and that with empty chunks between.
fn single_cuts(len: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![], vec![0, 0], vec![len, len], (0..=len).collect()];
    all.push((0..=len).flat_map(|at| [at, at]).collect());
    all.extend((1..len).map(|at| vec![at]));
    all
}

/// Every pair of splits, with an empty chunk between equal ones.
fn double_cuts(len: usize) -> Vec<Vec<usize>> {
    near_cuts(len, len)
}

/// Every pair of splits that are at most `distance` apart.
fn near_cuts(len: usize, distance: usize) -> Vec<Vec<usize>> {
    let seconds = move |first| first..=len.min(first + distance);
    (0..=len).flat_map(|first| seconds(first).map(move |second| vec![first, second])).collect()
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
    let checked = sum_of(&inputs, |(bytes, config)| {
        decodes_as_expected(bytes, *config, &single_cuts(bytes.len()));
        1
    });
    assert_eq!(checked, inputs.len() as u64);
}

/// Decodes `bytes` by each subject, with each of `splits`.
fn decodes_as_expected(bytes: &[u8], config: Config, splits: &[Vec<usize>]) {
    let expected = Expected::new(bytes, config);
    for cuts in splits {
        validator_agrees(bytes, cuts, config, &expected);
        for (name, subject) in subjects(config, ErrorMode::Fatal) {
            check(name, subject, bytes, cuts, &expected);
        }
    }
}

#[test]
fn every_vector_is_repaired_as_expected_at_every_split() {
    let inputs = inputs();
    let checked = sum_of(&inputs, |(bytes, config)| {
        are_repaired_as_expected(bytes, *config, &single_cuts(bytes.len()));
        1
    });
    assert_eq!(checked, inputs.len() as u64);
}

#[test]
#[ignore = "seconds in release mode"]
fn every_vector_is_as_expected_with_an_empty_chunk_at_every_split() {
    for (bytes, config) in inputs() {
        let splits: Vec<_> = (1..bytes.len()).map(|at| vec![at, at]).collect();
        decodes_as_expected(&bytes, config, &splits);
        are_repaired_as_expected(&bytes, config, &splits);
        splits_into_lines_as_expected(&bytes, config, &splits);
    }
}

#[test]
fn every_vector_is_repaired_whole_and_split_in_the_middle() {
    for (bytes, config) in inputs() {
        are_repaired_as_expected(&bytes, config, &[vec![], vec![bytes.len() / 2]]);
    }
}

/// Repairs `bytes` in each lossy mode, by each subject, with each of `splits`.
fn are_repaired_as_expected(bytes: &[u8], config: Config, splits: &[Vec<usize>]) {
    let expected = Expected::new(bytes, config);
    for (model_mode, mode) in MODES.into_iter().skip(1) {
        let repaired = expected.repaired(model_mode);
        for cuts in splits {
            for (name, subject) in subjects(config, mode) {
                check_repaired(name, subject, bytes, cuts, &repaired);
            }
        }
    }
}

#[test]
fn every_short_vector_decodes_as_expected_at_every_pair_of_splits() {
    for (bytes, config) in inputs().into_iter().filter(|(bytes, _)| bytes.len() <= 16) {
        decodes_as_expected(&bytes, config, &double_cuts(bytes.len()));
    }
}

#[test]
fn every_longer_vector_decodes_as_expected_at_every_pair_of_near_splits() {
    // The length of a character or a BOM, and one more.
    longer_vectors_decode_as_expected(|len| near_cuts(len, 5));
}

#[test]
#[ignore = "seconds in release mode"]
fn every_longer_vector_decodes_as_expected_at_every_pair_of_splits() {
    longer_vectors_decode_as_expected(double_cuts);
}

fn longer_vectors_decode_as_expected(cuts: fn(usize) -> Vec<Vec<usize>>) {
    let mut inputs = inputs();
    inputs.retain(|(bytes, _)| bytes.len() > 16);
    let checked = sum_of(&inputs, |(bytes, config)| {
        let expected = Expected::new(bytes, *config);
        for (number, cuts) in cuts(bytes.len()).into_iter().enumerate() {
            // Each subject has every fourth pair, and which ones depends on the vector.
            let first = (number + bytes.len()) % 4;
            for (name, subject) in subjects(*config, ErrorMode::Fatal).skip(first).step_by(4) {
                check_ends(name, subject, bytes, &cuts, &expected);
            }
        }
        1
    });
    assert_eq!(checked, inputs.len() as u64);
}

#[test]
fn every_short_vector_decodes_as_expected_inside_clean_text() {
    let fill: [&dyn Fn(usize) -> String; 2] =
        [&|len| "a".repeat(len), &|len| format!("{}{}", "я".repeat(len / 2), "z".repeat(len % 2))];
    let inputs: Vec<_> = inputs()
        .into_iter()
        .filter(|(bytes, config)| {
            bytes.len() <= 12 && config.start == PLAIN.start && !bytes.is_empty()
        })
        .collect();
    for edge in [64, 1024, 8192] {
        for (at, fill) in (edge - 4..=edge + 4).zip(fill.into_iter().cycle()) {
            let before = fill(at);
            for (bytes, config) in &inputs {
                // ASCII follows, which ends any sequence; the model receives one byte of it.
                let tailed = [bytes, &b"."[..]].concat();
                let text = [before.as_bytes(), &tailed, &[b'.'; 80]].concat();
                let mut expected = vec![Event::Text(before.clone())];
                for event in reference::decode_prefix(&tailed, *config, true).events {
                    append(&mut expected, moved(event, at as u64));
                }
                append(&mut expected, Event::Text(".".repeat(80)));
                for mut cuts in [vec![], vec![at + 1], vec![edge], vec![edge, at + bytes.len()]] {
                    cuts.sort_unstable();
                    let context = || format!("{bytes:02x?} at {at}, split at {cuts:?}");
                    let mut decoder = Utf8Decoder::new().with_options(options(*config));
                    let mut owned = decoder.clone();
                    let (mut out, mut out_owned) = (Vec::new(), Vec::new());
                    for (from, to) in support::chunks(text.len(), &cuts) {
                        let chunk = &text[from..to];
                        decoder.push(chunk).for_each(|piece| append(&mut out, event(piece)));
                        let pieces = owned.push_bytes(Bytes::copy_from_slice(chunk));
                        pieces.for_each(|piece| append(&mut out_owned, event(piece)));
                    }
                    // The last byte is ASCII.
                    assert_eq!((decoder.finish(), owned.finish()), (Ok(()), Ok(())));
                    assert!(out == expected, "push: {}", context());
                    assert!(out_owned == expected, "push_bytes: {}", context());
                }
            }
        }
    }
}

fn event<T: Into<String>>(piece: Result<T, Utf8Error>) -> Event {
    match piece {
        Ok(text) => Event::Text(text.into()),
        Err(error) => Event::Error(undated(model_error(&error))),
    }
}

/// Adds an event. Text joins the text before it.
fn append(events: &mut Vec<Event>, event: Event) {
    match (events.last_mut(), event) {
        (Some(Event::Text(before)), Event::Text(text)) => *before += &text,
        (_, event) => events.push(event),
    }
}

fn moved(event: Event, by: u64) -> Event {
    match event {
        Event::Error(error) => {
            Event::Error(undated(reference::Error { offset: error.offset + by, ..error }))
        }
        text => text,
    }
}

/// The items that the lines codec must have yielded after each prefix, and at the end.
struct ExpectedLines {
    prefixes: Vec<Vec<LineItem>>,
    ended: Vec<LineItem>,
}

impl ExpectedLines {
    fn new(bytes: &[u8], config: Config, mode: Mode, delimiter: &Delimiter, limit: Limit) -> Self {
        let items = |k: usize, ended| {
            let items = reference::lines_prefix(&bytes[..k], config, mode, delimiter, limit, ended);
            items.into_iter().map(undated_item).collect()
        };
        Self {
            prefixes: (0..=bytes.len()).map(|k| items(k, false)).collect(),
            ended: items(bytes.len(), true),
        }
    }

    fn check(&self, settings: &LineSettings, bytes: &[u8], cuts: &[usize]) {
        let mut steps = line_items(settings, bytes, cuts);
        let last = steps.pop().unwrap();
        let mut out = Vec::new();
        for (step, (_, to)) in steps.into_iter().zip(support::chunks(bytes.len(), cuts)) {
            out.extend(step);
            assert_eq!(
                out, self.prefixes[to],
                "{settings:?}: {bytes:02x?} cut at {cuts:?}, up to {to}"
            );
        }
        out.extend(last);
        assert_eq!(out, self.ended, "{settings:?}: {bytes:02x?} split at {cuts:?}, at the end");
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
        let cut = [MODES[0], MODES[3]].map(|modes| (modes, Limit::Cut(limit)));
        let rejected = MODES.map(|modes| (modes, Limit::Reject(limit)));
        for ((model_mode, mode), limit) in rejected.into_iter().chain(cut) {
            let expected = ExpectedLines::new(&bytes, config, model_mode, &model_delimiter, limit);
            let settings = line_settings(config, mode, &model_delimiter, limit);
            let cuts = if bytes.len() <= 24 { double_cuts } else { single_cuts };
            for cuts in cuts(bytes.len()).into_iter().chain(single_cuts(bytes.len())) {
                expected.check(&settings, &bytes, &cuts);
            }
        }
    }
}

#[test]
fn every_decoding_vector_splits_into_lines_as_expected_at_every_split() {
    for (bytes, config) in inputs().into_iter().filter(|(bytes, _)| bytes.len() <= 24) {
        splits_into_lines_as_expected(&bytes, config, &single_cuts(bytes.len()));
    }
}

fn splits_into_lines_as_expected(bytes: &[u8], config: Config, splits: &[Vec<usize>]) {
    for (model_mode, mode) in [MODES[0], MODES[3]] {
        for limit in [Limit::Reject(4), Limit::Cut(4), Limit::Reject(1 << 16)] {
            let expected = ExpectedLines::new(bytes, config, model_mode, &Delimiter::Lf, limit);
            let settings = line_settings(config, mode, &Delimiter::Lf, limit);
            for cuts in splits {
                expected.check(&settings, bytes, cuts);
            }
        }
    }
}
