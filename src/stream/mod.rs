//! Streams of chunks, and readers, to text, `char`s and lines; text to writers.
//!
//! | from | take | to |
//! | --- | --- | --- |
//! | a `Stream` of `Result<Bytes, E>`, `Vec<u8>` and the like | [`Utf8Stream::new`], or [`utf8()`](Utf8StreamExt::utf8) behind the stream | `Result<`[`ByteString`]`, `[`StreamError`]`<E>>` |
//! | an `AsyncRead` | [`Utf8Stream::from_reader`], or [`utf8_stream()`](Utf8ReadExt::utf8_stream) behind it | the same, `E` being [`io::Error`] |
//! | an `AsyncRead` | [`Utf8Reader`], or [`utf8_reader()`](Utf8ReadExt::utf8_reader) behind it | `&str`, lent: the fast form |
//! | an `AsyncRead` | the same, and [`into_byte_reader()`](Utf8Reader::into_byte_reader) | bytes that are text, for who takes an `AsyncBufRead` |
//! | any of these | [`utf8_chars()`](Utf8StreamExt::utf8_chars): [`CharStream`] | `char`s, with offsets, one by one or many at once |
//! | any of these | `utf8_lines()`: `Utf8Lines`, with the feature `codec` | lines, as `Utf8LinesCodec` gives them |
//! | a [`Utf8Stream`], some of it not UTF-8 | [`with_fallback`](Utf8Stream::with_fallback) | the same |
//! | a [`Utf8Stream`] | [`matches`](Utf8Stream::matches) | the places of a text |
//! | a [`Utf8Reader`] | [`find`](Utf8Reader::find) | the same, one by one, and the text behind each |
//! | any of these | [`collect_text`](Utf8Stream::collect_text) | one `String`, limited |
//! | a `Stream` of `Result<String, E>` and the like | [`text_chars()`](TextStreamExt::text_chars), `text_lines()`, [`collect_text`](TextStreamExt::collect_text) | `char`s, lines, one `String` |
//! | text, `char`s, UTF-16 units | [`Utf8Writer::new`], or [`utf8_writer()`](Utf8WriteExt::utf8_writer) behind the writer | an `AsyncWrite` |
//!
//! Bodies of HTTP messages, events from a server, tokens from a language model and channels between
//! tasks are such streams: the chunks come as they were sent or as the network cut them, and a
//! character may be in two of them.
//!
//! ```
//! use futures::{StreamExt, stream};
//! use utf8_codec::stream::Utf8StreamExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let body = stream::iter([&b"5 \xE2\x82"[..], b"\xAC, \xFF", b"6 \xC2\xA3"].map(Ok::<_, ()>));
//! let mut texts = body.utf8();
//! let (mut text, mut places) = (String::new(), Vec::new());
//! while let Some(item) = texts.next().await {
//!     match item {
//!         Ok(piece) => text.push_str(&piece),
//!         Err(_) => places.push(text.len()),
//!     }
//! }
//! assert_eq!(text, "5 €, 6 £");
//! assert_eq!(places, [7]);
//! # }
//! ```
//!
//! # An error is an item
//!
//! It does not end the stream, as it does that of a `FramedRead` (see the module `codec`): the next
//! item is what stands behind it, without a `None` between them and without waiting for more input.
//! Who wants to stop at an error stops, for example with `try_next().await?`.
//!
//! # Wakers and turns
//!
//! These streams are pending only when the stream or reader within is, which then has the waker;
//! with one exception. Chunks that yield nothing (empty ones, parts of one character, what
//! [`ErrorMode::Skip`](crate::ErrorMode::Skip) passes over) are answered with a further look at the
//! inner stream, 32 times in a row at the most. Then the task is woken at once and the stream is
//! pending, so that an inner stream that is always ready and never says anything leaves other
//! tasks, timeouts and the branches of a `select!` their turn, whatever the runtime.
//!
//! [`ByteString`]: bytestring::ByteString
//! [`io::Error`]: std::io::Error

mod block;
mod char_stream;
mod ext;
mod fallback;
mod find;
mod indices;
mod matches;
mod piece;
mod poll;
mod read;
mod source;
#[cfg(feature = "codec")]
mod utf8_lines;
mod utf8_stream;
mod write;

use std::io;

pub use char_stream::CharStream;
pub use ext::{TextStreamExt, Utf8ReadExt, Utf8StreamExt};
pub use fallback::FallbackStream;
pub use indices::CharIndexStream;
pub use matches::TextMatches;
pub use read::{ReaderChunks, Utf8ByteReader, Utf8Reader, Utf8ReaderParts};
pub use source::{TextSource, Texts};
#[cfg(feature = "codec")]
pub use utf8_lines::Utf8Lines;
pub use utf8_stream::Utf8Stream;
pub use write::{Utf8Item, Utf8WriteExt, Utf8Writer, Utf8WriterParts, WriteError};

use crate::adaptor::chunk::reserve;
use crate::core::error::Utf8Error;

/// What is not text in a stream of text. It is an item; the stream goes on behind it.
///
/// # Examples
///
/// ```
/// use futures::{StreamExt, stream};
/// use utf8_codec::stream::{StreamError, Utf8StreamExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut texts = stream::iter([Ok(&b"\xFF"[..]), Err("cut off"), Ok(b"!")]).utf8();
/// let error = texts.next().await.unwrap().unwrap_err();
/// assert!(matches!(error, StreamError::Utf8(error) if error.valid_up_to() == 0));
/// assert_eq!(texts.next().await, Some(Err(StreamError::Inner("cut off"))));
/// assert_eq!(texts.next().await, Some(Ok("!".into())));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError<E> {
    /// The bytes are not UTF-8, or what the options refuse. The bytes at fault are consumed; the
    /// next item is what stands behind them.
    #[error("the stream is not acceptable utf-8")]
    Utf8(#[from] Utf8Error),
    /// The inner stream, or the reader, failed. What is held of a character is kept: if the inner
    /// stream goes on, so does the text.
    #[error("the inner stream failed")]
    Inner(#[source] E),
}

/// What is not text in what an [`Utf8Reader`] reads. A further call goes on behind it.
///
/// # Examples
///
/// ```
/// use utf8_codec::stream::{ReadError, Utf8Reader};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut reader = Utf8Reader::new(&b"\xFF!"[..]);
/// let error = reader.next_str().await.unwrap_err();
/// assert!(matches!(error, ReadError::Utf8(error) if error.valid_up_to() == 0));
/// assert_eq!(reader.next_str().await.unwrap(), Some("!"));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes are not UTF-8, or what the options refuse. The bytes at fault are consumed; the
    /// next call gives what stands behind them.
    #[error("the stream is not acceptable utf-8")]
    Utf8(#[from] Utf8Error),
    /// Reading failed. What is held of a character is kept: the next call reads again.
    #[error("reading failed")]
    Io(#[from] io::Error),
}

/// What keeps a stream from becoming one text; see [`Utf8Stream::collect_text`].
///
/// # Examples
///
/// ```
/// use futures::stream;
/// use utf8_codec::stream::{CollectError, Utf8StreamExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let endless = stream::repeat(Ok::<_, std::convert::Infallible>(&b"more, "[..]));
/// let error = endless.utf8().collect_text(1000).await.unwrap_err();
/// assert!(matches!(error, CollectError::TooLong { limit: 1000 }));
/// assert_eq!(error.to_string(), "the text is longer than 1000 bytes");
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError<E> {
    /// The bytes are not UTF-8, or what the options refuse.
    #[error("the stream is not acceptable utf-8")]
    Utf8(#[from] Utf8Error),
    /// The inner stream, or the reader, failed.
    #[error("the inner stream failed")]
    Inner(#[source] E),
    /// The text has more bytes than the limit.
    #[error("the text is longer than {limit} bytes")]
    TooLong {
        /// The limit, in bytes of text.
        limit: usize,
    },
}

impl<E> From<StreamError<E>> for CollectError<E> {
    fn from(error: StreamError<E>) -> Self {
        match error {
            StreamError::Utf8(error) => Self::Utf8(error),
            StreamError::Inner(error) => Self::Inner(error),
        }
    }
}

impl From<ReadError> for CollectError<io::Error> {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Utf8(error) => Self::Utf8(error),
            ReadError::Io(error) => Self::Inner(error),
        }
    }
}

/// An error of the reader as it was; the others as [`Utf8Error`] has it.
impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Utf8(error) => error.into(),
            ReadError::Io(error) => error,
        }
    }
}

/// An inner error as it was; the others as [`Utf8Error`] has it.
impl<E: Into<io::Error>> From<StreamError<E>> for io::Error {
    fn from(error: StreamError<E>) -> Self {
        match error {
            StreamError::Utf8(error) => error.into(),
            StreamError::Inner(error) => error.into(),
        }
    }
}

/// An inner error as it was; [`InvalidData`](io::ErrorKind::InvalidData) where the text is too
/// long; the others as [`Utf8Error`] has it.
impl<E: Into<io::Error>> From<CollectError<E>> for io::Error {
    fn from(error: CollectError<E>) -> Self {
        match error {
            CollectError::Utf8(error) => error.into(),
            CollectError::Inner(error) => error.into(),
            CollectError::TooLong { limit } => {
                let error = CollectError::<Self>::TooLong { limit };
                Self::new(io::ErrorKind::InvalidData, error)
            }
        }
    }
}

/// Appends `more` to `text`, if that does not make it longer than `limit`. Takes no memory beyond that.
fn append_within<E>(text: &mut String, more: &str, limit: usize) -> Result<(), CollectError<E>> {
    if more.len() > limit.saturating_sub(text.len()) {
        return Err(CollectError::TooLong { limit });
    }
    reserve(text, more.len(), limit);
    text.push_str(more);
    Ok(())
}
