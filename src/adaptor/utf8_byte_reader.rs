//! How is the text of a `Utf8Reader` read as bytes? It does no I/O: `io` and `stream` do.

use pin_project_lite::pin_project;

use crate::adaptor::ReadText;
use crate::decoder::floor_char_boundary;

pin_project! {
    /// A reader of well-formed UTF-8: the text of a `Utf8Reader` as bytes.
    ///
    /// [`io::Utf8Reader::into_byte_reader`](crate::io::Utf8Reader::into_byte_reader) returns one that is a
    /// [`Read`](std::io::Read) and [`BufRead`](std::io::BufRead), `stream::Utf8Reader::into_byte_reader` one that
    /// is an `AsyncRead` and `AsyncBufRead`.
    ///
    /// All bytes together are well-formed. A read may end in the middle of a character if the
    /// caller's buffer ends there. `fill_buf` returns whole characters, unless some bytes of the
    /// first one have been consumed. The byte reader holds the same data as the `Utf8Reader`, and is
    /// 8 bytes larger on a 64-bit machine.
    ///
    /// # Errors
    ///
    /// An error of the reader is returned unchanged. An ill-formed part is
    /// [`InvalidData`](std::io::ErrorKind::InvalidData), or
    /// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if the stream ends inside a character, with
    /// the [`Utf8Error`](crate::Utf8Error) as its inner error ([`get_ref`](std::io::Error::get_ref)). The text before an error is
    /// read first. The next read continues after the error.
    ///
    /// # Cancel safety
    ///
    /// The same as for tokio's methods. This reader loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::{BufRead, Read};
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let file = (&b"status: gr\xC3"[..]).chain(&b"\xBCn\nbody: \xFF"[..]);
    /// let mut reader = Utf8Reader::new(file).into_byte_reader();
    /// let mut line = String::new();
    /// reader.read_line(&mut line)?;
    /// assert_eq!(line, "status: grün\n");
    ///
    /// let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
    /// assert_eq!(error.to_string(), "invalid UTF-8 at byte 20: invalid byte (ff)");
    /// # Ok::<_, std::io::Error>(())
    /// ```
    #[derive(Clone, Debug)]
    #[must_use = "readers do nothing unless read"]
    pub struct Utf8ByteReader<T> {
        #[pin]
        pub(crate) inner: T,
        pub(crate) read: ReadBytes,
    }
}

impl<T> Utf8ByteReader<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner, read: ReadBytes::default() }
    }

    /// Returns the inner `Utf8Reader`, for example for its decoder's error count and first error.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }
}

/// How much of the text a `Utf8ByteReader` has read. Reads may end inside characters.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadBytes {
    /// The number of bytes of the text that have been read. Invariant: fewer than all, or 0.
    done: usize,
}

impl ReadBytes {
    /// Returns the bytes of `text` that have not been read.
    #[inline]
    pub(crate) fn rest<'a>(&self, text: &'a str) -> &'a [u8] {
        &text.as_bytes()[self.done..]
    }

    /// Consumes the first `amount` bytes of the rest.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    #[inline]
    pub(crate) fn consume(&mut self, amount: usize, text: &mut ReadText) {
        let left = text.as_str().len() - self.done;
        assert!(amount <= left, "cannot consume {amount} of {left} bytes");
        if amount == left {
            text.take();
            self.done = 0;
        } else {
            self.done += amount;
        }
    }

    /// Returns the length of the characters of `text` that have been read completely.
    pub(crate) fn whole_chars(&self, text: &str) -> usize {
        floor_char_boundary(text, self.done)
    }
}
