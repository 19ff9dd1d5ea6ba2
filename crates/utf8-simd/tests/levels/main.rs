//! Every level of this machine, compared with the standard library.

mod convert;
mod guard;
mod pairs;
#[path = "../support/mod.rs"]
mod support;
mod utf16;
mod validate;
