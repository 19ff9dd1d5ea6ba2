//! Memory as the output of an operation.

use core::mem::{MaybeUninit, size_of_val};
use core::ptr;

/// Returns the memory of `items` as the output of an operation.
///
/// # Safety
///
/// - Only initialised bytes are written through the result, and they are valid items.
#[inline(always)]
pub(in crate::simd) unsafe fn as_uninit<T>(items: &mut [T]) -> &mut [MaybeUninit<u8>] {
    let len = size_of_val(items);
    // SAFETY: a byte needs no alignment, and the caller promises that the items stay valid.
    unsafe { &mut *ptr::slice_from_raw_parts_mut(items.as_mut_ptr().cast(), len) }
}
