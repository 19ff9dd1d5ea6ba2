//! The kernel of aarch64: NEON.

mod lanes;
pub(super) mod neon;
