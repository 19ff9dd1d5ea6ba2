//! How does text grow up to a limit?

use alloc::string::String;

/// Appends `more`, unless `text` would become longer than `max_length`: then it returns `error`.
pub(crate) fn append_within<E>(
    text: &mut String,
    more: &str,
    max_length: usize,
    error: impl FnOnce() -> E,
) -> Result<(), E> {
    if more.len() > max_length.saturating_sub(text.len()) {
        return Err(error());
    }
    push_within(text, more, max_length);
    Ok(())
}

/// Appends `more`, which fits.
///
/// The capacity of `text` doubles like that of a `String`, but never exceeds `max_length`.
#[inline]
pub(crate) fn push_within(text: &mut String, more: &str, max_length: usize) {
    if more.len() > text.capacity() - text.len() {
        grow(text, more.len(), max_length);
    }
    text.push_str(more);
}

/// Makes room for `more` bytes, which fit.
#[cold]
fn grow(text: &mut String, more: usize, max_length: usize) {
    let needed = text.len() + more;
    let capacity = needed.max(text.capacity().saturating_mul(2)).min(max_length);
    text.reserve_exact(capacity.max(needed) - text.len());
}
