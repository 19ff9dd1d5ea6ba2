//! Answers conformance cases, one JSON object a line, so that a program in any language can hold
//! the crate against data of its own.
//!
//! A case says what goes in, in the words of `tests/vectors/README.md`; its `expect`, if it has
//! one, is not looked at. The answer has the case's `id` and the fields that belong in `expect`, as
//! far as the object chosen with `--via` can tell them, or `skip` and a reason.
//!
//! ```text
//! $ head -1 tests/vectors/utf8-policies.jsonl \
//!       | cargo run --release -p tools --bin conformance -- --via codec
//! {"error_count":2,"fail_fast_at":1,"first_error":{"kind":"invalid_start","len":1,"offset":1},
//!  "id":"cpython.decode_error.001","incomplete_at_eof":false,"out":"5b5d"}
//! ```
//!
//! `lines` cases are put to `Utf8Lines` via `stream` and `reader` and else to `Utf8LinesCodec`,
//! `decode_into` cases to `push_to_slice`, cases of encoding to each object that encodes, which have to
//! agree, and what is about a dialect (or the policies `surrogateescape` and `surrogatepass`) to its own
//! decoder and encoder. With `--via websocket` a case's frames are put to `MessageAssembler`, and other cases
//! are skipped.
//!
//! What repairs errors by itself does not list them: it gives their number (`error_count`) and the
//! first (`first_error`). The validator gives no text.

mod driver;

use std::error::Error;
use std::io::{self, BufRead, BufWriter, Write};

use clap::Parser;
use clap::builder::PossibleValuesParser;
use serde_json::Value;

use driver::{Form, VIAS, Via};

/// Answers conformance cases: JSON Lines in, JSON Lines out.
#[derive(Parser)]
struct Arguments {
    /// The object that decodes.
    #[arg(
        long,
        default_value = "decoder",
        value_parser = PossibleValuesParser::new(VIAS.iter().map(|via| via.name).chain([WEBSOCKET])),
    )]
    via: String,
    /// Go on behind errors in strict cases too, and tell all about each of them.
    #[arg(long)]
    every_error: bool,
}

/// Not one of [`VIAS`]: it takes frames, not chunks.
const WEBSOCKET: &str = "websocket";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let via = VIAS.iter().find(|via| via.name == arguments.via);
    let form = if arguments.every_error { Form::EveryError } else { Form::FirstError };

    let mut out = BufWriter::new(io::stdout().lock());
    for (n, line) in io::stdin().lock().lines().enumerate() {
        let answer = answer(&line?, via, form).map_err(|why| format!("line {}: {why}", n + 1))?;
        writeln!(out, "{answer}")?;
    }
    Ok(out.flush()?)
}

fn answer(line: &str, via: Option<&Via>, form: Form) -> Result<Value, String> {
    let case: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let mut answer = match via {
        Some(via) => driver::answer(&case, via, form)?,
        None => driver::websocket::answer(&case)?,
    };
    answer.insert("id".to_owned(), case["id"].clone());
    Ok(answer.into())
}
