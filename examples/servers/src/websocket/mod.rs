//! A WebSocket echo server (RFC 6455) that validates text as it arrives.
//!
//! hyper does HTTP, and [`accept`] the upgrade. [`reader`] parses headers with the crate's `FrameHeader` and
//! pushes frames into its `MessageAssembler` in pieces, as they arrive, and [`connection`] answers. [`client`]
//! checks the server.

pub mod client;
pub mod connection;
pub mod reader;
mod server;

pub use connection::Timeouts;
pub use server::{HandshakeError, MAX_CONNECTIONS, Report, Server, accept, offer_upgrade};
