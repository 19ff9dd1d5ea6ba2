//! Errors: which bytes are ill-formed, where, and why? How many were there?

use core::fmt;

use utf8_simd::begins_nothing;

#[cfg(feature = "serde")]
use crate::decoder::serialize::ErrorFields;

/// An ill-formed part of a UTF-8 stream: its offset, its bytes, and the reason.
///
/// One error covers one maximal subpart (The Unicode Standard, section 3.9, "U+FFFD Substitution of
/// Maximal Subparts"), the same extent that [`core::str::Utf8Error`] and the WHATWG Encoding
/// Standard use. Offsets count bytes from the start of the *stream*, not of the chunk; a BOM and skipped
/// bytes count.
///
/// # Examples
///
/// ```
/// use utf8_codec::{Utf8Decoder, Utf8ErrorKind};
///
/// let mut decoder = Utf8Decoder::new();
/// assert_eq!(decoder.push(b"price: \xE2\x82").count(), 1); // the euro sign has one byte to come
/// let error = decoder.push(b"A").next().unwrap().unwrap_err(); // but it never does
///
/// assert_eq!(error.valid_up_to(), 7);
/// assert_eq!(error.error_len(), Some(2));
/// assert_eq!(error.kind(), Utf8ErrorKind::Truncated);
/// assert_eq!(error.bytes(), b"\xE2\x82");
/// assert_eq!(error.next_byte(), Some(b'A'));
/// let message = "invalid UTF-8 at byte 7: truncated character (e2 82, followed by 41)";
/// assert_eq!(error.to_string(), message);
/// ```
///
/// There is no `From<core::str::Utf8Error>`: that error has neither the bytes nor the reason. To get them, pass the
/// bytes to [`from_utf8`](crate::from_utf8), whose errors have the same offset and length.
///
/// With the feature `serde`, it is an error to read what no decoder returns: bytes that do not have that kind of error, or
/// end after the offset `u64::MAX`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "ErrorFields", try_from = "ErrorFields"))]
pub struct Utf8Error {
    valid_up_to: u64,
    /// The bytes of the error, padded with zeros to four; how many there are; the kind; 1 if there is a next byte, else 0;
    /// that byte, or 0. Invariant: unused bytes are zero, so that the derived comparisons hold. Written and copied as one
    /// word.
    detail: [u8; 8],
}

/// Why a part of a stream is ill-formed or rejected.
///
/// The first seven kinds are violations of RFC 3629, section 4, and of Unicode, table 3-7. The next four come from
/// [options](crate::Utf8Options) that reject well-formed bytes. A [dialect](crate::dialect)'s
/// [errors](crate::dialect::DialectError) use the same kinds, defined by its own grammar; the last five occur only there.
///
/// # Examples
///
/// ```
/// use utf8_codec::{Utf8ErrorKind, Utf8Validator};
///
/// let kind = |bytes: &[u8]| Utf8Validator::new().push(bytes).unwrap_err().kind();
/// assert_eq!(kind(b"\x80"), Utf8ErrorKind::UnexpectedContinuation);
/// assert_eq!(kind(b"\xC0\xAF"), Utf8ErrorKind::Overlong);
/// assert_eq!(kind(b"\xED\xA0\x80"), Utf8ErrorKind::Surrogate);
/// assert_eq!(kind(b"\xF4\x90\x80\x80"), Utf8ErrorKind::TooLarge);
/// assert_eq!(kind(b"\xFF"), Utf8ErrorKind::InvalidByte);
/// assert_eq!(kind(b"\xE2\x82A"), Utf8ErrorKind::Truncated);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Utf8ErrorKind {
    /// A continuation byte, `80..=BF`, where a sequence should start.
    UnexpectedContinuation,
    /// The beginning of a sequence that is longer than its code point needs: `C0`, `C1`, `E0 80..=9F`,
    /// `F0 80..=8F`.
    Overlong,
    /// The beginning of an encoded surrogate, U+D800 to U+DFFF: `ED A0..=BF`.
    Surrogate,
    /// The beginning of an encoded value above U+10FFFF: `F4 90..=BF`, `F5..=F7`.
    TooLarge,
    /// A byte that UTF-8 never uses: `F8..=FF`.
    InvalidByte,
    /// The beginning of a sequence, followed by a byte that cannot continue it.
    Truncated,
    /// The beginning of a sequence, followed by the end of the stream.
    Incomplete,
    /// A BOM at the start of a stream that must not have one
    /// ([`BomPolicy::Forbid`](crate::BomPolicy::Forbid)).
    ForbiddenBom,
    /// No BOM at the start of a stream that must have one
    /// ([`BomPolicy::Require`](crate::BomPolicy::Require)).
    MissingBom,
    /// A noncharacter, rejected by [the options](crate::Utf8Options#rejected-characters): U+FDD0 to U+FDEF and the last
    /// two code points of each plane.
    Noncharacter,
    /// NUL, a control character or another that is not displayable, rejected by
    /// [the options](crate::Utf8Options#rejected-characters).
    Forbidden,
    /// In a dialect only: the first byte of a four-byte sequence, `F0..=F4`, where the dialect writes a pair of
    /// surrogates instead.
    FourByteSequence,
    /// In a dialect only: a well-formed code point that is not a Unicode scalar value, when text is decoded; see
    /// [`code_point`](crate::dialect::DialectError::code_point).
    NotScalar,
    /// In a dialect only: a byte 00 in [`ModifiedUtf8`](crate::dialect::Dialect::ModifiedUtf8), where U+0000 is
    /// `C0 80`.
    Nul,
    /// In a dialect only: the second half of a pair of surrogates, where the dialect writes the character instead
    /// ([`Wtf8`](crate::dialect::Dialect::Wtf8)).
    SurrogatePair,
    /// In a dialect only: an unpaired surrogate, where the dialect writes pairs.
    UnpairedSurrogate,
}

impl Utf8ErrorKind {
    /// All kinds with their names in messages, by their numbers. Those of dialects are read with serde too.
    const ALL: [(Self, &str); 16] = [
        (Self::UnexpectedContinuation, "unexpected continuation byte"),
        (Self::Overlong, "overlong encoding"),
        (Self::Surrogate, "encoded surrogate"),
        (Self::TooLarge, "code point above U+10FFFF"),
        (Self::InvalidByte, "invalid byte"),
        (Self::Truncated, "truncated character"),
        (Self::Incomplete, "unexpected end inside a character"),
        (Self::ForbiddenBom, "forbidden byte order mark"),
        (Self::MissingBom, "missing byte order mark"),
        (Self::Noncharacter, "forbidden noncharacter"),
        (Self::Forbidden, "forbidden character"),
        (Self::FourByteSequence, "four-byte sequence"),
        (Self::NotScalar, "not a scalar value"),
        (Self::Nul, "NUL byte"),
        (Self::SurrogatePair, "encoded surrogate pair"),
        (Self::UnpairedSurrogate, "unpaired surrogate"),
    ];
}

const _: () = {
    let mut number = 0;
    while number < Utf8ErrorKind::ALL.len() {
        assert!(Utf8ErrorKind::ALL[number].0 as usize == number);
        number += 1;
    }
};

/// The kind of an ill-formed sequence by its first byte: first if no continuation byte follows the maximal subpart, then
/// if one does.
static KINDS: [[Utf8ErrorKind; 256]; 2] = {
    use Utf8ErrorKind as Kind;
    let mut kinds = [[Kind::Truncated; 256]; 2];
    let mut byte = 0;
    while byte < 256 {
        let (alone, before_continuation) = match byte as u8 {
            // These begin no sequence. ASCII is no error and never looked up.
            ..=0xBF => (Kind::UnexpectedContinuation, Kind::UnexpectedContinuation),
            0xC0..=0xC1 => (Kind::Overlong, Kind::Overlong),
            0xF5..=0xF7 => (Kind::TooLarge, Kind::TooLarge),
            0xF8.. => (Kind::InvalidByte, Kind::InvalidByte),
            // The maximal subpart would include a continuation byte, unless it is the second byte and the first forbids
            // it.
            0xE0 | 0xF0 => (Kind::Truncated, Kind::Overlong),
            0xED => (Kind::Truncated, Kind::Surrogate),
            0xF4 => (Kind::Truncated, Kind::TooLarge),
            0xC2.. => (Kind::Truncated, Kind::Truncated),
        };
        kinds[0][byte] = alone;
        kinds[1][byte] = before_continuation;
        byte += 1;
    }
    kinds
};

#[inline]
const fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The bytes of `input`, fewer than four, and zeros.
#[cold]
#[inline(never)]
fn padded_word(input: &[u8]) -> u32 {
    input.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

impl Utf8Error {
    /// Stands for an error until there is one.
    pub(crate) const PLACEHOLDER: Self = Self { valid_up_to: 0, detail: [0; 8] };

    #[inline]
    pub(crate) fn new(
        valid_up_to: u64,
        kind: Utf8ErrorKind,
        subpart: &[u8],
        next: Option<u8>,
    ) -> Self {
        debug_assert!(subpart.len() <= 4);
        let bytes = subpart.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        Self::from_parts(valid_up_to, kind, bytes, subpart.len(), next)
    }

    /// `bytes` begins with the lowest byte of the word.
    // In one word: see `crate::decoder`, "Store forwarding"; scenario `damaged`, rows `pieces`.
    #[inline(always)]
    const fn from_parts(
        valid_up_to: u64,
        kind: Utf8ErrorKind,
        bytes: u32,
        len: usize,
        next: Option<u8>,
    ) -> Self {
        debug_assert!((kind as usize) < Utf8ErrorKind::ALL.len());
        let next = match next {
            Some(next) => 1 | (next as u64) << 8,
            None => 0,
        };
        let detail = bytes as u64 | (len as u64) << 32 | (kind as u64) << 40 | next << 48;
        Self { valid_up_to, detail: detail.to_le_bytes() }
    }

    /// Describes `byte`, which begins no sequence.
    #[inline]
    pub(crate) fn of_byte(valid_up_to: u64, byte: u8) -> Self {
        let kind = KINDS[0][usize::from(byte)];
        Self::from_parts(valid_up_to, kind, u32::from(byte), 1, None)
    }

    /// Describes the ill-formed sequence at the start of `input`, whose maximal subpart is `len`
    /// bytes long.
    #[inline(always)]
    pub(crate) fn classify(valid_up_to: u64, input: &[u8], len: usize) -> Self {
        debug_assert!(len <= input.len());
        let word =
            input.first_chunk().map_or_else(|| padded_word(input), |&it| u32::from_le_bytes(it));
        Self::classify_word(valid_up_to, word, len, len < input.len())
    }

    /// Like [`classify`](Self::classify), for the first bytes of the input in a word.
    // No branches on the bytes, because they would be mispredicted: scenario `damaged`, rows `pieces/*/1-in-8`.
    #[inline(always)]
    pub(crate) fn classify_word(
        valid_up_to: u64,
        word: u32,
        len: usize,
        is_followed: bool,
    ) -> Self {
        debug_assert!(matches!(len, 1..=3));
        let first = word as u8;
        let next = (word >> (8 * len % 32)) as u8;
        let has_next = is_followed && !begins_nothing(first);
        let kind = KINDS[usize::from(is_continuation(next))][usize::from(first)];
        let bytes = word & !(u32::MAX << (8 * len % 32));
        Self::from_parts(valid_up_to, kind, bytes, len, has_next.then_some(next))
    }

    /// Returns the offset of the ill-formed part in the stream, in bytes.
    ///
    /// Everything before it is well-formed or has been reported.
    pub const fn valid_up_to(&self) -> u64 {
        self.valid_up_to
    }

    /// Returns the length of the ill-formed part in bytes, or `None` if the stream ended inside a sequence.
    ///
    /// The values are those of [`core::str::Utf8Error::error_len`], and 0 for
    /// [`MissingBom`](Utf8ErrorKind::MissingBom). For a rejected character it is the length of the
    /// character, at most 4.
    pub const fn error_len(&self) -> Option<usize> {
        match self.kind() {
            Utf8ErrorKind::Incomplete => None,
            _ => Some(self.detail[4] as usize),
        }
    }

    /// Returns the kind of error.
    pub const fn kind(&self) -> Utf8ErrorKind {
        let kind = self.detail[5] as usize;
        // Always: the byte is that of a kind.
        if kind < Utf8ErrorKind::ALL.len() {
            Utf8ErrorKind::ALL[kind].0
        } else {
            Utf8ErrorKind::InvalidByte
        }
    }

    /// Whether it is a rejection: the bytes are well-formed, but the options reject them.
    #[inline]
    pub(crate) const fn is_rejection(&self) -> bool {
        // The four kinds of rejections have numbers in a row.
        const { assert!(Utf8ErrorKind::Forbidden as u8 == Utf8ErrorKind::ForbiddenBom as u8 + 3) };
        self.detail[5].wrapping_sub(Utf8ErrorKind::ForbiddenBom as u8) < 4
    }

    /// Returns the bytes of the ill-formed part.
    ///
    /// There are one to three, up to four for a [rejected character](crate::Utf8Options#rejected-characters), and none for
    /// [`MissingBom`](Utf8ErrorKind::MissingBom). In text that a [fallback](crate::fallback) decodes, the bytes of a
    /// rejected character are in the legacy encoding.
    pub fn bytes(&self) -> &[u8] {
        // At most 4. The mask shows that it is within the array.
        &self.detail[..usize::from(self.detail[4] & 7)]
    }

    /// Returns the byte that could not continue the sequence, if there was one.
    ///
    /// It is not part of the error: it starts the next sequence.
    pub const fn next_byte(&self) -> Option<u8> {
        match self.detail[6] {
            0 => None,
            _ => Some(self.detail[7]),
        }
    }

    /// Whether the stream may begin with the BOM of UTF-16.
    const fn looks_like_utf16(&self) -> bool {
        self.valid_up_to == 0
            && matches!(self.kind(), Utf8ErrorKind::InvalidByte)
            && matches!(self.detail[0], 0xFE | 0xFF)
    }
}

/// `{}` writes the offset, the reason and the bytes:
/// `invalid UTF-8 at byte 1042: encoded surrogate (ed, followed by a0)`, or, if the bytes are well-formed
/// but rejected, `forbidden character (00) at byte 1042`. `{:#}` omits the offset:
/// `encoded surrogate (ed, followed by a0)`. If the stream begins with FE or FF, as UTF-16 with a BOM does, the
/// message ends in `; this looks like UTF-16`.
impl fmt::Display for Utf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            self.fmt_reason(f)?;
            return f.write_str(self.hint());
        }
        self.message_in("").fmt(f)
    }
}

/// The message of an error. `place` comes before the offset: empty, or ` in the body` and the like.
struct ErrorMessage<'a> {
    error: &'a Utf8Error,
    place: &'static str,
}

impl fmt::Display for ErrorMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, place } = self;
        if error.kind().is_ill_formed() {
            write!(f, "invalid UTF-8{place} at byte {}: ", error.valid_up_to)?;
            error.fmt_reason(f)?;
            return f.write_str(error.hint());
        }
        error.fmt_reason(f)?;
        f.write_str(place)?;
        match error.kind() {
            Utf8ErrorKind::MissingBom => Ok(()),
            _ => write!(f, " at byte {}", error.valid_up_to),
        }
    }
}

/// The parts of a message.
impl Utf8Error {
    /// Returns the message. `place` comes before the offset: empty, or ` in the body` and the like.
    pub(crate) const fn message_in(&self, place: &'static str) -> impl fmt::Display {
        ErrorMessage { error: self, place }
    }

    /// Writes the kind and the bytes.
    pub(crate) fn fmt_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        fmt_bytes(self.bytes(), self.next_byte(), f)
    }

    /// Returns what to add to the message if the stream looks like UTF-16.
    pub(crate) const fn hint(&self) -> &'static str {
        if self.looks_like_utf16() { "; this looks like UTF-16" } else { "" }
    }
}

/// Writes ` (e2 82, followed by 41)`, or nothing if there are no bytes.
pub(crate) fn fmt_bytes(bytes: &[u8], next: Option<u8>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if bytes.is_empty() {
        return Ok(());
    }
    for (i, byte) in bytes.iter().enumerate() {
        write!(f, "{}{byte:02x}", if i == 0 { " (" } else { " " })?;
    }
    match next {
        Some(next) => write!(f, ", followed by {next:02x})"),
        None => f.write_str(")"),
    }
}

impl fmt::Debug for Utf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Utf8Error")
            .field("valid_up_to", &self.valid_up_to)
            .field("error_len", &self.error_len())
            .field("kind", &self.kind())
            .field("bytes", &format_args!("{:02x?}", self.bytes()))
            .field("next_byte", &format_args!("{:02x?}", self.next_byte()))
            .finish()
    }
}

impl core::error::Error for Utf8Error {}

impl Utf8ErrorKind {
    /// Returns whether the bytes are ill-formed. If not, [the options](crate::Utf8Options) reject well-formed
    /// bytes, or require a BOM that is missing.
    pub const fn is_ill_formed(self) -> bool {
        !matches!(
            self,
            Self::ForbiddenBom | Self::MissingBom | Self::Noncharacter | Self::Forbidden
        )
    }

    /// Whether the start of the stream is rejected.
    pub(crate) const fn is_about_bom(self) -> bool {
        matches!(self, Self::ForbiddenBom | Self::MissingBom)
    }
}

/// Writes the kind in words: `unexpected continuation byte`, `overlong encoding`, `encoded surrogate`.
impl fmt::Display for Utf8ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Self::ALL[*self as usize].1)
    }
}

/// The kind is [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if the stream ended inside a sequence,
/// and [`InvalidData`](std::io::ErrorKind::InvalidData) otherwise. `get_ref` returns the `Utf8Error`.
#[cfg(feature = "std")]
impl From<Utf8Error> for std::io::Error {
    fn from(error: Utf8Error) -> Self {
        let kind = match error.kind() {
            Utf8ErrorKind::Incomplete => std::io::ErrorKind::UnexpectedEof,
            _ => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

const _: () = assert!(size_of::<Utf8Error>() == 16);

/// The error of parsing the name of an [`ErrorMode`](crate::ErrorMode) or a [`BomPolicy`](crate::BomPolicy).
///
/// The message lists the names. It does not contain the name that was passed.
///
/// # Examples
///
/// ```
/// use utf8_codec::BomPolicy;
///
/// let error = "remove".parse::<BomPolicy>().unwrap_err();
/// let message = "unknown BOM policy, expected one of keep, strip, require, forbid";
/// assert_eq!(error.to_string(), message);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseNameError {
    pub(crate) message: &'static str,
}

impl fmt::Display for ParseNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.message)
    }
}

impl core::error::Error for ParseNameError {}
