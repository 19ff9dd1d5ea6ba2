//! Initialised memory as the output of an operation.

use core::mem::MaybeUninit;

/// Returns `bytes` as the output of an operation.
///
/// # Safety
///
/// - Only initialised bytes are written through the result.
#[inline(always)]
pub(in crate::simd) unsafe fn as_uninit(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: both types have one layout, and the caller promises that the bytes stay initialised.
    unsafe { &mut *(core::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}
