//! What is ill-formed in a dialect, where, and what repairs it?

use core::fmt;
use core::ops::Deref;

use crate::core::error::{Utf8Error, Utf8ErrorKind, fmt_bytes};
use crate::core::mode::{ErrorMode, Repair};
use crate::core::text::ShortText;
use crate::dialect::Dialect;
#[cfg(feature = "alloc")]
use crate::dialect::grammar::generalized;

/// An ill-formed part of a stream in a [`Dialect`], or a code point that is not text. It carries
/// its offset, its bytes and its kind.
///
/// Offsets count bytes from the start of the *stream*, however it was split into chunks.
///
/// # Examples
///
/// ```
/// use utf8_codec::ErrorMode;
/// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectErrorKind};
///
/// let mut decoder = DialectDecoder::new(Dialect::Cesu8);
/// assert_eq!(decoder.push(b"half: \xED\xA0").count(), 1);
/// let error = decoder.push(b"\xBD and no more").next().unwrap().unwrap_err();
///
/// assert_eq!(error.offset(), 6);
/// assert_eq!(error.error_len(), Some(3));
/// assert_eq!(error.kind(), DialectErrorKind::UnpairedSurrogate);
/// assert_eq!(error.bytes(), b"\xED\xA0\xBD");
/// assert_eq!(
///     error.to_string(),
///     "invalid CESU-8 at byte 6: unpaired surrogate (ed a0 bd, followed by 20)",
/// );
/// assert_eq!(error.repair(ErrorMode::Replacement).as_deref(), Some("\u{FFFD}"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DialectError {
    offset: u64,
    /// Invariant: U+0000 unless the kind is `NotScalar`.
    code_point: u32,
    dialect: Dialect,
    kind: DialectErrorKind,
    /// Invariant: bytes from `len` on are zero, so that the derived comparisons hold.
    bytes: [u8; 6],
    len: u8,
    next: Option<u8>,
}

/// The reason for a [`DialectError`].
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectErrorKind};
///
/// let kind = |dialect, bytes: &[u8]| {
///     DialectDecoder::new(dialect).push(bytes).find_map(Result::err).unwrap().kind()
/// };
/// assert_eq!(kind(Dialect::ModifiedUtf8, b"\0"), DialectErrorKind::Nul);
/// assert_eq!(kind(Dialect::Cesu8, "😀".as_bytes()), DialectErrorKind::FourByteSequence);
/// assert_eq!(kind(Dialect::Wtf8, b"\xED\xA0\x80\xED\xB0\x80"), DialectErrorKind::SurrogatePair);
/// assert_eq!(kind(Dialect::Rfc2279, b"\xFC\x80"), DialectErrorKind::Overlong);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DialectErrorKind {
    /// A continuation byte, `80..=BF`, where a sequence should start.
    UnexpectedContinuation,
    /// The beginning of a sequence that is longer than its value needs.
    Overlong,
    /// A surrogate, in a dialect that has none.
    Surrogate,
    /// An unpaired surrogate, in a dialect that writes pairs.
    UnpairedSurrogate,
    /// The second half of a pair, in a dialect that writes the character instead
    /// ([`Wtf8`](Dialect::Wtf8)).
    SurrogatePair,
    /// A value above U+10FFFF, or the beginning of one, that the options or the dialect reject.
    TooLarge,
    /// The first byte of a four-byte sequence, `F0..=F4`, in a dialect that writes a pair instead.
    FourByteSequence,
    /// A byte 00 in [`ModifiedUtf8`](Dialect::ModifiedUtf8), where U+0000 is `C0 80`.
    Nul,
    /// A byte that never occurs in the dialect.
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
    /// A well-formed code point that is not a Unicode scalar value, when text is decoded; see
    /// [`code_point`](DialectError::code_point).
    NotScalar,
}

impl DialectError {
    /// Describes an ill-formed `subpart`.
    #[inline]
    pub(super) fn new(
        offset: u64,
        dialect: Dialect,
        kind: DialectErrorKind,
        subpart: &[u8],
        next: Option<u8>,
    ) -> Self {
        let mut bytes = [0; 6];
        bytes[..subpart.len()].copy_from_slice(subpart);
        let len = subpart.len() as u8;
        Self { offset, code_point: 0, dialect, kind, bytes, len, next }
    }

    /// Converts an error of the BOM policy.
    #[cold]
    pub(super) fn at_start(dialect: Dialect, error: Utf8Error) -> Self {
        let kind = match error.kind() {
            Utf8ErrorKind::MissingBom => DialectErrorKind::MissingBom,
            _ => DialectErrorKind::ForbiddenBom,
        };
        Self::new(error.valid_up_to(), dialect, kind, error.bytes(), None)
    }

    /// Describes a code point that is not a scalar value and ends at `end`.
    #[cfg(feature = "alloc")]
    #[cold]
    pub(super) fn not_scalar(end: u64, dialect: Dialect, code_point: u32) -> Self {
        let (bytes, len) = match dialect {
            Dialect::Utf8b => ([code_point as u8, 0, 0, 0, 0, 0], 1),
            _ => generalized(code_point),
        };
        Self {
            offset: end - len as u64,
            code_point,
            dialect,
            kind: DialectErrorKind::NotScalar,
            bytes,
            len: len as u8,
            next: None,
        }
    }

    /// Returns the offset of the part in the stream, in bytes.
    ///
    /// Everything before it is well-formed or has been reported.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
    /// assert_eq!(decoder.push(b"first chunk, ").count(), 1);
    /// let error = decoder.push(b"second \0").find_map(Result::err).unwrap();
    /// assert_eq!(error.offset(), 20);
    /// ```
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the length of the part in bytes, one to six, or `None` if the stream ended inside a
    /// sequence; 0 for [`MissingBom`](DialectErrorKind::MissingBom).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Rfc2279);
    /// assert_eq!(decoder.push(b"\xFC\x84\x80").count(), 0);
    /// let error = decoder.finish().unwrap_err();
    /// assert_eq!((error.error_len(), error.bytes().len()), (None, 3));
    /// ```
    pub const fn error_len(&self) -> Option<usize> {
        match self.kind {
            DialectErrorKind::Incomplete => None,
            _ => Some(self.len as usize),
        }
    }

    /// Returns the reason.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectErrorKind};
    ///
    /// let error = DialectDecoder::new(Dialect::Wtf8).push(b"\xC0\x80").next().unwrap().unwrap_err();
    /// assert_eq!(error.kind(), DialectErrorKind::Overlong);
    /// ```
    pub const fn kind(&self) -> DialectErrorKind {
        self.kind
    }

    /// Returns the dialect that the stream is in.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let error = DialectDecoder::new(Dialect::Wtf8).push(b"\xFF").next().unwrap().unwrap_err();
    /// assert_eq!(error.dialect(), Dialect::Wtf8);
    /// ```
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the bytes of the part, one to six; none for
    /// [`MissingBom`](DialectErrorKind::MissingBom).
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::Rfc2279);
    /// let error = decoder.push(b"\xF8\x88\x80.").next().unwrap().unwrap_err();
    /// assert_eq!(error.bytes(), b"\xF8\x88\x80");
    /// ```
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns the byte that cannot continue the sequence, if there is one.
    ///
    /// It is not part of the error: it starts the next sequence.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
    /// let error = decoder.push(b"\xC0\xAF").next().unwrap().unwrap_err();
    /// assert_eq!((error.bytes(), error.next_byte()), (&b"\xC0"[..], Some(0xAF)));
    /// ```
    pub const fn next_byte(&self) -> Option<u8> {
        self.next
    }

    /// Returns the code point that is not a scalar value, for
    /// [`NotScalar`](DialectErrorKind::NotScalar).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "alloc")] {
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::decoder::Status;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut text = String::new();
    /// let mut decoder = DialectDecoder::new(Dialect::Utf8b);
    /// let progress = decoder.push_to_string(b"caf\xE9!", ErrorMode::Fatal, &mut text);
    /// let Status::IllFormed(error) = progress.status else { panic!() };
    /// assert_eq!((&*text, error.code_point()), ("caf", Some(0xDCE9)));
    /// assert_eq!(error.to_string(), "not a scalar value: U+DCE9 (e9) at byte 3");
    /// # }
    /// ```
    pub const fn code_point(&self) -> Option<u32> {
        match self.kind {
            DialectErrorKind::NotScalar => Some(self.code_point),
            _ => None,
        }
    }

    /// Returns the text that replaces the part in this mode, or `None` for [`ErrorMode::Fatal`]. It
    /// is empty for [`MissingBom`](DialectErrorKind::MissingBom).
    ///
    /// A complete sequence that is rejected for its value, [`TooLarge`](DialectErrorKind::TooLarge)
    /// or [`NotScalar`](DialectErrorKind::NotScalar), exists in no legacy encoding, and a
    /// [`Nul`](DialectErrorKind::Nul) is rejected in all of them: [`Latin1`](ErrorMode::Latin1) and
    /// [`Windows1252`](ErrorMode::Windows1252) write U+FFFD. In [`Utf8b`](Dialect::Utf8b),
    /// `NotScalar` is a byte that was not UTF-8, and these modes write its character.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::{Dialect, DialectDecoder};
    ///
    /// let mut decoder = DialectDecoder::new(Dialect::ModifiedUtf8);
    /// let error = decoder.push(b"\0").next().unwrap().unwrap_err();
    /// assert_eq!(error.repair(ErrorMode::Escape).as_deref(), Some(r"\x00"));
    /// assert_eq!(error.repair(ErrorMode::Latin1).as_deref(), Some("\u{FFFD}"));
    /// assert_eq!(error.repair(ErrorMode::Fatal), None);
    /// ```
    pub fn repair(
        &self,
        mode: ErrorMode,
    ) -> Option<impl Deref<Target = str> + Copy + Eq + fmt::Debug + fmt::Display + use<>> {
        self.repair_of(mode)
    }

    /// Like [`repair`](Self::repair), for code that stores the repair.
    pub(crate) fn repair_of(&self, mode: ErrorMode) -> Option<Repair> {
        let mut repair = Repair::EMPTY;
        let is_value = match self.kind {
            DialectErrorKind::NotScalar => self.dialect != Dialect::Utf8b,
            DialectErrorKind::TooLarge => true,
            _ => false,
        };
        match mode {
            ErrorMode::Fatal => return None,
            ErrorMode::Skip => {}
            _ if self.len == 0 => {}
            ErrorMode::Replacement => repair.push(ShortText::REPLACEMENT),
            ErrorMode::Latin1 | ErrorMode::Windows1252 if is_value => {
                repair.push(ShortText::REPLACEMENT);
            }
            mode => self.bytes().iter().for_each(|&byte| repair.push(mode.stand_in(byte))),
        }
        Some(repair)
    }
}

/// `{}` writes the offset, the reason and the bytes:
/// `invalid CESU-8 at byte 6: unpaired surrogate (ed a0 bd, followed by 20)`, or, if the bytes are well-formed
/// but rejected, `not a scalar value: U+DCE9 (e9) at byte 3`. `{:#}` omits the offset.
impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, dialect, kind, .. } = self;
        match kind {
            _ if f.alternate() => self.fmt_reason(f),
            DialectErrorKind::MissingBom => self.fmt_reason(f),
            DialectErrorKind::ForbiddenBom | DialectErrorKind::NotScalar => {
                self.fmt_reason(f)?;
                write!(f, " at byte {offset}")
            }
            _ => {
                write!(f, "invalid {dialect} at byte {offset}: ")?;
                self.fmt_reason(f)
            }
        }
    }
}

impl DialectError {
    /// Writes the kind, the code point if there is one, and the bytes.
    fn fmt_reason(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(code_point) = self.code_point() {
            write!(f, ": U+{code_point:04X}")?;
        }
        fmt_bytes(self.bytes(), self.next, f)
    }
}

impl fmt::Debug for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DialectError")
            .field("dialect", &self.dialect)
            .field("offset", &self.offset)
            .field("error_len", &self.error_len())
            .field("kind", &self.kind)
            .field("bytes", &format_args!("{:02x?}", self.bytes()))
            .field("next_byte", &format_args!("{:02x?}", self.next))
            .field("code_point", &format_args!("{:x?}", self.code_point()))
            .finish()
    }
}

impl core::error::Error for DialectError {}

/// Writes the kind in words: `unpaired surrogate`, `overlong encoding`.
impl fmt::Display for DialectErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::UnexpectedContinuation => "unexpected continuation byte",
            Self::Overlong => "overlong encoding",
            Self::Surrogate => "encoded surrogate",
            Self::UnpairedSurrogate => "unpaired surrogate",
            Self::SurrogatePair => "encoded surrogate pair",
            Self::TooLarge => "code point above U+10FFFF",
            Self::FourByteSequence => "four-byte sequence",
            Self::Nul => "NUL byte",
            Self::InvalidByte => "invalid byte",
            Self::Truncated => "truncated character",
            Self::Incomplete => "unexpected end inside a character",
            Self::ForbiddenBom => "forbidden byte order mark",
            Self::MissingBom => "missing byte order mark",
            Self::NotScalar => "not a scalar value",
        })
    }
}

/// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if the stream ended inside a sequence,
/// [`InvalidData`](std::io::ErrorKind::InvalidData) otherwise; `get_ref` returns the error itself.
#[cfg(feature = "std")]
impl From<DialectError> for std::io::Error {
    fn from(error: DialectError) -> Self {
        let kind = match error.kind {
            DialectErrorKind::Incomplete => std::io::ErrorKind::UnexpectedEof,
            _ => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

const _: () = assert!(size_of::<DialectError>() == 24);

/// A code point that has no form in a [`Dialect`], or is rejected by the options.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectEncoder};
///
/// let mut encoder = DialectEncoder::new(Dialect::Utf8b);
/// encoder.push_code_point('A'.into()).unwrap();
/// let error = encoder.push_code_point(0xD800).unwrap_err();
/// assert_eq!((error.offset(), error.code_point()), (1, 0xD800));
/// assert_eq!(error.to_string(), "U+D800 at index 1 cannot be encoded in UTF-8B");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DialectEncodeError {
    pub(super) offset: u64,
    pub(super) code_point: u32,
    pub(super) dialect: Dialect,
}

impl DialectEncodeError {
    /// Returns the number of code points or UTF-16 units before it. Text that was pushed as `str`
    /// is not counted.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// assert_eq!(DialectEncoder::new(Dialect::Cesu8).push_unit(0xDC00).unwrap_err().offset(), 0);
    /// ```
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the code point.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let error = DialectEncoder::new(Dialect::Cesu8).push_unit(0xDC00).unwrap_err();
    /// assert_eq!(error.code_point(), 0xDC00);
    /// ```
    pub const fn code_point(&self) -> u32 {
        self.code_point
    }

    /// Returns the dialect.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let error = DialectEncoder::new(Dialect::Cesu8).push_unit(0xDC00).unwrap_err();
    /// assert_eq!(error.dialect(), Dialect::Cesu8);
    /// ```
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }
}

impl fmt::Display for DialectEncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, code_point, dialect } = self;
        write!(f, "U+{code_point:04X} at index {offset} cannot be encoded in {dialect}")
    }
}

impl core::error::Error for DialectEncodeError {}

/// The kind is [`InvalidInput`](std::io::ErrorKind::InvalidInput).
#[cfg(feature = "std")]
impl From<DialectEncodeError> for std::io::Error {
    fn from(error: DialectEncodeError) -> Self {
        Self::new(std::io::ErrorKind::InvalidInput, error)
    }
}
