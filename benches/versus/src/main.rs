//! The crate beside its peers: one table of ratios from interleaved runs, with every answer asserted.
//!
//! To add a scenario: a function that measures its rows, with the contenders that cost nothing to
//! build, in `benches/scenarios`; the other contenders in `peers`; and a line in [`SCENARIOS`].
//! A new peer also needs a line in [`COLUMNS`].

mod about;
mod dialect_peers;
mod fallback_peers;
mod loopback;
mod peers;
mod server;
#[path = "../../support/mod.rs"]
mod support;

#[path = "../../scenarios/body.rs"]
mod body;
#[path = "../../scenarios/chars.rs"]
mod chars;
#[path = "../../scenarios/damaged.rs"]
mod damaged;
#[path = "../../scenarios/dialect.rs"]
mod dialect;
#[path = "../../scenarios/fallback.rs"]
mod fallback;
#[path = "../../scenarios/framed.rs"]
mod framed;
#[path = "../../scenarios/reader.rs"]
mod reader;
#[path = "../../scenarios/stream.rs"]
mod stream;
#[path = "../../scenarios/validate.rs"]
mod validate;
mod websocket;
#[path = "../../scenarios/writer.rs"]
mod writer;

use support::Scenario::{OnAnyKernel, OnDetectedKernel};
use support::{Bench, Effort, Options, Report, Scenario};

const SCENARIOS: &[Scenario] = &[
    OnAnyKernel(|bench| validate::validate(bench, peers::validate)),
    OnAnyKernel(|bench| validate::locate(bench, peers::locate)),
    OnDetectedKernel(|bench| stream::decode(bench, peers::decode)),
    OnDetectedKernel(|bench| stream::verdict(bench, peers::verdict)),
    OnDetectedKernel(|bench| damaged::repair(bench, peers::repair)),
    OnDetectedKernel(|bench| damaged::pieces(bench, |_, _| {})),
    OnDetectedKernel(|bench| chars::to_chars(bench, peers::to_chars)),
    OnDetectedKernel(|bench| chars::to_utf16(bench, peers::to_utf16)),
    OnDetectedKernel(|bench| chars::from_chars(bench, peers::from_chars)),
    OnDetectedKernel(|bench| framed::codec(bench, peers::codec)),
    OnDetectedKernel(|bench| framed::lines(bench, |_, _| {})),
    OnDetectedKernel(|bench| writer::from_utf16(bench, peers::from_utf16)),
    OnDetectedKernel(writer::writer),
    OnDetectedKernel(|bench| reader::read(bench, peers::read)),
    OnDetectedKernel(reader::chars),
    OnDetectedKernel(reader::blocks),
    OnDetectedKernel(reader::lines),
    OnDetectedKernel(websocket::messages),
    OnAnyKernel(websocket::unmask),
    OnDetectedKernel(body::body),
    OnDetectedKernel(loopback::upload),
    OnDetectedKernel(loopback::download),
    OnDetectedKernel(|bench| fallback::decode(bench, fallback_peers::decode)),
    OnDetectedKernel(|bench| fallback::codec(bench, fallback_peers::codec)),
    OnDetectedKernel(|bench| fallback::streams(bench, fallback_peers::streams)),
    OnDetectedKernel(|bench| dialect::decode(bench, dialect_peers::decode)),
    OnDetectedKernel(|bench| dialect::encode(bench, dialect_peers::encode)),
];

const COLUMNS: &[&str] = &[
    "std",
    "simdutf8",
    "simdutf",
    "encoding_rs",
    "utf-8",
    "utf8-zero",
    "async-utf8-decoder",
    "tungstenite",
    "tokio-util",
    "FramedRead",
    "CharCodec",
    "CharStream",
    "tokio-tungstenite",
    "tokio-websockets",
    "fastwebsockets",
    "two passes",
    "simd_cesu8",
    "residua",
    "(utf-8)",
    "(read)",
    "(memcpy)",
    "(BytesCodec)",
    "(str::chars)",
    "(bare)",
    "(validate)",
];

fn main() {
    let options = Options::parse(Effort::FULL);
    let header = about::header(&options);
    Bench::new(options, Report::new(COLUMNS, &header)).run(SCENARIOS);
}
