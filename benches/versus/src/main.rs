//! The crate beside its peers: interleaved runs with every answer asserted, and the tables and charts of saved runs.
//!
//! To add a scenario, write a function in `benches/scenarios` that measures its rows, with the contenders that are quick to
//! build. Add the other contenders to `peers`, the function to [`SCENARIOS`], and the names of its rows to `results/tasks.rs`.

mod about;
mod dialect_peers;
mod fallback_peers;
mod loopback;
mod peers;
mod results;
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

use clap::Parser;
use results::Targets;
use support::{Bench, Options, Scenario};
use utf8_codec::__kernel::Kernel;

const SCENARIOS: &[Scenario] = &[
    |bench| validate::validate(bench, peers::validate),
    |bench| validate::locate(bench, peers::locate),
    |bench| stream::decode(bench, peers::decode),
    |bench| stream::verdict(bench, peers::verdict),
    |bench| damaged::repair(bench, peers::repair),
    |bench| damaged::repair_utf16(bench, peers::repair_utf16),
    |bench| damaged::pieces(bench, |_, _| {}),
    |bench| chars::to_chars(bench, peers::to_chars),
    |bench| chars::to_utf16(bench, peers::to_utf16),
    |bench| chars::from_chars(bench, peers::from_chars),
    |bench| framed::codec(bench, peers::codec),
    |bench| framed::lines(bench, |_, _| {}),
    |bench| writer::from_utf16(bench, peers::from_utf16),
    writer::writer,
    |bench| reader::read(bench, peers::read),
    reader::chars,
    reader::blocks,
    reader::lines,
    websocket::messages,
    websocket::unmask,
    body::body,
    loopback::upload,
    loopback::download,
    |bench| fallback::decode(bench, fallback_peers::decode),
    |bench| fallback::codec(bench, fallback_peers::codec),
    |bench| fallback::streams(bench, fallback_peers::streams),
    |bench| dialect::decode(bench, dialect_peers::decode),
    |bench| dialect::encode(bench, dialect_peers::encode),
];

/// Measures the crate beside its peers, or renders what was measured before.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    targets: Targets,
}

fn main() -> std::io::Result<()> {
    let Arguments { options, targets } = Arguments::parse();
    let mut runs = targets.saved()?;
    if runs.is_empty() {
        runs.push(measure(options));
    }
    targets.render(&runs)
}

fn measure(options: Options) -> serde_json::Value {
    if let Some(tier) = options.tier {
        force_simdutf(tier);
    }
    let effort = options.effort();
    Bench::new(options, effort, &about::header(effort)).run(SCENARIOS).json()
}

/// Forces the implementation of simdutf for the same instructions. The other peers have no tiers above AVX2.
fn force_simdutf(tier: Kernel) {
    let name = match tier.name() {
        "scalar" | "portable" => "fallback",
        "sse4.1" => "westmere",
        "avx2" => "haswell",
        "avx512" => "icelake",
        "neon" => "arm64",
        name => panic!("simdutf has no implementation like {name}"),
    };
    // SAFETY: this is the only thread. simdutf reads the variable at its first call, which is later.
    unsafe { std::env::set_var("SIMDUTF_FORCE_IMPLEMENTATION", name) };
}
