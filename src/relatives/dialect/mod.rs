//! Relatives of UTF-8, as streams: RFC 2279, CESU-8, Modified UTF-8, WTF-8, UTF-8B and Python's
//! `surrogatepass`.
//!
//! None of them is UTF-8, and nothing outside this module and the codecs named after it reads or
//! writes them: `C0 80`, `ED A0 80` and `FC 84 80 80 80 80` are errors everywhere else. Here they are
//! read because somebody has asked for it by the [`Dialect`]'s name.
//!
//! | dialect | differs from UTF-8 in | found in |
//! | --- | --- | --- |
//! | [`Rfc2279`](Dialect::Rfc2279) | sequences of up to six bytes, values to 7FFFFFFF | UTF-8 before 2003 |
//! | [`Cesu8`](Dialect::Cesu8) | a pair of surrogates, 3 + 3 bytes, in place of four bytes | Oracle's `UTF8`, JNI |
//! | [`ModifiedUtf8`](Dialect::ModifiedUtf8) | the same, and U+0000 as `C0 80` | class files, `DataOutput.writeUTF` |
//! | [`Wtf8`](Dialect::Wtf8) | surrogates without a partner, three bytes each | Windows file names, JavaScript strings |
//! | [`Utf8b`](Dialect::Utf8b) | bytes that are not UTF-8 become U+DC80 to U+DCFF | Python's `surrogateescape` |
//! | [`SurrogatePass`](Dialect::SurrogatePass) | surrogates, three bytes each | Python's `surrogatepass` |
//!
//! [`DialectDecoder`] turns bytes into [`CodePoint`]s, and into text where every code point is a
//! Unicode scalar value; what is none is never in a `str`. [`DialectEncoder`] goes back. With the
//! feature `codec` there are `DialectCodec` and `JavaUtfCodec` for tokio-util.
//!
//! ```
//! # #[cfg(feature = "alloc")] {
//! use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};
//!
//! // A file name that is not UTF-8, as Python keeps it, and the same bytes back.
//! let name = b"caf\xE9.txt";
//! let mut decoder = DialectDecoder::new(Dialect::Utf8b);
//! let mut code_points = Vec::new();
//! for chunk in name.chunks(2) {
//!     decoder.push_to_code_points(chunk, &mut code_points).unwrap();
//! }
//! decoder.finish_to_code_points(&mut code_points).unwrap();
//! assert_eq!(code_points[3].to_string(), "U+DCE9");
//!
//! let mut bytes = Vec::new();
//! let mut encoder = DialectEncoder::new(Dialect::Utf8b);
//! encoder.push_code_points_to_vec(&code_points, &mut bytes).unwrap();
//! encoder.finish_to_vec(&mut bytes).unwrap();
//! assert_eq!(bytes, name);
//! # }
//! ```
//!
//! # Chunking never shows
//!
//! As everywhere in the crate: for any input, cut anywhere, the code points, the text, the errors
//! and their offsets are those of the whole input. At most five bytes are held, and only while they
//! can still become something. A pair of surrogates is found in however many pieces it comes.
//!
//! # Errors
//!
//! A [`DialectError`] covers the bytes that could have begun a sequence of the dialect, one at the
//! least; the byte that broke it starts the next one.
//!
//! In [`ErrorMode::Fatal`] it is reported by the first byte that is impossible, and covers all that
//! came before that byte and could have become one thing. For CESU-8 that is up to five bytes of a
//! pair: whoever goes on behind `ED A0 80 ED, then A0` has lost the start of another pair.
//!
//! The other modes put something in the place of an error, and these dialects know the shape of
//! what they refuse. So in them what has the shape of a surrogate and may not stand where it does
//! (alone in [`Cesu8`](Dialect::Cesu8) and [`ModifiedUtf8`](Dialect::ModifiedUtf8), second half of a
//! pair in [`Wtf8`](Dialect::Wtf8)), and what
//! [`with_rfc3629_limit`](DialectOptions::with_rfc3629_limit) refuses, is one error of exactly its
//! bytes, and one U+FFFD. It is known with its last byte, and nothing behind it is lost.
//!
//! [`ErrorMode::Fatal`]: crate::ErrorMode::Fatal
//!
//! Where the specifications decide nothing, these are the rules of this crate:
//!
//! - In [`Rfc2279`](Dialect::Rfc2279) overlong forms and surrogates are refused, as in UTF-8.
//! - In [`Cesu8`](Dialect::Cesu8) and [`ModifiedUtf8`](Dialect::ModifiedUtf8) sequences of four
//!   bytes are ill-formed (TR26), and surrogates without a partner too unless they are
//!   [let through](DialectOptions::with_unpaired_surrogates).
//! - In [`ModifiedUtf8`](Dialect::ModifiedUtf8) a byte 00 is ill-formed, and so are `C0 81` and
//!   `E0 80 80` (JVM specification, section 4.4.7), which Java's `readUTF` accepts.
//! - A surrogate that [`SurrogatePass`](Dialect::SurrogatePass) finds cut short is what it is in
//!   UTF-8: an error of one byte, `ED`.

#[cfg(feature = "alloc")]
pub(crate) mod bulk;
mod code_point;
#[cfg(feature = "codec")]
mod codec;
mod decoder;
mod encode_error;
mod encoder;
mod error;
mod form;
pub(crate) mod grammar;
#[cfg(feature = "codec")]
mod java;
mod options;
mod pieces;
pub(crate) mod scanner;
#[cfg(feature = "alloc")]
pub(crate) mod text;

use core::fmt;

pub use code_point::CodePoint;
#[cfg(feature = "codec")]
pub use codec::{DialectCodec, DialectCodecError, DialectItem};
pub use decoder::DialectDecoder;
pub use encode_error::DialectEncodeError;
pub use encoder::DialectEncoder;
pub use error::{DialectError, DialectErrorKind};
pub use form::EncodedBytes;
#[cfg(feature = "codec")]
pub use java::{EncodeJavaUtfError, JavaUtfCodec};
pub use options::DialectOptions;
pub use pieces::{DialectPiece, DialectPieces};

/// A relative of UTF-8.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectDecoder};
///
/// let accepts = |dialect, bytes: &[u8]| {
///     let mut decoder = DialectDecoder::new(dialect);
///     let pushed = decoder.push(bytes).all(|piece| piece.is_ok());
///     pushed && decoder.finish().all(|piece| piece.is_ok())
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
    /// UTF-8 as RFC 2279 had it: sequences of up to six bytes, values of up to 31 bits, the shortest
    /// form of each. Values above U+10FFFF are no text.
    Rfc2279,
    /// CESU-8 (Unicode Technical Report 26): above U+FFFF a pair of surrogates, each in three bytes.
    Cesu8,
    /// The Modified UTF-8 of the Java virtual machine (JVM specification, section 4.4.7): CESU-8
    /// with U+0000 as `C0 80`, so that no byte is 00.
    ModifiedUtf8,
    /// WTF-8: UTF-8 with surrogates in three bytes where they have no partner, so that it holds
    /// what is in ill-formed UTF-16. A pair is written in four bytes and not otherwise.
    Wtf8,
    /// UTF-8B, Python's `surrogateescape`: each byte that is not part of UTF-8 is a code point,
    /// U+DC80 to U+DCFF. Every byte string can be decoded, and comes back as it was.
    Utf8b,
    /// UTF-8 with surrogates in three bytes, in pairs or not, as Python's `surrogatepass` has it.
    SurrogatePass,
}

/// The usual name, in lower case: `cesu-8`, `modified utf-8`.
impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Rfc2279 => "rfc 2279 utf-8",
            Self::Cesu8 => "cesu-8",
            Self::ModifiedUtf8 => "modified utf-8",
            Self::Wtf8 => "wtf-8",
            Self::Utf8b => "utf-8b",
            Self::SurrogatePass => "utf-8 with surrogates",
        })
    }
}
