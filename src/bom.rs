use core::mem;

use crate::error::{Utf8Error, Utf8ErrorKind};

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
/// let mut decoder = Utf8Decoder::with_options(options);
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
pub(crate) enum Opening {
    /// Nothing of its own: the bytes are text.
    Text,
    /// All bytes so far may belong to a signature.
    Hold,
    /// So many bytes are consumed and yield nothing.
    Silent(usize),
    /// So much for the policy; the error says how many bytes went with it.
    Error(Utf8Error),
}

/// What the start of a stream would make of the next bytes, for those who must know before they
/// show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// It is over.
    Over,
    /// All bytes so far may belong to a signature.
    Undecided,
    /// So many bytes will be consumed and yield nothing.
    Silent(usize),
    /// They are content.
    Content,
    /// They begin with a signature that is forbidden: content, but no text.
    Forbidden,
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

    /// Says what the next bytes are to the start of the stream.
    pub(crate) fn gate(self, input: &[u8]) -> Gate {
        match (self, input) {
            (Self::Over { .. } | Self::OverWithBom, _) => Gate::Over,
            (_, []) => Gate::Undecided,
            (Self::MidStream { skipped: 0..3 }, [0x80..=0xBF, ..]) => Gate::Silent(1),
            (Self::MidStream { .. }, _) => Gate::Content,
            // A signature that is forbidden is content, as anything else would be.
            (Self::Signature(BomPolicy::Forbid), [0xEF, 0xBB, 0xBF, ..]) => Gate::Forbidden,
            (Self::Signature(BomPolicy::Forbid), _) => Gate::Content,
            (Self::Signature(_), [0xEF, 0xBB, 0xBF, ..]) => Gate::Silent(BOM.len()),
            (Self::Signature(_), _) if BOM.starts_with(input) => Gate::Undecided,
            (Self::Signature(_), _) => Gate::Content,
        }
    }

    /// Takes the next bytes of the stream; with none it changes nothing.
    pub(crate) fn open(&mut self, input: &[u8]) -> Opening {
        match self.gate(input) {
            Gate::Over => Opening::Text,
            Gate::Undecided => Opening::Hold,
            Gate::Silent(len) => {
                *self = match *self {
                    Self::MidStream { skipped } => Self::MidStream { skipped: skipped + 1 },
                    _ => Self::OverWithBom,
                };
                Opening::Silent(len)
            }
            Gate::Content if self.may_be_forbidden(input) => Opening::Hold,
            Gate::Content => {
                let policy = mem::replace(self, Self::Over { skipped: self.skipped() as u8 });
                match policy {
                    Self::Signature(BomPolicy::Require) => Opening::Error(missing_bom()),
                    _ => Opening::Text,
                }
            }
            Gate::Forbidden => {
                *self = Self::Over { skipped: 0 };
                Opening::Error(Utf8Error::new(0, Utf8ErrorKind::ForbiddenBom, &BOM, None))
            }
        }
    }

    fn may_be_forbidden(self, input: &[u8]) -> bool {
        self == Self::Signature(BomPolicy::Forbid)
            && input.len() < BOM.len()
            && BOM.starts_with(input)
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
