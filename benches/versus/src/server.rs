//! The reader of the example server, included from its source.
#![allow(dead_code, unreachable_pub, reason = "it is a library there")]

#[path = "../../../examples/servers/src/websocket/reader.rs"]
pub(crate) mod reader;
