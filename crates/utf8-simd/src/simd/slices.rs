//! Parts of slices, without a path that panics (`.ci/check no-panic` shows that none is left), slices as output, tasks for a level,
//! and tables that are computed at compile time.

use core::mem::{MaybeUninit, size_of_val};
use core::ptr;

/// Returns the first `len` bytes. There are as many.
#[inline(always)]
pub fn head(bytes: &[u8], len: usize) -> &[u8] {
    debug_assert!(len <= bytes.len());
    &bytes[..len.min(bytes.len())]
}

/// Returns what follows the first `len` items. There are as many.
#[inline(always)]
pub fn tail<T>(items: &[T], len: usize) -> &[T] {
    debug_assert!(len <= items.len());
    &items[len.min(items.len())..]
}

/// Returns what follows the first `len` items. There are as many.
#[inline(always)]
pub fn tail_mut<T>(items: &mut [T], len: usize) -> &mut [T] {
    debug_assert!(len <= items.len());
    items.get_mut(len..).unwrap_or_default()
}

/// Returns the number of bytes from the start of `items` to the next address that is a multiple of `of`.
#[inline(always)]
pub(in crate::simd) fn bytes_to_multiple<T>(items: &[T], of: usize) -> usize {
    items.as_ptr().addr().wrapping_neg() % of
}

/// Bit 7 of each byte of a word: none of them is set in ASCII.
pub(crate) const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);

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

/// A task whose loops compilers vectorise, for [`Level::run`]. Not a closure: its method is `inline(always)`, so that it becomes
/// part of a function that has the target features of the level.
pub(crate) trait Task {
    type Output;

    fn run(self) -> Self::Output;
}

/// An array whose entries are computed from their indexes. (A function cannot call a closure at compile time.)
macro_rules! table {
    ($len:literal, |$index:ident| $entry:expr) => {{
        let mut table = {
            let $index = 0;
            [$entry; $len]
        };
        let mut $index = 1;
        while $index < $len {
            table[$index] = $entry;
            $index += 1;
        }
        table
    }};
}
pub(crate) use table;
