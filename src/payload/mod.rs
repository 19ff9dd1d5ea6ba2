//! Payloads of protocols: text in WebSocket messages, HTTP bodies and server-sent events, decoded as it
//! arrives.

#[cfg(feature = "http-body")]
pub mod http;
// Events share their ID in an `Arc`.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
pub mod sse;
#[cfg(feature = "bytes")]
pub mod websocket;
