//! Search in text that arrives in pieces.
//!
//! Push the text of any decoder or adaptor to a [`TextFinder`]. It yields the offset of each match, also of
//! matches that span pieces.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use core::fmt;
use core::iter::FusedIterator;

use memchr::memmem;

/// Finds needles in text that arrives in pieces, even if a match spans several of them: a separator, the stop sequences of a
/// language model, or secrets that a log must not contain.
///
/// The next match is the one that ends first. If several end at the same byte, it is the longest, and of equal needles the
/// first. Matches do not overlap: the search continues after the end of each, so those of one needle are the matches of
/// [`str::match_indices`] in the whole text. UTF-8 is self-synchronising: no match begins or ends inside a character.
///
/// The finder keeps no text, only the number of bytes of each needle that the text so far ends in. It allocates each
/// needle and a `usize` for each of its bytes; clones share them. It takes about as long as one finder for each needle.
///
/// # Examples
///
/// ```
/// use utf8_codec::search::TextFinder;
///
/// let mut finder = TextFinder::new(["</s>", "\nUser:"]).unwrap();
/// assert_eq!(finder.push("Good day.\nUs").next(), None);
/// assert_eq!(finder.begun(), 3); // "\nUs" is not shown yet, because it may be the beginning of a match
/// assert_eq!(finder.push("er: Hi</s>").collect::<Vec<_>>(), [(1, 9), (0, 18)]);
/// ```
///
/// If the text comes from a decoder, skip the ill-formed parts. Offsets then count bytes of the stream, and no
/// match spans an error:
///
/// ```
/// use utf8_codec::Utf8Decoder;
/// use utf8_codec::search::TextFinder;
///
/// let mut finder = TextFinder::new(["é!"]).unwrap();
/// let mut decoder = Utf8Decoder::new();
/// let mut offsets = Vec::new();
/// for chunk in [&b"\xC3"[..], b"\xA9\xFF!, \xC3", b"\xA9!"] {
///     for piece in decoder.push(chunk) {
///         match piece {
///             Ok(text) => offsets.extend(finder.push(text).map(|(_, offset)| offset)),
///             Err(error) => finder.skip(error.bytes().len() as u64),
///         }
///     }
/// }
/// assert_eq!(offsets, [6]);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TextFinder {
    needles: Box<[Needle]>,
    position: u64,
}

/// A needle, and how many of its bytes, less than all, the text so far ends in.
#[derive(Clone, Debug)]
struct Needle {
    pattern: Arc<Pattern>,
    begun: usize,
}

impl TextFinder {
    /// Creates a finder for `needles`. Returns `None` if there are none, or if one of them is empty.
    pub fn new<'n>(needles: impl IntoIterator<Item = &'n str>) -> Option<Self> {
        let needle = |text: &'n str| {
            (!text.is_empty()).then(|| Needle { pattern: Arc::new(Pattern::new(text)), begun: 0 })
        };
        let needles: Option<Box<[_]>> = needles.into_iter().map(needle).collect();
        let needles = needles.filter(|needles| !needles.is_empty())?;
        Some(Self { needles, position: 0 })
    }

    /// Searches the next piece of the text. Yields the index of the needle and the offset of each match that ends in this
    /// piece.
    ///
    /// An offset is that of the first byte of the match, from the start of the text. The iterator is lazy: text
    /// it has not reached is not searched. If you stop after a match, [`position`](Self::position) is the end of
    /// that match. It costs one pass over the piece for each needle.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut finder = utf8_codec::search::TextFinder::new(["\r\n\r\n"]).unwrap();
    /// finder.push("Host: example\r\n\r").for_each(drop);
    /// let start = finder.position();
    /// let piece = "\nbody";
    /// assert_eq!(finder.push(piece).next(), Some((0, 13)));
    /// assert_eq!(&piece[(finder.position() - start) as usize..], "body");
    /// ```
    #[must_use = "iterators are lazy: text is searched as matches are taken"]
    pub fn push<'a>(&'a mut self, piece: &'a str) -> TextMatches<'a> {
        TextMatches { finder: self, rest: piece.as_bytes() }
    }

    /// Skips bytes that are not text. No match spans them. The position saturates at `u64::MAX`.
    pub fn skip(&mut self, bytes: u64) {
        self.needles.iter_mut().for_each(|needle| needle.begun = 0);
        self.position = self.position.saturating_add(bytes);
    }

    /// Starts a new text with the same needles, at offset 0.
    pub fn reset(&mut self) {
        self.skip(0);
        self.position = 0;
    }

    /// Returns how many of the last bytes of the text so far can be the beginning of a match. What precedes them is in no later
    /// match, and can be passed on: to replace a match, or to remove it from a stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::search::TextFinder;
    ///
    /// let mut finder = TextFinder::new(["</script>"]).unwrap();
    /// assert_eq!(finder.push("a < b, </scr").count(), 0);
    /// assert_eq!(finder.begun(), "</scr".len());
    /// assert_eq!(finder.push("ibe>").count(), 0);
    /// assert_eq!(finder.begun(), 0);
    /// ```
    #[must_use]
    pub fn begun(&self) -> usize {
        self.needles.iter().map(|needle| needle.begun).max().unwrap_or(0)
    }

    /// Returns the number of bytes that have been searched or skipped.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the first match that ends in `window`, with its end. If there is none, all needles have searched it.
    fn find(&mut self, mut window: &[u8]) -> Option<(usize, usize)> {
        let mut first: Option<(usize, usize)> = None;
        for index in 0..self.needles.len() {
            let Needle { pattern, begun } = &self.needles[index];
            match (pattern.search(window, 0, *begun), first) {
                (Ok(end), Some((other, old)))
                    if end == old && self.needles[other].pattern.len() >= pattern.len() => {}
                (Ok(end), _) => {
                    first = Some((index, end));
                    window = &window[..end];
                }
                // It is cleared if there is a match.
                (Err(partial), None) => self.needles[index].begun = partial,
                (Err(_), Some(_)) => {}
            }
        }
        first
    }
}

/// The matches in one piece. See [`TextFinder::push`].
#[derive(Debug)]
pub struct TextMatches<'a> {
    finder: &'a mut TextFinder,
    rest: &'a [u8],
}

impl Iterator for TextMatches<'_> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        // The window doubles. Without it, a rare needle would be searched in all of the rest once for each match of another.
        let mut len = if self.finder.needles.len() == 1 { self.rest.len() } else { 32 };
        while !self.rest.is_empty() {
            let window = &self.rest[..len.min(self.rest.len())];
            let found = self.finder.find(window);
            let used = found.map_or(window.len(), |(_, end)| end);
            self.rest = &self.rest[used..];
            // Positions saturate, because `skip` can skip more bytes than a `u64` counts.
            self.finder.position = self.finder.position.saturating_add(used as u64);
            if let Some((index, _)) = found {
                self.finder.skip(0);
                let needle = self.finder.needles[index].pattern.len() as u64;
                return Some((index, self.finder.position() - needle));
            }
            len *= 2;
        }
        None
    }
}

impl FusedIterator for TextMatches<'_> {}

/// A non-empty needle, with its tables.
pub(crate) struct Pattern {
    finder: memmem::Finder<'static>,
    /// The failure function of Knuth, Morris and Pratt: for each prefix of the needle, the length
    /// of its longest proper prefix that is also its suffix.
    borders: Box<[usize]>,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let needle = text.as_bytes();
        let mut borders = vec![0; needle.len()].into_boxed_slice();
        for end in 1..needle.len() {
            borders[end] = extend(needle, &borders, borders[end - 1], needle[end]);
        }
        Self { finder: memmem::Finder::new(needle).into_owned(), borders }
    }

    pub(crate) fn needle(&self) -> &[u8] {
        self.finder.needle()
    }

    pub(crate) fn len(&self) -> usize {
        self.borders.len()
    }

    /// Returns the number of needle bytes that the input ends in after `byte`, if it ended in `begun` before.
    #[inline]
    fn extend(&self, begun: usize, byte: u8) -> usize {
        extend(self.needle(), &self.borders, begun, byte)
    }

    /// Searches `bytes[at..]`. The bytes before them end in the first `begun` bytes of the needle. Returns the
    /// end of the first match, or, as `Err`, the number of needle bytes that `bytes` end in. The total cost does
    /// not depend on how the input is split into calls.
    #[inline]
    pub(crate) fn search(
        &self,
        bytes: &[u8],
        mut at: usize,
        mut begun: usize,
    ) -> Result<usize, usize> {
        while begun > 0 && at < bytes.len() {
            begun = self.extend(begun, bytes[at]);
            at += 1;
            if begun == self.len() {
                return Ok(at);
            }
        }
        let rest = &bytes[at..];
        if rest.is_empty() {
            return Err(begun);
        }
        self.finder.find(rest).map(|start| at + start + self.len()).ok_or_else(|| self.begun(rest))
    }

    /// Returns the number of needle bytes, less than all, that `bytes` end in.
    fn begun(&self, bytes: &[u8]) -> usize {
        let last = &bytes[bytes.len().saturating_sub(self.len() - 1)..];
        last.iter().fold(0, |begun, &byte| self.extend(begun, byte))
    }

    /// Returns the index of the byte that decides that byte `index` of `bytes` belongs to no match. The first
    /// `decided` bytes belong to none. If no byte decides, returns the last index.
    pub(crate) fn decided_by(&self, bytes: &[u8], decided: usize, index: usize) -> usize {
        let from = index.saturating_sub(self.len()).max(decided);
        let mut begun = 0;
        for (at, &byte) in bytes.iter().enumerate().skip(from) {
            begun = self.extend(begun, byte);
            if at + 1 - begun > index {
                return at;
            }
        }
        bytes.len().saturating_sub(1)
    }
}

/// Returns the length of the longest prefix of `needle` that the input ends in after `byte`. Before it, the
/// input ended in the first `begun` bytes of `needle`.
fn extend(needle: &[u8], borders: &[usize], mut begun: usize, byte: u8) -> usize {
    while begun > 0 && (begun == needle.len() || needle[begun] != byte) {
        begun = borders[begun - 1];
    }
    begun + usize::from(needle[begun] == byte)
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.needle() == other.needle()
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(self.needle()), f)
    }
}
