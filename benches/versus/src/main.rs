//! The crate beside its peers: interleaved runs with every answer asserted, and the tables and charts of saved runs.
//!
//! To add a scenario, write a function in `benches/scenarios` that measures its rows, with the contenders that are quick to
//! build. Add the other contenders to `peers`, the function to [`SCENARIOS`], and the names of its rows to `results/tasks.rs`.

mod event_peers;
mod limits;
mod lines;
mod loopback;
mod peers;
mod results;
#[path = "../../support/simdutf_level.rs"]
mod simdutf_level;
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
#[path = "../../scenarios/events.rs"]
mod events;
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

use std::process::Command;

use clap::Parser;
use results::Targets;
use simdutf_level::force_simdutf;
use support::{Bench, Effort, Options, Scenario};

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
    limits::limits,
    |bench| framed::codec(bench, peers::codec),
    |bench| framed::lines(bench, |_, _| {}),
    |bench| writer::from_utf16(bench, peers::from_utf16),
    |bench| writer::repair_utf16(bench, peers::repair_from_utf16),
    writer::writer,
    |bench| reader::read(bench, peers::read),
    reader::chars,
    reader::blocks,
    reader::lines,
    lines::borrowed,
    websocket::messages,
    websocket::unmask,
    body::body,
    loopback::upload,
    loopback::download,
    |bench| events::events(bench, event_peers::peers),
    |bench| fallback::decode(bench, peers::decode_fallback),
    |bench| fallback::codec(bench, peers::codec_fallback),
    |bench| fallback::streams(bench, peers::streams_fallback),
    |bench| dialect::decode(bench, peers::decode_dialect),
    |bench| dialect::encode(bench, peers::encode_dialect),
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
    if let Some(level) = options.level {
        force_simdutf(level);
    }
    let effort = options.effort();
    Bench::new(options, effort, &header(effort)).run(SCENARIOS).json()
}

// ---- what was measured, where, and how ------------------------------------------------------------

const LOCK: &str = include_str!("../Cargo.lock");

const PEERS: &[&str] = &[
    "simdutf8",
    "simdutf",
    "smoothutf8",
    "encoding_rs",
    "utf-8",
    "utf8-zero",
    "async-utf8-decoder",
    "tungstenite",
    "tokio-util",
    "bstr",
    "tokio-tungstenite",
    "tokio-websockets",
    "fastwebsockets",
    "hyper",
    "sse-stream",
    "sse-parse",
    "sseer",
    "eventsource-stream",
    "eventsource-stream2",
    "simd_cesu8",
    "residua-cesu8",
    "residua-mutf8",
];

fn header(effort: Effort) -> Vec<(&'static str, String)> {
    let milliseconds = effort.sample as f64 / 1e6;
    let peers: Vec<_> = PEERS.iter().map(|peer| format!("{peer} {}", version(peer))).collect();
    vec![
        ("utf8-codec", format!("{} at commit {}", version("utf8-codec"), commit())),
        ("compiler", format!("{}, opt-level 3, fat LTO{}", env!("COMPILER"), flags())),
        ("peers", peers.join(", ")),
        ("samples", format!("medians of {}, each of at least {milliseconds} ms", effort.rounds)),
    ]
}

/// The version of a package in `Cargo.lock`.
fn version(package: &str) -> &'static str {
    let name = format!("name = \"{package}\"");
    let mut lines = LOCK.lines().skip_while(|&line| line != name);
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = "));
    version.map_or("(version unknown)", |version| version.trim_matches('"'))
}

fn commit() -> String {
    let hash = git(&["rev-parse", "--short=10", "HEAD"]);
    let changed = git(&["status", "--porcelain", "--", "src", "crates", "Cargo.toml"]);
    match (hash, changed) {
        (Some(hash), Some(changed)) if changed.is_empty() => hash,
        (Some(hash), _) => hash + ", with changes",
        (None, _) => "unknown".to_owned(),
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The target features of the build.
fn flags() -> &'static str {
    if cfg!(target_feature = "avx512f") {
        ", target feature avx512f"
    } else if cfg!(target_feature = "avx2") {
        ", target feature avx2"
    } else {
        ", baseline target features"
    }
}
