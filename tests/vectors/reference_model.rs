//! The model in `support/reference.rs` compared with the vectors, with std, and with its own rule of
//! when errors are decided.

use crate::random::Random;
use crate::reference;

use std::collections::HashSet;
use std::fs;

use reference::{
    Bom, Config, Controls, Delimiter, Error, Event, Kind, LineItem, Mode, Start, Step, cases,
    decode, decode_prefix, lines, lines_prefix, repair, repaired,
};
use serde_json::{Value, json};

const PLAIN: Config = Config {
    start: Start::Beginning(Bom::Keep),
    reject_noncharacters: false,
    reject_nul: false,
    controls: Controls::Allowed,
};

#[test]
fn the_model_decodes_every_vector_as_expected() {
    let mut count = 0;
    for case in cases().iter().filter(|case| case["op"] == "decode" || case["op"] == "websocket") {
        let Some(mode) = mode(case).filter(|_| case["dialect"] == "utf-8") else { continue };
        check_decoding(case, &chunks(&case["chunks"]), &case["expect"], mode);
        count += 1;
    }
    assert!(count > 4000, "only {count} cases");
}

#[test]
fn the_model_decodes_consecutive_texts() {
    for case in cases().iter().filter(|case| case["op"] == "reuse") {
        let texts = case["chunks"].as_array().unwrap();
        for (text, expect) in texts.iter().zip(case["expect"]["runs"].as_array().unwrap()) {
            check_decoding(case, &chunks(text), expect, mode(case).unwrap());
        }
    }
}

#[test]
fn the_model_splits_lines_as_expected() {
    let mut count = 0;
    for case in cases().iter().filter(|case| case["op"] == "lines") {
        let (chunks, config, mode) = (chunks(&case["chunks"]), config(case), mode(case).unwrap());
        let (delimiter, limit) = (delimiter(case), case["limit"].as_u64().unwrap() as usize);
        let steps = lines(&chunks, config, mode, &delimiter, limit);
        let items: Vec<Vec<Value>> =
            steps.iter().map(|step| step.iter().map(item).collect()).collect();
        assert_eq!(json!(items), case["expect"]["items"], "{case}");
        count += 1;

        // The byte named by an error is the one whose arrival brings the item.
        let stream = chunks.concat();
        for item in steps.concat() {
            let LineItem::Utf8 { ref error, .. } = item else { continue };
            let items =
                |bytes: &[u8], ended| lines_prefix(bytes, config, mode, &delimiter, limit, ended);
            match error.decided_by {
                Some(index) => {
                    let index = index as usize;
                    assert!(!items(&stream[..index], false).contains(&item), "{case}");
                    assert!(items(&stream[..=index], false).contains(&item), "{case}");
                }
                None => assert!(!items(&stream, false).contains(&item), "{case}"),
            }
        }
    }
    assert!(count > 200, "only {count} cases");
}

#[test]
fn every_vector_has_a_unique_id() {
    let mut seen = HashSet::new();
    for case in cases() {
        assert!(seen.insert(case["id"].to_string()), "{case}");
    }
}

#[test]
fn an_error_is_decided_by_the_byte_it_names() {
    for (bytes, config) in random_inputs() {
        for event in decode_prefix(&bytes, config, true).events {
            let Event::Error(error) = event else { continue };
            let known = |k: usize| {
                let decoded = decode_prefix(&bytes[..k], config, false);
                decoded.events.contains(&Event::Error(error.clone()))
            };
            let first = (0..=bytes.len()).find(|k| known(*k)).map(|k| k as u64 - 1);
            assert_eq!(first, error.decided_by, "{bytes:02x?} {config:?} {error:?}");
        }
    }
}

#[test]
fn plain_decoding_equals_std() {
    for (bytes, _) in random_inputs() {
        let decoded = decode_prefix(&bytes, PLAIN, true);
        assert_eq!(
            repaired(Mode::Replacement, &decoded.events, PLAIN),
            String::from_utf8_lossy(&bytes)
        );
        assert_eq!(decoded.held, 0);
        if let Err(expected) = str::from_utf8(&bytes) {
            let error = errors(&decoded.events)[0].clone();
            assert_eq!(error.offset, expected.valid_up_to() as u64, "{bytes:02x?}");
            let len = Some(error.bytes.len()).filter(|_| error.kind != Kind::Incomplete);
            assert_eq!(len, expected.error_len(), "{bytes:02x?}");
        }
        // Held bytes can still become a character, and std calls them incomplete.
        let held = decode_prefix(&bytes, PLAIN, false).held;
        let tail = &bytes[bytes.len() - held..];
        assert!(
            held <= 3 && str::from_utf8(tail).map_or_else(|e| e.error_len().is_none(), |_| true)
        );
    }
}

#[test]
fn lines_equal_std() {
    for (bytes, _) in random_inputs() {
        let text = String::from_utf8_lossy(&bytes);
        let bytes = text.as_bytes();
        let items = lines_prefix(bytes, PLAIN, Mode::Fatal, &Delimiter::Lf, bytes.len(), true);
        let found: Vec<String> = items.into_iter().map(|item| text_of(&item)).collect();
        assert_eq!(found, text.lines().collect::<Vec<_>>(), "{text:?}");
    }
}

#[test]
fn lines_do_not_depend_on_splits() {
    let delimiters = [
        Delimiter::Lf,
        Delimiter::Crlf,
        Delimiter::CrlfOrLf,
        Delimiter::Any,
        Delimiter::Str("é\n".to_owned()),
    ];
    for (n, (bytes, config)) in random_inputs().into_iter().enumerate() {
        let delimiter = &delimiters[n % delimiters.len()];
        let mode = [Mode::Fatal, Mode::Skip][n / 4 % 2];
        let whole = lines(std::slice::from_ref(&bytes), config, mode, delimiter, n % 7).concat();
        let single: Vec<_> = bytes.iter().map(|byte| vec![*byte]).collect();
        assert_eq!(lines(&single, config, mode, delimiter, n % 7).concat(), whole);
    }
}

// ---- vectors ------------------------------------------------------------------------------------

#[test]
fn every_file_of_vectors_is_listed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    // `peers.rs` reads its own.
    names.retain(|name| name.ends_with(".jsonl") && name != "peers.jsonl");
    names.sort();
    assert_eq!(names, reference::FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

/// Vectors with `bom_seen` list every error; the others end strict decoding at the first.
fn check_decoding(case: &Value, chunks: &[Vec<u8>], expect: &Value, mode: Mode) {
    let config = config(case);
    let steps = decode(chunks, config);
    let whole = decode_prefix(&chunks.concat(), config, true);
    let all = errors(&whole.events);
    let complete = !expect["bom_seen"].is_null();
    let stops = mode == Mode::Fatal && !complete;

    let mut texts = Vec::new();
    let mut fail_step = None;
    for (n, Step { events, .. }) in steps.iter().enumerate() {
        let failed = events.iter().position(|event| matches!(event, Event::Error(_)));
        let shown = if stops { failed.unwrap_or(events.len()) } else { events.len() };
        texts.push(hex(&repaired(mode, &events[..shown], config)));
        if failed.is_some() {
            fail_step = fail_step.or(Some(n));
            if stops {
                break;
            }
        }
    }
    let held: Vec<usize> = steps[..texts.len().min(chunks.len())].iter().map(|s| s.held).collect();
    let reported = &all[..if stops { all.len().min(1) } else { all.len() }];

    assert_eq!(json!(texts.concat()), expect["out"], "{case}");
    if let Some(expected) = expect.get("steps") {
        assert_eq!(&json!(texts), expected, "{case}");
        let expected = expect["held"].as_array().unwrap();
        assert_eq!(json!(held[..expected.len()]), expect["held"], "{case}");
    }
    if let Some(expected) = expect.get("fail_step") {
        assert_eq!(&json!(fail_step), expected, "{case}");
    }
    let decided_by = all.first().and_then(|error| error.decided_by);
    assert_eq!(json!(decided_by), expect["fail_fast_at"], "{case}");
    if complete {
        assert_eq!(json!(whole.bom_seen), expect["bom_seen"], "{case}");
        assert_eq!(json!(whole.skipped), expect["skipped"], "{case}");
    }
    let cut_short = all.iter().any(|error| error.kind == Kind::Incomplete);
    // Elsewhere the verdict ends with the first error.
    if complete || all.len() < 2 {
        assert_eq!(json!(cut_short), expect["incomplete_at_eof"], "{case}");
    }
    let reported: Vec<Value> = reported.iter().map(|error| described(error, complete)).collect();
    assert_eq!(json!(reported), expect["errors"], "{case}");
}

fn described(error: &Error, complete: bool) -> Value {
    let mut value = json!({
        "offset": error.offset,
        "len": error.bytes.len(),
        "kind": match error.kind {
            Kind::ForbiddenBom | Kind::MissingBom | Kind::Noncharacter | Kind::Forbidden => {
                name(error.kind)
            }
            Kind::Incomplete => "incomplete".to_owned(),
            _ if error.next.is_some() => "invalid_continuation".to_owned(),
            _ => "invalid_start".to_owned(),
        },
    });
    if complete {
        value["detail"] = json!(name(error.kind));
        value["next"] = json!(error.next.map(|byte| format!("{byte:02x}")));
        value["decided_by"] = json!(error.decided_by);
    }
    value
}

fn item(item: &LineItem) -> Value {
    match item {
        LineItem::Line { text, number, offset, terminated } => {
            let line = hex(text);
            json!({"line": line, "number": number, "offset": offset, "terminated": terminated})
        }
        LineItem::Cut { .. } => panic!("no vector cuts a line"),
        LineItem::TooLong { number, offset } => {
            json!({"error": "too_long", "number": number, "offset": offset})
        }
        LineItem::Bare { number, offset, byte, at } => {
            let error = if *byte == b'\n' { "bare_lf" } else { "bare_cr" };
            json!({"error": error, "number": number, "offset": offset, "at": at})
        }
        LineItem::Utf8 { number, offset, error } => json!({
            "error": "utf8", "number": number, "offset": offset,
            "at": error.offset, "len": error.bytes.len(), "detail": name(error.kind),
        }),
    }
}

/// The name of a kind in the vectors: `UnexpectedContinuation` is `unexpected_continuation`.
fn name(kind: Kind) -> String {
    let mut name = String::new();
    for character in format!("{kind:?}").chars() {
        if character.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}

fn config(case: &Value) -> Config {
    let has = |name: &str| case["strict"].as_array().is_some_and(|all| all.contains(&json!(name)));
    let bom = match case["bom"].as_str() {
        Some("strip") => Bom::Strip,
        Some("require") => Bom::Require,
        Some("forbid") => Bom::Forbid,
        _ => Bom::Keep,
    };
    Config {
        start: if case["start"] == "mid" { Start::MidStream } else { Start::Beginning(bom) },
        reject_noncharacters: has("noncharacters"),
        reject_nul: has("nul"),
        controls: if has("controls") {
            Controls::Rejected
        } else if has("controls-except-whitespace") {
            Controls::RejectedExceptWhitespace
        } else {
            Controls::Allowed
        },
    }
}

fn mode(case: &Value) -> Option<Mode> {
    Some(match case["policy"].as_str()? {
        "strict" => Mode::Fatal,
        "replace" => Mode::Replacement,
        "ignore" => Mode::Skip,
        "backslashreplace" => Mode::Escape,
        "latin1" => Mode::Latin1,
        "windows-1252" => Mode::Windows1252,
        _ => return None,
    })
}

fn delimiter(case: &Value) -> Delimiter {
    match case["delimiter"].as_str() {
        Some("lf") => Delimiter::Lf,
        Some("any") => Delimiter::Any,
        Some("nul") => Delimiter::Nul,
        _ => {
            let bytes = unhex(case["delimiter"]["str"].as_str().unwrap());
            Delimiter::Str(String::from_utf8(bytes).unwrap())
        }
    }
}

fn chunks(value: &Value) -> Vec<Vec<u8>> {
    value.as_array().unwrap().iter().map(|chunk| unhex(chunk.as_str().unwrap())).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digits).collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

// ---- inputs -------------------------------------------------------------------------------------

/// Short streams of bytes near the limits, each with a configuration.
fn random_inputs() -> Vec<(Vec<u8>, Config)> {
    const BYTES: [u8; 32] = [
        0x00, 0x01, b'\t', b'\n', b'\n', b'\r', b'a', 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xA9,
        0xBB, 0xBF, 0xBE, 0xC0, 0xC2, 0xC3, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xEF, 0xF0, 0xF1, 0xF4,
        0xF5, 0xF8, 0xFF,
    ];
    let mut source = Random(0x9E37_79B9);
    let mut random = |n| source.below(n);
    let mut inputs = Vec::new();
    for _ in 0..4000 {
        let mut bytes = if random(4) == 0 { vec![0xEF, 0xBB, 0xBF] } else { Vec::new() };
        bytes.truncate(random(4) + 1);
        for _ in 0..random(10) {
            bytes.push(BYTES[random(BYTES.len())]);
        }
        let start = match random(5) {
            0 => Start::MidStream,
            1 => Start::Beginning(Bom::Keep),
            2 => Start::Beginning(Bom::Strip),
            3 => Start::Beginning(Bom::Require),
            _ => Start::Beginning(Bom::Forbid),
        };
        let controls = match random(3) {
            0 => Controls::Allowed,
            1 => Controls::RejectedExceptWhitespace,
            _ => Controls::Rejected,
        };
        let (reject_noncharacters, reject_nul) = (random(2) == 0, random(2) == 0);
        inputs.push((bytes, Config { start, reject_noncharacters, reject_nul, controls }));
    }
    inputs
}

fn errors(events: &[Event]) -> Vec<Error> {
    let error = |event: &Event| match event {
        Event::Text(_) => None,
        Event::Error(error) => Some(error.clone()),
    };
    events.iter().filter_map(error).collect()
}

fn text_of(item: &LineItem) -> String {
    match item {
        LineItem::Line { text, .. } => text.clone(),
        LineItem::Utf8 { error, .. } => repair(Mode::Escape, error, PLAIN).unwrap(),
        LineItem::Cut { .. } | LineItem::TooLong { .. } | LineItem::Bare { .. } => {
            panic!("no line here is rejected so")
        }
    }
}
