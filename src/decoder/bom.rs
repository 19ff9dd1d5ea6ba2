//! The byte order mark: what does U+FEFF at the start of a stream mean?

use core::fmt;
use core::str::FromStr;

use crate::decoder::{ParseNameError, Step, Utf8Error, Utf8ErrorKind};

/// U+FEFF in UTF-8.
pub(crate) const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// What a leading U+FEFF means (RFC 3629, section 6).
///
/// A BOM is recognised only at the start of the stream, even when split across chunks; a later U+FEFF is
/// ZERO WIDTH NO-BREAK SPACE. Only bytes that can be part of a BOM are held back.
///
/// # Examples
///
/// ```
/// use utf8_codec::{BomPolicy, Utf8Decoder, Utf8Options};
///
/// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
/// let mut decoder = Utf8Decoder::new().with_options(options);
/// assert_eq!(decoder.push(b"\xEF\xBB").count(), 0); // may be a BOM
/// assert_eq!(decoder.push(b"\xBFhi").next(), Some(Ok("hi"))); // it was
/// assert!(decoder.bom_seen());
/// ```
///
/// A policy has a name, for command lines and configuration files:
///
/// ```
/// use utf8_codec::BomPolicy;
///
/// assert_eq!(BomPolicy::Strip.to_string(), "strip");
/// assert_eq!("forbid".parse(), Ok(BomPolicy::Forbid));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum BomPolicy {
    /// U+FEFF is text, ZERO WIDTH NO-BREAK SPACE. Use it where the protocol defines no BOM, so that a leading U+FEFF is
    /// data (RFC 3629, section 6). To reject one, use [`Forbid`](Self::Forbid).
    #[default]
    Keep,
    /// A BOM is removed, and `bom_seen()` returns `true`. Use it where the protocol allows a BOM.
    Strip,
    /// Like [`Strip`](Self::Strip), but a stream without a BOM has one error,
    /// [`MissingBom`](Utf8ErrorKind::MissingBom). It is reported when the first byte arrives that cannot be
    /// part of a BOM, or at the end.
    Require,
    /// A BOM is an error, [`ForbiddenBom`](Utf8ErrorKind::ForbiddenBom), three bytes long. It is never part of the text:
    /// in [`Latin1`](crate::ErrorMode::Latin1) and [`Windows1252`](crate::ErrorMode::Windows1252), its repair is U+FFFD.
    Forbid,
}

impl BomPolicy {
    /// All with their names.
    const ALL: [(Self, &str); 4] = [
        (Self::Keep, "keep"),
        (Self::Strip, "strip"),
        (Self::Require, "require"),
        (Self::Forbid, "forbid"),
    ];
}

/// Writes the name: `keep`, `strip`, `require` or `forbid`.
impl fmt::Display for BomPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(policy, _)| policy == self);
        f.pad(named.map_or("", |(_, name)| name))
    }
}

/// Parses the name that `Display` writes.
impl FromStr for BomPolicy {
    type Err = ParseNameError;

    fn from_str(name: &str) -> Result<Self, ParseNameError> {
        let message = "unknown BOM policy, expected one of keep, strip, require, forbid";
        let known = Self::ALL.into_iter().find(|(_, known)| *known == name);
        known.map(|(policy, _)| policy).ok_or(ParseNameError { message })
    }
}

/// What is expected at the start of a stream, or what was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BomState {
    /// A BOM can still arrive.
    Bom(BomPolicy),
    /// A mid-stream start, with the number of continuation bytes skipped so far.
    MidStream { skipped: u8 },
    /// Not the start, but after a line that a CR ended: an LF here belongs to the same line end.
    AfterCr(Removed),
    /// Over.
    Over(Removed),
}

/// What was removed at the start of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    /// This many continuation bytes, and no BOM.
    Continuations(u8),
    Bom,
}

impl BomState {
    pub(crate) const fn new(bom: BomPolicy) -> Self {
        match bom {
            BomPolicy::Keep => Self::Over(Removed::Continuations(0)),
            _ => Self::Bom(bom),
        }
    }

    #[inline]
    pub(crate) const fn is_over(self) -> bool {
        matches!(self, Self::Over(_))
    }

    /// Whether a CR has ended a line, to which an LF here belongs.
    #[cfg(feature = "stream")]
    pub(crate) const fn expects_lf(self) -> bool {
        matches!(self, Self::AfterCr(_))
    }

    pub(crate) const fn bom_seen(self) -> bool {
        matches!(self.removed(), Removed::Bom)
    }

    pub(crate) const fn skipped(self) -> usize {
        match self.removed() {
            Removed::Continuations(skipped) => skipped as usize,
            Removed::Bom => 0,
        }
    }

    const fn removed(self) -> Removed {
        match self {
            Self::Bom(_) => Removed::Continuations(0),
            Self::MidStream { skipped } => Removed::Continuations(skipped),
            Self::AfterCr(removed) | Self::Over(removed) => removed,
        }
    }

    /// Whether the next bytes can be skipped, as a BOM, as the rest of a character or as the rest of a line end.
    pub(crate) const fn may_skip(self) -> bool {
        !self.is_over() && !matches!(self, Self::Bom(BomPolicy::Forbid))
    }

    /// Returns what the next bytes mean.
    pub(crate) fn peek(self, input: &[u8]) -> Step<()> {
        match (self, input) {
            (Self::Over(_), _) => Step::Text(()),
            (_, []) => Step::NeedMore,
            (Self::AfterCr(_), [b'\n', ..]) => Step::Skip(1),
            (Self::AfterCr(_), _) => Step::Text(()),
            (Self::MidStream { skipped: 0..3 }, [0x80..=0xBF, ..]) => Step::Skip(1),
            (Self::MidStream { .. }, _) => Step::Text(()),
            (Self::Bom(BomPolicy::Forbid), [0xEF, 0xBB, 0xBF, ..]) => {
                Step::Error(Utf8Error::new(0, Utf8ErrorKind::ForbiddenBom, &BOM, None))
            }
            (Self::Bom(_), [0xEF, 0xBB, 0xBF, ..]) => Step::Skip(BOM.len()),
            (Self::Bom(_), _) if BOM.starts_with(input) => Step::NeedMore,
            (Self::Bom(BomPolicy::Require), _) => Step::Error(missing_bom()),
            (Self::Bom(_), _) => Step::Text(()),
        }
    }

    /// Consumes the next bytes. Changes nothing if there are none.
    pub(crate) fn open(&mut self, input: &[u8]) -> Step<()> {
        let action = self.peek(input);
        *self = match (action, *self) {
            (Step::NeedMore, start) => start,
            (Step::Skip(_), Self::MidStream { skipped }) => {
                Self::MidStream { skipped: skipped + 1 }
            }
            (Step::Skip(_), Self::Bom(_)) => Self::Over(Removed::Bom),
            (_, start) => Self::Over(start.removed()),
        };
        action
    }

    /// A CR has ended a line: an LF directly after it is skipped.
    pub(crate) fn expect_lf(&mut self) {
        *self = Self::AfterCr(self.removed());
    }

    /// Ends the start: no BOM is expected from here on. Returns the error if one was required.
    pub(crate) fn finish(&mut self) -> Option<Utf8Error> {
        let missing = *self == Self::Bom(BomPolicy::Require);
        *self = Self::Over(self.removed());
        missing.then(missing_bom)
    }
}

fn missing_bom() -> Utf8Error {
    Utf8Error::new(0, Utf8ErrorKind::MissingBom, &[], None)
}
