//! `Utf8Codec` in `FramedRead`, against the same on the standard library.
//! `cargo bench --bench codec -- [--quick] [FILTER]`
//!
//! The heavy peers are in `benches/versus`, in the same rows.

#[path = "scenarios/codec.rs"]
mod codec;
#[path = "scenarios/framed.rs"]
mod framed;
mod support;

use support::Scenario;

fn main() {
    let scenarios = [Scenario::OnDetectedKernel(|bench| codec::codec(bench, |_, _| {}))];
    support::main(&["std", "(BytesCodec)"], &scenarios);
}
