//! The encoding of U+0000 in dialects with surrogate pairs.

use core::ops::RangeInclusive;

/// The encoding of U+0000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NulForm {
    /// As one byte, 00: CESU-8.
    OneByte,
    /// As `C0 80`: Modified UTF-8, which has no byte 00.
    TwoBytes,
}

impl NulForm {
    /// A range of bytes: text of these bytes only is the same in the dialect and in UTF-8.
    pub(crate) const fn plain_bytes(self) -> RangeInclusive<u8> {
        match self {
            Self::OneByte => 0x00..=0xEF,
            Self::TwoBytes => 0x01..=0xEF,
        }
    }

    /// The ASCII bytes in that range.
    pub(crate) const fn plain_ascii(self) -> RangeInclusive<u8> {
        match self {
            Self::OneByte => 0x00..=0x7F,
            Self::TwoBytes => 0x01..=0x7F,
        }
    }
}
