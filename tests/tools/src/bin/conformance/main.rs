//! Answers conformance cases, so that a program in any language can test the crate with data of its own.
//!
//! It reads and writes JSON Lines. A case describes the input (`tests/vectors/README.md` has the format); its
//! `expect` is ignored. The answer has the case's `id` and the fields of `expect` that the object chosen
//! with `--via` can compute, or `skip` with a reason.
//!
//! ```text
//! $ grep cpython.decode_error.001 tests/vectors/utf8.jsonl \
//!       | cargo run --release -p tools --bin conformance -- --via codec
//! {"error_count":2,"fail_fast_at":1,"first_error":{"kind":"invalid_start","len":1,"offset":1},
//!  "id":"cpython.decode_error.001","incomplete_at_eof":false,"out":"5b5d"}
//! ```
//!
//! Some cases choose their object themselves:
//!
//! - `lines`: `Utf8Lines` with `--via stream` and `--via reader`, otherwise `Utf8LinesCodec`;
//! - `decode_into`: `push_to_slice`;
//! - `encode`: every object that encodes; their answers have to agree;
//! - a dialect, or the policy `surrogateescape` or `surrogatepass`: the dialect's decoder and encoder.
//!
//! With `--via websocket` the frames of a case are sent to `MessageAssembler`, and other cases are skipped.
//!
//! An object that repairs errors reports their number (`error_count`) and the first one (`first_error`). The
//! validator reports no text.

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
    /// Continue after errors in strict cases too, and describe each error in full.
    #[arg(long)]
    every_error: bool,
}

/// Not one of [`VIAS`]: its input is frames, not chunks.
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
