//! The crate compared with the standard library and tokio-util.
//! `cargo bench --bench scenarios -- [--quick] [FILTER]`
//!
//! `benches/versus` has the same rows with more peers, and more rows.

#[cfg(feature = "http-body")]
#[allow(dead_code, reason = "the other benchmark uses more of it")]
mod body;
mod chars;
mod damaged;
mod events;
mod fallback;
mod framed;
mod reader;
mod stream;
#[path = "../support/mod.rs"]
mod support;
mod validate;
mod writer;

use support::Scenario;

const SCENARIOS: &[Scenario] = &[
    |bench| validate::validate(bench, |_, _| {}),
    |bench| validate::locate(bench, |_, _| {}),
    |bench| stream::decode(bench, |_, _| {}),
    |bench| stream::verdict(bench, |_, _| {}),
    |bench| damaged::repair(bench, |_, _| {}),
    |bench| damaged::repair_utf16(bench, |_, _| {}),
    |bench| damaged::pieces(bench, |_, _| {}),
    |bench| chars::to_chars(bench, |_, _| {}),
    |bench| chars::to_utf16(bench, |_, _| {}),
    |bench| chars::from_chars(bench, |_, _| {}),
    |bench| framed::codec(bench, |_, _| {}),
    |bench| framed::lines(bench, |_, _| {}),
    |bench| writer::from_utf16(bench, |_, _| {}),
    |bench| writer::repair_utf16(bench, |_, _| {}),
    writer::writer,
    |bench| reader::read(bench, |_, _, _| {}),
    reader::chars,
    reader::blocks,
    reader::lines,
    |bench| events::events(bench, |_, _, _, _| {}),
    |bench| fallback::decode(bench, |_, _| {}),
    |bench| fallback::codec(bench, |_, _| {}),
    |bench| fallback::streams(bench, |_, _| {}),
    #[cfg(feature = "http-body")]
    body::body,
];

fn main() {
    support::main(SCENARIOS);
}
