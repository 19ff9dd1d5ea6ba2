//! What the adaptors share.

pub(crate) mod chunk;
