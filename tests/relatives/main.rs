//! Detection, terminals and UTF-16.

mod detect;
#[path = "../support/lists.rs"]
mod lists;
#[cfg(feature = "alloc")]
#[path = "../support/utf16.rs"]
mod subject;
mod terminal;
mod utf16;
