//! What the benchmarks share: text by script, interleaved timing, and the table.
//!
//! `cargo bench` uses it with light peers, the package in `benches/versus` with all of them.
#![allow(dead_code, unused_imports, reason = "each benchmark uses a part of it")]

pub(crate) mod bench;
pub(crate) mod corpus;
pub(crate) mod options;
pub(crate) mod report;

pub(crate) use bench::{Bench, Name, Row, Scenario, Work};
pub(crate) use corpus::{Corpus, Rng};
pub(crate) use options::{Effort, Options};
pub(crate) use report::Report;

/// The body of a benchmark that `cargo bench` runs.
///
/// Without the argument `--bench`, as under `cargo test --benches`, each contender runs once, for
/// its answer.
pub(crate) fn main(columns: &[&'static str], scenarios: &[Scenario]) {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let options = Options::parse(if is_bench { Effort::FULL } else { Effort::ONCE });
    let kernel = options.kernel.unwrap_or_else(utf8_codec::__kernel::Kernel::detect);
    let header = [("kernel", kernel.name().to_owned()), ("machine", report::machine())];
    Bench::new(options, Report::new(columns, &header)).run(scenarios);
}
