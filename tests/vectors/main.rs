//! The vectors of `tests/vectors`, at every split.

mod boundaries;
#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../tools/src/bin/conformance/driver/mod.rs"]
#[allow(dead_code, reason = "each user takes its own part")]
mod driver;
#[path = "../../crates/utf8-simd/tests/support/mod.rs"]
mod random;
#[cfg(not(feature = "codec"))]
#[path = "../support/reference.rs"]
mod reference;
mod reference_model;
#[cfg(feature = "codec")]
#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "codec")]
use support::reference;

mod conformance {
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
            let answer = driver::websocket::answer(&case)
                .unwrap_or_else(|why| panic!("{}: {why}", case["id"]));
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
    fn differences(
        expect: &Map<String, Value>,
        answer: &Map<String, Value>,
        via: &Via,
    ) -> Vec<String> {
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
                let is_told =
                    name != "errors" || case["op"] != "encode" || answer.contains_key(name);
                if is_told && !is_as_expected(&case, name, wanted, answer.get(name)) {
                    wrong.push(format!("{} {name}: {:?}", case["id"], answer.get(name)));
                }
            }
        }
        assert!(
            wrong.is_empty(),
            "{} wrong\n{}",
            wrong.len(),
            wrong[..wrong.len().min(10)].join("\n")
        );
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
        let answer =
            answer.unwrap_or_else(|why| panic!("{} cannot be understood: {why}", case["id"]));
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
}

#[cfg(feature = "codec")]
mod peers {
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
        let pieces: Vec<&[u8]> =
            chunks(bytes.len(), cuts).map(|(from, to)| &bytes[from..to]).collect();
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
}
