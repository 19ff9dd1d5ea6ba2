//! UTF-16 to UTF-8, and text to a writer. `cargo bench --bench writer -- [--quick] [FILTER]`
//!
//! The heavy peers are in `benches/versus`, in the same rows.

mod support;
#[path = "scenarios/writer.rs"]
mod writer;

use support::Scenario;

fn main() {
    let scenarios = [
        Scenario::OnDetectedKernel(|bench| writer::from_utf16(bench, |_, _| {})),
        Scenario::OnDetectedKernel(writer::writer),
    ];
    support::main(&["std", "(BytesCodec)"], &scenarios);
}
