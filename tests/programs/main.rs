//! The examples, run as processes.

mod chat;
mod check;
mod grep;
mod json_rpc;
mod lexer;
#[cfg(feature = "lines")]
#[path = "../support/program.rs"]
mod program;
mod transcode;
