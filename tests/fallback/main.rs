//! Text that turns out not to be UTF-8, read in a legacy encoding: per part, per line, for the rest.

#![cfg(feature = "alloc")]

#[cfg(feature = "codec")]
mod codecs;
#[path = "../support/counting.rs"]
mod counting;
mod decoder;
mod inputs;
#[path = "../support/fallback.rs"]
mod model;
#[path = "../support/reference.rs"]
#[allow(dead_code, reason = "each test binary uses its own part")]
mod reference;
#[cfg(feature = "stream")]
mod streams;
#[cfg(feature = "encoding_rs")]
mod whatwg;
