//! Many strings in one buffer: is each well-formed UTF-8?

use core::fmt;

use crate::validate::{Utf8Error, from_utf8};

/// Validates strings that lie one after another in `buffer`: string `i` is `buffer[offsets[i]..offsets[i + 1]]`, as in
/// the columns of Arrow. Returns the text from the first offset to the last.
///
/// `n` strings have `n + 1` offsets, of any integer type; without offsets there are no strings. Bytes before the first
/// offset and after the last one are ignored. The offset of a string within the returned text is its own minus the
/// first one.
///
/// The text is validated in one pass; then each offset is compared with the one before it, and must be a character
/// boundary. So a short string costs less than a call. Nothing is allocated. Only if something is wrong, the strings are
/// validated one by one.
///
/// # Errors
///
/// The first string, or offset that ends it, that is wrong. An offset inside a character makes the string before it
/// incomplete.
///
/// # Examples
///
/// ```
/// use utf8_simd::{OffsetsError, from_utf8_offsets};
///
/// let (buffer, offsets) = ("oneзвaтри".as_bytes(), [0, 3, 8, 8, 14]);
/// let text = from_utf8_offsets(buffer, &offsets)?;
/// let strings: Vec<_> = offsets.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
/// assert_eq!(strings, ["one", "звa", "", "три"]);
///
/// let error = from_utf8_offsets(buffer, &[0_i32, 3, 6, 8]).unwrap_err();
/// assert_eq!(error.to_string(), "string 1: invalid UTF-8 at byte 2: unexpected end inside a character");
/// # Ok::<(), OffsetsError>(())
/// ```
pub fn from_utf8_offsets<'a, O>(buffer: &'a [u8], offsets: &[O]) -> Result<&'a str, OffsetsError>
where
    O: Copy + TryInto<usize>,
{
    let ([first, ..], [.., last]) = (offsets, offsets) else { return Ok("") };
    text_of_all(buffer, offsets, *first, *last).ok_or_else(|| first_error(buffer, offsets))
}

/// The first wrong string or offset that [`from_utf8_offsets`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetsError {
    /// A string is not well-formed.
    Utf8 {
        /// The index of the string.
        index: usize,
        /// The error, counted from the start of the string.
        error: Utf8Error,
    },
    /// An offset is negative, after the end of the buffer, or less than the one before it.
    Offset {
        /// The index of the offset.
        index: usize,
    },
}

impl fmt::Display for OffsetsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8 { index, error } => write!(f, "string {index}: {error}"),
            Self::Offset { index } => {
                write!(f, "offset {index} is outside the buffer or less than the one before it")
            }
        }
    }
}

impl core::error::Error for OffsetsError {}

/// Returns the text of all strings if nothing is wrong.
#[inline]
fn text_of_all<'a, O>(buffer: &'a [u8], offsets: &[O], first: O, last: O) -> Option<&'a str>
where
    O: Copy + TryInto<usize>,
{
    let [first, last] = [first.try_into().ok()?, last.try_into().ok()?];
    let text = from_utf8(buffer.get(first..last)?).ok()?;
    let bytes = text.as_bytes();
    // If all offsets ascend, they lie between the first and the last. The tests take no branches.
    let (mut ascend, mut before) = (true, first);
    let mut are_boundaries = true;
    for offset in offsets {
        let offset: usize = (*offset).try_into().unwrap_or(usize::MAX);
        ascend &= before <= offset;
        let next = bytes.get(offset.wrapping_sub(first)).copied().unwrap_or(0);
        are_boundaries &= next & 0xC0 != 0x80;
        before = offset;
    }
    (ascend && are_boundaries).then_some(text)
}

#[cold]
fn first_error<O: Copy + TryInto<usize>>(buffer: &[u8], offsets: &[O]) -> OffsetsError {
    let mut start = 0;
    for (index, &offset) in offsets.iter().enumerate() {
        let in_range = |end: &usize| (start..=buffer.len()).contains(end);
        let Some(end) = offset.try_into().ok().filter(in_range) else {
            return OffsetsError::Offset { index };
        };
        if let Some(index) = index.checked_sub(1)
            && let Err(error) = from_utf8(&buffer[start..end])
        {
            return OffsetsError::Utf8 { index, error };
        }
        start = end;
    }
    // Not reached: `text_of_all` finds no other error.
    OffsetsError::Offset { index: offsets.len() }
}
