//! A progress bar on standard error.

use std::fmt;
use std::io::{self, IsTerminal, Write as _};
use std::time::{Duration, Instant};

use indicatif::{
    BinaryBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike,
};

use super::terminal::Visible;

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
