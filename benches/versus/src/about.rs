//! What was measured, where, and how.

use std::process::Command;

use utf8_codec::__kernel::Kernel;

use crate::support::{Options, report};

const LOCK: &str = include_str!("../Cargo.lock");

const PEERS: &[&str] = &[
    "simdutf8",
    "simdutf",
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

pub(crate) fn header(options: &Options) -> Vec<(&'static str, String)> {
    let effort = options.effort;
    let milliseconds = effort.sample as f64 / 1e6;
    let peers: Vec<_> = PEERS.iter().map(|peer| format!("{peer} {}", version(peer))).collect();
    vec![
        ("utf8-codec", format!("{} at commit {}", version("utf8-codec"), commit())),
        ("kernel", name_kernel(options)),
        ("machine", report::machine()),
        ("compiler", format!("{}, opt-level 3, fat LTO{}", env!("COMPILER"), flags())),
        ("peers", peers.join(", ")),
        ("samples", format!("medians of {}, of {milliseconds} ms each or more", effort.rounds)),
    ]
}

fn name_kernel(options: &Options) -> String {
    let detected = Kernel::detect();
    match options.kernel {
        Some(kernel) if kernel != detected => {
            format!("{}; only the rows that can be told to run on it", kernel.name())
        }
        _ => detected.name().to_owned(),
    }
}

/// The version that `Cargo.lock` has of a package.
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

/// What the build was told about the machine.
fn flags() -> &'static str {
    if cfg!(target_feature = "avx512f") {
        ", with AVX-512"
    } else if cfg!(target_feature = "avx2") {
        ", with AVX2"
    } else {
        ", for any machine of the architecture"
    }
}
