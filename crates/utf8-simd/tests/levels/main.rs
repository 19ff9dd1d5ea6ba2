//! Every level of this machine, compared with the standard library.

mod convert;
mod find;
mod guard;
#[cfg(feature = "bytes")]
mod hostile;
mod pairs;
#[path = "../support/mod.rs"]
mod support;
mod utf16;
mod validate;
