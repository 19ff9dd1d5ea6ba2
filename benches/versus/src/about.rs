//! What was measured, where, and how.

use std::process::Command;

use crate::support::Effort;

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
    "tokio-tungstenite",
    "tokio-websockets",
    "fastwebsockets",
    "hyper",
    "simd_cesu8",
    "residua-cesu8",
    "residua-mutf8",
];

pub(crate) fn header(effort: Effort) -> Vec<(&'static str, String)> {
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
    let changed = git(&["status", "--porcelain", "--", "src", "Cargo.toml"]);
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
