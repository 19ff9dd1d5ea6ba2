//! What writes text to an `AsyncWrite`?

mod utf8_item;
mod utf8_writer;

pub use utf8_writer::Utf8Writer;
