//! Memory for results.

use std::ops::{Deref, DerefMut};

const PAGE: usize = 4096;

/// Memory for the results of a contender. It begins with a page, so that the stores of all contenders have the same offsets: short
/// texts take up to three times as long if a store crosses the end of a page.
pub(crate) struct Room<T> {
    items: Vec<T>,
    start: usize,
}

impl<T: Clone + Default> Room<T> {
    pub(crate) fn new(len: usize) -> Self {
        Self::aligned(len, PAGE)
    }

    /// Begins at a multiple of `to` bytes instead.
    pub(crate) fn aligned(len: usize, to: usize) -> Self {
        let mut items = vec![T::default(); len + to / size_of::<T>()];
        let start = items.as_ptr().align_offset(to);
        items.truncate(start + len);
        Self { items, start }
    }
}

impl<T> Deref for Room<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items[self.start..]
    }
}

impl<T> DerefMut for Room<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.start..]
    }
}
