//! How do the `char`s of a reader get their line, column and offset?

use std::io::{self, Read};
use std::iter;

use super::Utf8Reader;
use crate::adaptor::read_text::Repairs;
use crate::adaptor::stream_error::StreamError;
use crate::core::position::TextPosition;

impl<R: Read> Utf8Reader<R> {
    /// Returns an iterator over the `char`s and errors, each with its line, column and offset. `position` is
    /// that of the next item, and moves past each one.
    ///
    /// A new [`TextPosition`] counts lines and columns from here. To continue later, pass it again; if you consume
    /// text in between, [`push`](TextPosition::push) that. The offset is always that in the stream: repairs have
    /// that of their ill-formed part. Dropping the iterator loses nothing.
    ///
    /// It costs more than [`chars`](Self::chars): errors are repaired one by one.
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
    ) -> impl Iterator<Item = (TextPosition, Result<char, StreamError<io::Error>>)> + use<'a, R>
    {
        self.text.repair_one_by_one();
        iter::from_fn(|| self.next_with_position(position))
    }

    /// Like [`next_char`](Self::next_char), with the position of the item, which `position` moves past.
    fn next_with_position(
        &mut self,
        position: &mut TextPosition,
    ) -> Option<(TextPosition, Result<char, StreamError<io::Error>>)> {
        if self.text.as_str().is_empty()
            && let Err(error) = self.read_text(Repairs::One)
        {
            let at = match &error {
                StreamError::Utf8(error) => position.take(error.valid_up_to(), Err(Some(error))),
                _ => position.take(self.text.offset(), Err(None)),
            };
            return Some((at, Err(error)));
        }
        let offset = self.text.offset();
        let next = self.text.next_char()?;
        Some((position.take(offset, Ok(next)), Ok(next)))
    }
}
