//! From the observations of a vector kernel to the result of validation.

use crate::kernel::reference::validate;
use crate::kernel::validated::{ErrorLen, Validated};

impl Validated {
    /// All `len` bytes are well-formed.
    #[inline(always)]
    pub(in crate::kernel) const fn all(len: usize) -> Self {
        Self { valid_up_to: len, error_len: ErrorLen::None }
    }

    /// The last bytes of `input` may start a sequence. The others are well-formed, and every byte of a
    /// started sequence except the last has been tested together with the next.
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

/// Returns where the sequence begins that the byte at `near` shows to be ill-formed, or a well-formed one
/// right before it. Everything before that is well-formed.
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
    // A sequence that reaches to `near` began one to three bytes before it; if `near` is one
    // continuation byte too many, then four.
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

/// As [`validate_from`], where an error shows at byte `near`.
#[cold]
pub(in crate::kernel) fn error_near(input: &[u8], near: usize) -> Validated {
    let found = validate_from(input, near);
    debug_assert!(
        found.error_len != ErrorLen::None && found.valid_up_to <= near,
        "{near}: {found:?}"
    );
    found
}
