//! Server-sent events: the decoder against a model of the standard, the encoder, streams, and memory.
#![cfg(feature = "alloc")]

#[path = "../support/counting.rs"]
mod counting;
mod decoder;
mod encoder;
mod faults;
#[path = "../support/events.rs"]
mod model;
#[cfg(feature = "stream")]
#[path = "../support/script.rs"]
mod script;
#[cfg(feature = "stream")]
mod streams;
