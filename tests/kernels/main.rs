//! Every kernel of this machine, compared with the standard library.

mod convert;
mod guard;
#[path = "../support/lists.rs"]
mod lists;
mod pairs;
mod utf16;
mod validate;
