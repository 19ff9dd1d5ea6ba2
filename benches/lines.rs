//! `Utf8LinesCodec` in `FramedRead`, against `LinesCodec`.
//! `cargo bench --bench lines -- [--quick] [FILTER]`
//!
//! The same rows are in `benches/versus`.

#[path = "scenarios/framed.rs"]
mod framed;
#[path = "scenarios/lines.rs"]
mod lines;
mod support;

use support::Scenario;

fn main() {
    let scenarios = [Scenario::OnDetectedKernel(|bench| lines::lines(bench, |_, _| {}))];
    support::main(&["tokio-util"], &scenarios);
}
