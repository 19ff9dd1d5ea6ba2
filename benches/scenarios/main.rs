//! The crate compared with the standard library and tokio-util.
//! `cargo bench --bench scenarios -- [--quick] [FILTER]`
//!
//! `benches/versus` has the same rows with more peers, and more rows.

#[cfg(feature = "http-body")]
#[allow(dead_code, reason = "the other benchmark uses more of it")]
mod body;
mod chars;
mod damaged;
mod framed;
mod reader;
mod stream;
#[path = "../support/mod.rs"]
mod support;
mod validate;
mod writer;

use support::Scenario::{self, OnAnyKernel, OnDetectedKernel};

const SCENARIOS: &[Scenario] = &[
    OnAnyKernel(|bench| validate::validate(bench, |_, _| {})),
    OnAnyKernel(|bench| validate::locate(bench, |_, _| {})),
    OnDetectedKernel(|bench| stream::decode(bench, |_, _| {})),
    OnDetectedKernel(|bench| stream::verdict(bench, |_, _| {})),
    OnDetectedKernel(|bench| damaged::repair(bench, |_, _| {})),
    OnDetectedKernel(|bench| damaged::pieces(bench, |_, _| {})),
    OnDetectedKernel(|bench| chars::to_chars(bench, |_, _| {})),
    OnDetectedKernel(|bench| chars::to_utf16(bench, |_, _| {})),
    OnDetectedKernel(|bench| chars::from_chars(bench, |_, _| {})),
    OnDetectedKernel(|bench| framed::codec(bench, |_, _| {})),
    OnDetectedKernel(|bench| framed::lines(bench, |_, _| {})),
    OnDetectedKernel(|bench| writer::from_utf16(bench, |_, _| {})),
    OnDetectedKernel(writer::writer),
    OnDetectedKernel(|bench| reader::read(bench, |_, _, _| {})),
    OnDetectedKernel(reader::chars),
    OnDetectedKernel(reader::blocks),
    OnDetectedKernel(reader::lines),
    #[cfg(feature = "http-body")]
    OnDetectedKernel(body::body),
];

const COLUMNS: &[&str] = &[
    "std",
    "tokio-util",
    "FramedRead",
    "CharCodec",
    "CharStream",
    "(read)",
    "(memcpy)",
    "(BytesCodec)",
    "(str::chars)",
    "(bare)",
    "(validate)",
];

fn main() {
    support::main(COLUMNS, SCENARIOS);
}
