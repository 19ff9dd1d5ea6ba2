//! What the servers of this package share.

pub mod sse;
pub mod upload;
pub mod websocket;
