//! Payloads of protocols: text in WebSocket messages and HTTP bodies, validated as it arrives.

#[cfg(feature = "http-body")]
pub mod http;
pub mod websocket;
