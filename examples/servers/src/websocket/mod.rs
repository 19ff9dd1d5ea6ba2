//! A WebSocket echo server (RFC 6455) that validates text as it arrives.
//!
//! hyper does HTTP, and [`handshake`] the upgrade. [`reader`] parses headers with the crate's `FrameHeader` and
//! pushes frames into its `MessageAssembler` in pieces, as they arrive, and [`connection`] answers. [`client`]
//! and [`self_test`] check the server.

pub mod client;
pub mod connection;
pub mod handshake;
pub mod reader;
pub mod self_test;
mod server;

pub use connection::Timeouts;
pub use server::{MAX_CONNECTIONS, Report, Server};
