//! Search in text that arrives in pieces.
//!
//! Push the text of any decoder or adaptor to a [`TextFinder`]. It yields the offset of each match, also of
//! matches that span pieces.

pub(crate) mod finder;
pub(crate) mod pattern;

pub use finder::TextFinder;
