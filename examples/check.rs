//! Checks whether files, standard input or network streams are UTF-8, and reports where they are not.
//!
//! It shows the loop at the centre of every incremental decoder (the function `read`): read a chunk, push
//! it into a `Utf8Decoder`, look at the pieces, and call `finish` at the end.
//!
//! ```text
//! cargo run --release --example check -- [OPTIONS] [FILE | - | tcp://HOST:PORT | --listen ADDR]...
//! ```
//!
//! Without arguments, it sends itself a damaged sample over a loopback socket, split in awkward places. It
//! prints the result of each chunk, and exits with 0 if every byte is accounted for.
//!
//! With arguments, it reads each source once, in bounded memory, however long the source or a line is:
//!
//! ```text
//! $ check notes.txt
//! notes.txt: ill-formed, 1 error
//!   28 bytes, 27 characters, 2 lines, no byte order mark, 62.4µs, 448.55 kB/s
//!
//!         byte    line  column
//!           15       2       4  truncated character (e9, followed by 2c)
//!                               61 79 3a 20 0a 63 61 66 [e9] 2c 20 74 65 61 2c 20 63    ay: .caf[.], tea, c
//! ```
//!
//! - Offsets count bytes from 0. Lines end with LF; lines and columns count from 1. A column is a
//!   character or an ill-formed part. `characters` counts those that are neither ill-formed nor rejected.
//! - `--limit` bounds the errors that are listed and kept; all errors are counted.
//! - `--errors` selects what `--repair FILE` writes for an ill-formed part. `fatal` stops at the first
//!   error, and conflicts with `--repair`. A repair takes one source, and does not overwrite it. The file
//!   appears, or is replaced, when the repair is complete.
//! - `--progress` shows a progress bar on standard error: `always`, `never`, or by default on a terminal
//!   if the source is large or slow.
//! - `--json` prints one object per source, on one line.
//! - The exit status is the worst of all sources: 0 well-formed, 1 ill-formed, 2 not readable (or not
//!   writable, or an invalid command line).

#[path = "support/files.rs"]
mod files;
#[path = "support/output.rs"]
mod output;
#[path = "check/sample.rs"]
mod sample;
#[path = "support/terminal.rs"]
mod terminal;

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::error::ErrorKind;
use clap::{ArgGroup, CommandFactory, Parser};
use indicatif::DecimalBytes;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use utf8_codec::{
    BomPolicy, ErrorMode, TextPosition, Utf8Decoder, Utf8Error, Utf8ErrorKind, Utf8Options,
    count_chars,
};

use files::{FileId, Output, Source};
use terminal::{
    BOM_POLICIES, ERROR_MODES, Paint, Progress, Verdict, Visible, WHEN, When, choice, complain,
    counted, hex, in_words,
};

/// Checks whether files, standard input or network streams are UTF-8.
///
/// Without arguments: sends itself a damaged sample over a loopback socket and prints what the decoder does.
#[derive(Parser)]
#[command(name = "check", override_usage = USAGE)]
#[command(group = ArgGroup::new("sources").required(true).multiple(true))]
struct Arguments {
    /// Files, `-` for standard input, or `tcp://HOST:PORT` to connect to.
    #[arg(group = "sources", value_name = "SOURCE")]
    source: Vec<PathBuf>,
    /// Accepts one connection and checks what it sends, after the other sources (port 0: any free port).
    #[arg(long, group = "sources", value_name = "ADDR")]
    listen: Vec<String>,
    /// What to do with a byte order mark at the start.
    #[arg(long, default_value = "keep", value_parser = choice(&BOM_POLICIES))]
    bom: BomPolicy,
    /// The source may start inside a character: skips up to three continuation bytes.
    #[arg(long, conflicts_with = "bom")]
    mid_stream: bool,
    /// Well-formed characters to reject.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = choice(&REJECTIONS))]
    reject: Vec<Rejection>,
    /// What replaces an ill-formed part in a repair; `fatal` stops at the first.
    #[arg(long, value_name = "MODE", default_value = "replacement")]
    #[arg(value_parser = choice(&ERROR_MODES))]
    errors: ErrorMode,
    /// Writes the repaired text to a file; takes one source.
    #[arg(long, value_name = "FILE")]
    repair: Option<PathBuf>,
    /// How many errors to list for each source.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// How many bytes to read at a time.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64 << 20))]
    read_size: u32,
    /// When to show a progress bar on standard error; `auto`: on a terminal, if the source is large or slow.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = choice(&WHEN))]
    progress: When,
    /// Prints one JSON object for each source.
    #[arg(long)]
    json: bool,
}

const USAGE: &str = "check [OPTIONS] [FILE | - | tcp://HOST:PORT | --listen ADDR]...";

type Rejection = fn(Utf8Options) -> Utf8Options;

static REJECTIONS: [(&str, Rejection); 4] = [
    ("noncharacters", Utf8Options::reject_noncharacters),
    ("nul", Utf8Options::reject_nul),
    ("controls", Utf8Options::reject_controls),
    ("controls-except-whitespace", Utf8Options::reject_controls_except_whitespace),
];

impl Arguments {
    fn checked() -> Self {
        let arguments = Self::parse();
        if arguments.repair.is_some() {
            let why = if arguments.errors == ErrorMode::Fatal {
                "`--errors fatal` repairs nothing: choose another mode"
            } else if arguments.source.len() + arguments.listen.len() > 1 {
                "`--repair` takes one source"
            } else {
                return arguments;
            };
            Self::command().error(ErrorKind::ArgumentConflict, why).exit();
        }
        arguments
    }

    fn options(&self) -> Utf8Options {
        let options = Utf8Options::new().with_bom(self.bom);
        let options = self.reject.iter().fold(options, |so_far, reject| reject(so_far));
        if self.mid_stream { options.with_mid_stream_start() } else { options }
    }

    fn sources(&self) -> impl Iterator<Item = Source> {
        let listeners = self.listen.iter().map(|address| Source::Listen(address.clone()));
        self.source.iter().map(|path| Source::new(path)).chain(listeners)
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
    let paint = Paint::new();
    let verdict = if std::env::args_os().len() == 1 {
        runtime.block_on(sample::show(paint))
    } else {
        runtime.block_on(check_all(&Arguments::checked(), paint))
    };
    // Dropping the runtime would wait for a pending read from a terminal.
    runtime.shutdown_background();
    verdict.into()
}

async fn check_all(arguments: &Arguments, paint: Paint) -> Verdict {
    let mut worst = Verdict::WellFormed;
    for (n, source) in arguments.sources().enumerate() {
        let report = check(&source, arguments).await;
        if let Some(failure) = &report.failure {
            complain(format_args!("{}: {failure}", report.name));
        }
        let shown = match arguments.json {
            true => print(&format!("{}\n", report.to_json())),
            false if report.is_blank() => Verdict::WellFormed,
            false => print(&format!("{}{}", if n > 0 { "\n" } else { "" }, report.to_text(paint))),
        };
        worst = worst.max(report.verdict()).max(shown);
    }
    worst
}

/// Prints to standard output.
fn print(text: &str) -> Verdict {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader has closed the pipe (`... | head`): the exit status is still that of the work.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Verdict::WellFormed,
        Err(error) => {
            complain(format_args!("standard output: {error}"));
            Verdict::Unreadable
        }
        Ok(()) => Verdict::WellFormed,
    }
}

/// Reads one source to its end, or until it fails.
async fn check(source: &Source, arguments: &Arguments) -> Report {
    let mut inspector = Inspector::new(source, arguments.options(), arguments.limit);
    let outcome = run(source, arguments, &mut inspector).await;
    inspector.into_report(outcome.err())
}

async fn run(source: &Source, with: &Arguments, inspector: &mut Inspector) -> Result<(), String> {
    let input = source.open(with.read_size as usize).await.map_err(in_words)?;
    let mut repair = match &with.repair {
        Some(path) => Some(Repair::create(path, input.id.as_ref(), with)?),
        None => None,
    };
    inspector.started = Instant::now();
    let progress = Progress::new(source.to_string(), input.size, with.progress);
    read(input.bytes, with, inspector, &mut repair, progress).await?;
    repair.map_or(Ok(()), Repair::commit)
}

/// The central loop: read, push, look at the pieces; at the end, finish.
async fn read(
    mut input: Box<dyn AsyncRead + Unpin>,
    with: &Arguments,
    inspector: &mut Inspector,
    repair: &mut Option<Repair>,
    mut progress: Progress,
) -> Result<(), String> {
    let mut buffer = vec![0; with.read_size as usize];
    loop {
        let len = input.read(&mut buffer).await.map_err(in_words)?;
        let each = |piece: Result<&str, Utf8Error>| {
            if let Some(repair) = repair {
                repair.push(piece);
            }
            match (piece, with.errors) {
                (Err(_), ErrorMode::Fatal) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let flow = match &buffer[..len] {
            [] => inspector.finish(each),
            chunk => inspector.push(chunk, each),
        };
        if let Some(repair) = repair {
            repair.write()?;
        }
        progress.advance(inspector.decoder.position());
        inspector.report.is_cut_short = flow.is_break();
        if len == 0 || flow.is_break() {
            return Ok(());
        }
    }
}

/// Decodes a stream, counts, and keeps the first errors with the bytes around them.
struct Inspector {
    decoder: Utf8Decoder,
    report: Report,
    limit: usize,
    started: Instant,
    /// The last bytes before the current chunk, enough for the context of held bytes.
    recent: Vec<u8>,
}

/// How many bytes are shown before and after an error.
const CONTEXT: usize = 8;

impl Inspector {
    fn new(source: &Source, options: Utf8Options, limit: usize) -> Self {
        let decoder = Utf8Decoder::new().with_options(options);
        let report = Report { name: source.to_string(), ..Report::default() };
        Self { decoder, report, limit, started: Instant::now(), recent: Vec::new() }
    }

    /// Decodes the next chunk and passes each piece to `each`, until it breaks.
    fn push(
        &mut self,
        chunk: &[u8],
        mut each: impl FnMut(Result<&str, Utf8Error>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Self { decoder, report, limit, recent, .. } = self;
        let window = Window { chunk_at: decoder.position(), recent, chunk };
        report.head.extend(chunk.iter().take(BOM.len() - report.head.len()));
        report.complete(&window);
        for piece in decoder.push(chunk) {
            match piece {
                Ok(text) => report.text(text),
                Err(error) => report.error(error, &window, *limit),
            }
            each(piece)?;
        }
        recent.extend(&chunk[chunk.len().saturating_sub(2 * CONTEXT)..]);
        recent.drain(..recent.len().saturating_sub(2 * CONTEXT));
        ControlFlow::Continue(())
    }

    /// Ends the stream, and passes the errors of its end to `each`.
    fn finish(
        &mut self,
        mut each: impl FnMut(Result<&str, Utf8Error>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let window = Window { chunk_at: self.decoder.position(), recent: &self.recent, chunk: &[] };
        while let Err(error) = self.decoder.finish() {
            self.report.error(error, &window, self.limit);
            each(Err(error))?;
        }
        ControlFlow::Continue(())
    }

    fn into_report(self, failure: Option<String>) -> Report {
        let first = self.decoder.first_error().map(|error| error.kind());
        let bom = match self.report.head == BOM {
            true if self.decoder.bom_seen() => "removed",
            true if first == Some(Utf8ErrorKind::ForbiddenBom) => "rejected",
            true => "kept",
            false => "none",
        };
        Report {
            bytes: self.decoder.position(),
            error_count: self.decoder.error_count(),
            skipped: self.decoder.skipped(),
            bom,
            elapsed: self.started.elapsed(),
            failure,
            ..self.report
        }
    }
}

/// The bytes of the stream that are in memory.
struct Window<'a> {
    chunk_at: u64,
    recent: &'a [u8],
    chunk: &'a [u8],
}

impl Window<'_> {
    /// Returns the bytes from offset `from` up to `to` that are in memory.
    fn bytes(&self, from: u64, to: u64) -> impl Iterator<Item = u8> {
        let start = self.chunk_at - self.recent.len() as u64;
        let from = from.max(start);
        let (skip, len) = ((from - start) as usize, to.saturating_sub(from) as usize);
        self.recent.iter().chain(self.chunk).skip(skip).take(len).copied()
    }
}

/// An error, its line and column, and the bytes around it.
struct Finding {
    error: Utf8Error,
    position: TextPosition,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Finding {
    /// Takes from `window` the missing bytes after the error.
    fn complete(&mut self, window: &Window<'_>) {
        let end = self.error.valid_up_to() + self.error.bytes().len() as u64;
        let known = end + self.after.len() as u64;
        self.after.extend(window.bytes(known, end + CONTEXT as u64));
    }

    /// The bytes around the error in hexadecimal, those of the error in brackets, and the same as ASCII.
    fn context(&self, paint: Paint) -> String {
        let Self { error, before, after, .. } = self;
        let (bad, bad_ascii) = (format!("[{}]", hex(error.bytes())), ascii(error.bytes()));
        let width = 3 * CONTEXT;
        let padding = (width + "[e2 82]".len()).saturating_sub(bad.len());
        format!(
            "{:>width$}{} {:<padding$}{}",
            hex(before) + " ",
            paint.bad(&bad),
            hex(after),
            paint.faint(&format!("{}[{bad_ascii}]{}", ascii(before), ascii(after))),
        )
    }

    /// Removes the hint at UTF-16 from a message of the error, unless the next byte confirms it.
    fn message(&self, text: String) -> String {
        let is_bom = matches!(
            (self.error.bytes(), self.after.first()),
            ([0xFF], Some(0xFE)) | ([0xFE], Some(0xFF))
        );
        match text.strip_suffix("; this looks like UTF-16") {
            Some(text) if !is_bom => text.to_owned(),
            _ => text,
        }
    }

    fn to_json(&self) -> Value {
        let Self { error, position, before, after } = self;
        json!({
            "offset": error.valid_up_to(),
            "length": error.error_len(),
            "line": position.line,
            "column": position.column,
            "kind": error.kind().to_string(),
            "bytes": hex(error.bytes()),
            "next_byte": error.next_byte().map(|byte| hex(&[byte])),
            "before": hex(before),
            "after": hex(after),
            "message": self.message(error.to_string()),
        })
    }
}

/// The result for one source.
#[derive(Default)]
struct Report {
    name: String,
    bytes: u64,
    characters: u64,
    /// That of the next character or error.
    position: TextPosition,
    error_count: u64,
    findings: Vec<Finding>,
    /// The first three bytes.
    head: Vec<u8>,
    bom: &'static str,
    skipped: usize,
    /// Stopped at the first error.
    is_cut_short: bool,
    elapsed: Duration,
    failure: Option<String>,
}

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl Report {
    fn text(&mut self, text: &str) {
        self.characters += count_chars(text) as u64;
        self.position.push(text);
    }

    fn error(&mut self, error: Utf8Error, window: &Window<'_>, limit: usize) {
        if self.findings.len() < limit {
            let (at, position) = (error.valid_up_to(), self.position);
            let before = window.bytes(at.saturating_sub(CONTEXT as u64), at).collect();
            let mut finding = Finding { error, position, before, after: Vec::new() };
            finding.complete(window);
            self.findings.push(finding);
        }
        self.position.push_error(&error);
    }

    /// Adds the bytes after the last errors, which have now arrived.
    fn complete(&mut self, window: &Window<'_>) {
        let findings = self.findings.iter_mut().rev();
        for finding in findings.take_while(|finding| finding.after.len() < CONTEXT) {
            finding.complete(window);
        }
    }

    /// Whether nothing could be read.
    fn is_blank(&self) -> bool {
        self.failure.is_some() && self.bytes == 0
    }

    fn verdict(&self) -> Verdict {
        match (&self.failure, self.error_count) {
            (Some(_), _) => Verdict::Unreadable,
            (None, 0) => Verdict::WellFormed,
            (None, _) => Verdict::IllFormed,
        }
    }

    fn lines(&self) -> u64 {
        self.position.line - u64::from(self.position.column == 1)
    }

    fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    fn to_text(&self, paint: Paint) -> String {
        let verdict = match self.verdict() {
            Verdict::WellFormed => paint.good("well-formed"),
            Verdict::IllFormed if self.is_cut_short => {
                paint.bad("ill-formed") + ", stopped at the first error"
            }
            Verdict::IllFormed => {
                paint.bad("ill-formed") + ", " + &counted(self.error_count, "error")
            }
            Verdict::Unreadable => paint.bad("not read to its end"),
        };
        let mut text = format!("{}: {verdict}\n  {}\n", Visible(&self.name), self.figures());
        if !self.findings.is_empty() {
            let head = format!("{:>12} {:>7} {:>7}", "byte", "line", "column");
            text += &format!("\n{}\n", paint.faint(&head));
        }
        for found in &self.findings {
            let Finding { error, position: TextPosition { line, column, .. }, .. } = found;
            let offset = error.valid_up_to();
            text +=
                &format!("{offset:>12} {line:>7} {column:>7}  {}\n", found.message(what(error)));
            text += &format!("{:30}{}\n", "", found.context(paint));
        }
        match self.error_count - self.findings.len() as u64 {
            0 => text,
            more => format!("{text}\n  {} not listed\n", counted(more, "error")),
        }
    }

    fn figures(&self) -> String {
        let skipped = match self.skipped {
            0 => String::new(),
            n => counted(n as u64, "byte") + " skipped, ",
        };
        let bom = match self.bom {
            "none" => "no byte order mark".to_owned(),
            fate => format!("byte order mark {fate}"),
        };
        format!(
            "{}, {}, {}, {skipped}{bom}, {:.1?}, {}/s",
            counted(self.bytes, "byte"),
            counted(self.characters, "character"),
            counted(self.lines(), "line"),
            self.elapsed,
            DecimalBytes(self.bytes_per_second() as u64),
        )
    }

    fn to_json(&self) -> Value {
        json!({
            "source": self.name,
            "verdict": match self.verdict() {
                Verdict::WellFormed => "well-formed",
                Verdict::IllFormed => "ill-formed",
                Verdict::Unreadable => "unreadable",
            },
            "failure": self.failure,
            "bytes": self.bytes,
            "characters": self.characters,
            "lines": self.lines(),
            "bom": self.bom,
            "skipped": self.skipped,
            "seconds": self.elapsed.as_secs_f64(),
            "bytes_per_second": self.bytes_per_second(),
            "error_count": self.error_count,
            "stopped_at_first": self.is_cut_short,
            "errors": self.findings.iter().map(Finding::to_json).collect::<Vec<_>>(),
        })
    }
}

/// Writes the repaired text to a file.
struct Repair {
    output: Output,
    name: String,
    mode: ErrorMode,
    options: Utf8Options,
    /// The text of the current chunk, at most four times its size.
    text: String,
}

impl Repair {
    fn create(path: &Path, source: Option<&FileId>, with: &Arguments) -> Result<Self, String> {
        let name = path.display().to_string();
        let output = Output::create(path, source).map_err(|error| format!("{name}: {error}"))?;
        let (mode, options) = (with.errors, with.options());
        Ok(Self { output, name, mode, options, text: String::new() })
    }

    fn push(&mut self, piece: Result<&str, Utf8Error>) {
        match piece {
            Ok(text) => self.text.push_str(text),
            Err(error) => self.text.extend(self.mode.repair(&error, self.options).as_deref()),
        }
    }

    fn write(&mut self) -> Result<(), String> {
        let outcome = self.output.write_all(self.text.as_bytes());
        self.text.clear();
        outcome.map_err(|error| format!("{}: {error}", self.name))
    }

    fn commit(self) -> Result<(), String> {
        self.output.commit().map_err(|error| format!("{}: {error}", self.name))
    }
}

/// The kind and the bytes of an error, without the offset.
fn what(error: &Utf8Error) -> String {
    format!("{error:#}")
}

fn ascii(bytes: &[u8]) -> String {
    let visible = |byte: &u8| if matches!(byte, b' '..=b'~') { char::from(*byte) } else { '.' };
    bytes.iter().map(visible).collect()
}
