//! What is a single UTF-16 unit?

/// The class of a single unit.
pub(super) enum Class {
    /// A character of the Basic Multilingual Plane.
    Char(char),
    /// A high surrogate, the first half of a pair.
    High,
    /// A low surrogate, the second half of a pair.
    Low,
}

/// Classifies a single unit.
pub(super) fn class(unit: u16) -> Class {
    match char::from_u32(unit.into()) {
        Some(c) => Class::Char(c),
        None if unit < 0xDC00 => Class::High,
        None => Class::Low,
    }
}
