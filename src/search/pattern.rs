//! Where does a needle occur in bytes that arrive in pieces?

use std::fmt;

use memchr::memmem;

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

    /// Returns the index of the first match in `bytes`.
    #[inline]
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        self.finder.find(bytes)
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
        self.find(rest).map(|start| at + start + self.len()).ok_or_else(|| self.begun(rest))
    }

    /// Returns the number of needle bytes, less than all, that `bytes` end in.
    fn begun(&self, bytes: &[u8]) -> usize {
        let last = &bytes[bytes.len().saturating_sub(self.len() - 1)..];
        last.iter().fold(0, |begun, &byte| self.extend(begun, byte))
    }

    /// Returns the index of the byte that decides that byte `index` of `bytes` belongs to no match. The first
    /// `decided` bytes belong to none. If no byte decides, returns the last index.
    pub(crate) fn decided_by(&self, bytes: &[u8], decided: usize, index: usize) -> usize {
        let from = index.saturating_sub(self.len() - 1).max(decided);
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

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&String::from_utf8_lossy(self.needle())).finish()
    }
}
