//! The vectors without changes, decoded or encoded by every object of the crate; those of the dialects also at every split.
#![cfg(all(feature = "codec", feature = "stream"))]

use crate::{driver, reference};

use serde_json::{Map, Value, json};

use driver::{Form, Gives, VIAS, Via};

#[test]
fn every_object_decodes_as_expected() {
    let cases = cases(&["decode", "reuse", "table", "websocket"]);
    for via in &VIAS {
        let answered = check(&cases, via);
        assert!(answered > 4600, "{}: only {answered} cases", via.name);
    }
}

#[test]
fn lines_are_split_as_expected() {
    let cases = cases(&["lines"]);
    for via in &VIAS {
        let answered = check(&cases, via);
        assert!(answered > 200, "{}: only {answered} cases", via.name);
    }
}

#[test]
fn buffers_are_filled_as_expected() {
    let answered = check(&cases(&["decode_into"]), &VIAS[0]);
    assert!(answered > 3, "only {answered} cases");
}

#[test]
fn every_object_encodes_as_expected() {
    // Those of the dialects are below.
    let mut cases = cases(&["encode", "encode_into"]);
    cases.retain(|case| {
        let policy = case["policy"].as_str().unwrap_or_default();
        case["dialect"] == "utf-8" && !matches!(policy, "surrogateescape" | "surrogatepass")
    });
    let answered = check(&cases, &VIAS[0]);
    assert!(answered > 110, "only {answered} cases");
}

#[test]
fn messages_are_assembled_frame_by_frame_as_expected() {
    let cases = cases(&["websocket"]);
    assert!(cases.len() > 220, "only {} cases", cases.len());
    for case in cases {
        let answer =
            driver::websocket::answer(&case).unwrap_or_else(|why| panic!("{}: {why}", case["id"]));
        for (field, wanted) in object(&case["expect"]) {
            assert_eq!(answer.get(field), Some(wanted), "{}: {field}", case["id"]);
        }
    }
}

#[test]
fn a_case_with_only_a_close_frame_is_answered() {
    let close = |payload: &str| json!({"opcode": 8, "fin": true, "chops": [payload]});
    let text = json!({"opcode": 1, "fin": true, "chops": ["61"]});
    let answer = |frames: &[&Value]| {
        driver::websocket::answer(&json!({"op": "websocket", "frames": frames})).unwrap()
    };
    let closed = answer(&[&close("03e9")]);
    assert_eq!(closed["ws"], json!({"echo": null, "close": 1001}));
    assert_eq!((&closed["fail_step"], &closed["steps"]), (&Value::Null, &json!([])));
    // A payload of one byte is a protocol error. There is no step of data at which it is reported.
    let rejected = answer(&[&close("03")]);
    assert_eq!(rejected["ws"], json!({"echo": null, "close": 1002}));
    assert_eq!(rejected["fail_step"], Value::Null);
    assert_eq!(answer(&[&text, &close("03e9")])["ws"], json!({"echo": "61", "close": 1001}));
}

/// Runs all cases on one object. Returns the number of cases that apply to it.
fn check(cases: &[Value], via: &Via) -> usize {
    let mut answered = 0;
    let mut wrong = Vec::new();
    for case in cases {
        let expect = object(&case["expect"]);
        let every = expect.contains_key("bom_seen");
        let form = if every { Form::EveryError } else { Form::FirstError };
        let answer = driver::answer(case, via, form)
            .unwrap_or_else(|why| panic!("{} cannot be understood: {why}", case["id"]));
        if !answer.contains_key("skip") {
            answered += 1;
            let differences = differences(expect, &answer, via);
            if !differences.is_empty() {
                let (id, bytes) = (&case["id"], case.get("chunks").unwrap_or(&case["input"]));
                wrong.push(format!("{id} {bytes}\n    {}", differences.join("\n    ")));
            }
        }
    }
    let shown = wrong.iter().take(10).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{}: {} wrong\n{shown}", via.name, wrong.len());
    answered
}

/// Returns how `answer` differs from `expect`, except for fields that the object cannot report.
fn differences(expect: &Map<String, Value>, answer: &Map<String, Value>, via: &Via) -> Vec<String> {
    if let Some(runs) = expect.get("runs").and_then(Value::as_array) {
        let answered = array(&answer["runs"]);
        assert_eq!(answered.len(), runs.len());
        let pairs = runs.iter().zip(answered);
        return pairs.flat_map(|(e, a)| differences(object(e), object(a), via)).collect();
    }
    let mut expect = expect.clone();
    if let Some(errors) = expect.get("errors").map(array).cloned() {
        let first = errors.first().map(
            |error| json!({"offset": error["offset"], "len": error["len"], "kind": error["kind"]}),
        );
        expect.insert("error_count".into(), errors.len().into());
        expect.insert("first_error".into(), json!(first));
    }
    let count = expect.get("error_count").and_then(Value::as_u64);
    let differs = |(name, wanted): &(&String, &Value)| match answer.get(*name) {
        Some(got) => got != *wanted,
        None => !cannot_report(via.gives, name, count),
    };
    let differing = expect.iter().filter(differs);
    differing
        .map(|(name, wanted)| {
            let got = answer.get(name).unwrap_or(&Value::Null);
            format!("{name}: expected {wanted}, got {got}")
        })
        .collect()
}

/// Whether an object with this level of detail cannot report this field of a stream with this many
/// errors.
fn cannot_report(gives: Gives, field: &str, error_count: Option<u64>) -> bool {
    match (gives, field) {
        (_, "error_count" | "first_error") => true,
        (Gives::Verdict, "out" | "steps" | "ws") => true,
        (Gives::Tally, "errors" | "incomplete_at_eof") => error_count > Some(1),
        _ => false,
    }
}

fn cases(operations: &[&str]) -> Vec<Value> {
    let mut cases = reference::cases();
    cases.retain(|case| operations.iter().any(|operation| case["op"] == *operation));
    cases
}

// ---- dialects -----------------------------------------------------------------------------------

/// The operations that can be about dialects.
const OPERATIONS: [&str; 6] =
    ["decode", "encode", "concat", "lossy_utf8", "decode_callback", "digest"];

#[test]
fn every_dialect_vector_decodes_as_expected() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in dialect_cases() {
        count += 1;
        let answer = dialect_answer(&case);
        for (name, wanted) in object(&case["expect"]) {
            // Of errors that are repaired when encoding, only the number and the first are reported.
            let is_told = name != "errors" || case["op"] != "encode" || answer.contains_key(name);
            if is_told && !is_as_expected(&case, name, wanted, answer.get(name)) {
                wrong.push(format!("{} {name}: {:?}", case["id"], answer.get(name)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong[..wrong.len().min(10)].join("\n"));
    assert!(count > 1300, "only {count} cases");
}

/// In strict cases whose basis is `choice`, sources agree only about the offset of the error.
fn is_as_expected(case: &Value, name: &str, wanted: &Value, got: Option<&Value>) -> bool {
    let places = |errors: &Value| -> Vec<_> {
        errors.as_array().unwrap().iter().map(|error| error["offset"].as_u64()).collect()
    };
    match got {
        Some(got)
            if name == "errors" && case["basis"] == "choice" && case["policy"] == "strict" =>
        {
            places(got) == places(wanted)
        }
        got => got == Some(wanted),
    }
}

#[test]
fn every_dialect_vector_decodes_as_expected_at_every_split() {
    let mut count = 0;
    for case in dialect_cases() {
        let Some((field, whole)) = whole(&case) else { continue };
        let len = whole.len();
        let expected = reported(&answer_in(&case, field, &[&whole]));
        let singles: Vec<&[Value]> = whole.chunks(1).collect();
        assert_eq!(
            reported(&answer_in(&case, field, &singles)),
            expected,
            "{case} in single units"
        );
        for cut in 0..=len {
            let (head, tail) = whole.split_at(cut);
            let pieces = [head, &[], tail];
            assert_eq!(
                reported(&answer_in(&case, field, &pieces)),
                expected,
                "{case} split at {cut}"
            );
            if len <= 12 {
                for next in cut..=len {
                    let pieces = [head, &whole[cut..next], &whole[next..]];
                    let answer = answer_in(&case, field, &pieces);
                    assert_eq!(reported(&answer), expected, "{case} split at {cut} and {next}");
                }
            }
        }
        count += 1;
    }
    assert!(count > 1200, "only {count} cases");
}

/// The input of a case in one piece, if it can be split: the name of its field, and bytes or units.
fn whole(case: &Value) -> Option<(&'static str, Vec<Value>)> {
    match case["op"].as_str() {
        Some("decode") => {
            let chunks = array(&case["chunks"]).iter().map(|chunk| chunk.as_str().unwrap());
            let digits: Vec<char> = chunks.flat_map(str::chars).collect();
            let bytes = digits.chunks(2).map(|byte| byte.iter().collect::<String>().into());
            Some(("chunks", bytes.collect()))
        }
        Some("encode") => {
            let units = array(&case["input"]).iter().flat_map(array).cloned();
            Some(("input", units.collect()))
        }
        _ => None,
    }
}

/// Answers a case with its input in these pieces.
fn answer_in(case: &Value, field: &str, pieces: &[&[Value]]) -> Map<String, Value> {
    let piece = |units: &&[Value]| match field {
        "chunks" => units.iter().map(|byte| byte.as_str().unwrap()).collect::<String>().into(),
        _ => Value::from(units.to_vec()),
    };
    let mut case = case.clone();
    case[field] = pieces.iter().map(piece).collect();
    dialect_answer(&case)
}

/// The fields that do not depend on the pieces.
fn reported(answer: &Map<String, Value>) -> Map<String, Value> {
    let mut reported = answer.clone();
    for name in ["steps", "steps_cps", "held", "fail_step"] {
        reported.remove(name);
    }
    assert!(!reported.is_empty());
    reported
}

fn dialect_answer(case: &Value) -> Map<String, Value> {
    // These operations have their own objects, whatever `--via` selects.
    let via = &VIAS[0];
    let answer = driver::answer(case, via, Form::FirstError);
    let answer = answer.unwrap_or_else(|why| panic!("{} cannot be understood: {why}", case["id"]));
    assert!(!answer.contains_key("skip"), "{}: {case}", via.name);
    answer
}

/// Cases of a dialect, of a policy that is a dialect, and digests.
fn dialect_cases() -> Vec<Value> {
    let mut cases = reference::cases();
    let is_ours = |case: &Value| {
        let is_dialect = case["dialect"] != "utf-8"
            || case["policy"] == "surrogateescape"
            || case["policy"] == "surrogatepass";
        let is_other = case["op"] == "digest" || case["op"] == "decode_callback";
        (is_dialect || is_other) && OPERATIONS.iter().any(|operation| case["op"] == *operation)
    };
    cases.retain(is_ours);
    cases
}

// ---- values -------------------------------------------------------------------------------------

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("not an object: {value}"))
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("not an array: {value}"))
}
