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
    "dialects.jsonl",
    "encode.jsonl",
    "lines.jsonl",
    "utf8.jsonl",
    "websocket.jsonl",
}

/// Every case.
pub(crate) fn cases() -> Vec<Value> {
    let lines = FILES.iter().flat_map(|(name, text)| text.lines().map(move |line| (name, line)));
    lines
        .map(|(name, line)| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"))
        })
        .collect()
}
