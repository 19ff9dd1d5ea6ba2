//! What the servers of this package share.

pub mod websocket;
pub mod sse;
pub mod upload;
