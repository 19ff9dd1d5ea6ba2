//! Text in pieces that fit: datagrams, frames, columns and labels of a limited number of bytes.
//!
//! A limit in bytes cuts characters, unless one looks where. [`truncate`] takes what fits;
//! [`at_most`] takes all of it, piece by piece; with the feature `bytes`, [`owned_at_most`] does so
//! with text whose pieces live on by themselves. None of them copies or allocates.
//!
//! ```
//! use utf8_codec::split;
//!
//! let text = "Zürich, 東京";
//! assert_eq!(split::truncate(text, 13), "Zürich, 東"); // of 京 two bytes would have fitted
//! assert_eq!(split::at_most(text, 8).collect::<Vec<_>>(), ["Zürich,", " 東京"]);
//! ```

use core::iter::FusedIterator;

#[cfg(feature = "bytes")]
use bytestring::ByteString;

use crate::core::decoder::destination::floor_char_boundary;

/// The least that pieces can be limited to: so many bytes fit any character.
///
/// # Examples
///
/// ```
/// use utf8_codec::split;
///
/// assert_eq!(split::MIN_LIMIT, char::MAX.len_utf8());
/// ```
pub const MIN_LIMIT: usize = 4;

/// Returns as much of the start of `text` as `limit` bytes can hold without cutting a character.
///
/// At most three bytes less than `limit`, unless that is all. Looks at four bytes at the most.
///
/// # Examples
///
/// ```
/// use utf8_codec::split::truncate;
///
/// assert_eq!(truncate("naïve", 4), "naï");
/// assert_eq!(truncate("naïve", 3), "na");
/// assert_eq!(truncate("naïve", 100), "naïve");
/// assert_eq!(truncate("é", 1), "");
/// ```
#[must_use]
pub fn truncate(text: &str, limit: usize) -> &str {
    &text[..floor_char_boundary(text, limit)]
}

/// Cuts `text` into pieces of at most `limit` bytes, between characters.
///
/// Each piece is as long as it can be, and none is empty: of an empty text there are none. Joined,
/// they are the text.
///
/// # Panics
///
/// If `limit` is below [`MIN_LIMIT`], whatever the text: there are characters that fit in no less.
///
/// # Examples
///
/// ```
/// use utf8_codec::split;
///
/// let pieces: Vec<_> = split::at_most("añ👋b", 5).collect();
/// assert_eq!(pieces, ["añ", "👋b"]);
/// ```
pub fn at_most(text: &str, limit: usize) -> AtMost<'_> {
    assert_limit(limit);
    AtMost { rest: text, limit }
}

/// Cuts `text` into pieces of at most `limit` bytes that share its memory; otherwise as [`at_most`].
///
/// # Panics
///
/// If `limit` is below [`MIN_LIMIT`].
///
/// # Examples
///
/// ```
/// use utf8_codec::{ByteString, split};
///
/// let text = ByteString::from("añ👋b");
/// let pieces: Vec<_> = split::owned_at_most(text.clone(), 5).collect();
/// assert_eq!(pieces, ["añ", "👋b"]);
/// assert_eq!(pieces[0].as_ptr(), text.as_ptr()); // not a copy
/// ```
#[cfg(feature = "bytes")]
pub fn owned_at_most(text: ByteString, limit: usize) -> OwnedAtMost {
    assert_limit(limit);
    OwnedAtMost { rest: text, limit }
}

/// The pieces of a text; see [`at_most`]. It is 24 bytes large (on a 64-bit machine).
///
/// # Examples
///
/// One cut goes through a character, and is moved in front of it:
///
/// ```
/// use utf8_codec::split;
///
/// let mut pieces = split::at_most("12345€, paid", 6);
/// assert_eq!(pieces.next(), Some("12345"));
/// assert_eq!(pieces.rest(), "€, paid");
/// assert_eq!(pieces.next(), Some("€, p"));
/// # assert_eq!(pieces.next(), Some("aid"));
/// # assert_eq!(pieces.next(), None);
/// ```
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy"]
pub struct AtMost<'a> {
    rest: &'a str,
    limit: usize,
}

/// The pieces of a text, sharing its memory; see [`owned_at_most`]. It is 40 bytes large (on a 64-bit
/// machine).
///
/// # Examples
///
/// ```
/// use utf8_codec::{ByteString, split};
///
/// let mut pieces = split::owned_at_most(ByteString::from("12345€, paid"), 6);
/// assert_eq!(pieces.next().unwrap(), "12345");
/// assert_eq!(pieces.rest(), "€, paid");
/// ```
#[cfg(feature = "bytes")]
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy"]
pub struct OwnedAtMost {
    rest: ByteString,
    limit: usize,
}

impl<'a> AtMost<'a> {
    /// Returns the text that is not in pieces yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::split;
    ///
    /// let mut pieces = split::at_most("one two", 4);
    /// pieces.next();
    /// assert_eq!(pieces.rest(), "two");
    /// ```
    pub fn rest(&self) -> &'a str {
        self.rest
    }
}

#[cfg(feature = "bytes")]
impl OwnedAtMost {
    /// Returns the text that is not in pieces yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{ByteString, split};
    ///
    /// let mut pieces = split::owned_at_most(ByteString::from("one two"), 4);
    /// pieces.next();
    /// assert_eq!(pieces.rest(), "two");
    /// ```
    pub fn rest(&self) -> &ByteString {
        &self.rest
    }
}

impl<'a> Iterator for AtMost<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (piece, rest) = self.rest.split_at(floor_char_boundary(self.rest, self.limit));
        self.rest = rest;
        (!piece.is_empty()).then_some(piece)
    }
}

impl FusedIterator for AtMost<'_> {}

#[cfg(feature = "bytes")]
impl Iterator for OwnedAtMost {
    type Item = ByteString;

    fn next(&mut self) -> Option<ByteString> {
        let (piece, rest) = self.rest.split_at(floor_char_boundary(&self.rest, self.limit));
        self.rest = rest;
        (!piece.is_empty()).then_some(piece)
    }
}

#[cfg(feature = "bytes")]
impl FusedIterator for OwnedAtMost {}

fn assert_limit(limit: usize) {
    assert!(limit >= MIN_LIMIT, "{limit} bytes do not fit every character");
}
