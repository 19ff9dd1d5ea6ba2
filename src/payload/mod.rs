//! Payloads of protocols: text that comes in messages and bodies, validated as it arrives.

#[cfg(feature = "http-body")]
pub mod http;
pub mod websocket;
