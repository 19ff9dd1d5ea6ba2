//! HTTP and WebSocket examples of utf8-codec, which need an HTTP stack.
//!
//! | program | shows | code |
//! | --- | --- | --- |
//! | `http_upload` | uploads of any size as text, in constant memory | [`upload`] |
//! | `websocket_echo` | a WebSocket server on hyper that validates text as it arrives | [`websocket`] |
//! | `http_text` | handlers of axum that take text, with extractors and a layer | [`text`] |
//! | `upgrade_echo` | a WebSocket server in a few lines, on hyper's upgrade | `src/bin/upgrade_echo.rs` |
//! | `sse_client` | a client of server-sent events | [`sse`] |
//! | `sse_chat` | a chat over server-sent events, whose connection is cut in the middle of a character | `src/bin/sse_chat.rs` |
//!
//! [`socket`] has the limits that both servers set on their sockets. [`drain`] and [`drained_body`] let a client receive
//! an early answer.
//!
//! `cargo run --release -p servers --bin http_upload` runs one of them; `-- --help` lists its options.

#[path = "../../support/drain.rs"]
pub mod drain;
pub mod drained_body;
#[path = "../../support/output.rs"]
mod output;
pub mod socket;
pub mod sse;
pub mod text;
pub mod upload;
pub mod websocket;
