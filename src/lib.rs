//! Incremental UTF-8 decoding and encoding for async network code.
//!
//! A network delivers bytes in chunks, and a chunk can end inside a character. Decoding each chunk alone
//! fails: [`str::from_utf8`] rejects valid text, and [`String::from_utf8_lossy`] turns the halves of a
//! split character into U+FFFD. Collecting the whole stream first costs memory and delay.
//!
//! The types of this crate hold the one to three bytes of a split character until the rest arrives. They
//! return all other text immediately, and report every error with its offset in the stream.
//!
//! ```
//! use utf8_codec::Utf8Decoder;
//!
//! let mut decoder = Utf8Decoder::new();
//! let (mut text, mut errors) = (String::new(), Vec::new());
//!
//! // The euro sign is E2 82 AC: these chunks split it. FF never occurs in UTF-8.
//! for chunk in [&b"10 \xE2\x82"[..], b"\xAC or \xFF$12"] {
//!     for piece in decoder.push(chunk) {
//!         match piece {
//!             Ok(piece) => text.push_str(piece),
//!             Err(error) => errors.push(error.valid_up_to()),
//!         }
//!     }
//! }
//! assert!(decoder.finish().is_ok());
//! assert_eq!(text, "10 € or $12");
//! assert_eq!(errors, [10]);
//! ```
//!
//! # Choosing a type
//!
//! | from | to | use | feature |
//! | --- | --- | --- | --- |
//! | slices | borrowed text and errors | [`Utf8Decoder::push`] | none |
//! | slices | valid or not | [`Utf8Validator`] | none |
//! | slices | repaired text | [`Utf8Decoder::push_lossy`], [`push_to_string`](Utf8Decoder::push_to_string) | `alloc` |
//! | `AsyncRead` | borrowed text, `char`s, lines | [`stream::Utf8Reader`] | `stream` |
//! | `Read` | borrowed text, `char`s, lines | [`io::Utf8Reader`] | `std` |
//! | `Stream` or `AsyncRead` | text, lines | [`stream::Utf8Stream`] | `stream` |
//! | `Stream` or `AsyncRead` | `char`s | [`stream::CharStream`] | `stream` |
//! | `FramedRead` | text, `char`s | [`codec::Utf8Codec`], [`codec::CharCodec`] | `codec` |
//! | `FramedRead` | lines | [`codec::Utf8LinesCodec`] | `codec` |
//! | `FramedRead` | frames | [`codec::Utf8FramesCodec`] | `codec` |
//! | `FramedRead` | text and errors, all bytes | [`codec::Utf8ChunksCodec`] | `codec` |
//! | `FramedRead` | WebSocket messages | [`codec::MessageCodec`] | `codec` |
//! | WebSocket frames | headers, messages | [`websocket::FrameHeader`], [`MessageAssembler`](websocket::MessageAssembler) | `std` |
//! | HTTP body | text | [`http::Utf8Body`] | `http-body` |
//! | HTTP body | lines, `char`s | [`http::Utf8Body::into_lines`], `into_chars` | `http-body`, `stream` |
//! | slices | lines | [`lines::LineDecoder`] | `alloc` |
//! | slices | server-sent events, and back | [`sse::EventDecoder`], [`EventEncoder`](sse::EventEncoder) | `alloc` |
//! | `Stream` or `AsyncRead` | server-sent events | [`stream::Utf8Stream::events`] | `stream` |
//! | a function that connects | server-sent events | [`stream::EventSource`] | `stream` |
//! | text, `char`s, UTF-16 | `AsyncWrite` | [`stream::Utf8Writer`] | `stream` |
//! | text, `char`s, UTF-16 | `Write` | [`io::Utf8Writer`] | `std` |
//! | text | bytes with a BOM, of a dialect | [`Utf8Encoder`], [`dialect::DialectEncoder`] | none |
//! | `AsyncRead` in another charset | the same in UTF-8 | [`stream::CharsetReader`] | `stream` |
//! | `Read` in another charset | the same in UTF-8 | [`io::CharsetReader`] | `std` |
//! | bytes in UTF-8 or, undeclared, a legacy encoding | text | [`fallback::FallbackDecoder`] | `alloc` |
//! | the first bytes of a stream | its encoding | [`detect::Detector`] | none |
//!
//! For an `AsyncRead`, `Utf8Reader` is the fastest: it returns text borrowed from its buffer. A codec in `FramedRead`
//! or `Framed` returns owned items, and `Framed` also writes. `Utf8Stream` is for bytes that already arrive in
//! chunks, and for the combinators of `Stream`. It and `Utf8Reader` continue after errors.
//!
//! The modules [`dialect`] (CESU-8, Modified UTF-8, WTF-8 and others), [`utf16`], [`terminal`], [`search`]
//! and [`boundary`] are for special tasks.
//!
//! The [guide] has a page for each common task, from [sockets](guide::sockets), [HTTP bodies](guide::http),
//! [WebSocket](guide::websocket) and [event streams](guide::events) to [blocking code](guide::blocking), and
//! defines the words that this documentation uses.
//!
//! # Guarantees
//!
//! How the input is split into chunks never affects the result: the text, the errors and their offsets
//! are the same as if the input had arrived in one piece.
//!
//! - **Nothing is lost.** The text that precedes an error is delivered first, and decoding continues after it.
//! - **No added latency.** After each chunk, a decoder has returned all text and errors that the bytes so far
//!   determine. A UTF-8 decoder holds at most three bytes, and only while they can still become a character.
//!   Dialects and fallbacks hold more; their pages state how much.
//! - **Errors are exact.** Each has its offset in the stream, frame or message, its bytes and its kind, and the same
//!   extent as in `str::from_utf8` and the WHATWG Encoding Standard: one to three bytes, a maximal subpart.
//!   A character that the options reject is one error.
//! - **Memory is bounded.** All that accumulates has a limit, on by default.
//! - **Cancellation is safe.** Dropping a future loses no received data, except that of `collect_text`, which
//!   returns all or nothing.
//! - **No input causes a panic.**
//!
//! Exceptions to *nothing is lost*: a rejected line, frame, Java string or server-sent event is dropped, with its text
//! before the error; the next one follows. `FramedRead` ends a stream at the first `Err` of its codec. A
//! `MessageAssembler` returns errors until `reset`. A `Utf8Body` ends when its limit is exceeded or the inner body fails.
//!
//! [`BomPolicy`] chooses what a leading BOM means; by default it is text. [`ErrorMode`] chooses what happens
//! at an error: it is reported (the default), or replaced, skipped, escaped, or decoded as Latin-1 or
//! windows-1252. [`Utf8Options`] can also reject noncharacters or control characters.
//! The crate does not normalise or segment text, open sockets, start tasks or use timers.
//!
//! # Features
//!
//! `std`, `codec` and `stream` are on by default. A feature adds API. None changes a result, except that
//! `encoding_rs` decodes charsets that are rejected without it.
//!
//! | feature | adds | its own dependencies |
//! | --- | --- | --- |
//! | (none) | validator, decoder, encoder, dialects, UTF-16, detection; `no_std`, no allocator | none |
//! | `alloc` | `String` and `Vec`, lines, search, fallback to legacy encodings, server-sent events | memchr, thiserror |
//! | `std` | blocking readers and writers, `Bytes` to `ByteString` without copying, WebSocket messages, conversion into [`std::io::Error`], vector instructions detected at run time; includes `alloc` | bytes, bytestring, pin-project-lite |
//! | `codec` | codecs for tokio-util; includes `std` | tokio-util |
//! | `stream` | streams, readers and writers; includes `std` | futures, tokio |
//! | `http-body` | HTTP bodies; includes `std` | http, http-body, http-body-util |
//! | `axum` | extractors and responses; includes `http-body` | axum-core |
//! | `tower` | a layer for requests, and a check of responses; includes `http-body` | tower-layer, tower-service |
//! | `encoding_rs` | the other charsets of the Web, for HTTP bodies and fallback; includes `alloc` | encoding_rs |
//! | `serde` | `Serialize` and `Deserialize` for options, modes, positions and errors; includes `alloc` | serde |
//! | `chardetng` | a guess of the legacy encoding in `detect`; includes `encoding_rs` | chardetng |
//!
//! # Minimum supported Rust version
//!
//! Rust 1.89. A higher version is required only in a new minor version, and is noted in the changelog.
//!
#![cfg_attr(not(feature = "http-body"), doc = "[`http::Utf8Body`]: #features")]
#![cfg_attr(not(feature = "http-body"), doc = "[`http::Utf8Body::into_lines`]: #features")]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// What one feature alone needs is compiled in every build; what no feature needs, the build with all of them reports.
#![cfg_attr(
    not(all(
        feature = "codec",
        feature = "encoding_rs",
        feature = "serde",
        feature = "stream",
        feature = "tower"
    )),
    allow(dead_code, unreachable_pub, unused_imports, unused_variables)
)]
#![forbid(unsafe_code)]
// An example that someone copies gives no warning. `allow` is what rustdoc sets without attributes.
#![doc(test(attr(allow(unused), deny(unused_must_use))))]

#[cfg(feature = "alloc")]
extern crate alloc;

// On docs.rs, which has all features, what a private module needs is not shown beside what its items need.
#[cfg_attr(not(docsrs), cfg(feature = "std"))]
mod adaptor;
#[cfg(feature = "codec")]
pub mod codec;
pub mod decoder;
pub mod detect;
pub mod dialect;
#[cfg(feature = "alloc")]
pub mod fallback;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(feature = "http-body")]
pub mod http;
#[cfg(feature = "std")]
pub mod io;
// Delimiters, needles and the IDs of events are in an `Arc`.
#[cfg(feature = "alloc")]
#[cfg_attr(not(docsrs), cfg(target_has_atomic = "ptr"))]
pub mod lines;
#[cfg(feature = "alloc")]
#[cfg_attr(not(docsrs), cfg(target_has_atomic = "ptr"))]
pub mod search;
#[cfg(feature = "alloc")]
#[cfg_attr(not(docsrs), cfg(target_has_atomic = "ptr"))]
pub mod sse;
#[cfg(feature = "stream")]
pub mod stream;
pub mod terminal;
pub mod utf16;
#[cfg(feature = "std")]
pub mod websocket;

#[cfg(feature = "std")]
pub use bytestring::ByteString;

#[cfg(feature = "codec")]
#[doc(no_inline)]
pub use codec::{Utf8Codec, Utf8LinesCodec};
#[cfg(feature = "std")]
#[doc(no_inline)]
pub use lines::{Line, LineError};

pub use decoder::bom::BomPolicy;
pub use decoder::boundary;
pub use decoder::encoder::Utf8Encoder;
pub use decoder::error::{ParseNameError, Utf8Error, Utf8ErrorKind};
pub use decoder::mode::ErrorMode;
pub use decoder::options::Utf8Options;
pub use decoder::position::TextPosition;
pub use decoder::slices::from_utf8;
#[cfg(feature = "std")]
pub use decoder::slices::from_utf8_bytes;
#[cfg(feature = "alloc")]
pub use decoder::slices::from_utf8_lossy;
pub use decoder::utf8_decoder::Utf8Decoder;
pub use decoder::validator::Utf8Validator;
#[doc(inline)]
pub use utf8_simd::count_chars;

/// The examples of the README, run as doctests.
#[cfg(all(doctest, feature = "codec", feature = "http-body", feature = "stream"))]
#[doc = include_str!("../README.md")]
struct Readme;
