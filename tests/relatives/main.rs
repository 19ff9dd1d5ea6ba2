//! Detection, terminals and UTF-16.

mod detect;
#[cfg(feature = "alloc")]
#[path = "../support/lists.rs"]
mod lists;
#[path = "../support/detect.rs"]
mod rules;
#[cfg(feature = "alloc")]
#[path = "../support/utf16.rs"]
mod subject;
mod terminal;
mod utf16;
