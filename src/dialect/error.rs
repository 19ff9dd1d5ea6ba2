//! What is ill-formed in a dialect or has no form in it, where, and what repairs it?

use core::fmt;

use utf8_simd::text::ShortText;

use crate::decoder::{ErrorMode, Repair, Utf8Error, Utf8ErrorKind, fmt_bytes};
use crate::dialect::{Dialect, grammar::generalized};

/// What a [`DialectDecoder`](crate::dialect::DialectDecoder) or a
/// [`DialectEncoder`](crate::dialect::DialectEncoder) rejects.
///
/// The error of a decoder is an ill-formed part of a stream, or a code point that is not text. It
/// carries its offset in bytes, its bytes and its kind.
///
/// The error of an encoder is a code point that has no form in the dialect, or that the options
/// reject. It carries its offset in code points or UTF-16 units, its code point and its kind. It has
/// no bytes.
///
/// Offsets count from the start of the *stream*, however it was split into chunks.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};
/// use utf8_codec::{ErrorMode, Utf8ErrorKind};
///
/// let mut decoder = DialectDecoder::new(Dialect::Cesu8);
/// assert_eq!(decoder.push(b"half: \xED\xA0").count(), 1);
/// let error = decoder.push(b"\xBD and no more").next().unwrap().unwrap_err();
///
/// assert_eq!(error.offset(), 6);
/// assert_eq!(error.error_len(), Some(3));
/// assert_eq!(error.kind(), Utf8ErrorKind::UnpairedSurrogate);
/// assert_eq!(error.bytes(), b"\xED\xA0\xBD");
/// assert_eq!(
///     error.to_string(),
///     "invalid CESU-8 at byte 6: unpaired surrogate (ed a0 bd, followed by 20)",
/// );
/// assert_eq!(error.repair(ErrorMode::Replacement).as_deref(), Some("\u{FFFD}"));
///
/// let mut encoder = DialectEncoder::new(Dialect::Utf8b);
/// encoder.push_code_point('A'.into()).unwrap();
/// let error = encoder.push_code_point(0xD800).unwrap_err();
/// assert_eq!((error.offset(), error.code_point()), (1, Some(0xD800)));
/// assert_eq!((error.kind(), error.bytes()), (Utf8ErrorKind::Surrogate, &b""[..]));
/// assert_eq!(error.to_string(), "U+D800 at offset 1 cannot be encoded in UTF-8B");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct DialectError {
    offset: u64,
    /// Invariant: U+0000 unless the kind is `NotScalar`, or the error is one of encoding.
    code_point: u32,
    dialect: Dialect,
    kind: Utf8ErrorKind,
    /// Invariant: bytes from `len` on are zero, so that the derived comparisons hold. There are none if the kind is
    /// `MissingBom`, or if the error is one of encoding, and only then.
    bytes: [u8; 6],
    len: u8,
    next: Option<u8>,
}

impl DialectError {
    /// Describes an ill-formed `subpart`.
    #[inline]
    pub(super) fn new(
        offset: u64,
        dialect: Dialect,
        kind: Utf8ErrorKind,
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
        Self::new(error.valid_up_to(), dialect, error.kind(), error.bytes(), None)
    }

    /// Describes a code point that cannot be encoded.
    #[cold]
    pub(super) fn of_encoding(
        offset: u64,
        dialect: Dialect,
        kind: Utf8ErrorKind,
        code_point: u32,
    ) -> Self {
        Self { code_point, ..Self::new(offset, dialect, kind, &[], None) }
    }

    /// Whether an encoder returned it.
    const fn is_of_encoding(&self) -> bool {
        self.len == 0 && !matches!(self.kind, Utf8ErrorKind::MissingBom)
    }

    /// Describes a code point that is not a scalar value and ends at `end`.
    #[cold]
    pub(super) fn not_scalar(end: u64, dialect: Dialect, code_point: u32) -> Self {
        let (bytes, len) = match dialect {
            Dialect::Utf8b => ([code_point as u8, 0, 0, 0, 0, 0], 1),
            _ => generalized(code_point),
        };
        let (offset, kind) = (end - len as u64, Utf8ErrorKind::NotScalar);
        Self { code_point, ..Self::new(offset, dialect, kind, &bytes[..len], None) }
    }

    /// Returns the offset in the stream. The unit is that of the input.
    ///
    /// For a decoder it is the offset of the part in bytes. Everything before it is well-formed or has been reported.
    /// For an encoder it is the number of code points or UTF-16 units before the rejected one. Text that was pushed as
    /// `str` is not counted.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the length of the part in bytes, one to six, or `None` if the stream ended inside a
    /// sequence; 0 for [`MissingBom`](Utf8ErrorKind::MissingBom) and for an encoder.
    pub const fn error_len(&self) -> Option<usize> {
        match self.kind {
            Utf8ErrorKind::Incomplete => None,
            _ => Some(self.len as usize),
        }
    }

    /// Returns the reason.
    ///
    /// An encoder rejects a code point as a [`Surrogate`](Utf8ErrorKind::Surrogate) if the dialect has none, as an
    /// [`UnpairedSurrogate`](Utf8ErrorKind::UnpairedSurrogate) if it writes pairs, as the second half of a
    /// [`SurrogatePair`](Utf8ErrorKind::SurrogatePair) if the first half has been written, and as
    /// [`TooLarge`](Utf8ErrorKind::TooLarge) if it is above the dialect's limit.
    pub const fn kind(&self) -> Utf8ErrorKind {
        self.kind
    }

    /// Returns the dialect that the stream is in.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the bytes of the part, one to six; none for
    /// [`MissingBom`](Utf8ErrorKind::MissingBom) and for an encoder.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns the byte that cannot continue the sequence, if there is one.
    ///
    /// It is not part of the error: it starts the next sequence.
    pub const fn next_byte(&self) -> Option<u8> {
        self.next
    }

    /// Returns the code point that is not a scalar value, for
    /// [`NotScalar`](Utf8ErrorKind::NotScalar), or that an encoder rejects. Returns `None` for other errors.
    pub const fn code_point(&self) -> Option<u32> {
        match self.kind {
            Utf8ErrorKind::NotScalar => Some(self.code_point),
            _ if self.is_of_encoding() => Some(self.code_point),
            _ => None,
        }
    }

    /// Returns the text that replaces the part in this mode, or `None` for [`ErrorMode::Fatal`]. It
    /// is empty for [`MissingBom`](Utf8ErrorKind::MissingBom).
    ///
    /// A complete sequence with a forbidden value, [`TooLarge`](Utf8ErrorKind::TooLarge)
    /// or [`NotScalar`](Utf8ErrorKind::NotScalar), exists in no legacy encoding, and a
    /// [`Nul`](Utf8ErrorKind::Nul) is rejected in all of them: [`Latin1`](ErrorMode::Latin1) and
    /// [`Windows1252`](ErrorMode::Windows1252) write U+FFFD, as for a
    /// [`ForbiddenBom`](Utf8ErrorKind::ForbiddenBom). In [`Utf8b`](Dialect::Utf8b),
    /// `NotScalar` is a byte that was not UTF-8, and these modes write its character.
    ///
    /// A code point that an encoder rejects is in no legacy encoding either. [`Escape`](ErrorMode::Escape) writes
    /// `\uHHHH`, or above U+FFFF `\UHHHHHHHH`.
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
    pub fn repair(&self, mode: ErrorMode) -> Option<Repair> {
        let mut repair = Repair::EMPTY;
        let is_value = match self.kind {
            Utf8ErrorKind::NotScalar => self.dialect != Dialect::Utf8b,
            Utf8ErrorKind::TooLarge | Utf8ErrorKind::ForbiddenBom => true,
            _ => false,
        };
        match mode {
            ErrorMode::Fatal => return None,
            ErrorMode::Skip => {}
            ErrorMode::Escape if self.is_of_encoding() => {
                return Some(Repair::escape(self.code_point));
            }
            _ if self.is_of_encoding() => repair.push(ShortText::REPLACEMENT),
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
/// but rejected, `not a scalar value: U+DCE9 (e9) at byte 3`. For an encoder it writes
/// `U+D800 at offset 1 cannot be encoded in UTF-8B`. `{:#}` omits the offset.
impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, code_point, dialect, kind, .. } = self;
        match kind {
            _ if self.is_of_encoding() => {
                write!(f, "U+{code_point:04X} ")?;
                if !f.alternate() {
                    write!(f, "at offset {offset} ")?;
                }
                write!(f, "cannot be encoded in {dialect}")
            }
            _ if f.alternate() => self.fmt_reason(f),
            Utf8ErrorKind::MissingBom => self.fmt_reason(f),
            Utf8ErrorKind::ForbiddenBom | Utf8ErrorKind::NotScalar => {
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

/// [`UnexpectedEof`](std::io::ErrorKind::UnexpectedEof) if the stream ended inside a sequence,
/// [`InvalidInput`](std::io::ErrorKind::InvalidInput) for an encoder,
/// [`InvalidData`](std::io::ErrorKind::InvalidData) otherwise; `get_ref` returns the error itself.
#[cfg(feature = "std")]
impl From<DialectError> for std::io::Error {
    fn from(error: DialectError) -> Self {
        let kind = match error.kind {
            Utf8ErrorKind::Incomplete => std::io::ErrorKind::UnexpectedEof,
            _ if error.is_of_encoding() => std::io::ErrorKind::InvalidInput,
            _ => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

const _: () = assert!(size_of::<DialectError>() == 24);
