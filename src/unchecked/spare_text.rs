//! Encodes UTF-16 directly into the memory that a `String` has reserved.

use alloc::string::String;

use crate::kernel::Kernel;

/// Appends the text of `units` to `text`, as far as it fits in the capacity. Stops before an unpaired surrogate
/// and before a high surrogate at the end. Returns the units read. Allocates nothing.
pub(crate) fn push_utf16(kernel: Kernel, units: &[u16], text: &mut String) -> usize {
    // SAFETY: the bytes in use are not changed, and the length grows over well-formed text only.
    let bytes = unsafe { text.as_mut_vec() };
    let (read, written) = kernel.encode_utf16_into_spare(units, bytes.spare_capacity_mut());
    let len = bytes.len() + written;
    // SAFETY: the kernel promises that the first `written` bytes of the spare capacity are now initialised
    // and are whole, well-formed characters. `tests/kernels/utf16.rs` checks every kernel.
    unsafe { bytes.set_len(len) };
    read
}
