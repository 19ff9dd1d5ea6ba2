//! Runs a command and prints the lines of both of its outputs as they arrive, each with the name of its pipe.
//!
//! It shows how to drain a child process with `Utf8Stream::lines`: both pipes at once, so that the child never waits
//! because one of them is full; damaged lines repaired; and nothing lost when it exits.
//!
//! ```text
//! $ cargo run --release --example run -- sh -c 'echo one; printf "caf\351" >&2'
//! out: one
//! err: caf\xe9
//! ```
//!
//! Without arguments, it runs itself as a child that writes damaged lines and more than a pipe holds, and exits with 0 if
//! all of them have arrived. Otherwise it exits with the code of the command, or with 1 if it could not be run or was
//! killed.
//!
//! - The pipes end when the child and all processes that it started have closed them.
//! - A line that is longer than 65,536 bytes is reported and skipped.
//! - Control characters are escaped, so that a command cannot control the terminal.

#[path = "support/output.rs"]
mod output;

use std::env;
use std::io::{self, Write};
use std::process::{ExitCode, ExitStatus, Stdio};

use clap::Parser;
use futures::stream::{self, StreamExt};
use tokio::io::AsyncRead;
use tokio::process::Command;
use utf8_codec::ErrorMode;
use utf8_codec::lines::Line;
use utf8_codec::stream::{ReaderChunks, StreamError, Utf8Lines, Utf8Stream};

use output::{Visible, complain, say};

/// Runs a command and prints the lines of both of its outputs.
///
/// Without arguments: runs itself.
#[derive(Parser)]
#[command(name = "run")]
struct Arguments {
    /// Writes the lines of the self-test.
    #[arg(long, hide = true)]
    sample: bool,
    /// The command and its arguments.
    #[arg(trailing_var_arg = true)]
    command: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command[..] {
        _ if arguments.sample => write_sample().map(|()| SAMPLE_CODE),
        [] => test_itself().await,
        [program, rest @ ..] => {
            let mut command = Command::new(program);
            drain(command.args(rest), |pipe, line| say(format_args!("{pipe}: {}", shown(line))))
                .await
                .map(|status| status.code().map_or(1, |code| u8::try_from(code).unwrap_or(u8::MAX)))
        }
    };
    result.map(ExitCode::from).unwrap_or_else(|error| {
        complain(error);
        ExitCode::FAILURE
    })
}

type PipeLine = Result<Line, StreamError<io::Error>>;

/// Runs `command` and passes each line to `take`, with the name of its pipe. The order of lines of different pipes is that
/// in which they arrive.
async fn drain(
    command: &mut Command,
    mut take: impl FnMut(&str, PipeLine) -> io::Result<()>,
) -> io::Result<ExitStatus> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let out = lines(out.expect("it is piped")).map(|line| ("out", line));
    let err = lines(err.expect("it is piped")).map(|line| ("err", line));
    let mut both = stream::select(out, err);
    while let Some((pipe, line)) = both.next().await {
        if let Err(StreamError::Inner(error)) = line {
            return Err(error); // it may fail forever
        }
        take(pipe, line)?;
    }
    child.wait().await
}

fn lines<R: AsyncRead>(pipe: R) -> Utf8Lines<ReaderChunks<R>> {
    Utf8Stream::from_reader(pipe).with_error_mode(ErrorMode::Escape).lines()
}

fn shown(line: PipeLine) -> String {
    match line {
        Ok(line) => Visible(&line).to_string(),
        Err(error) => format!("({error})"),
    }
}

/// More than the pipes of any common system hold.
const MANY: usize = 20_000;
const SAMPLE_CODE: u8 = 3;

/// Fills the pipe of errors first, while nothing is written to the other one.
fn write_sample() -> io::Result<()> {
    let (mut out, mut err) = (io::stdout().lock(), io::stderr().lock());
    for number in 0..MANY {
        writeln!(err, "{number} Grüße")?;
    }
    out.write_all(b"caf\xC3")?;
    out.flush()?;
    err.write_all(b"d\xE9j\xE0 vu\r\n")?;
    out.write_all(b"\xA9\nno line end, and half a euro sign: \xE2\x82")?;
    out.flush()
}

async fn test_itself() -> io::Result<u8> {
    let mut command = Command::new(env::current_exe()?);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let status = drain(command.arg("--sample"), |pipe, line| {
        if pipe == "out" { &mut out } else { &mut err }.push(shown(line));
        Ok(())
    });
    let code = status.await?.code();
    let expected = ["café", r"no line end, and half a euro sign: \xe2\x82"];
    let numbered = (0..MANY).map(|number| format!("{number} Grüße"));
    let expected_err: Vec<_> = numbered.chain([r"d\xe9j\xe0 vu".to_owned()]).collect();
    if code != Some(SAMPLE_CODE.into()) || out != expected || err != expected_err {
        return Err(io::Error::other(format!("exit code {code:?}, {out:?}, {} lines", err.len())));
    }
    say(format_args!("ok: {} lines of two pipes", out.len() + err.len()))?;
    Ok(0)
}
