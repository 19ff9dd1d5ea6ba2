//! How U+0000 is encoded where surrogates come in pairs.

use core::ops::RangeInclusive;

/// How U+0000 is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NulForm {
    /// As one byte, 00: CESU-8.
    OneByte,
    /// As `C0 80`: Modified UTF-8, which has no byte 00.
    TwoBytes,
}

impl NulForm {
    /// The bytes that mean the same as in UTF-8, wherever all bytes are of these.
    pub(crate) const fn plain_bytes(self) -> RangeInclusive<u8> {
        match self {
            Self::OneByte => 0x00..=0xEF,
            Self::TwoBytes => 0x01..=0xEF,
        }
    }

    /// Those of them that are ASCII.
    pub(crate) const fn plain_ascii(self) -> RangeInclusive<u8> {
        match self {
            Self::OneByte => 0x00..=0x7F,
            Self::TwoBytes => 0x01..=0x7F,
        }
    }
}
