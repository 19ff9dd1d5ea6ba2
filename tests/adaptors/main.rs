//! Streams, readers and writers.

#[cfg(feature = "std")]
mod blocking;
mod chars;
mod charsets;
mod contract;
#[cfg(feature = "std")]
#[path = "../support/lists.rs"]
mod lists;
mod outcomes;
#[cfg(feature = "std")]
mod positions;
mod reader;
#[cfg(any(feature = "codec", feature = "stream"))]
#[path = "../support/script.rs"]
mod script;
mod sockets;
mod stream;
mod stream_lines;
#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "stream")]
mod turns;
mod writer;
