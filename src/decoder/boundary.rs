//! Character boundaries in bytes, and functions that cut text without splitting a character.
//!
//! UTF-8 is self-synchronising: the nearest boundary is at most three bytes away. [`floor`], [`ceil`] and
//! [`is_boundary`] find it in bytes that may be ill-formed. A boundary is an index between two decoding
//! units: well-formed characters, and the maximal subparts of ill-formed sequences, each of which is one
//! error. Both ends are boundaries. An incomplete sequence at the end of the bytes is one unit. Bytes cut at
//! a boundary decode to the same text, with errors at the same offsets: an error at the end of a part can be
//! [`Incomplete`](crate::Utf8ErrorKind::Incomplete) where it is
//! [`Truncated`](crate::Utf8ErrorKind::Truncated) in the whole.
//!
//! ```
//! use utf8_codec::boundary;
//!
//! let log = b"temp: 21 \xC2\xB0C, 22 \xB0C";
//! assert_eq!(boundary::floor(log, 10), 9); // not inside the degree sign
//! assert_eq!(boundary::ceil(log, 10), 11);
//! assert_eq!(boundary::floor(log, 17), 17); // the Latin-1 degree sign is an error by itself
//! ```
//!
//! Text cut at a byte limit (of a datagram, a frame, a database column) can end inside a character.
//! [`truncate`] and [`at_most`] cut before that character. `owned_at_most` (feature `std`) returns owned
//! pieces. None of them copies or allocates.
//!
//! ```
//! use utf8_codec::boundary;
//!
//! let text = "Zürich, 東京";
//! assert_eq!(boundary::truncate(text, 13), "Zürich, 東"); // two bytes of 京 would fit
//! assert_eq!(boundary::at_most(text, 8).collect::<Vec<_>>(), ["Zürich,", " 東京"]);
//! ```

use core::iter::{self, FusedIterator};
use core::ops::Range;

#[cfg(feature = "std")]
use bytestring::ByteString;

use utf8_simd::{Sequence, sequence};

/// Returns the last boundary at or before `index`, or the length of `bytes` if `index` is greater.
///
/// The boundary is at most three bytes before `index`. The function reads at most seven bytes.
#[must_use]
pub fn floor(bytes: &[u8], index: usize) -> usize {
    unit_around(bytes, index).map_or(index.min(bytes.len()), |unit| unit.start)
}

/// Returns the first boundary at or after `index`, or the length of `bytes` if `index` is greater.
///
/// The boundary is at most three bytes after `index`. The function reads at most seven bytes.
///
/// # Examples
///
/// ```
/// use utf8_codec::boundary;
///
/// let bytes = b"\xE2\x82\xAC\xE2\x82 \xE2\x82";
/// assert_eq!(boundary::ceil(bytes, 1), 3);
/// assert_eq!(boundary::ceil(bytes, 4), 5); // after the two bytes that are one error
/// assert_eq!(boundary::ceil(bytes, 7), 8); // after the incomplete character
/// ```
#[must_use]
pub fn ceil(bytes: &[u8], index: usize) -> usize {
    unit_around(bytes, index).map_or(index.min(bytes.len()), |unit| unit.end)
}

/// Returns whether `index` is a boundary; `false` past the end of `bytes`.
///
/// # Examples
///
/// ```
/// use utf8_codec::boundary;
///
/// assert!(boundary::is_boundary(b"\xC3\xA9", 2));
/// assert!(!boundary::is_boundary(b"\xC3\xA9", 1));
/// assert!(boundary::is_boundary(b"\xC0\x80", 1)); // an overlong encoding is two errors
/// ```
#[must_use]
pub fn is_boundary(bytes: &[u8], index: usize) -> bool {
    index <= bytes.len() && unit_around(bytes, index).is_none()
}

/// The smallest limit that [`at_most`] accepts: the length of the longest character, in bytes.
pub const MIN_LIMIT: usize = 4;

/// Returns the longest prefix of `text` that has at most `max_length` bytes and splits no character.
///
/// The prefix is at most three bytes shorter than `max_length`, unless `text` itself is shorter. The function
/// reads at most four bytes.
#[must_use]
pub fn truncate(text: &str, max_length: usize) -> &str {
    text.get(..floor_char_boundary(text, max_length)).unwrap_or_default()
}

/// Cuts `text` into pieces of at most `max_length` bytes, between characters.
///
/// Each piece is as long as possible. No piece is empty, so an empty text has none. The concatenated pieces
/// are the text.
///
/// # Panics
///
/// If `max_length` is less than [`MIN_LIMIT`], even if every character of `text` would fit.
#[must_use = "iterators are lazy"]
pub fn at_most(text: &str, max_length: usize) -> impl FusedIterator<Item = &str> + Clone {
    assert_limit(max_length);
    let mut rest = text;
    iter::from_fn(move || {
        let (piece, after) = rest.split_at(floor_char_boundary(rest, max_length));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
    .fuse()
}

/// Cuts `text` into owned pieces of at most `max_length` bytes that share its memory.
///
/// The pieces are those of [`at_most`].
///
/// # Panics
///
/// If `max_length` is less than [`MIN_LIMIT`].
///
/// # Examples
///
/// ```
/// use utf8_codec::{ByteString, boundary};
///
/// let text = ByteString::from("añ👋b");
/// let pieces: Vec<_> = boundary::owned_at_most(text.clone(), 5).collect();
/// assert_eq!(pieces, ["añ", "👋b"]);
/// assert_eq!(pieces[0].as_ptr(), text.as_ptr()); // not a copy
/// ```
#[cfg(feature = "std")]
#[must_use = "iterators are lazy"]
pub fn owned_at_most(
    text: ByteString,
    max_length: usize,
) -> impl FusedIterator<Item = ByteString> + Clone {
    assert_limit(max_length);
    let mut rest = text;
    iter::from_fn(move || {
        let (piece, after) = rest.split_at(floor_char_boundary(&rest, max_length));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
    .fuse()
}

/// Returns the last character boundary of `text` at or before `index`: at most three bytes before it.
pub(crate) fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut boundary = index.min(text.len());
    while !text.is_char_boundary(boundary) {
        boundary -= 1;
    }
    boundary
}

fn assert_limit(max_length: usize) {
    assert!(max_length >= MIN_LIMIT, "max_length must be at least {MIN_LIMIT}, not {max_length}");
}

/// Returns the character or maximal subpart that contains `index` but does not begin there.
///
/// A byte that is not a continuation byte always begins a unit. A continuation byte belongs to the unit of
/// the last such byte before it, or is a unit by itself.
fn unit_around(bytes: &[u8], index: usize) -> Option<Range<usize>> {
    let is_continuation = |at: usize| bytes.get(at).is_some_and(|byte| matches!(byte, 0x80..=0xBF));
    if !is_continuation(index) {
        return None;
    }
    let start = (index.saturating_sub(3)..index).rev().find(|&at| !is_continuation(at))?;
    let rest = bytes.get(start..)?;
    let unit = start..start + unit_len(rest.get(..4).unwrap_or(rest))?;
    (unit.end > index).then_some(unit)
}

/// Returns the length of the first unit of `bytes`, which are at most four.
fn unit_len(bytes: &[u8]) -> Option<usize> {
    if bytes.first()?.is_ascii() {
        return Some(1);
    }
    Some(match sequence(bytes) {
        Sequence::WellFormed(len) => len,
        Sequence::IllFormed(error_len) => error_len.get().unwrap_or(1),
        Sequence::Incomplete => bytes.len(),
    })
}
