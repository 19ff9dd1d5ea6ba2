//! Text that turns out not to be UTF-8, read in a legacy encoding: per part, per line, for the rest.

#![cfg(feature = "alloc")]

mod decoder;
mod model;
#[cfg(feature = "encoding_rs")]
mod whatwg;
