//! The checks of the fuzz targets on any toolchain: first the inputs in `fuzz/corpus.txt`, then random
//! plans.
#![cfg(feature = "stream")]

use crate::operations;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;

use arbitrary::{Arbitrary, Unstructured};
use operations::{
    calls, decoding, dialects, encoders, encoding, levels, lines, payloads, relatives, streams,
    texts,
};
use proptest::prelude::*;

/// The inputs of a fuzz target in its corpus, and where they are.
fn inputs_of(name: &str) -> Vec<(String, Vec<u8>)> {
    let mut inputs = Vec::new();
    for (index, line) in corpus().lines().enumerate() {
        let Some((target, bytes)) = line.split_once(' ') else { continue };
        if target == name {
            let location = format!("fuzz/corpus.txt:{}", index + 1);
            let bytes = input(bytes).unwrap_or_else(|| panic!("{location}: not a line of hex"));
            inputs.push((location, bytes));
        }
    }
    assert!(!inputs.is_empty(), "no input of {name}");
    inputs
}

fn corpus() -> String {
    fs::read_to_string(fuzz().join("corpus.txt")).unwrap()
}

/// The bytes of an input: lower-case hex, or `-` for no bytes.
fn input(line: &str) -> Option<Vec<u8>> {
    let digit = |digit: &u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, []) = line.as_bytes().as_chunks::<2>() else {
        return (line == "-").then(Vec::new);
    };
    let bytes = pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?));
    bytes.collect::<Option<Vec<u8>>>().filter(|bytes| !bytes.is_empty())
}

fn fuzz() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// The targets that have inputs.
fn corpora() -> BTreeSet<String> {
    corpus().lines().map(|line| line.split_once(' ').expect(line).0.to_owned()).collect()
}

/// The names of the binaries in `fuzz/Cargo.toml`. All are built from one source file.
fn binaries() -> BTreeSet<String> {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let name = |section: &str| {
        assert!(section.contains("\npath = \"fuzz_targets/target.rs\"\n"), "{section}");
        quoted(section, "\nname = \"").to_owned()
    };
    manifest.split("[[bin]]").skip(1).map(name).collect()
}

/// The names in the table of operations in `fuzz/fuzz_targets/target.rs`.
fn operations_by_name() -> BTreeSet<String> {
    let source = fs::read_to_string(fuzz().join("fuzz_targets/target.rs")).unwrap();
    let rows = source.lines().filter(|line| line.starts_with("    (\""));
    rows.map(|row| quoted(row, "(\"").to_owned()).collect()
}

/// The text between `start` and the next quotation mark.
fn quoted<'a>(text: &'a str, start: &str) -> &'a str {
    text.split_once(start).and_then(|(_, rest)| rest.split_once('"')).expect(start).0
}

/// Checks the inputs of the corpus, each of which must be a plan, then hundreds of plans, each made from at most 1,500
/// random bytes.
fn run<P: for<'a> Arbitrary<'a> + Debug>(name: &'static str, check: impl Fn(&P)) {
    let plan = |bytes: &[u8]| P::arbitrary_take_rest(Unstructured::new(bytes));
    for (location, bytes) in inputs_of(name) {
        check(&plan(&bytes).unwrap_or_else(|error| panic!("{location}: {error}")));
    }
    run_random(name, &|bytes| plan(bytes).map(|plan| check(&plan)).is_ok());
}

/// Calls `check` with random bytes. It returns whether they are a plan.
fn run_random(name: &'static str, check: &dyn Fn(&[u8]) -> bool) {
    let cases = ProptestConfig::default().cases * 4;
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        test_name: Some(name),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let bytes = prop::collection::vec(any::<u8>(), 0..1500);
    let checked = std::cell::Cell::new(0);
    let outcome = runner.run(&bytes, |bytes| {
        checked.set(checked.get() + u32::from(check(&bytes)));
        Ok(())
    });
    outcome.unwrap();
    assert!(checked.get() * 10 > cases * 9, "{name}: only {} plans", checked.get());
}

#[test]
fn a_line_of_a_corpus_is_hex_or_a_dash() {
    assert_eq!(input("00ff1a"), Some(vec![0x00, 0xFF, 0x1A]));
    assert_eq!(input("-"), Some(vec![]));
    for line in ["", "0", "0g", "FF", "-0", "00 ", " 00"] {
        assert_eq!(input(line), None, "{line:?}");
    }
}

#[test]
fn every_fuzz_target_has_a_corpus_and_a_test() {
    let targets = binaries();
    assert!(targets.len() > 25, "only {targets:?}");
    assert_eq!(operations_by_name(), targets);
    assert_eq!(corpora(), targets);
    let here = include_str!("plans.rs");
    for target in targets {
        assert!(here.contains(&format!("    run(\"{target}\", ")), "{target} is not run");
    }
}

#[test]
fn validator() {
    run("validator", decoding::validator);
}

#[test]
fn decoder_by_pieces() {
    run("decoder_pieces", decoding::decoder_pieces);
}

#[test]
fn decoder_into_buffers() {
    run("decoder_owned", decoding::decoder_owned);
}

#[test]
fn decoder_of_long_inputs() {
    run("decoder_long", decoding::long);
}

#[test]
fn codecs() {
    run("codecs", decoding::codecs);
}

#[test]
fn text_stream() {
    run("text_stream", streams::text_stream);
}

#[test]
fn char_stream() {
    run("char_stream", streams::char_stream);
}

#[test]
fn reader() {
    run("reader", streams::reader);
}

#[test]
fn blocking_reader() {
    run("blocking_reader", streams::blocking_reader);
}

#[test]
#[cfg(feature = "http-body")]
fn body() {
    run("body", operations::bodies::body);
}

#[test]
#[cfg(feature = "http-body")]
fn content_type() {
    run("content_type", operations::bodies::content_type);
}

#[test]
fn texts() {
    run("texts", texts::texts);
}

#[test]
fn lines_codec() {
    run("lines", lines::lines);
}

#[test]
fn line_stream() {
    run("line_stream", lines::line_stream);
}

#[test]
fn blocking_lines() {
    run("blocking_lines", lines::blocking_lines);
}

#[test]
fn events() {
    run("events", payloads::events);
}

#[test]
fn encoder() {
    run("encoder", encoding::encoder);
}

#[test]
fn encoders_of_codecs() {
    run("encoders", encoders::encoders);
}

#[test]
fn writer() {
    run("writer", encoding::writer);
}

#[test]
fn finder() {
    run("finder", encoding::finder);
}

#[test]
fn utf16() {
    run("utf16", encoding::utf16);
}

#[test]
fn websocket() {
    run("websocket", payloads::websocket);
}

#[test]
fn websocket_calls() {
    run("websocket_calls", calls::websocket_calls);
}

#[test]
fn dialect_decoder() {
    run("dialect_decoder", dialects::dialect_decoder);
}

#[test]
fn dialect_encoder() {
    run("dialect_encoder", dialects::dialect_encoder);
}

#[test]
fn java() {
    run("java", dialects::java);
}

#[test]
fn fallback() {
    run("fallback", relatives::fallback);
}

#[test]
fn detector() {
    run("detector", relatives::detector);
}

#[test]
fn boundaries() {
    run("boundaries", relatives::boundaries);
}

#[test]
fn terminal() {
    run("terminal", relatives::terminal);
}

#[test]
fn kernels() {
    run("level", levels::every_level);
}
