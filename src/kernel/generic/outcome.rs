//! Computes the result of validation from the marks of a vector kernel.

use crate::kernel::reference::validate;
use crate::kernel::validated::{ErrorLen, Validated};

impl Validated {
    /// All `len` bytes are well-formed.
    #[inline(always)]
    pub(in crate::kernel) const fn all(len: usize) -> Self {
        Self { valid_up_to: len, error_len: ErrorLen::None }
    }

    /// The result if at most the last bytes of `input` start a sequence, and the others are well-formed. Every
    /// byte of that sequence except the last has been tested together with the next.
    #[inline(always)]
    pub(in crate::kernel) fn all_but_tail(input: &[u8]) -> Self {
        let incomplete = match *input {
            [.., 0xC2..=0xF4] => 1,
            [.., 0xC0..=0xFF] => {
                return Self { valid_up_to: input.len() - 1, error_len: ErrorLen::One };
            }
            [.., 0xE0..=0xFF, _] => 2,
            [.., 0xF0..=0xFF, _, _] => 3,
            _ => 0,
        };
        Self::all(input.len() - incomplete)
    }
}

/// Returns the start of the sequence that the byte at `near` shows to be ill-formed, or of a well-formed
/// sequence directly before it. All bytes before that index are well-formed.
#[inline(always)]
pub(in crate::kernel) fn sequence_start(input: &[u8], near: usize) -> usize {
    match input[..near] {
        [.., 0xC0..=0xFF] => near - 1,
        [.., 0xC0..=0xFF, 0x80..=0xBF] => near - 2,
        [.., 0xC0..=0xFF, 0x80..=0xBF, 0x80..=0xBF] => near - 3,
        _ => near,
    }
}

/// Validates `input`, which is known to be well-formed except for sequences that start at most three
/// bytes before `near`, where a vector kernel detected an error.
pub(in crate::kernel) fn validate_from(input: &[u8], near: usize) -> Validated {
    // A sequence that extends to `near` starts one to three bytes before it; if `near` is an excess
    // continuation byte, up to four.
    let mut start = near.min(input.len());
    for _ in 0..4 {
        let inside = start == near || matches!(input.get(start), Some(0x80..=0xBF));
        if start == 0 || !inside {
            break;
        }
        start -= 1;
    }
    let found = validate(&input[start..]);
    Validated { valid_up_to: start + found.valid_up_to, ..found }
}

/// Like [`validate_from`], for an error that the byte at `near` shows.
#[cold]
pub(in crate::kernel) fn error_near(input: &[u8], near: usize) -> Validated {
    let found = validate_from(input, near);
    debug_assert!(
        found.error_len != ErrorLen::None && found.valid_up_to <= near,
        "{near}: {found:?}"
    );
    found
}
