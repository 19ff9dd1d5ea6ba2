//! Text, `char`s and lines from streams of chunks and from readers; text to writers.
//!
//! | from | use | to |
//! | --- | --- | --- |
//! | a `Stream` of `Result<Bytes, E>`, `Vec<u8>` and others | [`Utf8Stream::new`] or [`utf8()`](Utf8StreamExt::utf8) | `Result<`[`ByteString`]`, `[`StreamError`]`<E>>` |
//! | an `AsyncRead` | [`Utf8Stream::from_reader`] | the same, with [`io::Error`] for `E` |
//! | an `AsyncRead` | [`Utf8Reader`] | a borrowed `&str`: the fastest way |
//! | an `AsyncRead` in another charset, or of a file that may begin with a BOM of UTF-16 | [`CharsetReader`] | an `AsyncRead`, for a [`Utf8Reader`] or [`Utf8Stream`] |
//! | a [`Utf8Reader`] | [`into_byte_reader()`](Utf8Reader::into_byte_reader) | an `AsyncBufRead` of well-formed UTF-8 |
//! | a [`Utf8Stream`] | [`chars()`](Utf8Stream::chars) | `char`s with offsets, one by one or in blocks |
//! | a [`Utf8Stream`] or [`Utf8Reader`] | [`lines()`](Utf8Stream::lines), [`into_lines()`](Utf8Reader::into_lines) | lines, each with number and offset |
//! | a [`Utf8Stream`] | [`events()`](Utf8Stream::events) | [server-sent events](crate::sse) |
//! | a function that connects | [`EventSource`] | server-sent events of one connection after another |
//! | a [`Utf8Stream`] that may not be UTF-8 | [`with_fallback`](Utf8Stream::with_fallback) | text, partly from a legacy encoding |
//! | a [`Utf8Stream`] or [`Utf8Reader`] | [`collect_text`](Utf8Stream::collect_text) | one `String` of limited length |
//! | a `Stream` of `Result<String, E>` and others | [`text_lines()`](Utf8StreamExt::text_lines) | lines |
//! | text, `char`s, UTF-16 units | [`Utf8Writer`] | an `AsyncWrite` |
//!
//! HTTP bodies, server-sent events, the tokens of a language model and channels between tasks are
//! streams of chunks. A chunk ends where the sender or the network split the data, so a character
//! can be split across two chunks.
//!
//! ```
//! use futures::{StreamExt, stream};
//! use utf8_codec::stream::{StreamError, Utf8StreamExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let body = stream::iter([&b"5 \xE2\x82"[..], b"\xAC, \xFF", b"6 \xC2\xA3"].map(Ok::<_, ()>));
//! let mut texts = body.utf8();
//! let (mut text, mut errors) = (String::new(), Vec::new());
//! while let Some(item) = texts.next().await {
//!     match item {
//!         Ok(piece) => text.push_str(&piece),
//!         Err(StreamError::Utf8(error)) => errors.push(error.valid_up_to()),
//!         Err(error) => panic!("{error:?}"), // the source failed
//!     }
//! }
//! assert_eq!(text, "5 €, 6 £");
//! assert_eq!(errors, [7]);
//! # }
//! ```
//!
//! # Errors are items
//!
//! An error does not end the stream, unlike with `FramedRead` (see the module `codec`): decoding
//! resumes with the next item. There is no `None` in between, and the stream does not wait for more
//! input. To stop at the first error, use `try_next().await?`.
//!
//! # If your code panics
//!
//! If a reader, stream, writer, body or conversion that you pass to this crate panics, the panic propagates.
//! You can continue to use the object: received bytes are kept, and the text of an interrupted write was
//! taken whole or not at all. Only a chunk whose conversion to `Bytes` panics is lost: text continues after it, and the line or
//! the event that it belongs to is not returned. A reader that reports bytes it did not read, or that replaces its `ReadBuf`,
//! causes an error or wrong text; the text is well-formed in any case.
//!
//! # Cooperative scheduling
//!
//! These streams, readers and writers return `Pending` when the inner one does, which has then registered
//! the waker. There is one other case. One poll uses the inner one several times if a chunk yields
//! nothing (an empty chunk, a part of one character, bytes that [`ErrorMode::Skip`](crate::ErrorMode::Skip)
//! skips), or if the whole text is collected. After 32 times the poll wakes the task and returns
//! `Pending`, so an always-ready source cannot starve other tasks, timeouts or the other branches of a
//! `select!`. If a read, write, flush or shutdown is [`Interrupted`](std::io::ErrorKind::Interrupted),
//! that is not an error: the poll does the same at once, and the next one repeats the call.
//!
//! # Readers and writers of futures-io
//!
//! The readers and writers take tokio's traits. For those of futures (`futures::io`, async-std, smol), use the
//! adaptor in tokio-util, with its feature `compat`:
//!
//! ```
//! use futures::io::{AllowStdIo, Cursor};
//! use tokio_util::compat::{FuturesAsyncReadCompatExt, FuturesAsyncWriteCompatExt};
//! use utf8_codec::stream::{Utf8Reader, Utf8Writer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let source = Cursor::new("ta čtvrtá"); // a `futures::io::AsyncRead`
//! let mut reader = Utf8Reader::new(source.compat());
//! let mut writer = Utf8Writer::new(AllowStdIo::new(Vec::new()).compat_write());
//! while let Some(text) = reader.next_str().await? {
//!     writer.write_str(text).await?;
//! }
//! writer.flush().await?;
//! assert_eq!(writer.get_ref().get_ref().get_ref(), "ta čtvrtá".as_bytes());
//! # Ok(())
//! # }
//! ```
//!
//! [`ByteString`]: bytestring::ByteString
//! [`io::Error`]: std::io::Error

mod char_block;
mod char_stream;
mod event_source;
mod event_stream;
mod sources;
mod utf8_lines;
mod utf8_reader;
mod utf8_stream;
mod utf8_writer;

pub use crate::adaptor::charset_reader::CharsetReader;
pub use crate::adaptor::stream_error::StreamError;
pub use crate::adaptor::utf8_byte_reader::Utf8ByteReader;
pub use crate::adaptor::utf8_lines::Utf8Lines;
pub use char_stream::{CharPositions, CharStream};
pub use event_source::{Attempt, EventResponse, EventSource, EventSourceError};
pub use event_stream::EventItems;
pub use sources::{
    ChunkStream, Eventsource, ReaderChunks, TextChunks, TextItem, TextItems, Utf8StreamExt,
};
pub use utf8_lines::LineSource;
pub use utf8_reader::Utf8Reader;
pub use utf8_stream::Utf8Stream;
pub use utf8_writer::Utf8Writer;
