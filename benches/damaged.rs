//! Ill-formed input, against the standard library. `cargo bench --bench damaged -- [--quick] [FILTER]`
//!
//! The heavy peers are in `benches/versus`, in the same rows.

#[path = "scenarios/damaged.rs"]
mod damaged;
mod support;

use support::Scenario;

fn main() {
    let scenarios = [
        Scenario::OnDetectedKernel(|bench| damaged::repair(bench, |_, _| {})),
        Scenario::OnDetectedKernel(|bench| damaged::pieces(bench, |_, _| {})),
    ];
    support::main(&["std"], &scenarios);
}
