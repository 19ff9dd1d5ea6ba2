//! Code that `codec`, `stream` and `payload` share.

pub(crate) mod chunk_text;
pub(crate) mod collect;
pub(crate) mod cooperate;
