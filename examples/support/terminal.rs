//! Output on a terminal, and helpers that the command lines share.

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::HumanCount;
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
