//! Payloads: messages and bodies, whole against every way of cutting them.

#![cfg(feature = "codec")]

mod support;
#[path = "payload/websocket.rs"]
mod websocket;
