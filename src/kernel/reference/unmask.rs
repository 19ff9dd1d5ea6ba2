//! WebSocket payloads: unmasking (RFC 6455 section 5.3), alone and together with validation.

use super::validate::validate;
use crate::kernel::validated::Validated;

/// Unmasks `bytes` in groups that compilers vectorise.
pub(in crate::kernel) fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    let (groups, rest) = bytes.as_chunks_mut::<4>();
    for group in groups {
        *group = (u32::from_ne_bytes(*group) ^ u32::from_ne_bytes(mask)).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask) {
        *byte ^= key;
    }
}

/// Unmasks `bytes` and validates them.
pub(in crate::kernel) fn unmask_and_validate(bytes: &mut [u8], mask: [u8; 4]) -> Validated {
    unmask(bytes, mask);
    validate(bytes)
}
