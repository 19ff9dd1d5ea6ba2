//! Code shared by the benchmarks: the command line, text by script, interleaved timing, and the report.
//!
//! `cargo bench` uses it with light peers; the package in `benches/versus` uses it with all peers.
#![allow(dead_code, unused_imports, reason = "each benchmark uses a part of it")]

pub(crate) mod bench;
pub(crate) mod corpus;
pub(crate) mod report;
pub(crate) mod room;

use clap::{Args, Parser};
use utf8_simd::Level;

pub(crate) use bench::{Bench, Row, Scenario};
pub(crate) use corpus::{Corpus, Rng};
pub(crate) use measured::{Name, Work};
pub(crate) use report::Report;
pub(crate) use room::Room;

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

pub(crate) mod measured {
    //! A row of measurements: what was measured, our time, and the others' times compared with it.

    use std::fmt;

    /// What is measured: the task, the text, and the size of its portions.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub(crate) struct Name {
        pub(crate) what: String,
        pub(crate) corpus: &'static str,
        pub(crate) size: String,
    }

    impl fmt::Display for Name {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}/{}/{}", self.what, self.corpus, self.size)
        }
    }

    /// What one pass of a contender processes.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Work {
        pub(crate) bytes: usize,
        /// The number of messages, chunks, lines or errors, and which of these.
        pub(crate) units: usize,
        pub(crate) unit: &'static str,
    }

    impl Work {
        pub(crate) const fn new(bytes: usize, units: usize, unit: &'static str) -> Self {
            Self { bytes, units, unit }
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Role {
        Ours,
        Peer,
        /// Another way to do the task with this crate.
        Sibling,
        /// Does less than the task, and shows the least possible time.
        Floor,
    }

    /// A row with its times.
    pub(crate) struct Measured {
        pub(crate) name: Name,
        pub(crate) work: Work,
        /// The median time of our pass.
        pub(crate) nanoseconds: f64,
        pub(crate) against: Vec<Against>,
    }

    impl Measured {
        /// Our time for one message, chunk, line or error.
        pub(crate) fn nanoseconds_per_unit(&self) -> f64 {
            self.nanoseconds / self.work.units as f64
        }

        pub(crate) fn gigabytes_per_second(&self) -> f64 {
            self.work.bytes as f64 / self.nanoseconds
        }

        pub(crate) fn has_peer(&self) -> bool {
            self.against.iter().any(|against| against.role == Role::Peer)
        }

        /// Whether a peer is faster, as far as two digits show it.
        pub(crate) fn is_lost(&self) -> bool {
            self.against.iter().any(Against::is_lost)
        }
    }

    /// Our time compared with one other contender.
    pub(crate) struct Against {
        pub(crate) name: &'static str,
        pub(crate) role: Role,
        /// Its time divided by ours, round by round.
        pub(crate) ratio: Quartiles,
    }

    impl Against {
        /// Takes the times of our passes and of the other's, round by round.
        pub(crate) fn new(name: &'static str, role: Role, ours: &[f64], others: &[f64]) -> Self {
            let ratios = ours.iter().zip(others).map(|(ours, other)| other / ours);
            Self { name, role, ratio: Quartiles::new(ratios.collect()) }
        }

        pub(crate) fn is_lost(&self) -> bool {
            self.role == Role::Peer && self.ratio.median < 0.995
        }
    }

    #[derive(Clone, Copy)]
    pub(crate) struct Quartiles {
        pub(crate) low: f64,
        pub(crate) median: f64,
        pub(crate) high: f64,
    }

    impl Quartiles {
        /// NaN if there are no numbers.
        pub(crate) fn new(mut numbers: Vec<f64>) -> Self {
            numbers.sort_by(f64::total_cmp);
            let at = |quarter| {
                numbers
                    .get((numbers.len().saturating_sub(1)) * quarter / 4)
                    .copied()
                    .unwrap_or(f64::NAN)
            };
            Self { low: at(1), median: at(2), high: at(3) }
        }
    }
}
