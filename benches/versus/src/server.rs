//! How the example server reads, as it is there.
#![allow(dead_code, unreachable_pub, reason = "it is a library there")]

#[path = "../../../examples/servers/src/websocket/frame.rs"]
pub(crate) mod frame;
#[path = "../../../examples/servers/src/websocket/reader.rs"]
pub(crate) mod reader;
