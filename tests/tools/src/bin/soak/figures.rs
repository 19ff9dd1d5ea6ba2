//! The numbers that are counted, and how they are printed.

use std::alloc::System;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stats_alloc::StatsAlloc;

/// Totals over all connections.
#[derive(Debug)]
pub(crate) struct Figures {
    bytes: AtomicU64,
    chars: AtomicU64,
    messages: AtomicU64,
    lost: AtomicU64,
    ill_formed: AtomicU64,
    cancelled: AtomicU64,
    resets: AtomicU64,
    half_closed: AtomicU64,
    /// A histogram of latencies: see [`bucket`].
    latencies: [AtomicU64; BUCKETS],
}

/// A kind of fault that is injected.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    IllFormed,
    CancelledRead,
    Reset,
    HalfClosed,
}

/// A sample of the totals at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) at: Duration,
    pub(crate) resident: Option<u64>,
    pub(crate) heap: u64,
}

impl Figures {
    pub(crate) fn add_message(&self, bytes: u64, latency: Duration) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.latencies[bucket(latency)].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_chars(&self, chars: u64) {
        self.chars.fetch_add(chars, Ordering::Relaxed);
    }

    pub(crate) fn add_lost(&self, chars: u64) {
        self.lost.fetch_add(chars, Ordering::Relaxed);
    }

    pub(crate) fn add_fault(&self, fault: Fault, times: u64) {
        let counter = match fault {
            Fault::IllFormed => &self.ill_formed,
            Fault::CancelledRead => &self.cancelled,
            Fault::Reset => &self.resets,
            Fault::HalfClosed => &self.half_closed,
        };
        counter.fetch_add(times, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn print(&self, time: Duration) {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (seconds, messages) = (time.as_secs_f64(), get(&self.messages));
        println!(
            "text: {messages} messages, {} characters, {:.1} MB in {seconds:.1} s: {:.0} messages/s, {:.2} MB/s",
            get(&self.chars),
            get(&self.bytes) as f64 / 1e6,
            messages as f64 / seconds,
            get(&self.bytes) as f64 / 1e6 / seconds,
        );
        println!(
            "latency of a message, from its first byte written to its last character read: p50 {:?}, p99 {:?}",
            self.percentile(0.50),
            self.percentile(0.99),
        );
        println!(
            "faults: {} ill-formed parts, {} reads cancelled, {} connections reset and {} half closed inside a character",
            get(&self.ill_formed),
            get(&self.cancelled),
            get(&self.resets),
            get(&self.half_closed),
        );
    }

    /// A percentile of the latencies, to within a sixteenth.
    fn percentile(&self, part: f64) -> Duration {
        let counts = self.latencies.iter().map(|count| count.load(Ordering::Relaxed));
        let rank = (part * counts.clone().sum::<u64>() as f64).ceil() as u64;
        let mut sum = 0;
        let reached = counts.map(|count| {
            sum += count;
            sum
        });
        let bucket = reached.into_iter().position(|sum| sum >= rank).unwrap_or(BUCKETS - 1);
        Duration::from_micros(upper_end(bucket))
    }
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            bytes: AtomicU64::new(0),
            chars: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            ill_formed: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            resets: AtomicU64::new(0),
            half_closed: AtomicU64::new(0),
            latencies: [const { AtomicU64::new(0) }; BUCKETS],
        }
    }
}

const BUCKETS: usize = 16 * 30;

/// Sixteen buckets for each doubling; below 16 microseconds, one for each.
fn bucket(latency: Duration) -> usize {
    let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX).max(1);
    let doublings = micros.ilog2().saturating_sub(4);
    let bucket = 16 * doublings as usize + (micros >> doublings) as usize;
    bucket.min(BUCKETS - 1)
}

/// The first number of microseconds that is in no bucket up to this one.
fn upper_end(bucket: usize) -> u64 {
    let next = bucket as u64 + 1;
    let doublings = (next / 16).saturating_sub(1);
    (next - 16 * doublings) << doublings
}

/// The resident memory of this process, if the system reports it.
pub(crate) fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.split_whitespace().next()?.parse::<u64>().ok()?)
}

/// Bytes that are allocated and not freed.
pub(crate) fn heap_bytes(allocator: &StatsAlloc<System>) -> u64 {
    let stats = allocator.stats();
    stats.bytes_allocated.saturating_sub(stats.bytes_deallocated) as u64
}

/// The mean number of bytes on the heap between two times.
pub(crate) fn mean_heap(samples: &[Sample], from: Duration, to: Duration) -> Option<u64> {
    let heaps: Vec<_> =
        samples.iter().filter(|s| (from..to).contains(&s.at)).map(|s| s.heap).collect();
    heaps.iter().sum::<u64>().checked_div(heaps.len() as u64)
}
