//! Payloads of protocols: text that comes in messages and bodies, validated as it arrives.

pub mod websocket;
pub mod http;
