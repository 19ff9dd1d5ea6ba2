//! The examples, run as processes.

mod chat;
mod check;
mod lexer;
#[cfg(any(feature = "codec", feature = "stream"))]
#[path = "../support/program.rs"]
mod program;
mod transcode;
