//! What ends a line, and where is the next delimiter?

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use memchr::{memchr, memchr2, memchr3};

use crate::search::Pattern;

/// What ends a line.
///
/// Delimiters are compared as bytes. In UTF-8 they never match inside a character or inside an ill-formed
/// part.
///
/// # Examples
///
/// ```
/// use utf8_codec::lines::{Delimiter, LineDecoder};
///
/// let first = |delimiter, bytes: &[u8]| {
///     let mut decoder = LineDecoder::new().with_delimiter(delimiter);
///     decoder.push(bytes).next_line().unwrap().unwrap().text.to_owned()
/// };
/// assert_eq!(first(Delimiter::lf(), b"a\rb\r\nc"), "a\rb");
/// assert_eq!(first(Delimiter::any_newline(), b"a\rb\r\nc"), "a");
/// assert_eq!(first(Delimiter::nul(), b"a\nb\0c"), "a\nb");
/// assert_eq!(first(Delimiter::text("--").unwrap(), b"a-b--c"), "a-b");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Delimiter(Kind);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Lf,
    Crlf,
    CrlfOrLf,
    AnyNewline,
    Nul,
    OneOf(Arc<String>),
    Text(Arc<Pattern>),
}

/// The end of a line in the bytes that have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The delimiter has arrived. The content of the line ends at `content`, the delimiter at `next`.
    Found { content: usize, next: usize },
    /// The delimiter has not arrived. The first `content` bytes do not belong to it; the others can be its
    /// beginning.
    Open { content: usize },
}

/// How far the bytes of a line have been searched for its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Searched {
    /// The number of bytes that do not belong to the delimiter.
    pub(crate) decided: usize,
    /// The number of bytes that have been searched, at least `decided`. Those after the decided ones can be the
    /// beginning of the delimiter.
    pub(crate) seen: usize,
}

impl Searched {
    pub(crate) const NOTHING: Self = Self::at(0);

    /// Returns a search that has decided `decided` bytes and seen no others.
    pub(crate) const fn at(decided: usize) -> Self {
        Self { decided, seen: decided }
    }

    /// Marks the first `decided` bytes as decided.
    pub(crate) fn beyond(self, decided: usize) -> Self {
        let decided = self.decided.max(decided);
        Self { decided, seen: self.seen.max(decided) }
    }

    /// Returns [`NOTHING`](Self::NOTHING) if `bytes` are too few to be those that were searched.
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
    pub const fn lf() -> Self {
        Self(Kind::Lf)
    }

    /// CR LF only. For protocols in which a line is a command and a peer could hide one in another, such as SMTP.
    ///
    /// No text contains a CR or LF, in either direction. A bare LF or CR does not end a line: it rejects the line, up to
    /// the next CR LF, as [`BareLf`](crate::lines::LineError::BareLf) or [`BareCr`](crate::lines::LineError::BareCr), in
    /// every [`ErrorMode`](crate::ErrorMode). Encoders reject a text that contains either (RFC 5321 section 2.3.8; a server
    /// that takes a bare LF for the end of a line can be made to accept a second message inside the first: SMTP
    /// smuggling). In `a` CR CR LF the first CR is bare. A CR at the end of the stream is bare, and then the line has no
    /// end.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::lines::{Delimiter, LineDecoder, LineError};
    ///
    /// let mut decoder = LineDecoder::new().with_delimiter(Delimiter::crlf());
    /// let mut lines = decoder.push(b"HELO a\r\nMAIL FROM:<a>\nRCPT TO:<b>\r\nQUIT\r\n");
    /// assert_eq!(lines.next_line().unwrap().unwrap().text, "HELO a");
    /// let error = lines.next_line().unwrap().unwrap_err();
    /// assert!(matches!(error, LineError::BareLf { number: 2, lf_offset: 21, .. }));
    /// assert_eq!(lines.next_line().unwrap().unwrap().text, "QUIT");
    /// assert_eq!(Delimiter::crlf().as_str(), "\r\n");
    /// ```
    pub const fn crlf() -> Self {
        Self(Kind::Crlf)
    }

    /// CR LF or LF; encoders write CR LF. For protocols whose peers also send a bare LF, such as IRC.
    ///
    /// Like [`crlf`](Self::crlf), but a bare LF ends a line. A line with a bare CR is rejected as
    /// [`BareCr`](crate::lines::LineError::BareCr), because a peer could take it for the end of the line.
    pub const fn crlf_or_lf() -> Self {
        Self(Kind::CrlfOrLf)
    }

    /// CR, LF, or CR LF, as in server-sent events. A CR ends the line immediately. An LF directly after it, even
    /// if it arrives later, belongs to the same delimiter.
    ///
    /// What follows the lines can be read as text: `into_reader` and `into_stream` of `Utf8Lines`, and the conversions from
    /// a [`Utf8LinesCodec`](crate::codec::Utf8LinesCodec) to the other codecs, skip an LF that arrives later. If you read
    /// the following bytes yourself, skip it yourself when the last line ended with a CR.
    pub const fn any_newline() -> Self {
        Self(Kind::AnyNewline)
    }

    /// NUL, as after each name that `find -print0` prints.
    pub const fn nul() -> Self {
        Self(Kind::Nul)
    }

    /// Returns a delimiter that is one of `chars`, or `None` if there is none, or one that is not ASCII. Encoders write the first.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::lines::{Delimiter, LineDecoder};
    ///
    /// let mut decoder = LineDecoder::new().with_delimiter(Delimiter::one_of(",;").unwrap());
    /// let mut fields = decoder.push(b"a,b;c");
    /// assert_eq!(fields.next_line().unwrap().unwrap().text, "a");
    /// assert_eq!(fields.next_line().unwrap().unwrap().text, "b");
    /// assert!(fields.next_line().is_none());
    /// assert_eq!(decoder.finish_line().unwrap().unwrap().text, "c");
    /// ```
    pub fn one_of(chars: &str) -> Option<Self> {
        (!chars.is_empty() && chars.is_ascii()).then(|| Self(Kind::OneOf(Arc::new(chars.into()))))
    }

    /// Returns `text` as a delimiter, or `None` if it is empty.
    ///
    /// It allocates the text and a `usize` for each of its bytes; clones share them. Finding a delimiter that
    /// arrives in pieces costs no more than finding one that arrives whole.
    pub fn text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(Kind::Text(Arc::new(Pattern::new(text)))))
    }

    /// Returns the text that encoders write as the delimiter.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Lf | Kind::AnyNewline => "\n",
            Kind::Crlf | Kind::CrlfOrLf => "\r\n",
            Kind::Nul => "\0",
            Kind::OneOf(chars) => &chars[..1],
            // It was made from a `str`.
            Kind::Text(pattern) => str::from_utf8(pattern.needle()).unwrap_or_default(),
        }
    }

    /// Returns the length of the longest delimiter, without an LF that [can arrive later](Self::takes_lf_after).
    pub(crate) fn max_len(&self) -> usize {
        match self.0 {
            Kind::Lf | Kind::CrlfOrLf => 2,
            _ => self.as_str().len(),
        }
    }

    /// Returns the bytes that end a line, twice the same if only one does. `None` if a text or one of several does.
    #[inline]
    pub(crate) const fn last_bytes(&self) -> Option<[u8; 2]> {
        match self.0 {
            Kind::Lf | Kind::Crlf | Kind::CrlfOrLf => Some([b'\n'; 2]),
            Kind::AnyNewline => Some([b'\r', b'\n']),
            Kind::Nul => Some([0; 2]),
            Kind::OneOf(_) | Kind::Text(_) => None,
        }
    }

    /// Returns where the content of a line ends, and where the next line begins, if the delimiter ends with byte `last`, one of
    /// its last bytes. The line begins at `start`, and contains none of them before.
    #[inline(always)]
    pub(crate) fn end_at(&self, bytes: &[u8], start: usize, last: usize) -> Option<(usize, usize)> {
        let has_cr = last > start && bytes.get(last - 1) == Some(&b'\r');
        if let Kind::Lf | Kind::CrlfOrLf = self.0 {
            return Some((last - usize::from(has_cr), last + 1));
        }
        self.rarer_end_at(bytes, last, has_cr)
    }

    fn rarer_end_at(&self, bytes: &[u8], last: usize, has_cr: bool) -> Option<(usize, usize)> {
        match self.0 {
            Kind::Lf | Kind::CrlfOrLf => None, // not reached
            Kind::Crlf => has_cr.then(|| (last - 1, last + 1)),
            Kind::AnyNewline => {
                let lf_follows = bytes[last] == b'\r' && bytes.get(last + 1) == Some(&b'\n');
                Some((last, last + 1 + usize::from(lf_follows)))
            }
            Kind::Nul | Kind::OneOf(_) => Some((last, last + 1)),
            Kind::Text(_) => None,
        }
    }

    /// Finds the end of the line that `bytes` begin with.
    #[inline]
    pub(crate) fn find(&self, bytes: &[u8], searched: Searched) -> End {
        let Searched { decided, seen } = searched;
        if let Kind::Text(pattern) = &self.0 {
            return match pattern.search(bytes, seen, seen - decided) {
                Ok(next) => End::Found { content: next - pattern.len(), next },
                Err(begun) => End::Open { content: bytes.len() - begun },
            };
        }
        let mut from = decided;
        while let Some(at) = self.find_last_byte(&bytes[from..]) {
            if let Some((content, next)) = self.end_at(bytes, 0, from + at) {
                return End::Found { content, next };
            }
            from += at + 1;
        }
        let may_begin = bytes.last() == Some(&b'\r') && self.last_bytes() == Some([b'\n'; 2]);
        End::Open { content: bytes.len() - usize::from(may_begin) }
    }

    /// Finds a byte with which the delimiter may end.
    #[inline]
    fn find_last_byte(&self, bytes: &[u8]) -> Option<usize> {
        match &self.0 {
            Kind::Lf | Kind::Crlf | Kind::CrlfOrLf => find_byte(b'\n', bytes),
            Kind::AnyNewline => memchr2(b'\r', b'\n', bytes),
            Kind::Nul => find_byte(0, bytes),
            Kind::OneOf(chars) => find_one_of(chars.as_bytes(), bytes),
            Kind::Text(_) => None,
        }
    }

    /// Returns the index of the byte that decides that byte `index` of `bytes` is content. It is content, and
    /// the first `decided` bytes are known to be. If only the end of the stream decides, returns an index from the
    /// last byte to the length of `bytes`.
    pub(crate) fn decided_by(&self, bytes: &[u8], decided: usize, index: usize) -> usize {
        match &self.0 {
            Kind::Lf | Kind::Crlf | Kind::CrlfOrLf => index + usize::from(bytes[index] == b'\r'),
            Kind::AnyNewline | Kind::Nul | Kind::OneOf(_) => index,
            Kind::Text(pattern) => pattern.decided_by(bytes, decided, index),
        }
    }

    /// Whether an LF that arrives after `last`, the last byte of a delimiter, belongs to the same delimiter.
    pub(crate) fn takes_lf_after(&self, last: u8) -> bool {
        matches!(self.0, Kind::AnyNewline) && last == b'\r'
    }

    /// Whether a line must not contain some CR or LF.
    pub(crate) fn forbids_bare(&self) -> bool {
        matches!(self.0, Kind::Crlf | Kind::CrlfOrLf)
    }

    /// Returns the index of the first CR or LF in `content` that a line must not contain. `content` belongs to no
    /// delimiter.
    #[inline]
    pub(crate) fn find_bare(&self, content: &[u8]) -> Option<usize> {
        match self.0 {
            Kind::Crlf => memchr2(b'\r', b'\n', content),
            Kind::CrlfOrLf => memchr(b'\r', content),
            Kind::Lf | Kind::AnyNewline | Kind::Nul | Kind::OneOf(_) | Kind::Text(_) => None,
        }
    }

    /// Returns the offset at which a reader would end or reject the line `text`, if that is before the end of
    /// `text`.
    pub(crate) fn find_in_text(&self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        if let Kind::Crlf | Kind::CrlfOrLf = self.0 {
            return memchr2(b'\r', b'\n', bytes);
        }
        let decided = match self.find(bytes, Searched::NOTHING) {
            End::Found { content, .. } => return Some(content),
            End::Open { content } => content,
        };
        // The last bytes of the text can begin a delimiter that the first bytes of the delimiter complete.
        let joined = [&bytes[decided..], self.as_str().as_bytes()].concat();
        let cut = decided + self.find(&joined, Searched::NOTHING).content();
        (cut < text.len()).then_some(cut)
    }
}

/// Like [`memchr`], but checks the first byte before the call. After skipped ASCII it is often the one.
#[inline]
fn find_byte(byte: u8, bytes: &[u8]) -> Option<usize> {
    if bytes.first() == Some(&byte) { Some(0) } else { memchr(byte, bytes) }
}

fn find_one_of(set: &[u8], bytes: &[u8]) -> Option<usize> {
    match *set {
        [a] => memchr(a, bytes),
        [a, b] => memchr2(a, b, bytes),
        [a, b, c] => memchr3(a, b, c, bytes),
        _ => bytes.iter().position(|byte| set.contains(byte)),
    }
}

impl fmt::Debug for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
