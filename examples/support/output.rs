//! Output and messages, as every program here writes them.

#![allow(dead_code, reason = "each program uses its own part")]

use std::fmt;
use std::io::{self, Write as _};
use std::process;

/// Prints a line immediately. See [`put`].
pub(crate) fn say(line: impl fmt::Display) -> io::Result<()> {
    put(format_args!("{line}\n"))
}

/// Prints text immediately. If the reader has closed the pipe (`... | head -1`), it has what it needs: the program exits
/// with 0. `println!` would panic.
pub(crate) fn put(text: impl fmt::Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => process::exit(0),
        Err(error) => Err(io::Error::new(error.kind(), format!("standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Prints a message to standard error, on one line.
pub(crate) fn complain(message: impl fmt::Display) {
    let message = message.to_string();
    // If this fails, there is nowhere left to report it.
    let _ = writeln!(io::stderr(), "{}: {}", env!("CARGO_CRATE_NAME"), Visible(&message));
}

/// Text that is safe to print: control characters and bidirectional formatting are escaped.
pub(crate) struct Visible<'a>(pub(crate) &'a str);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\u{61C}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}' => {
                write!(f, "{}", c.escape_unicode())
            }
            c if c.is_control() => write!(f, "{}", c.escape_default()),
            c => write!(f, "{c}"),
        })
    }
}
