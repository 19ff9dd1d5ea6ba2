//! Reads text in one encoding and writes it in another: UTF-8, its dialects, UTF-16, and legacy encodings.
//!
//! It shows the decoders of the crate as implementations of one trait (`Reading`, in `transcode/reading.rs`),
//! the encoder of dialects (`transcode/writing.rs`), and a loop that needs constant memory (the function
//! `copy`).
//!
//! ```text
//! cargo run --release --example transcode -- --from FORM --to FORM [OPTIONS] [SOURCE] [-o TARGET]
//! ```
//!
//! Without arguments, it sends itself a text over loopback sockets in every form, split in awkward places,
//! transcodes it to every other form, and exits with 0 if the result is right.
//!
//! The source is a file, `-` for standard input, `tcp://HOST:PORT`, or with `--listen ADDR` the first
//! peer that connects. The target is a file, `-` for standard output, or `tcp://HOST:PORT`. The output for
//! each read is written before the next read. A file appears, or is replaced, when the output is complete and on the
//! disk: not after a fatal error. If the program is killed, a file `.transcode-…` stays beside it. A file that is replaced
//! keeps its permissions, but not its owner and its other names.
//!
//! ```text
//! $ transcode --from utf-16le --to utf-8 names.txt
//! transcode: names.txt: U+D83D at byte 12 cannot be encoded in utf-8
//! $ transcode --from utf-16le --to wtf-8 names.txt -o names.wtf8
//! ```
//!
//! | form | read | written |
//! | --- | --- | --- |
//! | `utf-8` | yes | yes |
//! | `rfc2279` `cesu-8` `modified-utf-8` `wtf-8` `utf-8b` `surrogatepass` | yes | yes |
//! | `utf-16le` `utf-16be` | yes | yes |
//! | `utf-16`: in the byte order of its BOM, little-endian without one | yes | |
//! | `latin1` (ISO 8859-1), `windows-1252`, with the feature `encoding_rs` any label of the WHATWG Encoding Standard | yes | |
//! | `iso-2022`: a terminal's stream that switches between Latin-1 and UTF-8 | yes | |
//! | `auto`: UTF-16 with a BOM, else UTF-8, with `--fallback` for ill-formed parts | yes | |
//!
//! - `--errors` selects the repair of ill-formed parts of the source. `--unencodable` selects the repair of
//!   code points that the target cannot represent: surrogates, and values above U+10FFFF. Both are `fatal` by
//!   default: the first error ends the work, after the text before it is written to a stream; a file does not appear. Offsets count
//!   bytes of the source from 0.
//! - An unpaired surrogate is a code point if the source is UTF-16, WTF-8, UTF-8B or `surrogatepass`; the
//!   target decides whether it can be written. CESU-8, Modified UTF-8 and written UTF-16 reject it, unless
//!   `--unpaired` is set.
//! - The exit status is 0 on success, 1 if a part was ill-formed or unencodable (repaired or not), and 2 for
//!   an invalid command line, and if opening, reading or writing failed. If the reader of standard output closes
//!   the pipe, it ends quietly, with the status of the work so far.

#[path = "support/files.rs"]
mod files;
#[path = "support/output.rs"]
mod output;
#[path = "transcode/reading.rs"]
mod reading;
#[path = "transcode/sample.rs"]
mod sample;
#[path = "support/terminal.rs"]
mod terminal;
#[path = "transcode/writing.rs"]
mod writing;

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::error::ErrorKind;
use clap::{ArgGroup, CommandFactory, Parser};
use indicatif::DecimalBytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use utf8_codec::{BomPolicy, ErrorMode};

use files::{
    CONNECT_TIMEOUT, FileId, OnThisThread, Output, Source, duplicate, overwrites_the_source,
};
use reading::{From, Piece, Reading, Settings};
use terminal::{
    BOM_POLICIES, ERROR_MODES, Paint, Progress, Verdict, WHEN, When, choice, complain, counted,
    in_words,
};
use writing::{TO, To, UNENCODABLE, Writing};

/// Reads text in one encoding and writes it in another.
///
/// Without arguments: sends itself a text over loopback sockets and transcodes it to every form.
#[derive(Parser)]
#[command(name = "transcode", override_usage = USAGE)]
#[command(group = ArgGroup::new("sources").required(true).multiple(false))]
struct Arguments {
    /// A file, `-` for standard input, or `tcp://HOST:PORT` to connect to.
    #[arg(group = "sources", value_name = "SOURCE")]
    source: Option<PathBuf>,
    /// Accepts one connection and reads what it sends (port 0: any free port).
    #[arg(long, group = "sources", value_name = "ADDR")]
    listen: Option<String>,
    /// A file, `-` for standard output, or `tcp://HOST:PORT` to connect to.
    #[arg(short, long, value_name = "TARGET", default_value = "-")]
    output: PathBuf,
    /// The encoding of the source: utf-8, utf-16, utf-16le, utf-16be, latin1, windows-1252, iso-2022, rfc2279, cesu-8,
    /// modified-utf-8, wtf-8, utf-8b, surrogatepass, auto, or (feature encoding_rs) a WHATWG label.
    #[arg(long, value_name = "FORM", default_value = "utf-8", value_parser = reading::from)]
    from: From,
    /// The encoding of the target.
    #[arg(long, value_name = "FORM", default_value = "utf-8", value_parser = choice(&TO))]
    to: To,
    /// What replaces an ill-formed part; `fatal` stops at the first.
    #[arg(long, value_name = "MODE", default_value = "fatal", value_parser = choice(&ERROR_MODES))]
    errors: ErrorMode,
    /// What replaces a code point that the target cannot represent; `fatal` stops at the first.
    #[arg(long, value_name = "MODE", default_value = "fatal")]
    #[arg(value_parser = choice(&UNENCODABLE))]
    unencodable: ErrorMode,
    /// What to do with a byte order mark at the start of the source [default: keep; for auto and
    /// utf-16: strip].
    #[arg(long, value_parser = choice(&BOM_POLICIES))]
    bom: Option<BomPolicy>,
    /// Writes a byte order mark first.
    #[arg(long)]
    with_bom: bool,
    /// Allows unpaired surrogates in CESU-8, Modified UTF-8 and written UTF-16.
    #[arg(long)]
    unpaired: bool,
    /// For `auto`: the encoding of parts that are not UTF-8 (latin1, windows-1252, or a WHATWG label).
    #[arg(long, value_name = "FORM", default_value = "windows-1252", value_parser = reading::legacy)]
    fallback: utf8_codec::fallback::LegacyEncoding,
    /// For `auto`: how much is decoded in the fallback encoding after an ill-formed part.
    #[arg(long, value_name = "EXTENT", default_value = "rest", value_parser = choice(&reading::EXTENTS))]
    fallback_for: reading::Extent,
    /// How many bytes to read at a time.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64 << 20))]
    read_size: u32,
    /// When to show a progress bar on standard error; `auto`: on a terminal, if the source is large or slow.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = choice(&WHEN))]
    progress: When,
    /// Prints to standard error what was read and written.
    #[arg(short, long)]
    verbose: bool,
}

const USAGE: &str =
    "transcode --from FORM --to FORM [OPTIONS] [FILE | - | tcp://HOST:PORT | --listen ADDR]";

impl Arguments {
    fn checked() -> Self {
        let arguments = Self::parse();
        if arguments.bom.is_some() && !arguments.from.may_have_bom() {
            let why = "`--bom`: the encoding of the source has no byte order mark";
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
            fallback: (self.fallback_for, self.fallback),
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
            complain(format_args!("no runtime: {error}"));
            return Verdict::Unreadable.into();
        }
    };
    let verdict = if std::env::args_os().len() == 1 {
        runtime.block_on(sample::show(Paint::new()))
    } else {
        runtime.block_on(transcode(&Arguments::checked()))
    };
    // Dropping the runtime would wait for a pending read from a terminal.
    runtime.shutdown_background();
    verdict.into()
}

async fn transcode(with: &Arguments) -> Verdict {
    let (source, mut job) = (with.source(), with.job());
    let started = Instant::now();
    let result = run(&source, with, &mut job).await;
    let Job { reading, writing, outcome } = &job;
    for line in outcome.in_words() {
        complain(format_args!("{source}: {line}"));
    }
    if with.verbose {
        let seconds = started.elapsed().as_secs_f64().max(1e-9);
        let rate = DecimalBytes((outcome.read as f64 / seconds) as u64);
        let (read, written) = (counted(outcome.read, "byte"), counted(outcome.written, "byte"));
        complain(format_args!(
            "{source}: {read} of {}, {written} of {} written, {rate}/s",
            reading.name(),
            writing.to(),
        ));
    }
    match result {
        Err(failure) => {
            complain(format_args!("{source}: {failure}"));
            Verdict::Unreadable
        }
        Ok(()) => outcome.verdict(),
    }
}

async fn run(source: &Source, with: &Arguments, job: &mut Job) -> Result<(), String> {
    let read_size = with.read_size as usize;
    let input = source.open(read_size).await.map_err(in_words)?;
    let of_target = |error: io::Error| format!("{}: {error}", with.output.display());
    let mut output = open_target(&with.output, input.id.as_ref()).await.map_err(of_target)?;
    let progress = Progress::new(source.to_string(), input.size, with.progress);
    let outcome = match copy(input.bytes, output.writer(), job, read_size, progress).await {
        // The reader has closed the pipe (`... | head`): it has what it needs.
        Err(Failure::Writing(error))
            if error.kind() == io::ErrorKind::BrokenPipe && with.output == Path::new("-") =>
        {
            return Ok(());
        }
        outcome => outcome.map_err(|failure| failure.in_words()),
    };
    match output {
        // Text before a failure must be written too.
        Target::Stream(mut stream) => outcome.and(stream.shutdown().await.map_err(of_target)),
        Target::File(_) if outcome.is_err() || job.outcome.is_fatal() => outcome,
        Target::File(file) => file.0.commit().map_err(of_target),
    }
}

enum Target {
    File(OnThisThread<Output>),
    Stream(Box<dyn AsyncWrite + Unpin>),
}

impl Target {
    fn writer(&mut self) -> &mut (dyn AsyncWrite + Unpin) {
        match self {
            Self::File(file) => file,
            Self::Stream(stream) => stream,
        }
    }
}

async fn open_target(path: &Path, source: Option<&FileId>) -> io::Result<Target> {
    Ok(match path.to_str().map(|text| (text, text.strip_prefix("tcp://"))) {
        Some(("-", _)) => Target::Stream(match duplicate(&io::stdout()) {
            Some((_, Some(id))) if source == Some(&id) => return Err(overwrites_the_source()),
            Some((file, _)) => Box::new(OnThisThread(file)),
            None => Box::new(tokio::io::stdout()),
        }),
        Some((_, Some(address))) => {
            let connect = TcpStream::connect(address);
            Target::Stream(Box::new(tokio::time::timeout(CONNECT_TIMEOUT, connect).await??))
        }
        _ => Target::File(OnThisThread(Output::create(path, source)?)),
    })
}

/// Why copying stopped early.
enum Failure {
    Reading(io::Error),
    Writing(io::Error),
}

impl Failure {
    fn in_words(&self) -> String {
        match self {
            Self::Reading(error) => error.to_string(),
            Self::Writing(error) => format!("the output: {error}"),
        }
    }
}

/// The central loop: read, push, write; at the end, finish.
async fn copy(
    mut input: impl AsyncRead + Unpin,
    output: &mut (dyn AsyncWrite + Unpin),
    job: &mut Job,
    read_size: usize,
    mut progress: Progress,
) -> Result<(), Failure> {
    let mut buffer = vec![0; read_size];
    loop {
        let len = input.read(&mut buffer).await.map_err(Failure::Reading)?;
        let flow = job.push(&buffer[..len]);
        let bytes = job.writing.bytes();
        output.write_all(bytes).await.map_err(Failure::Writing)?;
        output.flush().await.map_err(Failure::Writing)?;
        job.writing.clear();
        progress.advance(job.outcome.read);
        if len == 0 || flow.is_break() {
            return Ok(());
        }
    }
}

/// The decoder, the encoder and the result so far.
struct Job {
    reading: Box<dyn Reading>,
    writing: Writing,
    outcome: Outcome,
}

impl Job {
    /// Transcodes the next chunk; an empty chunk is the end. Breaks at a fatal error.
    fn push(&mut self, chunk: &[u8]) -> ControlFlow<()> {
        self.push_watched(chunk, |_| {})
    }

    /// Like [`push`](Self::push), and passes every piece to `watch`.
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

/// The bytes that were read and written, and the errors.
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
                    let what = format!("U+{code_point:04X} at byte {at} cannot be encoded in {to}");
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

    fn is_fatal(&self) -> bool {
        self.ill_formed.is_fatal || self.unencodable.is_fatal
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
