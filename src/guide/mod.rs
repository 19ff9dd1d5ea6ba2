//! A guide in short pages: one question each, with snippets that are run as tests.
//!
//! | to do this | read |
//! | --- | --- |
//! | replace `String::from_utf8_lossy` in a loop | [`lossy_in_a_loop`] |
//! | read and write text on a socket, or read the output of a child process | [`sockets`] |
//! | read the body of an HTTP message | [`http`] |
//! | receive WebSocket messages | [`websocket`] |
//! | follow server-sent events, or the tokens of a language model | [`events`] |
//! | move from the crate `eventsource-stream` | [`eventsource_stream`] |
//! | read lines, coming from `LinesCodec` or `BufRead::lines` | [`lines`] |
//! | serve newline-delimited JSON, or JSON-RPC over standard input | [`json_lines`] |
//! | decode the input or the output of a terminal | [`terminals`] |
//! | read files, also those in a legacy encoding | [`files`] |
//! | use a `std::io::Read`, without an async runtime | [`blocking`] |
//! | build for a target without `std`, or for WebAssembly | [`no_std`] |
//! | decide what happens to errors | [`errors`] |
//! | know what a layer costs in time and memory | [`costs`] |
//! | follow the rules of a protocol | [`protocols`] |
//! | validate documents or columns in a library | the page of [utf8-simd](https://docs.rs/utf8-simd), which has the cost of short strings |
//!
//! The module contains documentation only. The [crate page](crate#choosing-a-type) has a table of the types.
//!
//! # Vocabulary
//!
//! | word | meaning |
//! | --- | --- |
//! | chunk | the input of one call; it can end inside a character |
//! | piece | a run of text, or one error |
//! | sequence | the bytes of one character |
//! | well-formed, ill-formed | valid, invalid as UTF-8 (the Unicode Standard, section 3.9) |
//! | incomplete | a prefix of a character, which more bytes can complete; `ED A0` is not incomplete but ill-formed |
//! | maximal subpart | the bytes of one error: the longest prefix of a well-formed sequence, or else one byte (Unicode 3.9, WHATWG) |
//! | offset | a number of bytes from the start of the stream; BOM and skipped bytes count |
//! | hold | to keep incomplete bytes, because the next byte decides |
//! | reject | to report input as an error, and not as text. Well-formed input can be rejected too ([`Utf8Options::reject_nul`](crate::Utf8Options::reject_nul) and others, [`BomPolicy::Forbid`](crate::BomPolicy::Forbid), limits) |
//! | error mode | what replaces an error; [`Fatal`](crate::ErrorMode::Fatal) replaces nothing, the others are *lossy* |
//! | repair | the text that replaces one error |
//! | unpaired surrogate | a UTF-16 unit from D800 to DFFF without its other half |
//! | dialect | an encoding that resembles UTF-8: CESU-8, Modified UTF-8, WTF-8 and others |
//! | fallback | a legacy encoding that decodes input that is not UTF-8 |
//!
//! # Dependencies
//!
//! Without the features that its snippets need, a page is empty. The snippets use these dependencies, those for axum and
//! tower also `axum-core` 0.5 and the features of these names. Those that await run in an `async fn main` that is not shown:
//!
//! ```toml
//! utf8-codec = { version = "0.1", features = ["http-body"] }
//! bytes = "1"
//! futures = "0.3"
//! http = "1"
//! http-body = "1"
//! http-body-util = "0.1"
//! serde_json = "1"
//! tokio = { version = "1", features = ["io-util", "macros", "net", "process", "rt-multi-thread", "time"] }
//! tokio-util = { version = "0.7", features = ["codec", "io"] }
//! ```

/// `from_utf8_lossy` in a loop: the bug, and the fix in one line.
///
#[cfg_attr(all(feature = "codec", feature = "stream"), doc = include_str!("lossy_in_a_loop.md"))]
pub mod lossy_in_a_loop {}

/// Sockets: text over TCP, read and written.
///
#[cfg_attr(all(feature = "codec", feature = "stream"), doc = include_str!("sockets.md"))]
pub mod sockets {}

/// HTTP bodies: the text of a request or a response, whole or as it arrives.
///
#[cfg_attr(feature = "http-body", doc = include_str!("http.md"))]
pub mod http {}

/// WebSocket: messages that are validated while they arrive.
///
#[cfg_attr(feature = "codec", doc = include_str!("websocket.md"))]
pub mod websocket {}

/// Events: server-sent events and token streams.
///
#[cfg_attr(feature = "stream", doc = include_str!("events.md"))]
pub mod events {}

/// Coming from `eventsource-stream`: one import, and what differs.
///
#[cfg_attr(feature = "stream", doc = include_str!("eventsource_stream.md"))]
#[cfg_attr(not(feature = "stream"), doc = "This page needs the feature `stream`.")]
pub mod eventsource_stream {}

/// Lines: coming from `LinesCodec`, `AnyDelimiterCodec` or `BufRead::lines`.
///
#[cfg_attr(all(feature = "codec", feature = "stream"), doc = include_str!("lines.md"))]
pub mod lines {}

/// JSON lines: newline-delimited JSON, and JSON-RPC over standard input.
///
#[cfg_attr(all(feature = "codec", feature = "stream"), doc = include_str!("json_lines.md"))]
pub mod json_lines {}

/// Terminals: escapes, legacy encodings and input in pieces.
///
#[cfg_attr(feature = "alloc", doc = include_str!("terminals.md"))]
pub mod terminals {}

/// Files: a BOM, UTF-16 and legacy encodings.
///
#[cfg_attr(all(feature = "codec", feature = "stream"), doc = include_str!("files.md"))]
pub mod files {}

/// Blocking code: text from a `std::io::Read` and to a `Write`, without a runtime.
///
#[cfg_attr(feature = "std", doc = include_str!("blocking.md"))]
pub mod blocking {}

/// `no_std` and WebAssembly: the core without an allocator.
///
#[doc = include_str!("no_std.md")]
pub mod no_std {}

/// Errors: modes, options and limits.
///
#[cfg_attr(all(feature = "codec", feature = "stream"), doc = include_str!("errors.md"))]
pub mod errors {}

/// Costs: what each layer adds.
///
#[cfg_attr(all(feature = "codec", feature = "stream"), doc = include_str!("costs.md"))]
#[doc = "\n\n# Throughput of decoding a stream, by script and size of chunk\n"]
#[doc = include_str!("../../benches/charts/streaming-avx512.svg")]
pub mod costs {}

/// Protocols: what the standards require of text, and the settings that follow them.
///
#[cfg_attr(all(feature = "codec", feature = "stream"), doc = include_str!("protocols.md"))]
pub mod protocols {}
