//! What the servers of this package share.

pub mod websocket;
