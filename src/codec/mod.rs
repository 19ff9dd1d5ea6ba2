//! Codecs for tokio-util's [`FramedRead`], [`FramedWrite`] and [`Framed`].
//!
//! | codec | decodes to | what is ill-formed | encodes |
//! | --- | --- | --- | --- |
//! | [`Utf8Codec`] | [`ByteString`], a run of whole characters | ends the stream, or is repaired | `T: AsRef<str>` |
//! | [`Utf8ChunksCodec`] | [`Utf8Chunk`], text and errors, lossless | is an item | [`Utf8Chunk`] |
//! | [`Utf8LinesCodec`] | `Result<`[`Line`]`, `[`LineError`]`>` | is an item, or is repaired | `T: AsRef<str>` |
//! | [`CharCodec`] | `char` | ends the stream, or is repaired | `char`, `&[char]` |
//! | [`DialectCodec`] | [`DialectItem`], text or a code point of a [dialect](crate::dialect) | ends the stream, or is repaired | `T: AsRef<str>`, [`DialectItem`] |
//! | [`JavaUtfCodec`] | `Result<`[`ByteString`]`, _>`, strings of Java's `writeUTF` | is an item, or is repaired | `T: AsRef<str>` |
//!
//! What is not finished stays in the buffer they are given, so that `into_parts()` loses nothing: at
//! most three bytes (in a dialect five), or, with the lines codec, the line, and with Java's, the
//! string.
//!
//! # What `FramedRead` makes of an error
//!
//! `FramedRead` calls a codec in this loop: `decode` until it gives `None`, then one read, and so
//! on; at the end of the input `decode_eof` until it gives `None`. When a call gives `Err`, the
//! stream yields the error and then `None`, once. Polled again, it reads *before* it decodes: what
//! it already holds is not looked at until the peer sends more. After an `Err` from `decode_eof`
//! it never calls the codec again.
//!
//! So in [`ErrorMode::Fatal`](crate::ErrorMode::Fatal) an `Err` ends the stream for a user of
//! `FramedRead`: the text before it has been delivered, nothing behind it is promised. To go on,
//! choose another error mode, or a codec in which an error is an item. Called directly, a codec goes
//! on behind the ill-formed part whatever the mode.
//!
//! # Closing and flushing a `Framed`
//!
//! A codec that encodes more than one type leaves `framed.close()` and `framed.flush()` undecided
//! between them. Say which; `send`, `forward` and the sink half of `split()` know by themselves:
//!
//! ```
//! use futures::{SinkExt, StreamExt};
//! use tokio_util::codec::Framed;
//! use utf8_codec::codec::Utf8LinesCodec;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let (client, server) = tokio::io::duplex(64);
//! let mut client = Framed::new(client, Utf8LinesCodec::new());
//! client.send("grüß dich").await?;
//! SinkExt::<&str>::close(&mut client).await?;
//!
//! let mut server = Framed::new(server, Utf8LinesCodec::new());
//! assert_eq!(server.next().await.unwrap()?.unwrap(), "grüß dich");
//! assert!(server.next().await.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! [`FramedRead`]: https://docs.rs/tokio-util/0.7/tokio_util/codec/struct.FramedRead.html
//! [`FramedWrite`]: https://docs.rs/tokio-util/0.7/tokio_util/codec/struct.FramedWrite.html
//! [`Framed`]: https://docs.rs/tokio-util/0.7/tokio_util/codec/struct.Framed.html
//! [`ByteString`]: bytestring::ByteString

mod char_codec;
mod chunks_codec;
mod error;
mod lines_codec;
mod utf8_codec;

pub use char_codec::CharCodec;
pub use chunks_codec::{Utf8Chunk, Utf8ChunksCodec};
pub use error::CodecError;
pub use lines_codec::Utf8LinesCodec;
pub use utf8_codec::Utf8Codec;
