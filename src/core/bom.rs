use crate::core::error::{Utf8Error, Utf8ErrorKind};

/// The UTF-8 signature: U+FEFF, BYTE ORDER MARK, as it stands at the start of a stream.
pub(crate) const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// What an initial U+FEFF means (RFC 3629, section 6).
///
/// It is decided on the first character of a stream only, in however many pieces it comes; U+FEFF
/// anywhere later is ZERO WIDTH NO-BREAK SPACE. No byte is held back that cannot belong to a
/// signature.
///
/// # Examples
///
/// ```
/// use utf8_codec::{BomPolicy, Utf8Decoder, Utf8Options};
///
/// let options = Utf8Options::new().with_bom(BomPolicy::Strip);
/// let mut decoder = Utf8Decoder::new().with_options(options);
/// assert_eq!(decoder.push(b"\xEF\xBB").count(), 0); // may be a signature
/// assert_eq!(decoder.push(b"\xBFhi").next(), Some(Ok("hi"))); // it was
/// assert!(decoder.bom_seen());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BomPolicy {
    /// It is text, ZERO WIDTH NO-BREAK SPACE: for protocols that forbid the signature.
    #[default]
    Keep,
    /// It is a signature: removed, and remembered (`bom_seen()`). For protocols that do not forbid
    /// the signature.
    Strip,
    /// As [`Strip`](Self::Strip), and a stream without it is one
    /// [`MissingBom`](Utf8ErrorKind::MissingBom), reported when the first byte arrives that cannot
    /// be the signature's, or at the end of a stream that has none.
    Require,
    /// It is an error, [`ForbiddenBom`](Utf8ErrorKind::ForbiddenBom), three bytes long.
    Forbid,
}

/// How a stream begins, and how much of that beginning is behind us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Nothing is decided: what has come, if anything, may become a signature.
    Signature(BomPolicy),
    /// A stream joined in the middle; so many continuation bytes have been skipped.
    MidStream { skipped: u8 },
    /// Over: no signature was removed, so many continuation bytes were skipped.
    Over { skipped: u8 },
    /// Over: a signature was removed.
    OverWithBom,
}

/// What the start of a stream makes of the next bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Nothing: they are text.
    Text,
    /// All of them may belong to a signature.
    Hold,
    /// So many are consumed and yield nothing.
    Silent(usize),
    /// They break the policy; the error's own bytes are consumed.
    Error(Utf8Error),
}

impl Start {
    pub(crate) const fn new(bom: BomPolicy) -> Self {
        match bom {
            BomPolicy::Keep => Self::Over { skipped: 0 },
            _ => Self::Signature(bom),
        }
    }

    pub(crate) const fn is_over(self) -> bool {
        matches!(self, Self::Over { .. } | Self::OverWithBom)
    }

    pub(crate) const fn skipped(self) -> usize {
        match self {
            Self::MidStream { skipped } | Self::Over { skipped } => skipped as usize,
            Self::Signature(_) | Self::OverWithBom => 0,
        }
    }

    /// Whether what comes next may be skipped, as a signature or as the rest of a character.
    #[cfg(any(feature = "codec", feature = "http-body", feature = "stream"))]
    pub(crate) const fn may_skip(self) -> bool {
        !self.is_over() && !matches!(self, Self::Signature(BomPolicy::Forbid))
    }

    /// Says what the next bytes are to the start of the stream.
    pub(crate) fn peek(self, input: &[u8]) -> Opening {
        match (self, input) {
            (Self::Over { .. } | Self::OverWithBom, _) => Opening::Text,
            (_, []) => Opening::Hold,
            (Self::MidStream { skipped: 0..3 }, [0x80..=0xBF, ..]) => Opening::Silent(1),
            (Self::MidStream { .. }, _) => Opening::Text,
            (Self::Signature(BomPolicy::Forbid), [0xEF, 0xBB, 0xBF, ..]) => {
                Opening::Error(Utf8Error::new(0, Utf8ErrorKind::ForbiddenBom, &BOM, None))
            }
            (Self::Signature(_), [0xEF, 0xBB, 0xBF, ..]) => Opening::Silent(BOM.len()),
            (Self::Signature(_), _) if BOM.starts_with(input) => Opening::Hold,
            (Self::Signature(BomPolicy::Require), _) => Opening::Error(missing_bom()),
            (Self::Signature(_), _) => Opening::Text,
        }
    }

    /// Takes the next bytes of the stream; with none it changes nothing.
    pub(crate) fn open(&mut self, input: &[u8]) -> Opening {
        let opening = self.peek(input);
        *self = match (opening, *self) {
            (Opening::Hold, start) => start,
            (Opening::Silent(_), Self::MidStream { skipped }) => {
                Self::MidStream { skipped: skipped + 1 }
            }
            (Opening::Silent(_), _) => Self::OverWithBom,
            (Opening::Text | Opening::Error(_), start) if start.is_over() => start,
            (Opening::Text | Opening::Error(_), start) => {
                Self::Over { skipped: start.skipped() as u8 }
            }
        };
        opening
    }

    /// Takes note of the end of the stream: nothing is looked for any more.
    pub(crate) fn finish(&mut self) -> Option<Utf8Error> {
        let missing = *self == Self::Signature(BomPolicy::Require);
        if !self.is_over() {
            *self = Self::Over { skipped: self.skipped() as u8 };
        }
        missing.then(missing_bom)
    }
}

fn missing_bom() -> Utf8Error {
    Utf8Error::new(0, Utf8ErrorKind::MissingBom, &[], None)
}
