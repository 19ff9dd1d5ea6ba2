//! Finds text in files that may be damaged, with line numbers and byte offsets, without an async runtime.
//!
//! It shows the blocking types: `io::Utf8Reader` reads the lines, of which it copies only those that a read cuts, and repairs what is
//! not UTF-8, and `io::Utf8Writer` writes the matches.
//!
//! ```text
//! cargo run --release --example grep -- [OPTIONS] TEXT [FILE | -]...
//! ```
//!
//! Without arguments, it searches a damaged log that it sends itself over a loopback socket, split in awkward
//! places. It prints the matches, and exits with 0 if they are right.
//!
//! With arguments, it reads each file once, in bounded memory, however long the file or a line is:
//!
//! ```text
//! $ grep caf access.log
//! access.log:1:0:GET /café
//! access.log:2:11!GET /caf\xe9
//! ```
//!
//! - A match is printed as file, line number, byte offset of the line, and the line. A `!` before the line
//!   instead of a `:` means that it was not UTF-8 and is shown repaired. Such a line is found too, unless
//!   the damage is inside the text that is searched for.
//! - `--errors` selects what replaces an ill-formed part: `windows1252` finds `café` in the second line too.
//! - A line longer than `--max-length` is skipped with a message; the search continues.
//! - The exit status is that of the usual tool: 0 if a line was found, 1 if none, 2 if a file was not
//!   readable or a line was too long or, with `--errors fatal`, not UTF-8.

#[path = "support/output.rs"]
mod output;
#[allow(dead_code, reason = "other programs use the rest")]
#[path = "support/terminal.rs"]
mod terminal;

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Parser;
use memchr::memmem::Finder;
use utf8_codec::io::{StreamError, Utf8Reader, Utf8Writer};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

use terminal::{ERROR_MODES, Visible, choice, complain};

/// Finds text in files that may be damaged.
///
/// Without arguments: searches a damaged log that it sends itself over a loopback socket.
#[derive(Parser)]
#[command(name = "grep")]
struct Arguments {
    /// The text to find.
    text: String,
    /// Files, or `-` for standard input.
    #[arg(default_value = "-", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What replaces an ill-formed part; `fatal` skips the line with a message.
    #[arg(long, value_name = "MODE", default_value = "escape")]
    #[arg(value_parser = choice(&ERROR_MODES))]
    errors: ErrorMode,
    /// The longest line, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    max_length: usize,
}

/// The result of a search.
#[derive(Clone, Copy, Default)]
struct Found {
    lines: u64,
    /// Some lines could not be searched.
    failed: bool,
}

fn main() -> ExitCode {
    let searched = match std::env::args_os().len() {
        1 => search_sample(),
        _ => search_files(&Arguments::parse()),
    };
    match searched {
        Ok(Found { failed: true, .. }) => ExitCode::from(2),
        Ok(Found { lines: 0, .. }) => ExitCode::from(1),
        Ok(_) => ExitCode::SUCCESS,
        // The reader has closed the pipe (`... | head`): it has found what it needs.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(error);
            ExitCode::from(2)
        }
    }
}

fn search_files(arguments: &Arguments) -> io::Result<Found> {
    let mut out = Utf8Writer::new(io::stdout().lock());
    let mut all = Found::default();
    for file in &arguments.files {
        let name = &*file.to_string_lossy();
        let found = if name == "-" {
            search(name, io::stdin().lock(), arguments, &mut out)?
        } else {
            match File::open(file) {
                Ok(file) => search(name, file, arguments, &mut out)?,
                Err(error) => {
                    complain(format_args!("{name}: {error}"));
                    Found { lines: 0, failed: true }
                }
            }
        };
        all.lines += found.lines;
        all.failed |= found.failed;
    }
    out.finish()?;
    Ok(all)
}

/// Writes the matching lines of `reader` to `out`. Only writing can fail.
fn search(
    name: &str,
    reader: impl Read,
    arguments: &Arguments,
    out: &mut Utf8Writer<impl Write>,
) -> io::Result<Found> {
    let reader = Utf8Reader::new(reader)
        .with_options(Utf8Options::new().with_bom(BomPolicy::Strip))
        .with_error_mode(arguments.errors);
    let mut lines = reader.into_lines().with_max_length(arguments.max_length);
    let finder = Finder::new(&arguments.text);
    let mut found = Found::default();
    while let Some(line) = lines.next_line() {
        match line {
            Ok(line) if finder.find(line.as_bytes()).is_some() => {
                let mark = if line.error_count > 0 { '!' } else { ':' };
                let text = Visible(&line);
                writeln!(out, "{}:{}:{}{mark}{text}", Visible(name), line.number, line.offset)?;
                found.lines += 1;
            }
            Ok(_) => {}
            Err(error) => {
                complain(format_args!("{name}: {error}"));
                found.failed = true;
                if matches!(error, StreamError::Inner(_)) {
                    break; // the reader may fail forever
                }
            }
        }
    }
    Ok(found)
}

// ---- the sample ---------------------------------------------------------------------------------

/// A log in which some lines are not UTF-8: Latin-1, a character that is cut short, one that never ends.
const SAMPLE: &[u8] = b"\xEF\xBB\xBF09:00 GET /caf\xC3\xA9\r\n\
    09:01 GET /caf\xE9\r\n\
    09:02 GET /tea\r\n\
    09:03 GET /\xE8\x8C\xB6?from=caf\xC3\xA9\r\n\
    09:04 GET /\xE8\x8C?from=caf\xC3\xA9\r\n\
    09:05 GET /caf\xC3";

/// The matches for `caf`.
const EXPECTED: &str = r"sample:1:3:09:00 GET /café
sample:2:21!09:01 GET /caf\xe9
sample:4:54:09:03 GET /茶?from=café
sample:5:81!09:04 GET /\xe8\x8c?from=café
sample:6:107!09:05 GET /caf\xc3
";

/// Searches the sample, which a thread sends in pieces of one to five bytes.
fn search_sample() -> io::Result<Found> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let sender = thread::spawn(move || -> io::Result<()> {
        let mut peer = TcpStream::connect(address)?;
        peer.set_nodelay(true)?;
        let mut rest = SAMPLE;
        for size in [1, 2, 3, 5].into_iter().cycle() {
            let (piece, after) = rest.split_at(size.min(rest.len()));
            peer.write_all(piece)?;
            thread::sleep(Duration::from_millis(1));
            rest = after;
            if rest.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    });
    let (socket, _) = listener.accept()?;
    let arguments = Arguments::parse_from(["grep", "caf"]);
    let mut out = Utf8Writer::new(Vec::new());
    let found = search("sample", socket, &arguments, &mut out)?;
    out.finish()?;
    let sent = sender.join().map_err(|_| io::Error::other("the sender panicked"))?;
    sent.map_err(io::Error::other)?;

    let out = out.into_inner();
    io::stdout().write_all(&out)?;
    if out != EXPECTED.as_bytes() {
        return Err(io::Error::other(format!("these matches were expected:\n{EXPECTED}")));
    }
    Ok(found)
}
