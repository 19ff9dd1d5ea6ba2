//! The vectors of the dialects, without changes and at every split.
#![cfg(all(feature = "codec", feature = "stream"))]

use crate::{driver, reference};

use serde_json::{Map, Value};

use driver::{Form, VIAS};

/// The operations that can be about dialects.
const OPERATIONS: [&str; 6] =
    ["decode", "encode", "concat", "lossy_utf8", "decode_callback", "digest"];

#[test]
fn every_dialect_vector_decodes_as_expected() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in cases() {
        count += 1;
        let answer = answer(&case);
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
    for case in cases() {
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
    answer(&case)
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

fn answer(case: &Value) -> Map<String, Value> {
    // These operations have their own objects, whatever `--via` selects.
    let via = &VIAS[0];
    let answer = driver::answer(case, via, Form::FirstError);
    let answer = answer.unwrap_or_else(|why| panic!("{} cannot be understood: {why}", case["id"]));
    assert!(!answer.contains_key("skip"), "{}: {case}", via.name);
    answer
}

/// Cases of a dialect, of a policy that is a dialect, and digests.
fn cases() -> Vec<Value> {
    let names = ["dialects", "encode", "digests", "utf8-policies", "oracle-utf8"];
    let mut cases = reference::cases_of(|name| {
        name.strip_suffix(".jsonl").is_some_and(|name| names.contains(&name))
    });
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

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("not an object: {value}"))
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("not an array: {value}"))
}
