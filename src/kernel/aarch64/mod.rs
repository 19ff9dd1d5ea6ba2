//! The kernel of aarch64: NEON.

pub(super) mod neon;
