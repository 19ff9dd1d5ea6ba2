//! `examples/json_rpc.rs` as a process: a session over standard input, with bad lines.
#![cfg(feature = "codec")]

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::program::{self, Program};

const JSON_RPC: Program = Program("json_rpc");

/// The answers to these lines, as values.
fn answers(arguments: &[&str], input: &[u8]) -> Vec<Value> {
    let arguments = [&["--stdio"], arguments].concat();
    let outcome = JSON_RPC.run(arguments, input);
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""));
    outcome.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn request(id: u32, text: &[u8]) -> Vec<u8> {
    let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"count","params":[""#);
    [start.as_bytes(), text, b"\"]}\n"].concat()
}

fn result(id: u32, count: u32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": count })
}

/// The code and the details of an error without an identifier.
fn error(answer: &Value) -> (i64, &str) {
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &Value::Null));
    (answer["error"]["code"].as_i64().unwrap(), answer["error"]["data"].as_str().unwrap())
}

#[test]
fn the_session_with_itself_succeeds() {
    let outcome = JSON_RPC.run([] as [&str; 0], b"");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.text().ends_with("ok: every line is answered\n"), "{}", outcome.text());
}

#[test]
fn a_bad_line_is_answered_and_the_session_continues() {
    let bad: [(&[u8], &str); 4] = [
        (b"\xFF\n", "line 2 is not valid UTF-8: invalid byte (ff) at byte"),
        (b"caf\xC3\n", "line 2 is not valid UTF-8: truncated character (c3, followed by 0a)"),
        (b"{\"id\":\n", "line 2: EOF while parsing a value"),
        (b"caf\xC3\xA9\r\n", "line 2: expected value"),
    ];
    for (line, message) in bad {
        let input = [&request(1, "žluť".as_bytes()), line, &request(3, b"kun")].concat();
        let found = answers(&[], &input);
        assert_eq!((&found[0], &found[2], found.len()), (&result(1, 4), &result(3, 3), 3));
        let (code, data) = error(&found[1]);
        assert_eq!(code, -32700);
        assert!(data.starts_with(message), "{data}");
    }
}

#[test]
fn each_line_is_answered_before_the_next_one_is_sent() {
    let mut server = JSON_RPC.start(["--stdio"]);
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap()).lines();
    for id in 0..50 {
        let text: &[u8] = if id % 2 == 0 { b"\xE2\x82\xAC" } else { b"\xE2\x82" };
        input.write_all(&request(id, text)).unwrap();
        let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        match id % 2 {
            0 => assert_eq!(answer, result(id, 1)),
            _ => assert_eq!(error(&answer).0, -32700),
        }
    }
    drop(input);
    assert!(output.next().is_none());
    assert_eq!(program::finish(server).status, 0);
}

#[test]
fn a_line_that_is_too_long_is_answered_and_not_stored() {
    let input = [&request(1, &[b'x'; 10_000_000]), &*request(2, b"xy")].concat();
    let found = answers(&["--max-length", "100"], &input);
    assert_eq!(
        error(&found[0]),
        (-32700, "line 1 at byte 0 of the stream is longer than 100 bytes")
    );
    assert_eq!((&found[1], found.len()), (&result(2, 2), 2));
}

#[test]
fn deep_nesting_and_large_batches_are_answered() {
    let deep = [&[b'['; 100_000][..], b"\n", &request(2, b"a")].concat();
    let found = answers(&[], &deep);
    assert_eq!((error(&found[0]).0, &found[1]), (-32700, &result(2, 1)));

    let batch = |count| format!("[{}]\n", vec!["1"; count].join(","));
    let found = answers(&["--max-batch", "3"], [batch(3), batch(4)].concat().as_bytes());
    assert_eq!(found[0].as_array().unwrap().len(), 3);
    assert_eq!(error(&found[1]), (-32600, "a batch has 1 to 3 requests, not 4"));
}

#[test]
fn the_rules_of_json_rpc_are_followed() {
    let cases = [
        (r#"{"jsonrpc":"2.0","method":"echo","id":"x","params":{"a":1}}"#, "x", Ok(json!({"a":1}))),
        (r#"{"jsonrpc":"2.0","method":"echo","id":"x"}"#, "x", Ok(Value::Null)),
        (r#"{"jsonrpc":"2.0","method":"none","id":"x"}"#, "x", Err(-32601)),
        (r#"{"jsonrpc":"2.0","method":"count","id":"x","params":[1]}"#, "x", Err(-32602)),
        (r#"{"jsonrpc":"1.0","method":"echo","id":"x"}"#, "x", Err(-32600)),
        (r#"{"jsonrpc":"2.0","method":7,"id":"x"}"#, "x", Err(-32600)),
    ];
    for (line, id, expected) in cases {
        let found = &answers(&[], format!("\u{FEFF}{line}\n").as_bytes())[0];
        assert_eq!(found["id"], id, "{line}");
        match expected {
            Ok(result) => assert_eq!(found["result"], result, "{line}"),
            Err(code) => assert_eq!(found["error"]["code"], code, "{line}"),
        }
    }
    let silent = b"\n \r\n{\"jsonrpc\":\"2.0\",\"method\":\"none\"}\n[{\"jsonrpc\":\"2.0\",\"method\":\"echo\"}]";
    assert_eq!(answers(&[], silent), [] as [Value; 0]);
    assert_eq!(error(&answers(&[], b"5")[0]).0, -32600);
}
