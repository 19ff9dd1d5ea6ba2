//! The tally: how many errors has a stream had, and which was the first?

use crate::core::error::Utf8Error;

/// The number of errors of one stream, and the first of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally<E = Utf8Error> {
    count: u64,
    first: Option<E>,
}

impl<E: Copy> Tally<E> {
    pub(crate) const fn new() -> Self {
        Self { count: 0, first: None }
    }

    /// Counts an error and returns it.
    #[inline]
    pub(crate) fn note(&mut self, error: E) -> E {
        self.count += 1;
        if self.count == 1 {
            self.note_first(error);
        }
        error
    }

    #[cold]
    #[inline(never)]
    fn note_first(&mut self, error: E) {
        self.first = Some(error);
    }

    /// Adds `errors` to the count. `first` returns the first of them.
    #[inline]
    pub(crate) fn add(&mut self, errors: u64, first: impl FnOnce() -> Option<E>) {
        self.count += errors;
        if self.first.is_none() {
            self.first = first();
        }
    }

    /// Subtracts the last `errors` from the count.
    #[cfg(feature = "std")]
    pub(crate) fn forget(&mut self, errors: u64) {
        self.count = self.count.saturating_sub(errors);
        self.first = self.first.filter(|_| self.count > 0);
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    pub(crate) const fn first(&self) -> Option<E> {
        self.first
    }
}

impl<E: Copy> Default for Tally<E> {
    fn default() -> Self {
        Self::new()
    }
}
