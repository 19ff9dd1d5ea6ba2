//! Where is a text in text that arrives in pieces?

use std::iter::FusedIterator;
use std::sync::Arc;

use crate::search::pattern::Pattern;

/// Finds a text in text that arrives in pieces, wherever it is cut.
///
/// The matches are those of [`str::match_indices`] in the whole text: from left to right, without
/// overlap. UTF-8 is self-synchronising, so no match begins or ends inside a character.
///
/// Keeps no text, only how much of the needle the pieces so far end in. Allocates memory for the
/// needle and a `usize` for each of its bytes; clones share it.
///
/// # Examples
///
/// ```
/// use utf8_codec::search::TextFinder;
///
/// let mut finder = TextFinder::new("data: ").unwrap();
/// let mut offsets = Vec::new();
/// for piece in ["data: a\n\nda", "ta:", " b"] {
///     offsets.extend(finder.push(piece));
/// }
/// assert_eq!(offsets, [0, 9]);
/// ```
///
/// After a decoder, skip ill-formed parts, so that offsets are those in the stream of bytes and no
/// match spans an error:
///
/// ```
/// use utf8_codec::Utf8Decoder;
/// use utf8_codec::search::TextFinder;
///
/// let mut finder = TextFinder::new("é!").unwrap();
/// let mut decoder = Utf8Decoder::new();
/// let mut offsets = Vec::new();
/// for chunk in [&b"\xC3"[..], b"\xA9\xFF!, \xC3", b"\xA9!"] {
///     for piece in decoder.push(chunk) {
///         match piece {
///             Ok(text) => offsets.extend(finder.push(text)),
///             Err(error) => finder.skip(error.bytes().len() as u64),
///         }
///     }
/// }
/// assert_eq!(offsets, [6]);
/// ```
#[derive(Clone, Debug)]
pub struct TextFinder {
    pattern: Arc<Pattern>,
    /// How many bytes of the needle the text so far ends in: less than all.
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

    /// Searches the next piece of the text. Yields the offset in the text of the first byte of each
    /// match that ends in this piece.
    ///
    /// The iterator is lazy: text it has not reached is not searched. Stopped after a match, the
    /// [`position`](Self::position) is where the match ends. Costs one pass over the piece.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut finder = utf8_codec::search::TextFinder::new("\r\n\r\n").unwrap();
    /// finder.push("Host: example\r\n\r").for_each(drop);
    /// let start = finder.position();
    /// let piece = "\nbody";
    /// assert_eq!(finder.push(piece).next(), Some(13));
    /// assert_eq!(&piece[(finder.position() - start) as usize..], "body");
    /// ```
    #[must_use = "the iterator searches as it is asked for matches"]
    pub fn push<'a>(&'a mut self, piece: &'a str) -> impl FusedIterator<Item = u64> + use<'a> {
        Matches { finder: self, rest: piece }
    }

    /// Skips bytes that are not text: no match spans them. The position saturates at `u64::MAX`.
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

    /// Returns how many bytes have been searched or skipped.
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

    /// Looks for the next match in `piece`. Returns where in the text it begins, if there is one,
    /// and how many bytes of `piece` have been looked at.
    fn step(&mut self, piece: &str) -> (Option<u64>, usize) {
        match self.pattern.search(piece.as_bytes(), 0, self.begun) {
            Ok(used) => {
                self.begun = 0;
                self.go_on(used);
                (Some(self.position - self.pattern.len() as u64), used)
            }
            Err(begun) => {
                self.begun = begun;
                self.go_on(piece.len());
                (None, piece.len())
            }
        }
    }

    /// There are more bytes than a `u64` can count only where they are said to have been skipped.
    fn go_on(&mut self, used: usize) {
        self.position = self.position.saturating_add(used as u64);
    }
}

/// The offsets of the matches in one piece.
struct Matches<'a> {
    finder: &'a mut TextFinder,
    rest: &'a str,
}

impl Iterator for Matches<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.rest.is_empty() {
            return None;
        }
        let (offset, used) = self.finder.step(self.rest);
        self.rest = &self.rest[used..];
        offset
    }
}

impl FusedIterator for Matches<'_> {}
