//! Code shared by the benchmarks: text by script, interleaved timing, and the report.
//!
//! `cargo bench` uses it with light peers; the package in `benches/versus` uses it with all peers.
#![allow(dead_code, unused_imports, reason = "each benchmark uses a part of it")]

pub(crate) mod bench;
pub(crate) mod corpus;
pub(crate) mod options;
pub(crate) mod report;

use clap::Parser;

pub(crate) use bench::{Bench, Name, Row, Scenario, Work};
pub(crate) use corpus::{Corpus, Rng};
pub(crate) use options::{Effort, Options};
pub(crate) use report::Report;

/// The body of a benchmark that `cargo bench` runs.
pub(crate) fn main(scenarios: &[Scenario]) {
    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }
    let Arguments { options } = Arguments::parse();
    let effort = if options.bench { options.effort() } else { Effort::ONCE };
    Bench::new(options, effort, &[]).run(scenarios);
}
