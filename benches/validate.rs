//! Whole buffers, against the standard library. `cargo bench --bench validate -- [--quick] [FILTER]`
//!
//! The heavy peers are in `benches/versus`, in the same rows.

mod support;
#[path = "scenarios/validate.rs"]
mod validate;

use support::Scenario;

fn main() {
    let scenarios = [
        Scenario::OnAnyKernel(|bench| validate::validate(bench, |_, _| {})),
        Scenario::OnAnyKernel(|bench| validate::locate(bench, |_, _| {})),
    ];
    support::main(&["std", "(read)", "(memcpy)"], &scenarios);
}
