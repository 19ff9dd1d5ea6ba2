//! The lemma of `PROOF.md` about the streaming decoder. Those about the engine are in `crates/utf8-simd/tests/proof`.

#[path = "../../crates/utf8-simd/tests/proof/automaton.rs"]
mod automaton;
mod stream;
#[path = "../../crates/utf8-simd/tests/support/mod.rs"]
mod support;
