//! Turns a stream of bytes, cut anywhere into chunks, into UTF-8 text, and says exactly what is
//! ill-formed and where.
//!
//! Bytes come from sockets, files, message bodies and pipes in chunks whose ends mean nothing: a
//! chunk may end in the middle of a character. Calling [`str::from_utf8`] on each chunk refuses
//! good text, [`String::from_utf8_lossy`] damages it, and waiting for the end of the stream takes
//! memory without bound. This crate keeps the one to three bytes of an unfinished character until
//! the rest arrives, hands on everything before them at once, and counts offsets from the first
//! byte of the stream.
//!
//! The euro sign is `E2 82 AC`. Here it comes in two chunks, and a byte that is not UTF-8 follows
//! it:
//!
//! ```
//! let mut decoder = utf8_codec::Utf8Decoder::new();
//! let mut text = String::new();
//! for chunk in [&b"10 \xE2\x82"[..], b"\xAC or \xFF"] {
//!     decoder.push(chunk).for_each(|piece| text.push_str(piece.unwrap_or("\u{FFFD}")));
//! }
//! assert_eq!((&*text, decoder.finish()), ("10 € or \u{FFFD}", Ok(())));
//! ```
//!
//! The core does no input or output: slices go in, text and errors come out. The module [`codec`]
//! puts it behind tokio-util's `FramedRead`, `FramedWrite` and `Framed`. In this example a peer
//! sends three lines, five bytes at a time, and the second is Latin-1. The refused line is an item
//! like the others, and the next line is neither lost nor late:
//!
//! ```
//! # #[cfg(not(feature = "codec"))]
//! # fn main() {}
//! # #[cfg(feature = "codec")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! use futures::StreamExt;
//! use tokio::io::AsyncWriteExt;
//! use tokio_util::codec::FramedRead;
//! use utf8_codec::codec::Utf8LinesCodec;
//!
//! let (mut peer, socket) = tokio::io::duplex(5);
//! tokio::spawn(async move { peer.write_all(b"caf\xC3\xA9\ncaf\xE9\ntea\n").await });
//!
//! let mut lines = FramedRead::new(socket, Utf8LinesCodec::new());
//! let mut seen = Vec::new();
//! while let Some(line) = lines.next().await {
//!     seen.push(match line? {
//!         Ok(line) => line.to_string(),
//!         Err(error) => error.to_string(),
//!     });
//! }
//! assert_eq!(seen, ["café", "line 2, from byte 6 on, is not acceptable utf-8", "tea"]);
//! # Ok(())
//! # }
//! ```
//!
//! Where the bytes are chunks already, a `Stream` of `Bytes` as HTTP bodies and channels are, or
//! where decoding has to go on behind an error, there is the module [`stream`].
//!
//! # Chunking never shows
//!
//! That is the law of the crate: for any input, cut anywhere, empty chunks and single bytes
//! included, the joined text, the errors, their offsets and the verdict are those of the whole
//! input. Only how the text is divided into pieces may depend on the cuts. It follows that
//!
//! - text before an error is delivered before it, and decoding goes on behind it as if it had not
//!   been there;
//! - after each chunk, everything that the bytes so far determine is out;
//! - an error is reported by the call that brings the first impossible byte, not at the end of a
//!   line, message or buffer; that byte starts the next sequence;
//! - one error covers one maximal subpart, one to three bytes, as in [`str::from_utf8`] and
//!   in the WHATWG Encoding Standard;
//! - an empty chunk changes nothing;
//! - `finish` turns an unfinished character at the end into one error, once. Nothing happens in
//!   `Drop`;
//! - every object can be used after an error, and after `reset` for another stream.
//!
//! ```
//! use utf8_codec::Utf8Decoder;
//!
//! let stream = b"\xF0\x9F\x91\x8B, \xED\xA0\x80 \xE2\x82";
//! let outcome = |size| {
//!     let (mut decoder, mut text, mut errors) = (Utf8Decoder::new(), String::new(), Vec::new());
//!     for chunk in stream.chunks(size) {
//!         for piece in decoder.push(chunk) {
//!             match piece {
//!                 Ok(piece) => text.push_str(piece),
//!                 Err(error) => errors.push(error.to_string()),
//!             }
//!         }
//!     }
//!     errors.extend(decoder.finish().err().map(|error| error.to_string()));
//!     (text, errors)
//! };
//! for size in 1..=stream.len() {
//!     assert_eq!(outcome(size), outcome(stream.len()));
//! }
//! assert_eq!(outcome(1).0, "👋,  ");
//! assert_eq!(outcome(1).1[0], "ill-formed utf-8 at byte 6: surrogate (ed, then a0)");
//! assert_eq!(outcome(1).1[3], "ill-formed utf-8 at byte 10: incomplete (e2 82, then the end)");
//! ```
//!
//! # Which object to take
//!
//! | from | to | take | feature |
//! | --- | --- | --- | --- |
//! | slices | a verdict | [`Utf8Validator`] | |
//! | slices | borrowed text, and errors | [`Utf8Decoder::push`] | |
//! | slices | a buffer of fixed size, repaired | [`Utf8Decoder::push_to_slice`] | |
//! | slices | `char`s or UTF-16 in a buffer, repaired | [`Utf8Decoder::push_to_chars`], [`push_to_utf16`](Utf8Decoder::push_to_utf16) | |
//! | slices | a `String`, repaired | [`Utf8Decoder::push_to_string`] | `alloc` |
//! | `Bytes` | owned text without copying, and errors | [`Utf8Decoder::push_bytes`] | `bytes` |
//! | a reader | text as it comes | [`codec::Utf8Codec`] | `codec` |
//! | a reader | text and errors, every byte in one of them | [`codec::Utf8ChunksCodec`] | `codec` |
//! | a reader | lines | [`codec::Utf8LinesCodec`] | `codec` |
//! | a reader | `char`s | [`codec::CharCodec`] | `codec` |
//! | a reader | borrowed text, and errors | [`stream::Utf8Reader`] | `stream` |
//! | a `Stream` of chunks, or a reader | text and errors as they come | [`stream::Utf8Stream`] | `stream` |
//! | the same | `char`s with their offsets | [`stream::CharStream`] | `stream` |
//! | the same | lines | [`stream::Utf8Lines`] | `stream` |
//! | the same | one `String` of limited length | [`stream::Utf8Stream::collect_text`] | `stream` |
//! | frames of a WebSocket | messages, validated as they arrive | [`payload::websocket::MessageAssembler`] | `bytes` |
//! | the body of an HTTP message | text as it comes, or one `String` | [`payload::http::Utf8Body`] | `http-body` |
//! | slices, not all of them UTF-8 | a `String`, some of it from a legacy encoding | [`fallback::FallbackDecoder`] | `alloc` |
//! | the same, read or in a `Stream` | text | `with_fallback` of [`codec::Utf8Codec`], [`codec::Utf8LinesCodec`], [`stream::Utf8Stream`] | `codec`, `stream` |
//! | slices | what they are: ASCII, UTF-8, UTF-16, legacy, binary | [`detect::Detector`] | |
//! | the same | a guess which legacy encoding | `detect::LegacyGuesser` | `chardetng` |
//! | slices from a terminal | borrowed text, in Latin-1 or UTF-8 by its escapes | [`terminal::TerminalDecoder`] | |
//! | any bytes | where characters begin | [`boundary`] | |
//! | text in pieces | the offsets of a text | [`search::TextFinder`] | `codec` or `stream` |
//! | text, `char`s | bytes, with a signature if wanted | [`Utf8Encoder`] | |
//! | UTF-16 units | a `String`, or a buffer of fixed size, lone surrogates repaired | [`utf16::Utf16Decoder`] | (`alloc`) |
//! | text | pieces of at most n bytes | [`boundary::at_most`] | |
//! | slices in a [dialect] | code points, or text | [`dialect::DialectDecoder`] | |
//! | code points, UTF-16 units, text | bytes in a dialect | [`dialect::DialectEncoder`] | |
//! | a reader or writer in a dialect | text and code points | [`dialect::DialectCodec`], [`dialect::JavaUtfCodec`] | `codec` |
//! | text, lines, `char`s | a writer | the same codecs | `codec` |
//! | text, `char`s, UTF-16 units, mixed | a writer, without copying what is long | [`stream::Utf8Writer`] | `stream` |
//!
//! # The signature (byte order mark)
//!
//! What an initial U+FEFF means is a matter of the protocol, so it is chosen: [`BomPolicy`].
//!
//! - [`Keep`](BomPolicy::Keep), the default: it is text.
//! - [`Strip`](BomPolicy::Strip): it is removed and remembered.
//! - [`Require`](BomPolicy::Require): as `Strip`, and its absence is an error.
//! - [`Forbid`](BomPolicy::Forbid): it is an error.
//!
//! It is looked for at the very start of a stream only, in however many chunks it comes, and no
//! byte is held back that cannot belong to it. Encoders write a signature only if asked, once.
//!
//! [`Utf8Options`] holds the policy; whether noncharacters, NUL or control characters are refused
//! ([`Strictness`], off by default); and whether the stream is joined in the middle of a character
//! ([`Utf8Options::with_mid_stream_start`]).
//!
//! # What becomes of ill-formed parts
//!
//! [`Utf8Validator`] and [`Utf8Decoder::push`] always report them. Everything else takes an
//! [`ErrorMode`]: [`Fatal`](ErrorMode::Fatal), the default, reports; the other modes put text in
//! their place and go on. [`Replacement`](ErrorMode::Replacement) puts U+FFFD for each maximal
//! subpart, [`Skip`](ErrorMode::Skip) nothing, [`Escape`](ErrorMode::Escape) `\xHH` for each byte,
//! [`Latin1`](ErrorMode::Latin1) and [`Windows1252`](ErrorMode::Windows1252) the character that
//! each byte is there. Repairs can be observed:
//! `error_count()` and `first_error()` of the decoder, which every adaptor returns.
//!
//! An [`Utf8Error`] tells the offset in the stream, the length, the bytes, the byte that broke the
//! sequence and the [kind](Utf8ErrorKind): overlong form, surrogate, too large, truncated and
//! others.
//!
//! With `FramedRead` an error ends the stream, and that is `FramedRead`'s doing; the module
//! [`codec`] says how, and which codecs deliver errors as items instead. A
//! [`Utf8Stream`](stream::Utf8Stream) always does.
//!
//! # Relatives of UTF-8
//!
//! CESU-8, Java's Modified UTF-8, WTF-8, the six-byte forms of RFC 2279 and Python's
//! `surrogateescape` and `surrogatepass` are in the module [`dialect`], which nothing else reads:
//! `C0 80` and `ED A0 80` are errors wherever they have not been asked for by name.
//!
//! # Limits
//!
//! They are on by default:
//!
//! - A validator or a decoder holds three bytes at the most. Codecs leave those bytes in the read
//!   buffer that `FramedRead` owns, so that `into_parts` loses nothing. In a dialect it is five
//!   bytes.
//! - A line has 65,536 bytes (64 KiB) at the most, or what
//!   [`with_max_length`](codec::Utf8LinesCodec::with_max_length) says. A longer one is refused and
//!   passed over without being stored.
//! - [`codec::CharCodec`] may hold the rest of one repair, 16 bytes at the most.
//! - A [`stream::Utf8Stream`] holds one chunk at the most: of 8,192 bytes (8 KiB) where it has a
//!   reader. [`collect_text`](stream::Utf8Stream::collect_text) is told its limit.
//! - A [`stream::Utf8Writer`] holds 8,192 bytes (8 KiB), or what it is told, and one item besides;
//!   flushed, it has nothing on the heap. A [`utf16::Utf16Decoder`] holds one unit.
//! - A [`stream::Utf8Reader`] has a buffer of 8,192 bytes (8 KiB), and none while it is quiet. A
//!   [`stream::CharStream`] holds 2,048 `char`s (8 KiB) at the most besides its source, and 40 KiB
//!   where something was repaired.
//! - A WebSocket message has 16,777,216 bytes (16 MiB) at the most, or what
//!   [`with_max_length`](payload::websocket::MessageAssembler::with_max_length) says; a control frame 125.
//! - A [`payload::http::Utf8Body`] holds one frame at the most, and converts from another charset in
//!   blocks of 16 KiB. Its `collect_text` is told its limit.
//! - A [`fallback`] by lines holds 65,536 bytes (64 KiB) of a line and three more at the most, or what
//!   [`with_max_length`](fallback::Fallback::with_max_length) says, but six at least; in a lines codec,
//!   its line. Other fallbacks hold six bytes.
//! - A string for [`dialect::JavaUtfCodec`] has 65,535 bytes at the most, by its nature.
//! - A repaired text can be four times as long as the bytes it stands for ([`ErrorMode::Escape`]).
//!
//! Nothing else accumulates. Input from a peer never panics.
//!
//! # Cancel safety
//!
//! The core never waits, so there is nothing to cancel. A codec keeps no bytes in a future: when
//! the future of `next()` on a `FramedRead` is dropped before it is ready, as `tokio::select!`
//! does, the bytes received so far stay in the `FramedRead`, and the next call goes on with them.
//! Dropping the future of `send()` on a `FramedWrite` may lose the item if it had not been encoded
//! yet; it never leaves half a character in the write buffer. Nor does dropping the future of
//! `next()` on a [`Utf8Stream`](stream::Utf8Stream) lose anything, or that of a method of the other
//! objects in [`stream`], unless it says so. The futures of a [`Utf8Writer`](stream::Utf8Writer) have
//! taken a text whole, or, dropped before, not at all. A [`payload::http::Utf8Body`] loses nothing with
//! the future of a frame.
//!
//! # Features
//!
//! `std`, `codec` and `stream` are on by default. Enabling a feature adds names and changes no
//! behaviour.
//!
//! - **No feature at all:** the core on `core` alone, for `no_std` targets without an allocator.
//!   There are no dependencies: validator, decoder (borrowed, and into slices), encoder, dialects,
//!   UTF-16, detection, errors, options.
//! - **`alloc`:** decoding into a `String`, dialects to and from a `Vec`, and the module [`fallback`]. No dependencies.
//! - **`std`:** `alloc`, conversion of errors into [`std::io::Error`], and asking the machine at
//!   run time which vector instructions it has (otherwise those that the build was told of are
//!   used). No dependencies.
//! - **`bytes`:** `alloc`, decoding of `bytes::Bytes` into `bytestring::ByteString` without copying,
//!   and WebSocket messages in the module [`payload`]. Brings bytes and bytestring.
//! - **`codec`:** `std` and `bytes`, the modules [`codec`] and [`lines`], and [`search::TextFinder`]. Brings tokio-util (its
//!   codecs only), memchr and thiserror.
//! - **`stream`:** `std` and `bytes`, the modules [`stream`] and [`lines`], and [`search::TextFinder`]. Brings futures and
//!   tokio (none of their features), memchr, pin-project-lite and thiserror.
//! - **`http-body`:** `std` and `bytes`, and the module [`payload::http`]. Brings http, http-body,
//!   pin-project-lite and thiserror.
//! - **`encoding_rs`:** `alloc`, and the encodings of the WHATWG Encoding Standard for a
//!   [`fallback`] and, with `http-body`, for charsets. Brings encoding_rs.
//! - **`chardetng`:** `encoding_rs`, and guesses which legacy encoding a stream is in
//!   (`detect::LegacyGuesser`). Brings chardetng.
//!
//! # Minimum supported Rust version
//!
//! Rust 1.89. Raising it is a change of the minor version, noted in the changelog.
//!
#![cfg_attr(not(feature = "http-body"), doc = "[`payload::http`]: #features")]
#![cfg_attr(not(feature = "http-body"), doc = "[`payload::http::Utf8Body`]: #features")]
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(any(feature = "http-body", feature = "stream"))]
mod adaptor;
#[cfg(feature = "codec")]
pub mod codec;
mod core;
#[cfg(any(doc, doctest))]
pub mod guide;
#[allow(unsafe_code)]
mod kernel;
#[cfg(any(feature = "codec", feature = "stream"))]
pub mod lines;
#[cfg(feature = "bytes")]
pub mod payload;
mod relatives;
#[cfg(any(feature = "codec", feature = "stream"))]
pub mod search;
#[cfg(feature = "stream")]
pub mod stream;
#[allow(unsafe_code)]
mod unchecked;

#[cfg(feature = "bytes")]
pub use bytestring::ByteString;

pub use crate::core::bom::BomPolicy;
pub use crate::core::decoder::Utf8Decoder;
pub use crate::core::encoder::Utf8Encoder;
pub use crate::core::error::{Utf8Error, Utf8ErrorKind};
pub use crate::core::mode::ErrorMode;
pub use crate::core::options::Utf8Options;
pub use crate::core::strictness::Strictness;
pub use crate::core::validator::Utf8Validator;
pub use crate::core::{boundary, decoder};
#[cfg(feature = "alloc")]
pub use crate::relatives::fallback;
pub use crate::relatives::{detect, dialect, terminal, utf16};

/// The kernels, for the tests, benches and fuzz targets of this crate. No part of its API.
#[doc(hidden)]
pub mod __kernel {
    pub use crate::kernel::{BlockErrors, ErrorLen, Kernel, NulForm, Validated};
}

/// The examples of the README, compiled and run with the others.
#[cfg(all(doctest, feature = "codec", feature = "http-body"))]
#[doc = include_str!("../README.md")]
struct Readme;
