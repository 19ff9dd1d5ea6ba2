//! Texts, random numbers, and work for many values. The tests of `utf8-codec` use them too.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::thread;
use std::time::Instant;

/// Text in one script each, in two, and in all.
pub(crate) const FILLS: &[&str] = &[
    "a",
    "é",
    "€",
    "😀",
    "plain text, ",
    "Fußgänger über ",
    "жёлтый, ",
    "日本語。a",
    "🦀🚀 \u{FE0F}",
    "aé€😀",
    "日本😀",
    "\0\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}",
    "\u{D7FF}\u{E000}\u{F0000}\u{40000}",
];

pub(crate) const MULTILINGUAL: &str =
    "Zażółć gęślą jaźń, 色は匂へど散りぬるを, 키스의 고유조건은, 👩‍👩‍👧‍👦. ";

/// Calls `check` for each of `values`, on as many threads as there are processors. Returns the sum of
/// the results.
pub(crate) fn sum_of<T: Sync>(values: &[T], check: impl Fn(&T) -> u64 + Sync) -> u64 {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    if threads == 1 {
        // There may be no threads at all.
        return values.iter().map(check).sum();
    }
    let check = &check;
    thread::scope(|scope| {
        let tasks: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    values.iter().skip(thread).step_by(threads).map(check).sum::<u64>()
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).sum()
    })
}

/// Asserts that `work` on a size takes a time that is proportional to it: a unit of the large size costs at most eight times one
/// of the small size, which is a 32nd. Takes the shortest of three runs each, or of up to twelve, because other processes make
/// some of them longer.
pub(crate) fn assert_linear(size: usize, work: impl Fn(usize)) {
    let cost = |size: usize| {
        let start = Instant::now();
        work(size);
        start.elapsed().as_nanos() / size as u128
    };
    let (mut small, mut large) = (u128::MAX, u128::MAX);
    for runs in 1..=12 {
        small = small.min(cost(size / 32));
        large = large.min(cost(size));
        if runs >= 3 && large <= 8 * small.max(20) {
            return;
        }
    }
    panic!("{large} ns instead of {small}");
}

/// At most `len` bytes of repeated `fill`, in complete characters.
pub(crate) fn fill_to(fill: &str, len: usize) -> String {
    let mut text = String::new();
    for c in fill.chars().cycle() {
        if text.len() + c.len_utf8() > len {
            return text;
        }
        text.push(c);
    }
    text
}

/// A small generator with reproducible output.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}
