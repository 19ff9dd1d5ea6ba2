//! Output on a terminal, a progress bar on standard error, and helpers that the command lines share.

use std::fmt;
use std::io::{self, IsTerminal, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{
    BinaryBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
    TermLike,
};
use utf8_codec::{BomPolicy, ErrorMode};

pub(crate) use super::output::{Visible, complain};

/// The result: the exit status.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    WellFormed,
    IllFormed,
    Unreadable,
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        Self::from(verdict as u8)
    }
}

/// Colours, if standard output is a terminal and `NO_COLOR` is not set.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    is_on: bool,
}

impl Paint {
    pub(crate) fn new() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { is_on: io::stdout().is_terminal() && !unwanted }
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.is_on { format!("\x1B[{code}m{text}\x1B[0m") } else { text.to_owned() }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

pub(crate) fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", HumanCount(n), if n == 1 { "" } else { "s" })
}

pub(crate) fn in_words(error: io::Error) -> String {
    error.to_string()
}

/// An argument that is one of the names in `table`; its value is the one beside the name.
pub(crate) fn choice<T: Copy + Send + Sync>(
    table: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(table.iter().map(|row| row.0))
        .try_map(|name| table.iter().find(|row| row.0 == name).map(|row| row.1).ok_or("unknown"))
}

/// The names of BOM policies and error modes on the command line.
pub(crate) static BOM_POLICIES: [(&str, BomPolicy); 4] = [
    ("keep", BomPolicy::Keep),
    ("strip", BomPolicy::Strip),
    ("require", BomPolicy::Require),
    ("forbid", BomPolicy::Forbid),
];

pub(crate) static ERROR_MODES: [(&str, ErrorMode); 6] = [
    ("replacement", ErrorMode::Replacement),
    ("skip", ErrorMode::Skip),
    ("escape", ErrorMode::Escape),
    ("latin1", ErrorMode::Latin1),
    ("windows1252", ErrorMode::Windows1252),
    ("fatal", ErrorMode::Fatal),
];

// ---- the progress bar ---------------------------------------------------------------------------

/// When to show the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// From start to end, even if standard error is not a terminal.
    Always,
    Never,
    /// On a terminal, if the source is large or slow; removed at the end.
    Auto,
}

pub(crate) static WHEN: [(&str, When); 3] =
    [("always", When::Always), ("never", When::Never), ("auto", When::Auto)];

pub(crate) struct Progress {
    name: String,
    size: Option<u64>,
    when: When,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(name: String, size: Option<u64>, when: When) -> Self {
        let skip = name.chars().count().saturating_sub(LONGEST_NAME);
        let name = match skip {
            0 => name,
            skip => format!("…{}", name.chars().skip(skip + 1).collect::<String>()),
        };
        Self { name, size, when, started: Instant::now(), bar: None }
    }

    /// Sets the position, in bytes.
    pub(crate) fn advance(&mut self, position: u64) {
        if self.bar.is_none() && self.is_wanted() {
            self.bar = Some(self.new_bar());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        }
    }

    fn is_wanted(&self) -> bool {
        match self.when {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let is_long = self.size.is_some_and(|size| size > 16 << 20)
                    || self.started.elapsed() > Duration::from_secs(1);
                is_long && io::stderr().is_terminal()
            }
        }
    }

    fn new_bar(&self) -> ProgressBar {
        let template = match self.size {
            Some(_) => "{msg} {wide_bar} {percent}%, {bytes} of {total_bytes}, {mean_rate}, {eta}",
            None => "{spinner} {msg} {bytes}, {mean_rate}",
        };
        let target = match io::stderr().is_terminal() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::term_like_with_hz(Box::new(Plain), 4),
        };
        let style = ProgressStyle::with_template(template);
        ProgressBar::with_draw_target(self.size, target)
            .with_elapsed(self.started.elapsed())
            .with_style(
                style
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .with_key("mean_rate", mean_rate),
            )
            .with_message(Visible(&self.name).to_string())
    }
}

/// Writes the mean rate since the start. The rate of the bar itself starts with the bar, which appears after
/// the first bytes, and so is too high for a slow source.
fn mean_rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    let rate = state.pos() as f64 / state.elapsed().as_secs_f64().max(1e-9);
    // If this fails, the rate is missing.
    let _ = write!(out, "{}/s", BinaryBytes(rate as u64));
}

/// The longest name in the bar, in characters. Of a longer name, the end is shown.
const LONGEST_NAME: usize = 24;

impl Drop for Progress {
    fn drop(&mut self) {
        match (&self.bar, self.when) {
            (Some(bar), When::Always) => {
                bar.abandon();
                let _ = writeln!(io::stderr());
            }
            (Some(bar), _) => bar.finish_and_clear(),
            (None, _) => {}
        }
    }
}

/// Standard error that is not a terminal: a carriage return precedes each state.
#[derive(Debug)]
struct Plain;

impl Plain {
    fn put(text: &str) -> io::Result<()> {
        io::stderr().write_all(text.as_bytes())
    }
}

impl TermLike for Plain {
    fn width(&self) -> u16 {
        100
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, line: &str) -> io::Result<()> {
        Self::put(line)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        Self::put(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        Self::put("\r")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}
