//! Code shared by the benchmarks: the command line, text by script, interleaved timing, and the report.
//!
//! `cargo bench` uses it with light peers; the package in `benches/versus` uses it with all peers.
#![allow(dead_code, unused_imports, reason = "each benchmark uses a part of it")]

pub(crate) mod bench;
pub(crate) mod corpus;
pub(crate) mod measured;
pub(crate) mod report;

use clap::{Args, Parser};
use utf8_simd::Level;

pub(crate) use bench::{Bench, Row, Scenario};
pub(crate) use corpus::{Corpus, Rng};
pub(crate) use measured::{Name, Work};
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

/// How long each contender is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Samples of each contender; 0 runs it once, for its answer.
    pub(crate) rounds: usize,
    /// The least duration of a sample, in nanoseconds.
    pub(crate) sample: u64,
}

impl Effort {
    pub(crate) const FULL: Self = Self { rounds: 41, sample: 1_000_000 };
    pub(crate) const QUICK: Self = Self { rounds: 7, sample: 300_000 };
    pub(crate) const ONCE: Self = Self { rounds: 0, sample: 0 };
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Takes fewer and shorter samples.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Runs at this level instead of the fastest.
    #[arg(long, value_name = "NAME", value_parser = find_level)]
    pub(crate) level: Option<Level>,
    /// Measures neither peers nor floors, for a profiler.
    #[arg(long)]
    pub(crate) alone: bool,
    /// Prints the names of the rows and runs each of ours once, in `count_instructions`, for a profiler.
    #[arg(long)]
    pub(crate) count: bool,
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Measures the rows whose name, what/corpus/size, contains one of these.
    #[arg(value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
    /// What `cargo bench` passes. Without it, as under `cargo test`, each contender runs once.
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
}

impl Options {
    pub(crate) fn effort(&self) -> Effort {
        if self.quick { Effort::QUICK } else { Effort::FULL }
    }
}

fn find_level(name: &str) -> Result<Level, String> {
    Level::available().find(|level| level.name() == name).ok_or_else(|| {
        let names: Vec<_> = Level::available().map(Level::name).collect();
        format!("the levels of this machine are {}", names.join(", "))
    })
}
