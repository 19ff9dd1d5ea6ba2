//! Lists the public items of the crate, and compares the list with `tests/surface.txt`.
//!
//! ```text
//! cargo run -p tools --bin surface               # compares; exits with 1 and the differences
//! cargo run -p tools --bin surface -- --write    # updates the list after a deliberate change
//! cargo run -p tools --bin surface -- --json DOC # lists what is in this rustdoc JSON
//! ```
//!
//! The list has one line per public item, signature included, without blanket, automatic and derived
//! implementations and without what is `#[doc(hidden)]`. Its first line counts types and traits, each once.
//!
//! Rustdoc's JSON is unstable: where this toolchain cannot make it, or makes another version of it than
//! [`FORMAT`], `surface` prints `SKIPPED` with the reason and compares nothing.

use std::collections::{BTreeSet, HashSet};
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use serde_json::Value;

/// The version of rustdoc's JSON that the dependency `public-api` reads.
const FORMAT: u64 = 57;

/// Lists the public items of the crate and compares them with the committed list.
#[derive(Parser)]
struct Arguments {
    /// Writes the list instead of comparing it.
    #[arg(long)]
    write: bool,
    /// Prints the items of this rustdoc JSON file and does nothing else.
    #[arg(long, value_name = "FILE", conflicts_with = "write")]
    json: Option<PathBuf>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(json) = arguments.json {
        print!("{}", list(&json)?);
        return Ok(ExitCode::SUCCESS);
    }
    let current = match document()?.and_then(|json| readable(&json).map(|()| json)) {
        Ok(json) => list(&json)?,
        Err(why) => {
            println!("SKIPPED: {why}");
            return Ok(ExitCode::from(u8::from(arguments.write)));
        }
    };
    let snapshot = root().join("tests/surface.txt");
    if arguments.write {
        fs::write(snapshot, current)?;
        return Ok(ExitCode::SUCCESS);
    }
    let committed = fs::read_to_string(snapshot)?;
    let differences = differences(&committed, &current);
    print!("{differences}");
    if differences.is_empty() {
        println!("{}", current.lines().next().unwrap_or_default());
        return Ok(ExitCode::SUCCESS);
    }
    println!("the public items differ: cargo run -p tools --bin surface -- --write");
    Ok(ExitCode::FAILURE)
}

/// The list of the items in a rustdoc JSON file, as it is committed.
fn list(json: &Path) -> Result<String, Box<dyn Error>> {
    readable(json)?;
    let api = public_api::Builder::from_rustdoc_json(json).sorted(true);
    let api =
        api.omit_blanket_impls(true).omit_auto_trait_impls(true).omit_auto_derived_impls(true);
    let api = api.build()?;
    // An item that is public under two paths is listed under each, but counted once.
    let (mut types, mut traits, mut listed) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut list = String::new();
    for item in api.items() {
        let line = item.to_string();
        match declaration(&line).split(' ').next() {
            Some("struct" | "enum" | "union") => drop(types.insert(item.id())),
            Some("trait") => drop(traits.insert(item.id())),
            _ => {}
        }
        if listed.insert(line.clone()) {
            list = list + &line + "\n";
        }
    }
    let (types, traits) = (types.len(), traits.len());
    Ok(format!("{} types and traits: {types} and {traits}\n{list}", types + traits))
}

/// Whether the JSON has the format that `public-api` reads; if not, why.
fn readable(json: &Path) -> Result<(), String> {
    let text = fs::read(json).map_err(|error| format!("{}: {error}", json.display()))?;
    let value: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    match &value["format_version"] {
        format if *format == FORMAT => Ok(()),
        format => Err(format!("this toolchain's rustdoc JSON has format {format}, not {FORMAT}")),
    }
}

/// A line of the list without attributes, `pub` and `unsafe`.
fn declaration(item: &str) -> &str {
    let item = item.rsplit_once("] pub ").map_or(item, |(_, declaration)| declaration);
    let item = item.strip_prefix("pub ").unwrap_or(item);
    item.strip_prefix("unsafe ").unwrap_or(item)
}

/// Has rustdoc describe the crate as JSON. The inner error: why this toolchain cannot.
///
/// It uses a target folder of its own, because the variable that allows unstable options on this toolchain
/// makes Cargo rebuild everything.
fn document() -> Result<Result<PathBuf, String>, Box<dyn Error>> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), PathBuf::from);
    let target = root().join(target).join("surface");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(root()).args(["rustdoc", "--quiet", "--package", "utf8-codec", "--lib"]);
    cargo.args(["--all-features", "--target-dir"]).arg(&target);
    cargo.args(["--", "-Z", "unstable-options", "--output-format", "json"]);
    cargo.env("RUSTC_BOOTSTRAP", "1");
    // What tests are run with: a sanitizer, a kernel, another target.
    let others = ["RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_TARGET"];
    for variable in others.into_iter().chain(["CARGO_ENCODED_RUSTFLAGS"]) {
        cargo.env_remove(variable);
    }
    let output = cargo.output().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return match said.lines().find(|line| line.contains("unstable") || line.contains("`-Z`")) {
            Some(why) => Ok(Err(format!("this toolchain makes no rustdoc JSON: {why}"))),
            None => Err(format!("rustdoc failed: {said}").into()),
        };
    }
    Ok(Ok(target.join("doc/utf8_codec.json")))
}

/// The lines that only one of two lists has, each after `-` or `+`.
fn differences(committed: &str, current: &str) -> String {
    let (old, new): (BTreeSet<_>, BTreeSet<_>) =
        (committed.lines().collect(), current.lines().collect());
    let gone = old.difference(&new).map(|line| format!("-{line}\n"));
    gone.chain(new.difference(&old).map(|line| format!("+{line}\n"))).collect()
}

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
