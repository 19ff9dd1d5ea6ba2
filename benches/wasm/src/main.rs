//! Validation on WebAssembly: the crate beside the standard library and simdutf8, all built for the same
//! features.

#[path = "../../support/mod.rs"]
mod support;
#[path = "../../scenarios/validate.rs"]
mod validate;

use clap::Parser;
use support::{Bench, Options, Row};
use validate::{all, sum};

/// Measures validation on WebAssembly.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() {
    let Arguments { options } = Arguments::parse();
    let effort = options.effort();
    Bench::new(options, effort, &[]).run(&[
        |bench| validate::validate(bench, validate_peers),
        |bench| validate::locate(bench, locate_peers),
    ]);
}

fn validate_peers<'a>(row: &mut Row<'a>, messages: &'a [&'a [u8]]) {
    row.peer("simdutf8", all(messages, |message| simdutf8::basic::from_utf8(message).is_ok()));
}

fn locate_peers<'a>(row: &mut Row<'a>, messages: &'a [&'a [u8]]) {
    row.peer(
        "simdutf8",
        sum(messages, |message| {
            simdutf8::compat::from_utf8(message).map_or_else(|error| error.valid_up_to(), str::len)
        }),
    );
}
