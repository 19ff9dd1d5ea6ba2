//! Which variants of a dialect are accepted, and what is a leading U+FEFF?

use crate::core::bom::BomPolicy;
use crate::core::mode::ErrorMode;

/// The settings of a decoder or encoder: which variants of the dialect are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) unpaired: Unpaired,
    pub(super) values: Values,
    pub(super) bom: BomPolicy,
    pub(super) reported: ErrorSpan,
}

/// Which bytes an error covers if a sequence is complete but its value is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ErrorSpan {
    /// The bytes before the first impossible byte, at which the error is reported.
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
    pub(super) const fn span(self, mode: ErrorMode) -> ErrorSpan {
        match mode {
            ErrorMode::Fatal => self.reported,
            _ => ErrorSpan::Whole,
        }
    }
}
