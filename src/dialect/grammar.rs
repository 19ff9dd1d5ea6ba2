//! What are the sequences of each dialect, and which variants are accepted?
//!
//! The levels decode stretches of well-formed UTF-8. This module decodes the sequences between
//! them, one at a time, by rows like those of RFC 3629, section 4:
//!
//! ```text
//! all            00..7F / C2..DF tail / E0 A0..BF tail / E1..EC 2(tail) / ED 80..9F tail
//!                / EE..EF 2(tail)
//! Rfc2279        F0 90..BF 2(tail) / F1..F7 3(tail) / F8 88..BF 3(tail) / F9..FB 4(tail)
//!                / FC 84..BF 4(tail) / FD 5(tail)
//! Cesu8          ED A0..AF tail ED B0..BF tail
//! ModifiedUtf8   as Cesu8, but C0 80 and not 00
//! Wtf8           F0..F4 as in UTF-8 / ED A0..BF tail, but no ED B0..BF after an ED A0..AF tail
//! Utf8b          F0..F4 as in UTF-8
//! SurrogatePass  F0..F4 as in UTF-8 / ED A0..BF tail
//! ```

use core::ops::RangeInclusive;

use crate::decoder::{AtEnd, BomPolicy, ErrorMode, Utf8ErrorKind as Kind};
use crate::dialect::Dialect;

/// The rules for reading a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grammar {
    pub(super) dialect: Dialect,
    pub(super) options: Options,
    pub(super) span: ErrorSpan,
}

/// The sequence before the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// The first half of a pair, as a code point of its own.
    LeadingSurrogate,
    Other,
}

/// The sequence at the start of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DialectSequence {
    /// A code point of this many bytes.
    CodePoint(u32, usize),
    /// This many ill-formed bytes, and the byte after them if it is the reason.
    IllFormed(usize, Kind, Option<u8>),
    /// All of the input, at most five bytes, is a proper prefix of a sequence, perhaps a rejected one.
    Incomplete,
}

/// The length of a sequence, and the range of its second byte.
struct Row {
    len: usize,
    second: RangeInclusive<u8>,
}

impl Grammar {
    /// Reads the sequence at the start of `input`, which must not be empty.
    pub(super) fn read(self, input: &[u8], before: Before, at_end: AtEnd) -> DialectSequence {
        let sequence = self.read_by_rows(input, before, at_end);
        match sequence {
            DialectSequence::IllFormed(..) if self.dialect == Dialect::Utf8b => {
                DialectSequence::CodePoint(0xDC00 + u32::from(input[0]), 1)
            }
            sequence => sequence,
        }
    }

    fn read_by_rows(self, input: &[u8], before: Before, at_end: AtEnd) -> DialectSequence {
        let lead = input[0];
        let Some(Row { len, second }) = self.row(lead, before) else {
            return DialectSequence::IllFormed(1, self.kind_of_lead(lead), None);
        };
        if let Some(byte) = input.get(1)
            && !second.contains(byte)
        {
            return DialectSequence::IllFormed(1, self.kind_of_second(lead, *byte), Some(*byte));
        }
        let rest = input.iter().take(len).skip(2);
        let fits = input.len().min(2) + rest.take_while(|byte| is_tail(**byte)).count();
        if fits < len {
            return self.cut(input, fits, at_end);
        }
        self.judge(value(&input[..len]), len, &input[len..], before, at_end)
    }

    /// Returns the row of a leading byte.
    fn row(self, lead: u8, before: Before) -> Option<Row> {
        let dialect = self.dialect;
        let has_four = !matches!(dialect, Dialect::Cesu8 | Dialect::ModifiedUtf8);
        let has_all = dialect == Dialect::Rfc2279
            && (self.options.values == Values::All || self.span == ErrorSpan::Whole);
        let (len, second) = match lead {
            0x00 if dialect == Dialect::ModifiedUtf8 => return None,
            0x00..=0x7F => (1, 0x00..=0xFF),
            0xC0 if dialect == Dialect::ModifiedUtf8 => (2, 0x80..=0x80),
            0xC2..=0xDF => (2, 0x80..=0xBF),
            0xE0 => (3, 0xA0..=0xBF),
            0xED => (3, 0x80..=self.last_after_ed(before)),
            0xE1..=0xEF => (3, 0x80..=0xBF),
            0xF0 if has_four => (4, 0x90..=0xBF),
            0xF1..=0xF3 if has_four => (4, 0x80..=0xBF),
            0xF4 if has_four && !has_all => (4, 0x80..=0x8F),
            0xF4..=0xF7 if has_all => (4, 0x80..=0xBF),
            0xF8 if has_all => (5, 0x88..=0xBF),
            0xF9..=0xFB if has_all => (5, 0x80..=0xBF),
            0xFC if has_all => (6, 0x84..=0xBF),
            0xFD if has_all => (6, 0x80..=0xBF),
            _ => return None,
        };
        Some(Row { len, second })
    }

    /// Returns the maximum of the byte after ED: 9F without surrogates, AF with only the first
    /// halves of pairs, BF with all surrogates.
    fn last_after_ed(self, before: Before) -> u8 {
        let rejects_second_half = match self.dialect {
            Dialect::Rfc2279 | Dialect::Utf8b => return 0x9F,
            Dialect::Cesu8 | Dialect::ModifiedUtf8 => self.options.unpaired == Unpaired::Rejected,
            Dialect::Wtf8 => before == Before::LeadingSurrogate,
            Dialect::SurrogatePass => false,
        };
        if rejects_second_half && self.span == ErrorSpan::Prompt { 0xAF } else { 0xBF }
    }

    /// Classifies a sequence of which only `fits` bytes are present.
    fn cut(self, input: &[u8], fits: usize, at_end: AtEnd) -> DialectSequence {
        let next = input.get(fits).copied();
        if next.is_none() && at_end == AtEnd::No {
            return DialectSequence::Incomplete;
        }
        match (input, next) {
            // Part of a surrogate is classified as in UTF-8.
            ([0xED, second @ 0xA0..=0xBF, ..], _) if self.dialect == Dialect::SurrogatePass => {
                DialectSequence::IllFormed(1, Kind::Surrogate, Some(*second))
            }
            (_, Some(_)) => DialectSequence::IllFormed(fits, Kind::Truncated, next),
            (_, None) => DialectSequence::IllFormed(fits, Kind::Incomplete, None),
        }
    }

    /// Accepts or rejects a complete sequence by its value.
    fn judge(
        self,
        value: u32,
        len: usize,
        rest: &[u8],
        before: Before,
        at_end: AtEnd,
    ) -> DialectSequence {
        let writes_pairs = matches!(self.dialect, Dialect::Cesu8 | Dialect::ModifiedUtf8);
        let alone = match self.options.unpaired {
            Unpaired::Rejected => DialectSequence::IllFormed(len, Kind::UnpairedSurrogate, None),
            Unpaired::Accepted => DialectSequence::CodePoint(value, len),
        };
        match value {
            0xD800..=0xDBFF if writes_pairs => {
                let fits = match *rest {
                    [0xED, second @ 0xB0..=0xBF, third @ 0x80..=0xBF, ..] => {
                        let trailing = u32::from(second & 0x0F) << 6 | u32::from(third & 0x3F);
                        let whole = from_pair(value, trailing);
                        return DialectSequence::CodePoint(whole, len + 3);
                    }
                    [0xED, 0xB0..=0xBF, ..] => 2,
                    [0xED, ..] => 1,
                    _ => 0,
                };
                match (rest.get(fits), at_end, self.span) {
                    (None, AtEnd::No, _) => DialectSequence::Incomplete,
                    (_, _, ErrorSpan::Whole) => alone,
                    _ if self.options.unpaired == Unpaired::Accepted => alone,
                    (None, _, ErrorSpan::Prompt) => {
                        DialectSequence::IllFormed(len + fits, Kind::Incomplete, None)
                    }
                    (Some(&next), _, ErrorSpan::Prompt) => {
                        DialectSequence::IllFormed(len + fits, Kind::UnpairedSurrogate, Some(next))
                    }
                }
            }
            0xDC00..=0xDFFF if writes_pairs => alone,
            0xDC00..=0xDFFF
                if self.dialect == Dialect::Wtf8 && before == Before::LeadingSurrogate =>
            {
                DialectSequence::IllFormed(len, Kind::SurrogatePair, None)
            }
            0x11_0000.. if self.options.values == Values::Unicode => {
                DialectSequence::IllFormed(len, Kind::TooLarge, None)
            }
            _ => DialectSequence::CodePoint(value, len),
        }
    }

    /// Returns why a byte cannot begin a sequence.
    fn kind_of_lead(self, lead: u8) -> Kind {
        let writes_pairs = matches!(self.dialect, Dialect::Cesu8 | Dialect::ModifiedUtf8);
        match lead {
            0x00 => Kind::Nul,
            0x80..=0xBF => Kind::UnexpectedContinuation,
            0xC0..=0xC1 => Kind::Overlong,
            0xF0..=0xF4 if writes_pairs => Kind::FourByteSequence,
            0xF5..=0xF7 if !writes_pairs => Kind::TooLarge,
            0xF8..=0xFD if self.dialect == Dialect::Rfc2279 => Kind::TooLarge,
            _ => Kind::InvalidByte,
        }
    }

    /// Returns why a byte cannot follow a leading byte.
    fn kind_of_second(self, lead: u8, second: u8) -> Kind {
        match (lead, self.dialect) {
            _ if !is_tail(second) => Kind::Truncated,
            (0xED, Dialect::Cesu8 | Dialect::ModifiedUtf8) => Kind::UnpairedSurrogate,
            (0xED, Dialect::Wtf8) => Kind::SurrogatePair,
            (0xED, _) => Kind::Surrogate,
            (0xF4, _) => Kind::TooLarge,
            _ => Kind::Overlong,
        }
    }
}

/// Returns the bytes of a code point according to RFC 2279, and their number.
pub(super) const fn generalized(value: u32) -> ([u8; 6], usize) {
    let (len, mark) = match value {
        0..0x80 => return ([value as u8, 0, 0, 0, 0, 0], 1),
        0x80..0x800 => (2, 0xC0),
        0x800..0x1_0000 => (3, 0xE0),
        0x1_0000..0x20_0000 => (4, 0xF0),
        0x20_0000..0x400_0000 => (5, 0xF8),
        0x400_0000.. => (6, 0xFC),
    };
    let mut bytes = [0; 6];
    let mut rest = value;
    let mut at = len;
    while at > 1 {
        at -= 1;
        bytes[at] = 0x80 | (rest & 0x3F) as u8;
        rest >>= 6;
    }
    bytes[0] = mark | rest as u8;
    (bytes, len)
}

/// Returns the value of a sequence according to RFC 2279.
fn value(sequence: &[u8]) -> u32 {
    let (lead, tail) = (u32::from(sequence[0]), &sequence[1..]);
    let first = if tail.is_empty() { lead } else { lead & (0x3F >> tail.len()) };
    tail.iter().fold(first, |value, byte| value << 6 | u32::from(byte & 0x3F))
}

const fn is_tail(byte: u8) -> bool {
    matches!(byte, 0x80..=0xBF)
}

/// The settings of a decoder or encoder: which variants of the dialect are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) unpaired: Unpaired,
    pub(super) values: Values,
    pub(super) bom: BomPolicy,
    pub(super) reported: ErrorSpan,
}

/// Which bytes an error covers if a sequence is complete but has a forbidden value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ErrorSpan {
    /// The bytes before the one that makes the sequence invalid, at which the error is reported.
    Prompt,
    /// The whole sequence, once it is complete.
    Whole,
}

/// Whether unpaired surrogates are accepted in a dialect that writes pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unpaired {
    Rejected,
    Accepted,
}

/// Which values are accepted in a dialect with values above U+10FFFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Values {
    All,
    Unicode,
}

impl Options {
    /// The dialect as its specification defines it.
    pub(super) const DEFAULT: Self = Self {
        unpaired: Unpaired::Rejected,
        values: Values::All,
        bom: BomPolicy::Keep,
        reported: ErrorSpan::Prompt,
    };

    /// Returns the span of errors in this mode.
    pub(crate) const fn span(self, mode: ErrorMode) -> ErrorSpan {
        match mode {
            ErrorMode::Fatal => self.reported,
            _ => ErrorSpan::Whole,
        }
    }
}

/// Returns whether this is the first half of a pair, U+D800 to U+DBFF.
pub(super) const fn is_leading_surrogate(code_point: u32) -> bool {
    matches!(code_point, 0xD800..=0xDBFF)
}

/// Returns whether this is the second half of a pair, U+DC00 to U+DFFF.
pub(super) const fn is_trailing_surrogate(code_point: u32) -> bool {
    matches!(code_point, 0xDC00..=0xDFFF)
}

/// Joins a pair of surrogates.
pub(super) const fn from_pair(leading: u32, trailing: u32) -> u32 {
    0x1_0000 + ((leading & 0x3FF) << 10) + (trailing & 0x3FF)
}
