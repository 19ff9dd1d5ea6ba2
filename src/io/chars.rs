//! How are the `char`s of a `Utf8Reader` read?

use std::io::{self, Read};

use crate::decoder::TextPosition;
use crate::io::{StreamError, Utf8Reader};

impl<R: Read> Utf8Reader<R> {
    /// Returns an iterator over the `char`s. Dropping it loses nothing: the reader continues with the next
    /// `char`.
    ///
    /// # Errors
    ///
    /// The iterator yields the errors of [`next_str`](Self::next_str), and continues after them.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut reader = Utf8Reader::new(&b"n\xC3\xA9\xFF!"[..]);
    /// let chars: Vec<_> = reader.chars().map(|next| next.unwrap_or('?')).collect();
    /// assert_eq!(chars, ['n', 'é', '?', '!']);
    /// ```
    pub fn chars(&mut self) -> Chars<'_, R> {
        Chars { reader: self }
    }

    /// Returns an iterator over the `char`s and errors, each with its line, column and offset. `position` is
    /// that of the next item, and moves past each one.
    ///
    /// A new [`TextPosition`] counts lines and columns from here. To continue later, pass it again; if you consume
    /// text in between, [`push`](TextPosition::push) that. The offset is always that in the stream: repairs have
    /// that of their ill-formed part. Dropping the iterator loses nothing.
    ///
    /// # Errors
    ///
    /// The iterator yields the errors of [`next_str`](Self::next_str), and continues after them.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::TextPosition;
    /// use utf8_codec::io::Utf8Reader;
    ///
    /// let mut reader = Utf8Reader::new(&b"key = 1\r\nk\xC3\xA9y \xFF 2"[..]);
    /// let mut errors = Vec::new();
    /// for (at, next) in reader.chars_with_positions(&mut TextPosition::new()) {
    ///     match next {
    ///         Ok('=') => assert_eq!((at.line, at.column, at.offset), (1, 5, 4)),
    ///         Ok(_) => {}
    ///         Err(error) => errors.push(format!("{at}: {error}")),
    ///     }
    /// }
    /// let message = "line 2, column 5: invalid UTF-8 in the stream at byte 14: invalid byte (ff)";
    /// assert_eq!(errors, [message]);
    /// ```
    pub fn chars_with_positions<'a>(
        &'a mut self,
        position: &'a mut TextPosition,
    ) -> CharPositions<'a, R> {
        CharPositions { reader: self, position }
    }
}

/// The `char`s of a [`Utf8Reader`]; see [`Utf8Reader::chars`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless iterated"]
pub struct Chars<'a, R> {
    reader: &'a mut Utf8Reader<R>,
}

impl<R: Read> Iterator for Chars<'_, R> {
    type Item = Result<char, StreamError<io::Error>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.reader.next_char().transpose()
    }
}

/// The `char`s of a [`Utf8Reader`] with their positions; see [`Utf8Reader::chars_with_positions`].
#[derive(Debug)]
#[must_use = "iterators do nothing unless iterated"]
pub struct CharPositions<'a, R> {
    reader: &'a mut Utf8Reader<R>,
    /// That of the next item, except for the offset.
    position: &'a mut TextPosition,
}

impl<R: Read> Iterator for CharPositions<'_, R> {
    type Item = (TextPosition, Result<char, StreamError<io::Error>>);

    fn next(&mut self) -> Option<Self::Item> {
        let Self { reader, position } = self;
        if let Err(error) = reader.fill() {
            let at = match &error {
                StreamError::Utf8(error) => position.take(error.valid_up_to(), Err(Some(error))),
                _ => position.take(reader.text.position(), Err(None)),
            };
            return Some((at, Err(error)));
        }
        let (offset, next) = reader.text.next_indexed()?;
        Some((position.take(offset, Ok(next)), Ok(next)))
    }
}
