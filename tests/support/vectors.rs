//! The vectors of `tests/vectors`: one JSON case per line.
//!
//! They are compiled in, so that no test needs to find them.

use serde_json::Value;

/// Declares `FILES`: the names of these files, and their texts.
macro_rules! files {
    ($($name:literal,)*) => {
        pub(crate) const FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../vectors/", $name))),)*];
    };
}

files! {
    "bom.jsonl",
    "dialects.jsonl",
    "digests.jsonl",
    "encode.jsonl",
    "json-text.jsonl",
    "lines.jsonl",
    "mid-stream.jsonl",
    "oracle-utf8.jsonl",
    "strictness.jsonl",
    "utf8-blocks.jsonl",
    "utf8-boundaries.jsonl",
    "utf8-policies.jsonl",
    "utf8-streaming.jsonl",
    "websocket.jsonl",
}

/// Every case.
pub(crate) fn cases() -> Vec<Value> {
    cases_of(|_| true)
}

/// The cases of the files whose names are selected.
pub(crate) fn cases_of(select: impl Fn(&str) -> bool) -> Vec<Value> {
    let files = FILES.iter().filter(|(name, _)| select(name));
    let lines = files.flat_map(|(name, text)| text.lines().map(move |line| (name, line)));
    lines
        .map(|(name, line)| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"))
        })
        .collect()
}
