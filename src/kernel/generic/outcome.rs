//! Computes the result of validation from the marks of a vector kernel.

use crate::kernel::reference::validate::{Sequence, begins_nothing, sequence};
use crate::kernel::validated::{ErrorLen, Validated};

impl Validated {
    /// All `len` bytes are well-formed.
    #[inline(always)]
    pub(in crate::kernel) const fn all(len: usize) -> Self {
        Self { valid_up_to: len, error_len: ErrorLen::None }
    }

    /// The result if the byte at `at` begins no sequence; all bytes before it are ASCII.
    #[inline(always)]
    pub(in crate::kernel) fn stray(input: &[u8], at: usize) -> Option<Self> {
        let is_stray = input.get(at).is_some_and(|&byte| begins_nothing(byte));
        is_stray.then_some(Self { valid_up_to: at, error_len: ErrorLen::One })
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

/// Marks the path that calls it as the less likely one, like `core::hint::cold_path` from Rust 1.95 on: the jump to
/// it is the one that is taken. Rows `validate/ascii/64` and `validate/ascii/16-128`: one cycle less. (Text of 64
/// bytes: up to one more.)
#[cfg(not(target_arch = "wasm32"))]
#[cold]
#[inline]
pub(in crate::kernel) const fn cold_path() {}

/// Returns the result for an input in which the byte at `near` shows the first error.
#[cold]
pub(in crate::kernel) fn error_near(input: &[u8], near: usize) -> Validated {
    let mut start = sequence_start(input, near);
    loop {
        let error_len = match sequence(&input[start..]) {
            Sequence::WellFormed(len) => {
                start += len;
                continue;
            }
            Sequence::IllFormed(error_len) => error_len,
            Sequence::Incomplete => ErrorLen::None,
        };
        debug_assert!(start <= near && error_len != ErrorLen::None, "{near}: {start}");
        return Validated { valid_up_to: start, error_len };
    }
}
