//! Runs thousands of connections with faults of all kinds, and fails if one character is lost.
//!
//! ```text
//! cargo run --release -p tools --bin soak -- [--connections N] [--seconds S] [--duplex]
//! ```
//!
//! Every connection carries text of mixed scripts both ways, in pieces that end anywhere. The text has
//! ill-formed sequences; reads are cancelled; connections are reset or half closed inside a character.
//! The receivers are in turn a `Utf8Reader`, a `Utf8Stream` and `FramedRead`s with three codecs. Both
//! ends keep a checksum of all text and of every error with its offset: if the checksums differ, something
//! was lost or invented.
//!
//! Without arguments it runs for ten seconds over 2,000 sockets of the loopback device, or as many as the
//! process may open; with `--duplex` over 100,000 pipes in memory. It prints rates, latencies and memory, and
//! exits with 1 if anything was lost, and with 2 if it failed. Resident memory can grow for a while, because
//! of the allocator; a leak shows in the bytes on the heap.

mod connection;

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use connection::{Plan, run_connection};
use figures::{Figures, Sample, heap_bytes, resident_bytes};
use text::Random;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Runs many connections with faults of all kinds and counts lost characters.
#[derive(Clone, Parser)]
struct Arguments {
    /// How many connections are open at once [default: 2000; 100000 with --duplex].
    #[arg(long, value_name = "N")]
    connections: Option<usize>,
    /// How long new messages are sent.
    #[arg(long, value_name = "S", default_value_t = 10)]
    seconds: u64,
    /// Uses pipes in memory instead of sockets.
    #[arg(long)]
    duplex: bool,
    /// The seed of the random numbers: the same seed gives the same texts, cuts and faults.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// The longest pause between two messages of a connection, in milliseconds [default: 500; 5000
    /// with --duplex].
    #[arg(long, value_name = "MS")]
    pause: Option<u64>,
    /// Drops one character on purpose, to show that a loss is noticed.
    #[arg(long, hide = true)]
    lose: bool,
}

#[global_allocator]
static ALLOCATOR: &StatsAlloc<std::alloc::System> = &INSTRUMENTED_SYSTEM;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(soak(arguments))) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::from(2)
        }
    }
}

async fn soak(arguments: Arguments) -> Result<ExitCode> {
    let figures = Arc::new(Figures::default());
    let before = resident_bytes();
    let start = Instant::now();
    let (usual, usual_pause) = if arguments.duplex { (100_000, 5000) } else { (2000, 500) };
    let wanted = arguments.connections.unwrap_or(usual);
    let count = if arguments.duplex { wanted } else { as_many_as(wanted) };
    if count < wanted {
        println!("{count} connections instead of {wanted}: this process may not open more files");
    }

    let plan = Plan {
        until: start + Duration::from_secs(arguments.seconds),
        pause: Duration::from_millis(arguments.pause.unwrap_or(usual_pause)),
    };
    let mut random = Random::new(arguments.seed);
    let mut connections = JoinSet::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let dial = Dial { address: listener.local_addr()?, listener: Arc::new(listener) };
    for number in 0..count {
        let (figures, random) = (Arc::clone(&figures), random.fork());
        let lose = arguments.lose && number == 0;
        if arguments.duplex {
            let pipe = async || Ok(tokio::io::duplex(256));
            connections.spawn(run_connection(pipe, plan, random, figures, lose));
        } else {
            let dial = dial.clone();
            let connect = async move || dial.connect().await;
            connections.spawn(run_connection(connect, plan, random, figures, lose));
        }
    }

    // Samples memory while they run.
    let every = Duration::from_millis((arguments.seconds * 1000 / 100).clamp(50, 5000));
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut samples = Vec::new();
    let mut failures = 0_u64;
    while !connections.is_empty() {
        tokio::select! {
            _ = ticks.tick() => samples.push(Sample {
                at: start.elapsed(),
                resident: resident_bytes(),
                heap: heap_bytes(ALLOCATOR),
            }),
            Some(ended) = connections.join_next() => if let Err(error) = ended? {
                failures += 1;
                eprintln!("a connection failed: {error}");
            },
        }
    }

    let kind = if arguments.duplex { "pipes" } else { "sockets" };
    println!("{count} connections ({kind}), seed {}", arguments.seed);
    figures.print(start.elapsed());
    if let (Some(before), Some(most)) = (before, samples.iter().filter_map(|s| s.resident).max()) {
        let each = most.saturating_sub(before) / count.max(1) as u64;
        println!("memory: {each} bytes a connection, both ends and their tasks, at most resident");
    }
    let time = Duration::from_secs(arguments.seconds);
    let heap = |from| figures::mean_heap(&samples, from, from + time / 4).unwrap_or_default();
    println!(
        "heap: {} bytes on average in the second quarter of the time, {} in the last",
        heap(time / 4),
        heap(time * 3 / 4)
    );
    let lost = figures.lost() + failures;
    println!("characters lost: {lost}");
    Ok(if lost == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Opens connections to this process.
#[derive(Clone)]
struct Dial {
    address: SocketAddr,
    listener: Arc<TcpListener>,
}

impl Dial {
    /// The two ends of a new connection.
    async fn connect(&self) -> std::io::Result<(TcpStream, TcpStream)> {
        // One at a time, so that the two that are made at the same time are a pair.
        static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
        let _turn = ONE_AT_A_TIME.lock().await;
        let (near, far) =
            tokio::try_join!(TcpStream::connect(self.address), self.listener.accept())?;
        near.set_nodelay(true)?;
        far.0.set_nodelay(true)?;
        Ok((near, far.0))
    }
}

/// `wanted` connections, or as many as this process may have open at the same time.
fn as_many_as(wanted: usize) -> usize {
    #[cfg(unix)]
    let files = rlimit::increase_nofile_limit(u64::MAX).map_or(256, |files| files as usize);
    #[cfg(not(unix))]
    let files = 1000;
    wanted.min(files.saturating_sub(64) / 2).max(1)
}

mod figures {
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
}

mod receive {
    //! The receiving end of a direction, in one of five forms.

    use std::time::Duration;

    use futures::{Stream, StreamExt};
    use tokio::io::AsyncRead;
    use tokio::time::timeout;
    use tokio_util::codec::FramedRead;
    use utf8_codec::codec::{CodecError, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
    use utf8_codec::stream::{StreamError, Utf8Reader, Utf8Stream};
    use utf8_codec::{ErrorMode, Utf8Error};

    use crate::connection::Direction;
    use crate::figures::Fault;
    use crate::text::Random;

    /// A receiver.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Receiver {
        Reader,
        Stream,
        Chunks,
        Lossy,
        Lines,
    }

    impl Receiver {
        pub(crate) const ALL: [Self; 5] =
            [Self::Reader, Self::Stream, Self::Chunks, Self::Lossy, Self::Lines];

        /// Whether it replaces ill-formed parts with U+FFFD.
        pub(crate) fn repairs(self) -> bool {
            matches!(self, Self::Lossy | Self::Lines)
        }
    }

    /// Reads everything, to the end or until the connection breaks.
    pub(crate) async fn receive<R: AsyncRead + Unpin>(
        receiver: Receiver,
        socket: R,
        direction: &Direction,
        mut random: Random,
    ) {
        match receiver {
            Receiver::Reader => {
                let mut reader = Utf8Reader::new(socket);
                loop {
                    let patience = patience(&mut random);
                    match timeout(patience, reader.next_str()).await {
                        Err(_) => direction.add_fault(Fault::CancelledRead, 1),
                        Ok(Ok(Some(text))) => direction.add_text(text),
                        Ok(Err(StreamError::Utf8(error))) => add(direction, &error),
                        Ok(Ok(None) | Err(_)) => return,
                    }
                }
            }
            Receiver::Stream => {
                let mut texts = Utf8Stream::from_reader(socket);
                while let Some(text) = next(&mut texts, direction, &mut random).await {
                    match text {
                        Ok(text) => direction.add_text(&text),
                        Err(StreamError::Utf8(error)) => add(direction, &error),
                        Err(_) => return,
                    }
                }
            }
            Receiver::Chunks => {
                let mut chunks = FramedRead::new(socket, Utf8ChunksCodec::new());
                while let Some(chunk) = next(&mut chunks, direction, &mut random).await {
                    match chunk {
                        Ok(Ok(text)) => direction.add_text(&text),
                        Ok(Err(error)) => add(direction, &error),
                        Err(_) => return,
                    }
                }
            }
            Receiver::Lossy => {
                let codec = Utf8Codec::new().with_error_mode(ErrorMode::Replacement);
                let mut texts = FramedRead::new(socket, codec);
                while let Some(text) = next(&mut texts, direction, &mut random).await {
                    match text {
                        Ok(text) => direction.add_text(&text),
                        Err(CodecError::Invalid(error)) => add(direction, &error),
                        Err(_) => return,
                    }
                }
            }
            Receiver::Lines => {
                let codec = Utf8LinesCodec::new().with_error_mode(ErrorMode::Replacement);
                let mut lines = FramedRead::new(socket, codec);
                while let Some(line) = next(&mut lines, direction, &mut random).await {
                    match line {
                        Ok(Ok(line)) => {
                            direction.add_text(&line.text);
                            if line.is_terminated() {
                                direction.add_text("\n");
                            }
                        }
                        // No line is as long as the limit, so this counts as a loss.
                        Ok(Err(_)) => {}
                        Err(_) => return,
                    }
                }
            }
        }
    }

    fn add(direction: &Direction, error: &Utf8Error) {
        direction.add_error(error.valid_up_to(), error.bytes());
    }

    /// The next item. The future is dropped now and then, and made again.
    async fn next<S: Stream + Unpin>(
        stream: &mut S,
        direction: &Direction,
        random: &mut Random,
    ) -> Option<S::Item> {
        loop {
            match timeout(patience(random), stream.next()).await {
                Ok(item) => return item,
                Err(_) => direction.add_fault(Fault::CancelledRead, 1),
            }
        }
    }

    fn patience(random: &mut Random) -> Duration {
        Duration::from_millis(20 + random.below(2000) as u64)
    }
}

mod text {
    //! The text that is sent: random, of mixed scripts, with ill-formed sequences.

    /// SplitMix64: small, and random enough for choices.
    #[derive(Clone, Debug)]
    pub(crate) struct Random(u64);

    impl Random {
        pub(crate) fn new(seed: u64) -> Self {
            Self(seed)
        }

        /// An independent generator.
        pub(crate) fn fork(&mut self) -> Self {
            Self(self.next())
        }

        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        }

        /// A number below `end`, which is not 0.
        pub(crate) fn below(&mut self, end: usize) -> usize {
            (self.next() % end as u64) as usize
        }

        /// True once in `times` times, on average.
        pub(crate) fn one_in(&mut self, times: usize) -> bool {
            self.below(times) == 0
        }

        /// The maximum length of the pieces that a message is sent in.
        pub(crate) fn longest_piece(&mut self) -> usize {
            self.choose(&[1, 3, 20, 300, 5000])
        }

        fn choose<T: Copy>(&mut self, from: &[T]) -> T {
            from[self.below(from.len())]
        }
    }

    /// A summary of a stream so far, sent or received.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Account {
        pub(crate) chars: u64,
        pub(crate) errors: u64,
        /// A checksum of all text and of all errors with their offsets, in order (FNV-1a).
        checksum: u64,
    }

    impl Account {
        pub(crate) const NOTHING: Self =
            Self { chars: 0, errors: 0, checksum: 0xCBF2_9CE4_8422_2325 };

        pub(crate) fn add_text(&mut self, text: &str) {
            self.chars += text.chars().count() as u64;
            self.add(text.as_bytes());
        }

        pub(crate) fn add_error(&mut self, offset: u64, bytes: &[u8]) {
            self.errors += 1;
            // A byte that no text has keeps errors and text apart.
            self.add(&[0xFF]);
            self.add(&offset.to_le_bytes());
            self.add(bytes);
        }

        fn add(&mut self, bytes: &[u8]) {
            for &byte in bytes {
                self.checksum = (self.checksum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
            }
        }
    }

    /// A message as it goes over the wire. Its last character is a newline, its only one.
    #[derive(Debug, Default)]
    pub(crate) struct Message {
        pub(crate) bytes: Vec<u8>,
        pub(crate) ill_formed: u64,
    }

    impl Message {
        /// Makes a message at `offset` of the stream, and adds to `account` what the receiver must decode;
        /// if `repaired`, with U+FFFD for each ill-formed part.
        pub(crate) fn random(
            random: &mut Random,
            offset: u64,
            repaired: bool,
            account: &mut Account,
        ) -> Self {
            // Most messages are short.
            let parts = if random.one_in(20) { 1 + random.below(200) } else { 1 + random.below(6) };
            let mut message = Self::default();
            for _ in 0..parts {
                let text = random.choose(TEXTS);
                message.bytes.extend_from_slice(text.as_bytes());
                account.add_text(text);
                if random.one_in(8) {
                    for subpart in random.choose(ILL_FORMED) {
                        let at = offset + message.bytes.len() as u64;
                        message.bytes.extend_from_slice(subpart);
                        message.ill_formed += 1;
                        if repaired {
                            account.add_text("\u{FFFD}");
                        } else {
                            account.add_error(at, subpart);
                        }
                    }
                }
            }
            message.bytes.push(b'\n');
            account.add_text("\n");
            message
        }
    }

    /// None begins with a continuation byte, so none completes a truncated sequence before it.
    const TEXTS: &[&str] = &[
        "plain text, and more of it; ",
        "né à Zürich ",
        "Съешь ещё этих мягких булок ",
        "色は匂へど散りぬるを",
        "키스의 고유조건은 ",
        "نص حكيم له سر قاطع ",
        "ऋषियों को सताने वाले ",
        "👩‍👩‍👧‍👦🏳️‍🌈",
        "𝒜𝒷𝒸\u{10FFFF}",
        "\u{FEFF}",
        "\0",
        "x",
    ];

    /// Ill-formed sequences, as their maximal subparts.
    const ILL_FORMED: &[&[&[u8]]] = &[
        &[b"\xFF"],
        &[b"\xFE"],
        &[b"\x80"],
        &[b"\xC0", b"\xAF"],
        &[b"\xC3"],
        &[b"\xE0", b"\x80", b"\xAF"],
        &[b"\xE2\x82"],
        &[b"\xED", b"\xA0", b"\x80"],
        &[b"\xF0\x9F\x98"],
        &[b"\xF0", b"\x80", b"\x80", b"\x80"],
        &[b"\xF4", b"\x90", b"\x80", b"\x80"],
        &[b"\xF5", b"\x80"],
    ];

    /// Incomplete characters, for streams that end inside one.
    pub(crate) const HALVES: &[&[u8]] =
        &[b"\xC3", b"\xE2", b"\xE2\x82", b"\xF0\x9F", b"\xF0\x9F\x98"];
}
