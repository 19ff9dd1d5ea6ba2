use core::iter::FusedIterator;

use crate::dialect::CodePoint;
use crate::dialect::decoder::DialectDecoder;
use crate::dialect::error::DialectError;
use crate::dialect::grammar::Behind;
use crate::dialect::scanner::DialectStep;

/// A part of a stream in a [dialect](crate::dialect): text, or one code point.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{CodePoint, DialectPiece};
///
/// let pieces = [DialectPiece::Text("né"), DialectPiece::CodePoint(CodePoint::MAX)];
/// let values: Vec<_> =
///     pieces.iter().flat_map(DialectPiece::code_points).map(u32::from).collect();
/// assert_eq!(values, [0x6E, 0xE9, 0x7FFF_FFFF]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DialectPiece<'a> {
    /// Text that the dialect writes as UTF-8 does, borrowed from the chunk; never empty.
    Text(&'a str),
    /// A code point that the dialect writes in a way of its own, or whose bytes were cut.
    CodePoint(CodePoint),
}

impl<'a> DialectPiece<'a> {
    /// Returns the code points of this piece, one by one.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{CodePoint, DialectPiece};
    ///
    /// assert!(DialectPiece::Text("né").code_points().eq(['n', 'é'].map(CodePoint::from)));
    /// ```
    pub fn code_points(&self) -> impl Iterator<Item = CodePoint> + use<'a> {
        let (text, code_point) = match *self {
            Self::Text(text) => (text, None),
            Self::CodePoint(code_point) => ("", Some(code_point)),
        };
        text.chars().map(CodePoint::from).chain(code_point)
    }
}

/// The text, the code points and the errors of one chunk, in order; see [`DialectDecoder::push`].
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectPiece};
///
/// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
/// let mut pieces = decoder.push(b"ab\0cd");
/// assert_eq!(pieces.next(), Some(Ok(DialectPiece::Text("ab"))));
/// assert!(pieces.next().unwrap().is_err());
/// assert_eq!(pieces.next(), Some(Ok(DialectPiece::Text("cd"))));
/// assert_eq!(pieces.next(), None);
/// ```
#[derive(Debug)]
#[must_use = "bytes are consumed as the iterator is asked for pieces"]
pub struct DialectPieces<'d, 'c> {
    decoder: &'d mut DialectDecoder,
    input: &'c [u8],
    behind: Behind,
}

impl<'d, 'c> DialectPieces<'d, 'c> {
    pub(super) fn new(decoder: &'d mut DialectDecoder, input: &'c [u8], behind: Behind) -> Self {
        Self { decoder, input, behind }
    }

    /// Returns the bytes of the chunk that have not been consumed.
    ///
    /// A caller who breaks off pushes them again, now or later, for decoding to go on there. When
    /// the iterator has returned `None`, they are none.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Cesu8);
    /// let mut pieces = decoder.push(b"text\xFFbinary, perhaps");
    /// assert!(pieces.next().unwrap().is_ok());
    /// assert_eq!(pieces.rest(), b"\xFFbinary, perhaps");
    /// ```
    pub fn rest(&self) -> &'c [u8] {
        self.input
    }
}

impl<'c> Iterator for DialectPieces<'_, 'c> {
    type Item = Result<DialectPiece<'c>, DialectError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { decoder, input, behind } = self;
        if *behind == Behind::End
            && let Some(missing) = decoder.scanner.end_start()
        {
            return Some(Err(decoder.tally.note(missing)));
        }
        loop {
            if !decoder.incomplete().is_empty() && (!input.is_empty() || *behind == Behind::End) {
                let (used, resumed) = decoder.resume(input, *behind);
                *input = &input[used..];
                match resumed {
                    Some(found) => return Some(found.map(DialectPiece::CodePoint)),
                    None => continue,
                }
            }
            if input.is_empty() {
                return None;
            }
            match decoder.scanner.step(input, Behind::More) {
                DialectStep::Text(text) => {
                    *input = &input[text.len()..];
                    return Some(Ok(DialectPiece::Text(text)));
                }
                DialectStep::CodePoint(code_point, len) => {
                    *input = &input[len..];
                    return Some(Ok(DialectPiece::CodePoint(code_point)));
                }
                DialectStep::Silent(len) => *input = &input[len..],
                DialectStep::Error(error) => {
                    *input = &input[error.bytes().len()..];
                    return Some(Err(decoder.tally.note(error)));
                }
                DialectStep::Hold => {
                    decoder.hold(input);
                    *input = &[];
                }
            }
        }
    }
}

impl FusedIterator for DialectPieces<'_, '_> {}
