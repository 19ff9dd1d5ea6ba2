//! `Utf8Body` around a body that is there, against the bare body and against collecting it.
//! `cargo bench --features http-body --bench body -- [--quick] [FILTER]`
//!
//! The same over the loopback device is in `benches/versus`.

#[path = "scenarios/body.rs"]
#[allow(dead_code, reason = "the other benchmark uses more of it")]
mod body;
mod support;

use support::Scenario;

fn main() {
    let scenarios = [Scenario::OnDetectedKernel(body::body)];
    support::main(&["std", "(bare)", "(validate)"], &scenarios);
}
