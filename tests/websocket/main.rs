//! WebSocket messages.

#![cfg(feature = "codec")]

mod messages;
#[path = "../support/mod.rs"]
mod support;
