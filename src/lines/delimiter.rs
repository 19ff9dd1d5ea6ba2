//! What ends a line, and where does the next delimiter end?

use std::fmt;
use std::sync::Arc;

use memchr::{memchr, memchr2};

use crate::search::pattern::Pattern;

/// What ends a line.
///
/// A delimiter is found by its bytes. In UTF-8 these never match inside a character, nor inside an
/// ill-formed part.
///
/// # Examples
///
/// ```
/// use bytes::BytesMut;
/// use tokio_util::codec::Decoder;
/// use utf8_codec::codec::Utf8LinesCodec;
/// use utf8_codec::lines::Delimiter;
///
/// let first = |delimiter, bytes: &[u8]| {
///     let mut codec = Utf8LinesCodec::new().with_delimiter(delimiter);
///     codec.decode(&mut BytesMut::from(bytes)).unwrap().unwrap().unwrap().text
/// };
/// assert_eq!(first(Delimiter::lf(), b"a\rb\r\nc"), "a\rb");
/// assert_eq!(first(Delimiter::any_newline(), b"a\rb\r\nc"), "a");
/// assert_eq!(first(Delimiter::nul(), b"a\nb\0c"), "a\nb");
/// assert_eq!(first(Delimiter::text("--").unwrap(), b"a-b--c"), "a-b");
/// ```
#[derive(Clone, Default)]
pub struct Delimiter(Kind);

#[derive(Clone, Default)]
enum Kind {
    #[default]
    Lf,
    AnyNewline,
    Nul,
    Text(Arc<Pattern>),
}

/// Where a line ends in the bytes that have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The delimiter has come: the line's content ends at `content`, the delimiter at `next`.
    Found { content: usize, next: usize },
    /// Not yet: of what has come the first `content` bytes are known not to belong to the
    /// delimiter; the others may be its beginning.
    Open { content: usize },
}

/// How far the end of a line has been looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    /// Bytes known not to belong to the delimiter.
    pub(crate) decided: usize,
    /// Bytes that have been looked at, not fewer. Those that are not decided may begin the delimiter.
    pub(crate) seen: usize,
}

impl Looked {
    pub(crate) const NOTHING: Self = Self::at(0);

    /// So many bytes are decided, and the next has not been seen.
    pub(crate) const fn at(decided: usize) -> Self {
        Self { decided, seen: decided }
    }

    /// At least this many bytes are decided.
    pub(crate) fn beyond(self, decided: usize) -> Self {
        let decided = self.decided.max(decided);
        Self { decided, seen: self.seen.max(decided) }
    }

    /// Nothing, where `bytes` cannot be those that were looked at.
    pub(crate) fn within(self, bytes: &[u8]) -> Self {
        if self.seen > bytes.len() { Self::NOTHING } else { self }
    }
}

impl End {
    pub(crate) const fn content(self) -> usize {
        match self {
            Self::Found { content, .. } | Self::Open { content } => content,
        }
    }
}

impl Delimiter {
    /// LF, or CR LF. The default.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::lines::Delimiter;
    ///
    /// assert_eq!(Delimiter::lf(), Delimiter::default());
    /// assert_eq!(Delimiter::lf().as_str(), "\n");
    /// ```
    pub const fn lf() -> Self {
        Self(Kind::Lf)
    }

    /// CR, LF, or CR LF, as in server-sent events. A CR ends the line at once; an LF directly after
    /// it, whenever it arrives, belongs to it.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::lines::Delimiter;
    ///
    /// assert_eq!(Delimiter::any_newline().as_str(), "\n"); // as it is written
    /// ```
    pub const fn any_newline() -> Self {
        Self(Kind::AnyNewline)
    }

    /// NUL, as between the names that `find -print0` prints.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(utf8_codec::lines::Delimiter::nul().as_str(), "\0");
    /// ```
    pub const fn nul() -> Self {
        Self(Kind::Nul)
    }

    /// Returns `text` as a delimiter, or `None` if it is empty.
    ///
    /// Allocates memory for the text and a `usize` for each of its bytes; clones share it. A
    /// delimiter that arrives in pieces costs no more than one that arrives whole.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::lines::Delimiter;
    ///
    /// assert_eq!(Delimiter::text("。").unwrap().as_str(), "。");
    /// assert_eq!(Delimiter::text(""), None);
    /// ```
    pub fn text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(Kind::Text(Arc::new(Pattern::new(text)))))
    }

    /// Returns the delimiter as an encoder writes it.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(utf8_codec::lines::Delimiter::default().as_str(), "\n");
    /// ```
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Lf | Kind::AnyNewline => "\n",
            Kind::Nul => "\0",
            // It was a `str` when it came in.
            Kind::Text(pattern) => str::from_utf8(pattern.needle()).unwrap_or_default(),
        }
    }

    /// The byte that ends lines, if it is always the same one.
    #[inline]
    pub(crate) const fn last_byte(&self) -> Option<u8> {
        match self.0 {
            Kind::Lf => Some(b'\n'),
            Kind::Nul => Some(0),
            Kind::AnyNewline | Kind::Text(_) => None,
        }
    }

    /// Finds the end of the line that `bytes` begins with.
    #[inline]
    pub(crate) fn find(&self, bytes: &[u8], looked: Looked) -> End {
        let Looked { decided, seen } = looked;
        let new = &bytes[decided..];
        match &self.0 {
            Kind::Lf => match find_byte(b'\n', new) {
                Some(at) => {
                    let lf = decided + at;
                    End::Found { content: lf - usize::from(ends_in_cr(&bytes[..lf])), next: lf + 1 }
                }
                None => End::Open { content: bytes.len() - usize::from(ends_in_cr(bytes)) },
            },
            Kind::AnyNewline => found(decided, memchr2(b'\r', b'\n', new), bytes.len()),
            Kind::Nul => found(decided, find_byte(0, new), bytes.len()),
            Kind::Text(pattern) => match pattern.search(bytes, seen, seen - decided) {
                Ok(next) => End::Found { content: next - pattern.len(), next },
                Err(begun) => End::Open { content: bytes.len() - begun },
            },
        }
    }

    /// Returns the index of the byte by which byte `index` of `bytes` is known to be content, where
    /// that is so, and `decided` bytes were known to be when the last of them had not arrived.
    pub(crate) fn decided_by(&self, bytes: &[u8], decided: usize, index: usize) -> usize {
        match &self.0 {
            Kind::Lf => index + usize::from(bytes[index] == b'\r'),
            Kind::AnyNewline | Kind::Nul => index,
            Kind::Text(pattern) => pattern.decided_by(bytes, decided, index),
        }
    }

    /// Whether an LF after the byte at which a line ended belongs to the same delimiter.
    pub(crate) fn takes_lf_after(&self, last: u8) -> bool {
        matches!(self.0, Kind::AnyNewline) && last == b'\r'
    }

    /// Finds the first offset at which `text` and the delimiter after it would be cut, if that is
    /// not where `text` ends.
    #[cfg(feature = "codec")]
    pub(crate) fn find_in_text(&self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        let decided = match self.find(bytes, Looked::NOTHING) {
            End::Found { content, .. } => return Some(content),
            End::Open { content } => content,
        };
        // The text's last bytes may begin a delimiter that its first bytes complete.
        let joined = [&bytes[decided..], self.as_str().as_bytes()].concat();
        let cut = decided + self.find(&joined, Looked::NOTHING).content();
        (cut < text.len()).then_some(cut)
    }
}

/// [`memchr`], sooner where it is the first byte, as it is after ASCII that has been passed.
#[inline]
fn find_byte(byte: u8, bytes: &[u8]) -> Option<usize> {
    if bytes.first() == Some(&byte) { Some(0) } else { memchr(byte, bytes) }
}

fn ends_in_cr(bytes: &[u8]) -> bool {
    bytes.last() == Some(&b'\r')
}

/// The end that a delimiter of one byte makes, `at` bytes after what is decided of `len`.
fn found(decided: usize, at: Option<usize>, len: usize) -> End {
    match at {
        Some(at) => End::Found { content: decided + at, next: decided + at + 1 },
        None => End::Open { content: len },
    }
}

impl PartialEq for Delimiter {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Text(a), Kind::Text(b)) => a.needle() == b.needle(),
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

impl Eq for Delimiter {}

impl fmt::Debug for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Lf => f.write_str("Lf"),
            Kind::AnyNewline => f.write_str("AnyNewline"),
            Kind::Nul => f.write_str("Nul"),
            Kind::Text(_) => f.debug_tuple("Text").field(&self.as_str()).finish(),
        }
    }
}
