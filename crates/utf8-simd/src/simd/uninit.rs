//! Memory as bytes, for loads and stores.

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

/// An item that consists of initialised bytes.
///
/// # Safety
///
/// - It has no padding, and no part of it can be uninitialised.
pub(in crate::simd) unsafe trait Initialised: Copy {}

// SAFETY: an integer.
unsafe impl Initialised for u16 {}
// SAFETY: it is represented as a `u32`.
unsafe impl Initialised for char {}

/// Returns the bytes of `items`.
#[inline(always)]
pub(in crate::simd) fn as_bytes<T: Initialised>(items: &[T]) -> &[u8] {
    // SAFETY: all of the memory is initialised, as `Initialised` promises, and a byte needs no alignment.
    unsafe { &*ptr::slice_from_raw_parts(items.as_ptr().cast(), size_of_val(items)) }
}

/// A byte into which any value can be written.
///
/// # Safety
///
/// - It is one byte, and any initialised value is valid.
pub(in crate::simd) unsafe trait AnyByte {}

// SAFETY: an integer.
unsafe impl AnyByte for u8 {}
// SAFETY: a byte, initialised or not.
unsafe impl AnyByte for MaybeUninit<u8> {}
