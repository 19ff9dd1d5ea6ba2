//! `Utf8Body` over scripted bodies: errors, trailers, the end, size hints, limits, wakers, cancelled
//! futures, shared memory, and charsets.
#![cfg(feature = "http-body")]

mod content_type;
#[path = "../support/counting.rs"]
mod counting;
#[cfg(feature = "encoding_rs")]
#[path = "../support/encodings.rs"]
mod encodings;
mod frames;
#[cfg(feature = "tower")]
mod layers;
#[cfg(feature = "encoding_rs")]
mod legacy;
mod limits;
#[path = "../support/lists.rs"]
mod lists;
mod script;
#[path = "../support/script.rs"]
mod sources;
#[cfg(feature = "stream")]
mod streams;
