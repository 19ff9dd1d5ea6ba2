//! Text, `char`s and lines from readers and streams, against tokio-util's `FramedRead`.
//! `cargo bench --bench reader -- [--quick] [FILTER]`
//!
//! The heavy peers are in `benches/versus`, in the same rows.

#[path = "scenarios/framed.rs"]
mod framed;
#[path = "scenarios/reader.rs"]
mod reader;
mod support;

use support::Scenario;

fn main() {
    let scenarios = [
        Scenario::OnDetectedKernel(|bench| reader::read(bench, |_, _, _| {})),
        Scenario::OnDetectedKernel(reader::chars),
        Scenario::OnDetectedKernel(reader::blocks),
        Scenario::OnDetectedKernel(reader::lines),
    ];
    support::main(reader::COLUMNS, &scenarios);
}
