//! How do two surrogates make a code point?

/// Returns whether this is the first half of a pair, U+D800 to U+DBFF.
pub(super) const fn is_leading_surrogate(code_point: u32) -> bool {
    matches!(code_point, 0xD800..=0xDBFF)
}

/// Returns whether this is the second half of a pair, U+DC00 to U+DFFF.
pub(super) const fn is_trailing_surrogate(code_point: u32) -> bool {
    matches!(code_point, 0xDC00..=0xDFFF)
}

/// Joins a pair of surrogates.
pub(super) const fn from_pair(leading: u32, trailing: u32) -> u32 {
    0x1_0000 + ((leading & 0x3FF) << 10) + (trailing & 0x3FF)
}
