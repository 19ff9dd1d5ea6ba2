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
mod figures;
mod receive;
mod text;

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
