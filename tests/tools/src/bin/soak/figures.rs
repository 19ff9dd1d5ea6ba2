//! The numbers that are counted, and how they are printed and drawn.

use std::alloc::System;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use plotters::prelude::*;
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
    /// Delivered since the beginning.
    pub(crate) bytes: u64,
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

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
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
            self.bytes() as f64 / 1e6,
            messages as f64 / seconds,
            self.bytes() as f64 / 1e6 / seconds,
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

// ---- the plot: throughput and memory over time, as SVG -------------------------------------------

const WIDTH: u32 = 900;
const HEIGHT: u32 = 300;

/// Seconds, and a value at that time.
type Points = Vec<(f64, f64)>;

/// Charts, stacked.
pub(crate) fn plot(samples: &[Sample]) -> Result<String, Box<dyn Error + Send + Sync>> {
    let charts = [
        ("text delivered, MB/s", BLUE, rates(samples)),
        ("memory, resident, MB", RED, memory(samples, |sample| sample.resident)),
        ("memory, on the heap, MB", RED, memory(samples, |sample| Some(sample.heap))),
    ];
    let end = samples.last().map_or(1.0, |last| last.at.as_secs_f64()).max(1e-3);
    let mut svg = String::new();
    {
        let size = (WIDTH, HEIGHT * charts.len() as u32);
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        for ((title, colour, points), area) in charts.into_iter().zip(root.split_evenly((3, 1))) {
            let highest = points.iter().map(|point| point.1).fold(0.0, f64::max).max(1e-3);
            let mut chart = ChartBuilder::on(&area)
                .caption(title, ("sans-serif", 16))
                .margin(16)
                .x_label_area_size(28)
                .y_label_area_size(56)
                .build_cartesian_2d(0.0..end, 0.0..highest)?;
            let mut mesh = chart.configure_mesh();
            mesh.light_line_style(TRANSPARENT).x_label_formatter(&|at| format!("{at} s")).draw()?;
            chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        }
        root.present()?;
    }
    Ok(svg)
}

fn rates(samples: &[Sample]) -> Points {
    let rate = |pair: &[Sample]| {
        let seconds = (pair[1].at - pair[0].at).as_secs_f64().max(1e-6);
        (pair[1].at.as_secs_f64(), (pair[1].bytes - pair[0].bytes) as f64 / 1e6 / seconds)
    };
    samples.windows(2).map(rate).collect()
}

fn memory(samples: &[Sample], bytes: fn(&Sample) -> Option<u64>) -> Points {
    let megabytes = |sample| Some(bytes(sample)? as f64 / 1e6);
    samples.iter().filter_map(|s| Some((s.at.as_secs_f64(), megabytes(s)?))).collect()
}
