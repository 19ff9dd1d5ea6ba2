//! Streams in chunks, against the standard library with a buffer.
//! `cargo bench --bench stream -- [--quick] [FILTER]`
//!
//! The heavy peers are in `benches/versus`, in the same rows.

#[path = "scenarios/stream.rs"]
mod stream;
mod support;

use support::Scenario;

fn main() {
    let scenarios = [
        Scenario::OnDetectedKernel(|bench| stream::decode(bench, |_, _| {})),
        Scenario::OnDetectedKernel(|bench| stream::verdict(bench, |_, _| {})),
    ];
    support::main(&["std"], &scenarios);
}
