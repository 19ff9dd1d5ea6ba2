//! Search in text that arrives in pieces.

pub(crate) mod finder;
pub(crate) mod pattern;

pub use finder::TextFinder;
