//! Text to `char`s and UTF-16, and `char`s to text, against std.
//! `cargo bench --bench chars -- [--quick] [FILTER]`
//!
//! The same rows, with more contenders, are in `benches/versus`.

#[path = "scenarios/chars.rs"]
mod chars;
mod support;

use support::Scenario::OnDetectedKernel;

fn main() {
    let scenarios = [
        OnDetectedKernel(|bench| chars::to_chars(bench, |_, _| {})),
        OnDetectedKernel(|bench| chars::to_utf16(bench, |_, _| {})),
        OnDetectedKernel(|bench| chars::from_chars(bench, |_, _| {})),
    ];
    support::main(&["std"], &scenarios);
}
