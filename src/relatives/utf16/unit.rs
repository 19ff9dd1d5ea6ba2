//! What one UTF-16 unit is.

/// What one unit is by itself.
pub(super) enum Class {
    /// A character of the Basic Multilingual Plane.
    Char(char),
    /// A high surrogate, the first half of a pair.
    High,
    /// A low surrogate, the second half of a pair.
    Low,
}

/// Tells what one unit is by itself.
pub(super) fn class(unit: u16) -> Class {
    match char::from_u32(unit.into()) {
        Some(c) => Class::Char(c),
        None if unit < 0xDC00 => Class::High,
        None => Class::Low,
    }
}
