//! The beginning and the rest of a slice, without a path that panics. `.ci/check no-panic` shows that none is left.

/// Returns the first `len` bytes. There are as many.
#[inline(always)]
pub fn head(bytes: &[u8], len: usize) -> &[u8] {
    debug_assert!(len <= bytes.len());
    &bytes[..len.min(bytes.len())]
}

/// Returns the bytes after the first `len`. There are as many.
#[inline(always)]
pub fn tail(bytes: &[u8], len: usize) -> &[u8] {
    debug_assert!(len <= bytes.len());
    &bytes[len.min(bytes.len())..]
}
