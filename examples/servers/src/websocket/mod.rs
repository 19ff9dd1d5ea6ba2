//! A WebSocket server that sends back what it gets (RFC 6455), with the text validated as it arrives.
//!
//! The HTTP part is hyper's. What remains is small: [`frame`] reads headers, [`reader`] gives frames to
//! the crate's `MessageAssembler` in the pieces in which they come, and [`connection`] answers.

pub mod client;
pub mod connection;
pub mod frame;
pub mod handshake;
pub mod reader;
pub mod self_test;
mod server;

pub use server::{Report, Server};
