//! What can go wrong in a stream of text?

use std::fmt;
use std::io;

use crate::adaptor::collect;
use crate::core::error::Utf8Error;

/// An error in a stream of text.
///
/// Streams yield an error as an item and continue after it. A
/// [`Utf8Reader`](crate::stream::Utf8Reader), for which `E` is [`io::Error`], continues with the
/// next call. The message contains that of the source.
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
    /// The bytes are not UTF-8, or the options reject them. The rejected bytes are consumed, and
    /// decoding continues after them.
    #[error(fmt = fmt_utf8)]
    Utf8(#[from] Utf8Error),
    /// The inner stream or the reader failed. The held bytes of a character are kept: if the inner
    /// stream continues, so does the text.
    #[error("reading failed: {0}")]
    Inner(#[source] E),
    /// The collected text, or an event, would be longer than the limit. Only `collect_text`,
    /// `append_text` and [`EventStream`](crate::payload::sse::EventStream) return this.
    #[error("text is longer than {max_length} bytes")]
    TooLong {
        /// The limit, in bytes of text.
        max_length: usize,
    },
}

impl From<io::Error> for StreamError<io::Error> {
    fn from(error: io::Error) -> Self {
        Self::Inner(error)
    }
}

/// Returns an inner error unchanged. [`TooLong`](StreamError::TooLong) becomes
/// [`InvalidData`](io::ErrorKind::InvalidData). A [`Utf8Error`] is converted by its own `From`.
impl<E: Into<io::Error>> From<StreamError<E>> for io::Error {
    fn from(error: StreamError<E>) -> Self {
        match error {
            StreamError::Utf8(error) => error.into(),
            StreamError::Inner(error) => error.into(),
            StreamError::TooLong { max_length } => {
                let error = StreamError::<Self>::TooLong { max_length };
                Self::new(io::ErrorKind::InvalidData, error)
            }
        }
    }
}

fn fmt_utf8(error: &Utf8Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    error.fmt_in(" in the stream", f)
}

/// Appends `more`, unless `text` would become longer than `max_length`.
pub(super) fn append_within<E>(
    text: &mut String,
    more: &str,
    max_length: usize,
) -> Result<(), StreamError<E>> {
    let appended = collect::append_within(text, more, max_length);
    appended.map_err(|_| StreamError::TooLong { max_length })
}
