//! What every loop over bytes asks for: what does the input begin with?

use crate::decoder::Utf8Error;

/// What an input begins with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<T, E = Utf8Error> {
    /// Non-empty text, or where it is.
    Text(T),
    /// This many bytes that yield nothing: a removed BOM, the rest of a character that began before a mid-stream start,
    /// or the LF of a CR LF whose CR has ended a line.
    Skip(usize),
    /// An error. Its own bytes are consumed; `MissingBom` has none.
    Error(E),
    /// No bytes, or the start of something that more bytes complete. The caller passes them again, together with the bytes after them.
    NeedMore,
}

impl<'a, E> Step<&'a str, E> {
    /// Separates the text, which is empty if this is another step.
    #[inline]
    pub(crate) fn split(self) -> (&'a str, Step<(), E>) {
        match self {
            Self::Text(text) => (text, Step::Text(())),
            Self::Skip(len) => ("", Step::Skip(len)),
            Self::Error(error) => ("", Step::Error(error)),
            Self::NeedMore => ("", Step::NeedMore),
        }
    }
}

/// Whether the stream ends after an input, or bytes follow that belong to another sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// The bytes that follow have not arrived, and may belong to the last sequence.
    No,
    Yes,
}
