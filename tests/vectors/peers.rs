//! The cases of the tests of other implementations, `peers.jsonl`: as their chunks, and at every split.

use serde_json::Value;
use utf8_codec::dialect::{Dialect, DialectDecoder};
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::{ErrorMode, Utf8Decoder};

use crate::reference::{LineItem, cases};
use crate::support::lines::LineSettings;
use crate::support::{chunks, line_items, unhex};

/// The suites of the table in README.md: how its row and the `id` of a case begin, and what the `source` of a case in another file
/// contains.
const SUITES: [(&str, &str, &[&str]); 7] = [
    ("web-platform-tests", "wpt", &["web-platform-tests"]),
    ("CPython", "cpython", &["CPython"]),
    ("Node.js", "node", &["Node"]),
    ("Go", "go", &["golang/go"]),
    ("std", "std", &["library/alloctests", "library/coretests", "Rust std"]),
    ("tokio-util", "tokio-util", &["tokio-util"]),
    ("tokio `lines`", "tokio", &["tokio/tests"]),
];

#[test]
fn the_cases_of_other_implementations_have_their_values_at_every_split() {
    let mut counts = std::collections::BTreeMap::<String, [usize; 2]>::new();
    for line in include_str!("peers.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        check(&case);
        let suite = case["id"].as_str().unwrap().split('.').next().unwrap();
        let [run, differ] = counts.entry(suite.to_owned()).or_default();
        *run += 1;
        *differ += usize::from(!case["peer"].is_null());
        assert_eq!(
            case["peer"].is_null(),
            case["page"].is_null(),
            "{case}: where is it documented?"
        );
    }

    let others = cases();
    for (title, suite, marks) in SUITES {
        let [run, differ] = counts.remove(suite).unwrap();
        let sources = others.iter().map(|case| case["source"].as_str().unwrap());
        let elsewhere =
            sources.filter(|source| marks.iter().any(|mark| source.contains(mark))).count();
        println!("{suite}: {run} cases, {elsewhere} in other files, {differ} differ by intent");
        assert_eq!(row(title), [run, elsewhere, differ, 0], "{title} in README.md");
    }
    assert!(counts.is_empty(), "not in the table of README.md: {counts:?}");
}

/// The numbers in the row of README.md that begins with `title`. The third is the sum of those before a colon.
fn row(title: &str) -> [usize; 4] {
    let mut rows = include_str!("README.md").lines();
    let row = rows.find(|row| row.starts_with(&format!("| {title}"))).expect(title);
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let number = |cell: &str| cell.parse().unwrap_or_default();
    let differ = cells[4].split("; ").filter_map(|part| part.split_once(':'));
    [
        number(cells[2]),
        number(cells[3]),
        differ.map(|(count, _)| number(count)).sum(),
        cells[5].parse().unwrap_or(usize::MAX),
    ]
}

fn check(case: &Value) {
    let given: Vec<Vec<u8>> = strings(&case["chunks"]).map(unhex).collect();
    let bytes = given.concat();
    let mut end = 0;
    let ends = given.iter().map(|chunk| {
        end += chunk.len();
        end
    });
    let mut cuts: Vec<usize> = ends.collect();
    cuts.pop();
    check_split(case, &bytes, &cuts);
    for cut in 0..=bytes.len() {
        check_split(case, &bytes, &[cut]);
    }
}

fn check_split(case: &Value, bytes: &[u8], cuts: &[usize]) {
    let pieces: Vec<&[u8]> = chunks(bytes.len(), cuts).map(|(from, to)| &bytes[from..to]).collect();
    let (field, got) = match case["read"].as_str().unwrap() {
        "utf-8" => ("text", utf8(&pieces).into()),
        "utf-16le" => ("text", utf16(&pieces, u16::from_le_bytes).into()),
        "utf-16be" => ("text", utf16(&pieces, u16::from_be_bytes).into()),
        "utf-32" => ("text", utf32(bytes).into()),
        "surrogateescape" => ("code_points", code_points(Dialect::Utf8b, &pieces).into()),
        "surrogatepass" => ("code_points", code_points(Dialect::SurrogatePass, &pieces).into()),
        "lines" => ("lines", lines(bytes, cuts).into()),
        other => panic!("{other}"),
    };
    let got: Value = got;
    assert_eq!(got, case[field], "{} split at {cuts:?}", case["id"]);
}

fn utf8(pieces: &[&[u8]]) -> String {
    let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
    for piece in pieces {
        text += &decoder.push_lossy(piece);
    }
    decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
    text
}

/// A unit that a split cuts is completed by the next piece: that is the caller's part.
fn utf16(pieces: &[&[u8]], to_unit: fn([u8; 2]) -> u16) -> String {
    let (mut decoder, mut text, mut rest) = (Utf16Decoder::new(), String::new(), Vec::new());
    for piece in pieces {
        rest.extend_from_slice(piece);
        let (pairs, odd) = rest.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().copied().map(to_unit).collect();
        let _done = decoder.push_to_string(&units, ErrorMode::Replacement, &mut text);
        rest = odd.to_vec();
    }
    assert!(rest.is_empty(), "the cases consist of whole units");
    decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
    text
}

fn utf32(bytes: &[u8]) -> String {
    let units: Vec<u32> = bytes.as_chunks().0.iter().copied().map(u32::from_le_bytes).collect();
    utf8_simd::transcode_to_string_lossy::<utf8_simd::Utf32>(&units)
}

fn code_points(dialect: Dialect, pieces: &[&[u8]]) -> Vec<u32> {
    let (mut decoder, mut code_points) = (DialectDecoder::new(dialect), Vec::new());
    for piece in pieces {
        let _done = decoder.push_to_code_points(piece, ErrorMode::Fatal, &mut code_points);
    }
    decoder.finish_to_code_points(ErrorMode::Fatal, &mut code_points).unwrap();
    code_points
}

fn lines(bytes: &[u8], cuts: &[usize]) -> Vec<String> {
    let items = line_items(&LineSettings::default(), bytes, cuts).into_iter().flatten();
    let text = |item| match item {
        LineItem::Line { text, .. } => text,
        other => panic!("{other:?}"),
    };
    items.map(text).collect()
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().unwrap().iter().map(|value| value.as_str().unwrap())
}
