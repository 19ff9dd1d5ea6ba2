//! Unmasking together with validation, in two passes over what the nearest cache holds.

use crate::kernel::reference;
use crate::kernel::validated::{ErrorLen, Validated};

/// The number of bytes that are unmasked before they are validated: a quarter of the usual nearest cache, and a
/// multiple of four, so that each window begins with the same byte of the mask. (Row `message/ascii/64KiB`.)
pub(in crate::kernel) const WINDOW: usize = 8 << 10;

/// Unmasks all of `bytes`, and calls `validate` for the bytes of each window when they are unmasked.
#[inline(always)]
pub(in crate::kernel) fn unmask_and_validate_long(
    bytes: &mut [u8],
    mask: [u8; 4],
    validate: impl Fn(&[u8]) -> Validated,
) -> Validated {
    let (mut unmasked, mut valid) = (0, 0);
    loop {
        let end = bytes.len().min(unmasked + WINDOW);
        reference::unmask(&mut bytes[unmasked..end], mask);
        let found = validate(&bytes[valid..end]);
        valid += found.valid_up_to;
        if end == bytes.len() || found.error_len != ErrorLen::None {
            reference::unmask(&mut bytes[end..], mask);
            return Validated { valid_up_to: valid, ..found };
        }
        unmasked = end;
    }
}
