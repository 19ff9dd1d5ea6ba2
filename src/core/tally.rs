use crate::core::error::Utf8Error;

/// The errors of one stream, counted, and the first of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally<E = Utf8Error> {
    count: u64,
    first: Option<E>,
}

impl<E: Copy> Tally<E> {
    pub(crate) const fn new() -> Self {
        Self { count: 0, first: None }
    }

    /// Counts an error and hands it on.
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

    /// Counts `errors`, of which `first` tells the first.
    #[cfg(feature = "alloc")]
    pub(crate) fn add(&mut self, errors: u64, first: impl FnOnce() -> Option<E>) {
        self.count += errors;
        if self.first.is_none() {
            self.first = first();
        }
    }

    /// Counts the last `errors` no more.
    #[cfg(feature = "stream")]
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
