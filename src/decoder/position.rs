//! The position in a text: which line, which column, which byte?

use core::fmt;

use utf8_simd::{count_chars, utf16_len};

use crate::decoder::Utf8Error;

/// A position in a stream of text: line, column and offset.
///
/// It begins at line 1, column 1, offset 0. [`push`](Self::push) moves it past text and
/// [`push_error`](Self::push_error) past an error, so it works with the output of every decoder and adaptor. How
/// the text is split into pieces never affects it. It is `Copy`: keep a copy to remember a position. At `u64::MAX`
/// each number stays as it is.
///
/// - **Line**: LF ends a line, so CR LF does too. CR belongs to the line that it is in, and a CR alone ends none.
///   These are the line numbers of `grep -n`, of compilers, and of `lines::Delimiter::lf`.
/// - **Column**: counts `char`s from 1. A reported error is one column. A repair is text, so each of its
///   `char`s is one.
/// - **UTF-16 column**: the same in UTF-16 units, as editors count by default (Language Server Protocol, `Position`,
///   where the first is 0). An error counts as U+FFFD.
/// - **Offset**: counts the bytes before it in the stream. A BOM that was removed and skipped bytes count. They
///   are not part of the text: pass their number to [`skip`](Self::skip). After an error, the offset is that of the
///   error, so it is correct again.
///
/// In a lossy mode the text is not as long as its bytes, so `push` cannot know the offset. The adaptors of `char`s
/// do: `io::Utf8Reader::chars_with_positions` and `stream::CharStream::with_positions`.
///
/// [`push`](Self::push) makes three passes over the text, all with vector instructions. If the text contains an LF,
/// the last two cover only what follows the last LF.
///
/// # Examples
///
/// ```
/// use utf8_codec::{TextPosition, Utf8Decoder};
///
/// let mut decoder = Utf8Decoder::new();
/// let mut position = TextPosition::new();
/// let mut errors = Vec::new();
/// // CR LF and the euro sign are split.
/// for chunk in [&b"price:\r"[..], b"\n5 \xE2", b"\x82\xAC \xFF!"] {
///     for piece in decoder.push(chunk) {
///         match piece {
///             Ok(text) => position.push(text),
///             Err(error) => {
///                 errors.push(format!("{position}: {error:#}"));
///                 position.push_error(&error);
///             }
///         }
///     }
/// }
/// assert_eq!(errors, ["line 2, column 5: invalid byte (ff)"]);
/// assert_eq!((position.line, position.column, position.offset), (2, 7, 16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "crate::decoder::serialize::PositionFields"))]
#[non_exhaustive]
#[must_use]
pub struct TextPosition {
    /// The number of the line. The first line is 1.
    pub line: u64,
    /// The number of the column, in `char`s. The first column is 1.
    pub column: u64,
    /// The number of the column, in UTF-16 units. The first column is 1.
    pub utf16_column: u64,
    /// The number of bytes before the position in the stream.
    pub offset: u64,
}

impl TextPosition {
    /// Returns the start of a stream: line 1, column 1, offset 0.
    pub const fn new() -> Self {
        Self { line: 1, column: 1, utf16_column: 1, offset: 0 }
    }

    /// Moves past `text`.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::TextPosition;
    ///
    /// let mut position = TextPosition::new();
    /// position.push("one\nzwölf 👋");
    /// assert_eq!((position.line, position.column, position.offset), (2, 8, 15));
    /// assert_eq!(position.utf16_column, 9);
    /// ```
    pub fn push(&mut self, text: &str) {
        self.skip(text.len() as u64);
        let lines = count_line_feeds(text.as_bytes());
        // The bytes after the last LF are searched from the end, and only if there is one.
        let mut last = text;
        if let (1.., Some(after)) = (lines, after_last_line_feed(text)) {
            self.line = self.line.saturating_add(lines);
            (self.column, self.utf16_column) = (1, 1);
            last = after;
        }
        self.pass(count_chars(last) as u64, utf16_len(last) as u64);
    }

    /// Moves past the bytes of `error`, which count as one column.
    ///
    /// The offset becomes that of the end of the error. A rejected LF ends a line.
    /// [`MissingBom`](crate::Utf8ErrorKind::MissingBom) has no bytes and changes nothing else.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{TextPosition, Utf8Validator};
    ///
    /// let error = Utf8Validator::new().push(b"ab\xE2\x82!").unwrap_err();
    /// let mut position = TextPosition::new();
    /// position.push("ab");
    /// position.push_error(&error);
    /// assert_eq!((position.line, position.column, position.offset), (1, 4, 4));
    /// ```
    pub fn push_error(&mut self, error: &Utf8Error) {
        self.offset = error.valid_up_to();
        self.skip(error.bytes().len() as u64);
        match error.bytes() {
            [] => {}
            b"\n" => self.end_line(),
            _ => self.pass(1, 1),
        }
    }

    fn end_line(&mut self) {
        *self = Self { line: self.line.saturating_add(1), offset: self.offset, ..Self::new() };
    }

    fn pass(&mut self, chars: u64, units: u64) {
        self.column = self.column.saturating_add(chars);
        self.utf16_column = self.utf16_column.saturating_add(units);
    }

    /// Moves past `bytes` bytes that are not part of the text: a BOM that was removed, or the bytes that were
    /// skipped at a mid-stream start.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::{BomPolicy, TextPosition, Utf8Decoder, Utf8Options};
    ///
    /// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    /// let mut decoder = Utf8Decoder::new().with_options(options);
    /// let mut position = TextPosition::new();
    /// let text = decoder.push(b"\xEF\xBB\xBFtext").next().unwrap().unwrap();
    /// position.skip(3);
    /// position.push(text);
    /// assert_eq!((position.column, position.offset), (5, 7));
    /// ```
    pub const fn skip(&mut self, bytes: u64) {
        self.offset = self.offset.saturating_add(bytes);
    }

    /// Returns the position of an item that begins at `offset`, and moves past it. `Err(None)` is an error that
    /// has no bytes.
    pub(crate) fn take(&mut self, offset: u64, item: Result<char, Option<&Utf8Error>>) -> Self {
        self.offset = offset;
        let at = *self;
        match item {
            Ok('\n') => self.end_line(),
            Ok(c) => self.pass(1, c.len_utf16() as u64),
            Err(Some(error)) => self.push_error(error),
            Err(None) => {}
        }
        at
    }
}

impl Default for TextPosition {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes line and column: `line 3, column 14`.
impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Blocks without LF are passed over with vector instructions. `str::rsplit_once` can panic, as far as the linker knows.
fn after_last_line_feed(text: &str) -> Option<&str> {
    const BLOCK: usize = 32;
    let mut end = text.len();
    for block in text.as_bytes().rchunks(BLOCK) {
        if block.iter().fold(false, |any, &byte| any | (byte == b'\n')) {
            let after = block.iter().rev().take_while(|byte| **byte != b'\n').count();
            return text.get(end.checked_sub(after)?..);
        }
        end -= block.len();
    }
    None
}

fn count_line_feeds(bytes: &[u8]) -> u64 {
    // Sums of one byte keep vector registers full; 255 of them cannot overflow.
    let count = |block: &[u8]| block.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    bytes.chunks(255).map(|block| u64::from(count(block))).sum()
}
