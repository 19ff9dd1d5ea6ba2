//! Reads text in one encoding and writes it in another: UTF-8, its relatives, UTF-16, and from
//! legacy encodings.
//!
//! ```text
//! cargo run --release --example transcode -- --from FORM --to FORM [OPTIONS] [SOURCE] [-o TARGET]
//! ```
//!
//! The source is a file, `-` for standard input, `tcp://HOST:PORT`, or with `--listen ADDR` the first
//! peer that connects. The target is a file, `-` for standard output, or `tcp://HOST:PORT`. It is a
//! stream all the way: constant memory whatever the length, and what a read brings is written before
//! the next.
//!
//! ```text
//! $ transcode --from utf-16le --to utf-8 names.txt
//! transcode: names.txt: U+D83D, at byte 12, has no form in utf-8
//! $ transcode --from utf-16le --to wtf-8 names.txt -o names.wtf8
//! ```
//!
//! | form | read | written |
//! | --- | --- | --- |
//! | `utf-8` | yes | yes |
//! | `rfc2279` `cesu-8` `modified-utf-8` `wtf-8` `utf-8b` `surrogatepass` | yes | yes |
//! | `utf-16le` `utf-16be` | yes | yes |
//! | `latin1` (ISO 8859-1), `windows-1252`, with the feature `encoding_rs` any label of the WHATWG Encoding Standard | yes | |
//! | `iso-2022`: a terminal's stream that switches between Latin-1 and UTF-8 | yes | |
//! | `auto`: UTF-16 by its signature, else UTF-8, and `--fallback` for what is not | yes | |
//!
//! - `--errors` says what stands for what is ill-formed in the source, `--unencodable` what stands for a
//!   code point that the target has no form for: surrogates, and values above U+10FFFF. Both are
//!   `fatal` if not set: the first ends the work, and what is before it has been written. Offsets count
//!   bytes of the source from 0.
//! - A surrogate without a partner is a code point where the source is UTF-16, WTF-8, UTF-8B or
//!   `surrogatepass`: whether it can be written is decided by the target. In CESU-8, Modified UTF-8 and
//!   written UTF-16 it is refused, unless `--unpaired` lets it through.
//! - The exit status is 0 if all is well, 1 if something was ill-formed or could not be written in the
//!   target (repaired or not), 2 for a command line that makes no sense and for what could not be
//!   opened, read or written.
//!
//! With no argument at all it needs nothing: it sends itself a text over loopback sockets in every
//! form, cut in awkward places, and transcodes it to every other.

#[path = "support/policies.rs"]
mod policies;
#[path = "support/progress.rs"]
mod progress;
#[path = "transcode/reading.rs"]
mod reading;
#[path = "transcode/sample.rs"]
mod sample;
#[path = "support/source.rs"]
mod source;
#[path = "support/terminal.rs"]
mod terminal;
#[path = "transcode/writing.rs"]
mod writing;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind;
use clap::{ArgGroup, CommandFactory, Parser};
use indicatif::DecimalBytes;
use tokio::fs::File;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use utf8_codec::{BomPolicy, ErrorMode};

use policies::{BOM_POLICIES, ERROR_MODES};
use progress::{Progress, WHEN, When};
use reading::{From, Piece, Reading, Settings};
use source::{CONNECT_TIMEOUT, Source};
use terminal::{Paint, Verdict, choice, complain, counted, in_words};
use writing::{TO, To, UNENCODABLE, Writing};

/// Reads text in one encoding and writes it in another.
///
/// Without any argument: shows what it does, with a text sent over loopback sockets.
#[derive(Parser)]
#[command(name = "transcode", override_usage = USAGE)]
#[command(group = ArgGroup::new("sources").required(true).multiple(false))]
struct Arguments {
    /// A file, `-` for standard input, or `tcp://HOST:PORT` to connect to.
    #[arg(group = "sources", value_name = "SOURCE")]
    source: Option<PathBuf>,
    /// Accepts one connection and reads what it sends (port 0: any).
    #[arg(long, group = "sources", value_name = "ADDR")]
    listen: Option<String>,
    /// A file, `-` for standard output, or `tcp://HOST:PORT` to connect to.
    #[arg(short, long, value_name = "TARGET", default_value = "-")]
    output: PathBuf,
    /// What the source is: utf-8, utf-16le, utf-16be, latin1, windows-1252, iso-2022, rfc2279, cesu-8,
    /// modified-utf-8, wtf-8, utf-8b, surrogatepass, auto, or (feature encoding_rs) a WHATWG label.
    #[arg(long, value_name = "FORM", default_value = "utf-8", value_parser = reading::from)]
    from: From,
    /// What is written.
    #[arg(long, value_name = "FORM", default_value = "utf-8", value_parser = choice(&TO))]
    to: To,
    /// What stands for an ill-formed part; `fatal` stops at the first.
    #[arg(long, value_name = "MODE", default_value = "fatal", value_parser = choice(&ERROR_MODES))]
    errors: ErrorMode,
    /// What stands for a code point that the target has no form for; `fatal` stops at the first.
    #[arg(long, value_name = "MODE", default_value = "fatal")]
    #[arg(value_parser = choice(&UNENCODABLE))]
    unencodable: ErrorMode,
    /// What a byte order mark at the start of the source means [default: keep; for auto: strip].
    #[arg(long, value_parser = choice(&BOM_POLICIES))]
    bom: Option<BomPolicy>,
    /// Writes a byte order mark first.
    #[arg(long)]
    with_bom: bool,
    /// Lets surrogates without a partner through in CESU-8, Modified UTF-8 and written UTF-16.
    #[arg(long)]
    unpaired: bool,
    /// For `auto`: what is not UTF-8 is read in this (latin1, windows-1252, or a WHATWG label).
    #[arg(long, value_name = "FORM", default_value = "windows-1252", value_parser = reading::legacy)]
    fallback: utf8_codec::fallback::LegacyEncoding,
    /// For `auto`: how much of the source that is, from the first ill-formed part on.
    #[arg(long, value_name = "EXTENT", default_value = "rest", value_parser = choice(&reading::EXTENTS))]
    fallback_for: reading::Extent,
    /// How many bytes to read at a time.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64 << 20))]
    read_size: u32,
    /// When to show on standard error how far it has come; `auto`: on a terminal, if it takes long.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = choice(&WHEN))]
    progress: When,
    /// Says on standard error what was read and written.
    #[arg(short, long)]
    verbose: bool,
}

const USAGE: &str =
    "transcode --from FORM --to FORM [OPTIONS] [FILE | - | tcp://HOST:PORT | --listen ADDR]";

impl Arguments {
    fn checked() -> Self {
        let arguments = Self::parse();
        if arguments.bom.is_some() && !arguments.from.may_have_bom() {
            let why = "`--bom`: the form that is read has no byte order mark";
            Self::command().error(ErrorKind::ArgumentConflict, why).exit();
        }
        arguments
    }

    fn source(&self) -> Source {
        match (&self.source, &self.listen) {
            (Some(path), _) => Source::new(path),
            (None, address) => Source::Listen(address.clone().unwrap_or_default()),
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            errors: self.errors,
            bom: self.bom,
            unpaired: self.unpaired,
            fallback: self.fallback_for.of(self.fallback),
        }
    }

    fn job(&self) -> Job {
        Job {
            reading: self.from.reading(self.settings()),
            writing: Writing::new(self.to, self.unencodable, self.unpaired, self.with_bom),
            outcome: Outcome::default(),
        }
    }
}

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("no runtime: {error}"));
            return Verdict::Unreadable.into();
        }
    };
    let verdict = if std::env::args_os().len() == 1 {
        runtime.block_on(sample::show(Paint::new()))
    } else {
        runtime.block_on(transcode(&Arguments::checked()))
    };
    // Not dropped: that would wait for a read from a terminal to come to its end.
    runtime.shutdown_background();
    verdict.into()
}

async fn transcode(with: &Arguments) -> Verdict {
    let (source, mut job) = (with.source(), with.job());
    let started = Instant::now();
    let result = run(&source, with, &mut job).await;
    let Job { reading, writing, outcome } = &job;
    for line in outcome.in_words() {
        complain(&format!("{source}: {line}"));
    }
    if with.verbose {
        let seconds = started.elapsed().as_secs_f64().max(1e-9);
        let rate = DecimalBytes((outcome.read as f64 / seconds) as u64);
        let (read, written) = (counted(outcome.read, "byte"), counted(outcome.written, "byte"));
        complain(&format!(
            "{source}: {read} of {}, {written} of {} written, {rate}/s",
            reading.name(),
            writing.to(),
        ));
    }
    match result {
        Err(failure) => {
            complain(&format!("{source}: {failure}"));
            Verdict::Unreadable
        }
        Ok(()) => outcome.verdict(),
    }
}

async fn run(source: &Source, with: &Arguments, job: &mut Job) -> Result<(), String> {
    let read_size = with.read_size as usize;
    let (input, size) = source.open(read_size).await.map_err(in_words)?;
    let mut output = open_target(&with.output, source).await?;
    let progress = Progress::new(source.to_string(), size, with.progress);
    let outcome = copy(input, &mut output, job, read_size, progress).await;
    // Also what came before a failure is to arrive.
    let end =
        output.shutdown().await.map_err(|error| format!("{}: {error}", with.output.display()));
    outcome.and(end)
}

type Target = Box<dyn AsyncWrite + Unpin>;

async fn open_target(path: &Path, source: &Source) -> Result<Target, String> {
    if source.is_at(path) {
        return Err("the output would overwrite it".to_owned());
    }
    let opened = async {
        Ok(match path.to_str().map(|text| (text, text.strip_prefix("tcp://"))) {
            Some(("-", _)) => Box::new(tokio::io::stdout()) as Target,
            Some((_, Some(address))) => {
                let connect = TcpStream::connect(address);
                Box::new(tokio::time::timeout(CONNECT_TIMEOUT, connect).await??)
            }
            _ => Box::new(File::create(path).await?),
        })
    };
    opened.await.map_err(|error: std::io::Error| format!("{}: {error}", path.display()))
}

/// The loop that matters: read, push, write what there is; at the end, finish.
async fn copy(
    mut input: impl AsyncRead + Unpin,
    output: &mut (impl AsyncWrite + Unpin),
    job: &mut Job,
    read_size: usize,
    mut progress: Progress,
) -> Result<(), String> {
    let mut buffer = vec![0; read_size];
    loop {
        let len = input.read(&mut buffer).await.map_err(in_words)?;
        let flow = job.push(&buffer[..len]);
        let bytes = job.writing.bytes();
        output.write_all(bytes).await.map_err(|error| format!("the output: {error}"))?;
        output.flush().await.map_err(|error| format!("the output: {error}"))?;
        job.writing.clear();
        progress.advance(job.outcome.read);
        if len == 0 || flow.is_break() {
            return Ok(());
        }
    }
}

/// What reads, what writes, and how it goes.
struct Job {
    reading: Box<dyn Reading>,
    writing: Writing,
    outcome: Outcome,
}

impl Job {
    /// Takes the next chunk, or, if that is empty, the end. Breaks off where something is fatal.
    fn push(&mut self, chunk: &[u8]) -> ControlFlow<()> {
        self.push_watched(chunk, |_| {})
    }

    /// As [`push`](Self::push); `watch` is shown every piece.
    fn push_watched(&mut self, chunk: &[u8], mut watch: impl FnMut(&Piece<'_>)) -> ControlFlow<()> {
        let Self { reading, writing, outcome } = self;
        outcome.read += chunk.len() as u64;
        let before = writing.bytes().len();
        let mut each = |piece: Piece<'_>| {
            watch(&piece);
            outcome.take(piece, writing)
        };
        let flow = match chunk {
            [] => reading.finish(&mut each),
            chunk => reading.push(chunk, &mut each),
        };
        if chunk.is_empty() || flow.is_break() {
            writing.finish();
        }
        outcome.written += (writing.bytes().len() - before) as u64;
        flow
    }
}

/// What was not as it should be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Outcome {
    read: u64,
    written: u64,
    ill_formed: Faults,
    unencodable: Faults,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Faults {
    count: u64,
    first: String,
    /// The work ended there.
    is_fatal: bool,
}

impl Outcome {
    fn take(&mut self, piece: Piece<'_>, writing: &mut Writing) -> ControlFlow<()> {
        match piece {
            Piece::Text(text) => {
                writing.push(text);
                ControlFlow::Continue(())
            }
            Piece::CodePoint(code_point, at) => match writing.push_code_point(code_point) {
                Ok(true) => ControlFlow::Continue(()),
                written => {
                    let to = writing.to();
                    let what = format!("U+{code_point:04X}, at byte {at}, has no form in {to}");
                    self.unencodable.note(what, written.is_err())
                }
            },
            Piece::IllFormed { what, repair } => {
                let flow = self.ill_formed.note(what, repair.is_none());
                repair.iter().for_each(|repair| writing.push(repair));
                flow
            }
        }
    }

    fn in_words(&self) -> impl Iterator<Item = String> {
        let ill_formed = self.ill_formed.in_words("ill-formed part");
        ill_formed.into_iter().chain(self.unencodable.in_words("unencodable code point"))
    }

    fn verdict(&self) -> Verdict {
        match self.ill_formed.count + self.unencodable.count {
            0 => Verdict::WellFormed,
            _ => Verdict::IllFormed,
        }
    }
}

impl Faults {
    fn note(&mut self, what: String, is_fatal: bool) -> ControlFlow<()> {
        if self.count == 0 {
            self.first.clone_from(&what);
        }
        self.count += 1;
        if is_fatal {
            self.is_fatal = true;
            self.first = what;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn in_words(&self, noun: &str) -> Option<String> {
        match self {
            Self { count: 0, .. } => None,
            Self { is_fatal: true, first, .. } => Some(first.clone()),
            Self { count, first, .. } => {
                Some(format!("{}, the first: {first}", counted(*count, noun)))
            }
        }
    }
}
