//! Every kernel of this machine, compared with the standard library.

mod convert;
mod guard;
mod pairs;
#[path = "../support/parallel.rs"]
mod parallel;
mod utf16;
mod validate;
