use std::iter::FusedIterator;
use std::sync::Arc;

use crate::search::pattern::Pattern;

/// Finds a text in a text that comes in pieces, wherever it is cut.
///
/// The matches are those of [`str::match_indices`] in the whole text: one behind the other, none
/// within another. As the bytes of UTF-8 synchronize themselves, none begins or ends inside a
/// character.
///
/// Of the text it keeps nothing but a number: how much of the needle the pieces so far end in. Takes
/// memory for the needle and a `usize` for each of its bytes; shared by clones.
///
/// # Examples
///
/// ```
/// use utf8_codec::search::TextFinder;
///
/// let mut finder = TextFinder::new("data: ").unwrap();
/// let mut places = Vec::new();
/// for piece in ["data: a\n\nda", "ta:", " b"] {
///     places.extend(finder.push(piece));
/// }
/// assert_eq!(places, [0, 9]);
/// ```
///
/// Behind a decoder, what is ill-formed is passed over, so that places are those in the stream of
/// bytes, and nothing is found that was not there:
///
/// ```
/// use utf8_codec::Utf8Decoder;
/// use utf8_codec::search::TextFinder;
///
/// let mut finder = TextFinder::new("é!").unwrap();
/// let mut decoder = Utf8Decoder::new();
/// let mut places = Vec::new();
/// for chunk in [&b"\xC3"[..], b"\xA9\xFF!, \xC3", b"\xA9!"] {
///     for piece in decoder.push(chunk) {
///         match piece {
///             Ok(text) => places.extend(finder.push(text)),
///             Err(error) => finder.skip(error.bytes().len() as u64),
///         }
///     }
/// }
/// assert_eq!(places, [6]);
/// ```
#[derive(Clone, Debug)]
pub struct TextFinder {
    pattern: Arc<Pattern>,
    /// The text so far ends in so many bytes of the needle, less than all.
    begun: usize,
    position: u64,
}

impl TextFinder {
    /// Creates a finder of `needle`, or `None` if that is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::search::TextFinder;
    ///
    /// assert_eq!(TextFinder::new("€").unwrap().push("5 €, 6 €").collect::<Vec<_>>(), [2, 9]);
    /// assert!(TextFinder::new("").is_none());
    /// ```
    #[must_use]
    pub fn new(needle: &str) -> Option<Self> {
        let is_something = !needle.is_empty();
        is_something.then(|| Self {
            pattern: Arc::new(Pattern::new(needle)),
            begun: 0,
            position: 0,
        })
    }

    /// Goes through the next piece of the text, and gives the places of the matches that end in it:
    /// for each the offset in the text of its first byte.
    ///
    /// The iterator does the work as it is asked; what it has not reached has not been looked at
    /// ([`Matches::rest`]). Costs one pass over the piece.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut finder = utf8_codec::search::TextFinder::new("aa").unwrap();
    /// assert_eq!(finder.push("baa").next(), Some(1));
    /// assert_eq!(finder.push("a").next(), None);
    /// assert_eq!(finder.push("a").next(), Some(3));
    /// ```
    pub fn push<'f, 't>(&'f mut self, piece: &'t str) -> Matches<'f, 't> {
        Matches { finder: self, rest: piece }
    }

    /// Passes over bytes that are no text: nothing matches across them. The position goes no further
    /// than `u64::MAX`.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut finder = utf8_codec::search::TextFinder::new("ab").unwrap();
    /// finder.push("a").for_each(drop);
    /// finder.skip(1);
    /// assert_eq!(finder.push("b ab").collect::<Vec<_>>(), [4]);
    /// ```
    pub fn skip(&mut self, bytes: u64) {
        self.begun = 0;
        self.position = self.position.saturating_add(bytes);
    }

    /// Starts a new text with the same needle: offset 0, nothing found.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut finder = utf8_codec::search::TextFinder::new("ab").unwrap();
    /// finder.push("some a").for_each(drop);
    /// finder.reset();
    /// assert_eq!(finder.push("b ab").collect::<Vec<_>>(), [2]);
    /// ```
    pub fn reset(&mut self) {
        self.begun = 0;
        self.position = 0;
    }

    /// Returns how many bytes have been looked at or passed over.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut finder = utf8_codec::search::TextFinder::new("a").unwrap();
    /// finder.push("été").for_each(drop);
    /// assert_eq!(finder.position(), 5);
    /// ```
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Sees to it that the next piece stands at `position`: if that is not where the last one ended,
    /// nothing matches across.
    #[cfg(feature = "stream")]
    pub(crate) fn go_to(&mut self, position: u64) {
        if self.position != position {
            self.begun = 0;
            self.position = position;
        }
    }

    /// Looks for the next match in `piece`. Returns where in the text it begins, if there is one,
    /// and how many bytes of `piece` have been looked at.
    pub(crate) fn step(&mut self, piece: &str) -> (Option<u64>, usize) {
        let bytes = piece.as_bytes();
        let mut at = 0;
        while self.begun > 0 && at < bytes.len() {
            self.begun = self.pattern.extend(self.begun, bytes[at]);
            at += 1;
            if self.begun == self.pattern.len() {
                return self.found(at);
            }
        }
        let rest = &bytes[at..];
        match self.pattern.find(rest) {
            Some(start) => self.found(at + start + self.pattern.len()),
            None => {
                if !rest.is_empty() {
                    self.begun = self.pattern.begun(rest);
                }
                self.go_on(bytes.len());
                (None, bytes.len())
            }
        }
    }

    /// A match ends `used` bytes behind the position.
    fn found(&mut self, used: usize) -> (Option<u64>, usize) {
        self.begun = 0;
        self.go_on(used);
        (Some(self.position - self.pattern.len() as u64), used)
    }

    /// There are more bytes than a `u64` can count only where they are said to have been skipped.
    fn go_on(&mut self, used: usize) {
        self.position = self.position.saturating_add(used as u64);
    }
}

/// The places of the matches in one piece; see [`TextFinder::push`].
///
/// # Examples
///
/// ```
/// use utf8_codec::search::TextFinder;
///
/// let mut finder = TextFinder::new("\r\n\r\n").unwrap();
/// finder.push("Host: example\r\n\r").for_each(drop);
/// let mut matches = finder.push("\nbody");
/// assert_eq!(matches.next(), Some(13));
/// assert_eq!(matches.rest(), "body");
/// ```
#[derive(Debug)]
#[must_use = "the text is looked at as the iterator is asked for matches"]
pub struct Matches<'f, 't> {
    finder: &'f mut TextFinder,
    rest: &'t str,
}

impl<'t> Matches<'_, 't> {
    /// Returns what has not been looked at: behind a match, the text behind it.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut finder = utf8_codec::search::TextFinder::new(", ").unwrap();
    /// let mut matches = finder.push("a, b, c");
    /// matches.next();
    /// assert_eq!(matches.rest(), "b, c");
    /// ```
    #[must_use]
    pub fn rest(&self) -> &'t str {
        self.rest
    }
}

impl Iterator for Matches<'_, '_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.rest.is_empty() {
            return None;
        }
        let (place, used) = self.finder.step(self.rest);
        self.rest = &self.rest[used..];
        place
    }
}

impl FusedIterator for Matches<'_, '_> {}
