//! How are text, code points and UTF-16 units encoded in a dialect?

use core::fmt::{self, Debug};
use core::mem;
use core::ops::Deref;

use crate::decoder::{ErrorMode, ErrorStats, Utf8Encoder, Utf8ErrorKind};
use crate::dialect::Dialect;
use crate::dialect::error::DialectError;
use crate::dialect::grammar::{
    Options, Unpaired, Values, from_pair, generalized, is_leading_surrogate, is_trailing_surrogate,
};

/// Encodes text, code points or UTF-16 units in a [`Dialect`]: the counterpart of
/// [`DialectDecoder`](crate::dialect::DialectDecoder).
///
/// The first half of a pair of UTF-16 units is held until the next unit arrives. In
/// [`Wtf8`](Dialect::Wtf8), where a pair must become one character, a code point that is such a
/// half is held too. Nothing else is held. [`finish`](Self::finish) writes what is held. In the
/// other dialects, two surrogates that are pushed as code points are written one by one. (In CESU-8 and Modified UTF-8, the
/// six bytes are those of the pair.) A first half that has been written alone, by `finish` or before a rejected code point,
/// is not completed: a second half directly after it is rejected if it is a unit, or a code point in `Wtf8`.
///
/// Every dialect encodes all Unicode scalar values. Code points without a form in the dialect are
/// rejected: surrogates that the dialect does not support, and values above U+10FFFF except in RFC
/// 2279. After an error and after `finish`, encoding continues; [`reset`](Self::reset) starts a new
/// stream.
///
/// # Examples
///
/// ```
/// use utf8_codec::dialect::{Dialect, DialectEncoder};
///
/// // A pair of UTF-16 units, pushed in two calls.
/// let mut encoder = DialectEncoder::new(Dialect::Wtf8);
/// assert_eq!(*encoder.push_unit(0xD83D).unwrap(), []);
/// assert_eq!(*encoder.push_unit(0xDE00).unwrap(), *"😀".as_bytes());
/// // An unpaired unit.
/// assert_eq!(*encoder.push_unit(0xD83D).unwrap(), []);
/// assert_eq!(*encoder.finish().unwrap(), *b"\xED\xA0\xBD");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct DialectEncoder {
    dialect: Dialect,
    options: Options,
    mode: ErrorMode,
    bom: Utf8Encoder,
    position: u64,
    held: HeldSurrogate,
    stats: ErrorStats<DialectError>,
}

/// A surrogate that has been consumed but not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeldSurrogate {
    Nothing,
    /// The first half of a pair, the last code point.
    Half(u32),
    /// An unpaired one. The next code point was rejected, and the call returned that error.
    Alone(u32),
    /// None. The last bytes written are the first half of a pair.
    Written,
}

impl DialectEncoder {
    /// Creates an encoder for a dialect as its specification defines it. It uses
    /// [`ErrorMode::Fatal`], and writes no BOM.
    pub const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            options: Options::DEFAULT,
            mode: ErrorMode::Fatal,
            bom: Utf8Encoder::new(),
            position: 0,
            held: HeldSurrogate::Nothing,
            stats: ErrorStats::new(),
        }
    }

    /// Accepts unpaired surrogates in [`Cesu8`](Dialect::Cesu8) and
    /// [`ModifiedUtf8`](Dialect::ModifiedUtf8), like Java and ICU. Has no effect on other dialects.
    /// Call it before the first push.
    ///
    /// They are rejected by default, as TR26 specifies. Strings in Java can contain them.
    pub const fn with_unpaired_surrogates(mut self) -> Self {
        self.options.unpaired = Unpaired::Accepted;
        self
    }

    /// Rejects values above U+10FFFF in [`Rfc2279`](Dialect::Rfc2279), like RFC 3629. Has no effect
    /// on other dialects, which have no such values. Call it before the first push.
    pub const fn with_rfc3629_limit(mut self) -> Self {
        self.options.values = Values::Unicode;
        self
    }

    /// Sets what replaces a rejected code point: nothing in [`Skip`](ErrorMode::Skip), `\uHHHH`
    /// (above U+FFFF `\UHHHHHHHH`) in [`Escape`](ErrorMode::Escape), and U+FFFD in the other lossy
    /// modes.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::ErrorMode;
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let mut encoder = DialectEncoder::new(Dialect::Cesu8).with_error_mode(ErrorMode::Escape);
    /// assert_eq!(*encoder.push_unit(0xDC80).unwrap(), *br"\udc80");
    /// ```
    pub const fn with_error_mode(self, mode: ErrorMode) -> Self {
        Self { mode, ..self }
    }

    /// Writes a BOM before everything else, once. The first call writes it, even if it pushes
    /// nothing.
    pub const fn with_bom(self) -> Self {
        Self { bom: Utf8Encoder::new().with_bom(), ..self }
    }

    /// Encodes one code point: a Unicode scalar value, a surrogate, or in RFC 2279 a value of up to 31 bits.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], a code point that has no form in the dialect: the pushed one, or
    /// the held one ([`offset`](DialectError::offset) distinguishes them). If it is the held
    /// one, the pushed one has not been consumed: push it again.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let mut encoder = DialectEncoder::new(Dialect::Rfc2279);
    /// let bytes = encoder.push_code_point(0x7FFF_FFFF).unwrap();
    /// assert_eq!(*bytes, *b"\xFD\xBF\xBF\xBF\xBF\xBF");
    /// assert_eq!(encoder.push_code_point(0xD800).unwrap_err().offset(), 1);
    /// assert!(encoder.push_code_point(0x8000_0000).is_err()); // more than 31 bits
    /// ```
    pub fn push_code_point(&mut self, code_point: u32) -> Result<EncodedBytes, DialectError> {
        let pairs = match self.dialect {
            Dialect::Wtf8 => Pairs::Joined,
            _ => Pairs::Apart,
        };
        self.push(code_point, pairs)
    }

    /// Encodes one UTF-16 unit.
    ///
    /// # Errors
    ///
    /// The same as [`push_code_point`](Self::push_code_point).
    pub fn push_unit(&mut self, unit: u16) -> Result<EncodedBytes, DialectError> {
        self.push(unit.into(), Pairs::Joined)
    }

    /// Ends the stream. A held surrogate is unpaired. Writes the BOM if nothing has been pushed.
    ///
    /// Further calls write nothing.
    ///
    /// # Errors
    ///
    /// In [`ErrorMode::Fatal`], a held surrogate that has no form in the dialect.
    ///
    /// # Examples
    ///
    /// ```
    /// use utf8_codec::dialect::{Dialect, DialectEncoder};
    ///
    /// let mut encoder = DialectEncoder::new(Dialect::Cesu8);
    /// assert_eq!(*encoder.push_unit(0xD83D).unwrap(), []);
    /// let error = encoder.finish().unwrap_err();
    /// assert_eq!(error.to_string(), "U+D83D at offset 0 cannot be encoded in CESU-8");
    /// assert_eq!(*encoder.finish().unwrap(), []);
    /// ```
    pub fn finish(&mut self) -> Result<EncodedBytes, DialectError> {
        let leaves_half = self.leaves_half();
        let bytes = self.finish_before_text()?;
        if leaves_half {
            self.held = HeldSurrogate::Written;
        }
        Ok(bytes)
    }

    /// Starts a new stream with the same settings: offset 0, nothing held, no error counted. A
    /// requested BOM is written again.
    pub fn reset(&mut self) {
        self.bom.reset();
        self.position = 0;
        self.held = HeldSurrogate::Nothing;
        self.stats = ErrorStats::new();
    }

    /// Returns the dialect.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the number of code points or units consumed, including a held one. Text that was
    /// pushed as `str` is not counted.
    pub const fn position(&self) -> u64 {
        self.position
    }

    /// Returns the number of rejected code points in this stream so far.
    pub const fn error_count(&self) -> u64 {
        self.stats.count()
    }

    /// Returns the first error of this stream.
    pub const fn first_error(&self) -> Option<DialectError> {
        self.stats.first()
    }

    /// Returns the BOM if it has not been written, and records it as written.
    pub(super) fn take_bom(&mut self) -> &'static [u8] {
        self.bom.take_bom()
    }

    /// Prepares for text: the next code point does not continue a pair. Returns whether a surrogate is held.
    #[inline]
    pub(super) fn holds_before_text(&mut self) -> bool {
        match self.held {
            HeldSurrogate::Nothing => false,
            HeldSurrogate::Written => {
                self.held = HeldSurrogate::Nothing;
                false
            }
            HeldSurrogate::Half(_) | HeldSurrogate::Alone(_) => true,
        }
    }

    /// Like [`push_code_point`](Self::push_code_point), for callers that do not learn of the end of
    /// the stream: nothing is held, and the second half of a pair is rejected.
    pub(crate) fn push_at_once(&mut self, code_point: u32) -> Result<EncodedBytes, DialectError> {
        let mut bytes = self.push_code_point(code_point)?;
        if let HeldSurrogate::Half(_) = self.held {
            self.release(&mut bytes)?;
            self.held = HeldSurrogate::Written;
        }
        Ok(bytes)
    }

    fn push(&mut self, code_point: u32, pairs: Pairs) -> Result<EncodedBytes, DialectError> {
        let mut bytes = self.begin();
        let ends_pair = pairs == Pairs::Joined && is_trailing_surrogate(code_point);
        let (held, leaves_half) = (self.held, self.leaves_half());
        let whole = match held {
            HeldSurrogate::Half(leading) if ends_pair => {
                self.held = HeldSurrogate::Nothing;
                from_pair(leading, code_point)
            }
            _ => {
                self.release(&mut bytes)?;
                code_point
            }
        };
        let follows_half = leaves_half && whole == code_point;
        let (offset, len) = (self.position, bytes.len);
        self.position += 1;
        let written = if follows_half && ends_pair {
            self.reject(code_point, Utf8ErrorKind::SurrogatePair, offset, &mut bytes)
        } else if pairs == Pairs::Joined && is_leading_surrogate(code_point) {
            self.held = HeldSurrogate::Half(code_point);
            Ok(())
        } else {
            self.write(whole, offset, &mut bytes)
        };
        if let Err(error) = written {
            self.held = match held {
                HeldSurrogate::Half(leading) => HeldSurrogate::Alone(leading),
                held => held,
            };
            return Err(error);
        }
        if follows_half && bytes.len == len && self.held == HeldSurrogate::Nothing {
            self.held = HeldSurrogate::Written;
        }
        self.bom.take_bom();
        Ok(bytes)
    }

    /// Whether the last bytes, with what is held, are the first half of a pair. A second half after them would become a pair
    /// that is not what was pushed, or in WTF-8 an ill-formed one.
    fn leaves_half(&self) -> bool {
        match self.held {
            HeldSurrogate::Nothing => false,
            HeldSurrogate::Written => true,
            HeldSurrogate::Half(surrogate) | HeldSurrogate::Alone(surrogate) => {
                form(self.dialect, self.options, surrogate).is_some()
            }
        }
    }

    /// Like [`finish`](Self::finish), before text, after which no surrogate continues a pair.
    pub(super) fn finish_before_text(&mut self) -> Result<EncodedBytes, DialectError> {
        let mut bytes = self.begin();
        self.release(&mut bytes)?;
        self.bom.take_bom();
        Ok(bytes)
    }

    /// Returns the BOM if it has not been written. An error leaves it to the next call.
    fn begin(&self) -> EncodedBytes {
        let mut bytes = EncodedBytes::EMPTY;
        bytes.extend(self.bom.clone().take_bom());
        bytes
    }

    /// Writes the held surrogate, which is unpaired.
    fn release(&mut self, bytes: &mut EncodedBytes) -> Result<(), DialectError> {
        match mem::replace(&mut self.held, HeldSurrogate::Nothing) {
            HeldSurrogate::Half(surrogate) | HeldSurrogate::Alone(surrogate) => {
                self.write(surrogate, self.position - 1, bytes)
            }
            HeldSurrogate::Nothing | HeldSurrogate::Written => Ok(()),
        }
    }

    /// Writes a code point or its replacement.
    fn write(
        &mut self,
        code_point: u32,
        offset: u64,
        bytes: &mut EncodedBytes,
    ) -> Result<(), DialectError> {
        if let Some((form, len)) = form(self.dialect, self.options, code_point) {
            bytes.extend(&form[..len]);
            return Ok(());
        }
        let kind = match (code_point, self.dialect) {
            (0x11_0000.., _) => Utf8ErrorKind::TooLarge,
            (_, Dialect::Cesu8 | Dialect::ModifiedUtf8) => Utf8ErrorKind::UnpairedSurrogate,
            _ => Utf8ErrorKind::Surrogate,
        };
        self.reject(code_point, kind, offset, bytes)
    }

    /// Writes the replacement of a rejected code point.
    fn reject(
        &mut self,
        code_point: u32,
        kind: Utf8ErrorKind,
        offset: u64,
        bytes: &mut EncodedBytes,
    ) -> Result<(), DialectError> {
        let error = DialectError::of_encoding(offset, self.dialect, kind, code_point);
        let repair = self.stats.note(error).repair(self.mode).ok_or(error)?;
        bytes.extend(repair.as_bytes());
        Ok(())
    }
}

/// Whether the halves of a pair become one code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pairs {
    Joined,
    Apart,
}

/// The bytes that one call of a [`DialectEncoder`](crate::dialect::DialectEncoder) returns: at most
/// 24. They are not allocated.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EncodedBytes {
    /// Invariant: bytes from `len` on are zero, so that the derived comparisons hold.
    bytes: [u8; 24],
    len: u8,
}

impl EncodedBytes {
    pub(super) const EMPTY: Self = Self { bytes: [0; 24], len: 0 };

    /// Appends `bytes`. The longest result is a BOM, the escape of a held surrogate, and the escape
    /// of the largest code point: 3 + 6 + 10 bytes.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        let at = usize::from(self.len);
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len() as u8;
    }
}

impl Deref for EncodedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl AsRef<[u8]> for EncodedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for EncodedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x?}", &**self)
    }
}

/// Returns the bytes of a code point and their number, one to six, or `None` if it has no form in
/// the dialect.
pub(super) fn form(
    dialect: Dialect,
    options: Options,
    code_point: u32,
) -> Option<([u8; 6], usize)> {
    match (dialect, code_point) {
        (Dialect::ModifiedUtf8, 0) => Some(([0xC0, 0x80, 0, 0, 0, 0], 2)),
        (Dialect::Cesu8 | Dialect::ModifiedUtf8, 0x1_0000..=0x10_FFFF) => {
            Some((pair_form(code_point), 6))
        }
        (Dialect::Cesu8 | Dialect::ModifiedUtf8, 0xD800..=0xDFFF)
            if options.unpaired == Unpaired::Rejected =>
        {
            None
        }
        (Dialect::Utf8b, 0xDC80..=0xDCFF) => Some(([code_point as u8, 0, 0, 0, 0, 0], 1)),
        (Dialect::Utf8b | Dialect::Rfc2279, 0xD800..=0xDFFF) => None,
        (Dialect::Rfc2279, 0x11_0000..=0x7FFF_FFFF) if options.values == Values::All => {
            Some(generalized(code_point))
        }
        (_, 0x11_0000..) => None,
        _ => Some(generalized(code_point)),
    }
}

/// Returns the two surrogates of a value above U+FFFF, in three bytes each.
pub(super) const fn pair_form(value: u32) -> [u8; 6] {
    let value = value - 0x1_0000;
    [
        0xED,
        0xA0 | (value >> 16) as u8 & 0x0F,
        0x80 | (value >> 10) as u8 & 0x3F,
        0xED,
        0xB0 | (value >> 6) as u8 & 0x0F,
        0x80 | value as u8 & 0x3F,
    ]
}
