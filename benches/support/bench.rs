//! Contenders that take turns, and the medians of their times.

use std::hint::black_box;
use std::time::Instant;

use super::measured::{Against, Measured, Name, Quartiles, Role, Work};
use super::report::{Output, Report};
use super::{Effort, Options};

/// A function that measures rows.
pub(crate) type Scenario = fn(&mut Bench);

struct Contender<'a> {
    name: &'static str,
    role: Role,
    pass: Box<dyn FnMut() -> u64 + 'a>,
    answer: u64,
    passes: u64,
    /// Nanoseconds per pass, one for each round.
    samples: Vec<f64>,
}

/// Contenders that do the same work.
pub(crate) struct Row<'a> {
    name: Name,
    work: Work,
    answer: u64,
    contenders: Vec<Contender<'a>>,
}

impl<'a> Row<'a> {
    pub(crate) fn new(name: Name, work: Work) -> Self {
        Self { name, work, answer: 0, contenders: Vec::new() }
    }

    /// Sets the answer that contenders added after this call have to return.
    pub(crate) fn expect(&mut self, answer: usize) {
        self.answer = answer as u64;
    }

    pub(crate) fn ours(&mut self, pass: impl FnMut() -> u64 + 'a) {
        self.add("ours", Role::Ours, pass);
    }

    pub(crate) fn peer(&mut self, name: &'static str, pass: impl FnMut() -> u64 + 'a) {
        self.add(name, Role::Peer, pass);
    }

    pub(crate) fn sibling(&mut self, name: &'static str, pass: impl FnMut() -> u64 + 'a) {
        self.add(name, Role::Sibling, pass);
    }

    pub(crate) fn floor(&mut self, name: &'static str, pass: impl FnMut() -> u64 + 'a) {
        self.add(name, Role::Floor, pass);
    }

    fn add(&mut self, name: &'static str, role: Role, pass: impl FnMut() -> u64 + 'a) {
        let (pass, answer) = (Box::new(pass), self.answer);
        self.contenders.push(Contender {
            name,
            role,
            pass,
            answer,
            passes: 1,
            samples: Vec::new(),
        });
    }

    /// Every round runs each contender once. Each round begins with another contender and reverses the
    /// order, so that none always follows the same other.
    fn measure(&mut self, effort: Effort) {
        let count = self.contenders.len();
        for contender in &mut self.contenders {
            contender.calibrate(&self.name, effort);
        }
        for round in 0..effort.rounds {
            for turn in 0..count {
                let turn = if round % 2 == 0 { turn } else { count - 1 - turn };
                self.contenders[(turn + round / 2) % count].sample(&self.name);
            }
        }
    }

    /// Runs ours once to warm up, then once to be counted.
    fn count(&mut self) {
        println!("{}", self.name);
        for ours in self.contenders.iter_mut().filter(|contender| contender.role == Role::Ours) {
            ours.time(&self.name);
            count_instructions(&mut ours.pass);
        }
    }

    fn into_measured(self) -> Measured {
        let (ours, others): (Vec<_>, Vec<_>) =
            self.contenders.into_iter().partition(|contender| contender.role == Role::Ours);
        let [ours] = &*ours else { panic!("{}: not one contender that is ours", self.name) };
        let against = |other: &Contender<'_>| {
            Against::new(other.name, other.role, &ours.samples, &other.samples)
        };
        Measured {
            name: self.name,
            work: self.work,
            nanoseconds: Quartiles::new(ours.samples.clone()).median,
            against: others.iter().map(against).collect(),
        }
    }
}

/// What `.ci/instructions` counts.
#[inline(never)]
fn count_instructions(pass: &mut dyn FnMut() -> u64) {
    black_box(pass());
}

impl Contender<'_> {
    /// Finds the number of passes in a sample.
    fn calibrate(&mut self, row: &Name, effort: Effort) {
        loop {
            let nanoseconds = self.time(row);
            if effort == Effort::ONCE {
                break;
            }
            if nanoseconds >= effort.sample / 4 {
                let per_pass = (nanoseconds / self.passes).max(1);
                self.passes = (effort.sample / per_pass).max(1);
                break;
            }
            self.passes *= 4;
        }
    }

    fn sample(&mut self, row: &Name) {
        let nanoseconds = self.time(row);
        self.samples.push(nanoseconds as f64 / self.passes as f64);
    }

    // A call of its own, which `.ci/instructions` can recognise.
    #[inline(never)]
    fn time(&mut self, row: &Name) -> u64 {
        let start = Instant::now();
        let mut answer = 0;
        for _ in 0..self.passes {
            answer = black_box((self.pass)());
        }
        let nanoseconds = start.elapsed().as_nanos() as u64;
        assert_eq!(answer, self.answer, "{row}: the answer of {}", self.name);
        nanoseconds
    }
}

/// Makes the allocator keep freed memory, as it does in a process that has been running for a while: glibc keeps
/// blocks up to the size of the largest that was freed. The second block is then part of the heap, where it stays
/// with all pages present. Otherwise page faults, and which pages a row happens to get, would dominate the rows whose
/// output is a new `String` of 1 MiB.
fn keep_memory() {
    drop(black_box(vec![0_u8; 24 << 20]));
    drop(black_box(vec![1_u8; 16 << 20]));
}

/// A run of scenarios.
pub(crate) struct Bench {
    options: Options,
    effort: Effort,
    report: Report,
}

impl Bench {
    /// Selects the level that the options name. `about` is printed at the head of the report.
    pub(crate) fn new(options: Options, effort: Effort, about: &[(&'static str, String)]) -> Self {
        if let Some(level) = options.level {
            level.set_detected();
        }
        Self { options, effort, report: Report::new(about) }
    }

    /// Runs them, and prints and returns the measurements.
    pub(crate) fn run(mut self, scenarios: &[Scenario]) -> Report {
        keep_memory();
        let output = match self.options.json {
            _ if self.effort == Effort::ONCE || self.options.count => Output::Nothing,
            true => Output::Json,
            false => Output::Text,
        };
        self.report.begin(output);
        for scenario in scenarios {
            scenario(&mut self);
        }
        self.report.end();
        self.report
    }

    /// The name of a row if the options select it.
    pub(crate) fn name(
        &self,
        what: impl Into<String>,
        corpus: &'static str,
        size: impl Into<String>,
    ) -> Option<Name> {
        let name = Name { what: what.into(), corpus, size: size.into() };
        let (text, filters) = (name.to_string(), &self.options.filters);
        let is_wanted = filters.is_empty() || filters.iter().any(|part| text.contains(part));
        is_wanted.then_some(name)
    }

    pub(crate) fn measure(&mut self, mut row: Row<'_>) {
        if self.options.count {
            return row.count();
        }
        let alone = self.options.alone;
        row.contenders.retain(|contender| !alone || contender.role == Role::Ours);
        row.measure(self.effort);
        self.report.add(row.into_measured());
    }
}
