//! Dialects of UTF-8: RFC 2279, CESU-8, Modified UTF-8, WTF-8, UTF-8B and Python's `surrogatepass`.
//!
//! None of them is UTF-8, and no other module decodes or encodes them: `C0 80` and `ED A0 80`, for
//! example, are errors everywhere else. Here you select the [`Dialect`] by its name.
//!
//! | dialect | differs from UTF-8 in | found in |
//! | --- | --- | --- |
//! | [`Rfc2279`](Dialect::Rfc2279) | sequences of up to six bytes, values to 7FFFFFFF | UTF-8 before 2003 |
//! | [`Cesu8`](Dialect::Cesu8) | a pair of surrogates, 3 + 3 bytes, instead of four bytes | Oracle's `UTF8`, JNI |
//! | [`ModifiedUtf8`](Dialect::ModifiedUtf8) | the same, and U+0000 as `C0 80` | class files, `DataOutput.writeUTF` |
//! | [`Wtf8`](Dialect::Wtf8) | unpaired surrogates, three bytes each | Windows file names, JavaScript strings |
//! | [`Utf8b`](Dialect::Utf8b) | bytes that are not UTF-8 become U+DC80 to U+DCFF | Python's `surrogateescape` |
//! | [`SurrogatePass`](Dialect::SurrogatePass) | surrogates, three bytes each | Python's `surrogatepass` |
//!
//! [`DialectDecoder`] decodes bytes to code points, or to text if every code point is a Unicode
//! scalar value. Other code points are never in a `str`. A code point is a `u32`: a scalar value, a
//! surrogate (U+D800 to U+DFFF), or in RFC 2279 any value of up to 31 bits. Use `char::from_u32`
//! to find scalar values. [`DialectEncoder`] is the counterpart. With the feature `codec`,
//! `DialectCodec` and `JavaUtfCodec` are codecs for tokio-util.
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use utf8_codec::ErrorMode;
//! use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};
//!
//! // A file name that is not UTF-8, as in Python, and the same bytes after encoding.
//! let name = b"caf\xE9.txt";
//! let mut decoder = DialectDecoder::new(Dialect::Utf8b);
//! let mut code_points = Vec::new();
//! for chunk in name.chunks(2) {
//!     let _done = decoder.push_to_code_points(chunk, ErrorMode::Fatal, &mut code_points);
//! }
//! decoder.finish_to_code_points(ErrorMode::Fatal, &mut code_points).unwrap();
//! assert_eq!(code_points[3], 0xDCE9);
//!
//! let mut bytes = Vec::new();
//! let mut encoder = DialectEncoder::new(Dialect::Utf8b);
//! encoder.push_code_points_to_vec(&code_points, &mut bytes).unwrap();
//! encoder.finish_to_vec(&mut bytes).unwrap();
//! assert_eq!(bytes, name);
//! # }
//! ```
//!
//! # Guarantee
//!
//! How the input is split into chunks never affects the code points, the text, the errors or their
//! offsets. At most five bytes are held, and only while they can still become a sequence. A pair of
//! surrogates is recognised even if it is split across chunks.
//!
//! # Errors
//!
//! A [`DialectError`] of a decoder covers the bytes, at least one, that could have begun a sequence of the
//! dialect. The byte that cannot continue it starts the next sequence. (Only a missing BOM has no bytes.)
//!
//! If errors are reported, by [`push`](DialectDecoder::push) and in [`ErrorMode::Fatal`], the error
//! is returned at the byte that makes the sequence invalid, and covers all bytes before it that could have become
//! one sequence. For CESU-8 these are up to five bytes of a pair: an error of `ED A0 80 ED`,
//! followed by `A0`, includes the start of another pair.
//!
//! If errors are repaired, by the other modes, a complete sequence with a forbidden value
//! is one error of exactly its bytes, and one U+FFFD: an unpaired surrogate in
//! [`Cesu8`](Dialect::Cesu8) and [`ModifiedUtf8`](Dialect::ModifiedUtf8), the second half of a pair
//! in [`Wtf8`](Dialect::Wtf8), and a value that
//! [`with_rfc3629_limit`](DialectDecoder::with_rfc3629_limit) rejects. Its last byte decides it,
//! and nothing after it is lost. Its beginning is one error too, if the rest does not follow.
//! [`with_whole_errors`](DialectDecoder::with_whole_errors) reports errors in the same way.
//!
//! [`ErrorMode::Fatal`]: crate::ErrorMode::Fatal
//!
//! The specifications leave some cases open. This crate decides them as follows:
//!
//! - In [`Rfc2279`](Dialect::Rfc2279) overlong forms and surrogates are ill-formed, as in UTF-8.
//! - In [`Cesu8`](Dialect::Cesu8) and [`ModifiedUtf8`](Dialect::ModifiedUtf8) four-byte sequences are
//!   ill-formed (TR26). So are unpaired surrogates, unless they are
//!   [accepted](DialectDecoder::with_unpaired_surrogates).
//! - In [`ModifiedUtf8`](Dialect::ModifiedUtf8) a byte 00 is ill-formed, and so are `C0 81` and
//!   `E0 80 80` (JVM specification, section 4.4.7), which Java's `readUTF` accepts.
//! - In [`SurrogatePass`](Dialect::SurrogatePass) a truncated surrogate is the same error as in UTF-8:
//!   one byte, `ED`.

mod decoder;
#[cfg(feature = "alloc")]
mod encode_text;
mod encoder;
mod error;
pub(crate) mod grammar;
#[cfg(feature = "alloc")]
pub(crate) mod repaired;
pub(crate) mod scanner;

use core::fmt;

pub use decoder::{DialectDecoder, DialectPieces};
pub use encoder::{DialectEncoder, EncodedBytes};
pub use error::DialectError;

/// A dialect of UTF-8.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectDecoder};
///
/// let accepts = |dialect, bytes: &[u8]| {
///     let mut decoder = DialectDecoder::new(dialect);
///     let pushed = decoder.push(bytes).all(|piece| piece.is_ok());
///     pushed && decoder.finish().is_ok()
/// };
/// assert!(accepts(Dialect::Rfc2279, b"\xFD\xBF\xBF\xBF\xBF\xBF"));
/// assert!(accepts(Dialect::Cesu8, b"\xED\xA0\xBD\xED\xB8\x80"));
/// assert!(accepts(Dialect::ModifiedUtf8, b"\xC0\x80"));
/// assert!(accepts(Dialect::Wtf8, b"\xED\xA0\xBD"));
/// assert!(accepts(Dialect::Utf8b, b"\xFF"));
/// assert!(accepts(Dialect::SurrogatePass, b"\xED\xA0\xBD\xED\xB8\x80"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// UTF-8 as RFC 2279 defined it: sequences of up to six bytes, values of up to 31 bits, the shortest
    /// form of each. Values above U+10FFFF are not text.
    Rfc2279,
    /// CESU-8 (Unicode Technical Report 26): above U+FFFF a pair of surrogates, each in three bytes.
    Cesu8,
    /// The Modified UTF-8 of the Java virtual machine (JVM specification, section 4.4.7): CESU-8
    /// with U+0000 as `C0 80`, so that no byte is 00.
    ModifiedUtf8,
    /// WTF-8: UTF-8 with unpaired surrogates in three bytes, so that it can hold ill-formed UTF-16. A pair
    /// is always written in four bytes.
    Wtf8,
    /// UTF-8B, Python's `surrogateescape`: each byte that is not part of UTF-8 is a code point,
    /// U+DC80 to U+DCFF. Every byte string can be decoded, and encoding restores it.
    Utf8b,
    /// UTF-8 with surrogates in three bytes, paired or not: Python's `surrogatepass`.
    SurrogatePass,
}

/// Writes the usual name: `CESU-8`, `Modified UTF-8`.
impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Rfc2279 => "RFC 2279 UTF-8",
            Self::Cesu8 => "CESU-8",
            Self::ModifiedUtf8 => "Modified UTF-8",
            Self::Wtf8 => "WTF-8",
            Self::Utf8b => "UTF-8B",
            Self::SurrogatePass => "UTF-8 with surrogates",
        })
    }
}

/// A piece of a stream in a [dialect](crate::dialect): text, or one code point.
///
/// The decoder yields text as `&str`. The codec's items own it.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::DialectPiece;
///
/// let pieces = [DialectPiece::Text("né"), DialectPiece::CodePoint(0x7FFF_FFFF)];
/// let values: Vec<_> = pieces.iter().flat_map(DialectPiece::code_points).collect();
/// assert_eq!(values, [0x6E, 0xE9, 0x7FFF_FFFF]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DialectPiece<T> {
    /// Text, never empty when decoded.
    Text(T),
    /// A code point: a Unicode scalar value, a surrogate, or in RFC 2279 a value of up to 31 bits.
    /// The decoder yields one if the dialect writes it differently from UTF-8, or if its bytes were
    /// split across chunks. The codec yields one only if it is not a Unicode scalar value.
    CodePoint(u32),
}

impl<T: AsRef<str>> DialectPiece<T> {
    /// Returns the text, or `None` for a code point.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_ref()),
            Self::CodePoint(_) => None,
        }
    }

    /// Returns the code points of this piece, one by one.
    pub fn code_points(&self) -> impl Iterator<Item = u32> {
        let (text, code_point) = match self {
            Self::Text(text) => (text.as_ref(), None),
            Self::CodePoint(code_point) => ("", Some(*code_point)),
        };
        text.chars().map(u32::from).chain(code_point)
    }
}
