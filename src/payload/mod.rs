//! Payloads of protocols: text in WebSocket messages, HTTP bodies and server-sent events, decoded as it
//! arrives.

#[cfg(feature = "http-body")]
pub mod http;
#[cfg(feature = "alloc")]
pub mod sse;
#[cfg(feature = "bytes")]
pub mod websocket;
