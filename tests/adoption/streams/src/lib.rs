//! Tests that have the same outcome with the published `eventsource-stream` and with ours.
#![cfg(test)]

mod async_openai;
mod reqwest_eventsource;
mod server;

use std::time::Duration;

/// The lengths of the chunks in which each test sends its streams: 1 cuts every character.
const CHUNKS: [usize; 5] = [1, 2, 3, 7, 1000];

/// More than any test takes.
const LIMIT: Duration = Duration::from_secs(20);
