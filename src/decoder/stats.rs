//! How many errors has a stream, and which is the first?

use crate::decoder::Utf8Error;

/// The number of errors of one stream, and the first of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorStats<E> {
    count: u64,
    first: Option<E>,
}

impl<E: Copy> ErrorStats<E> {
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
        if errors > 0 && self.first.is_none() {
            self.first = first();
        }
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    pub(crate) const fn first(&self) -> Option<E> {
        self.first
    }
}

impl<E: Copy> Default for ErrorStats<E> {
    fn default() -> Self {
        Self::new()
    }
}

/// The errors of a stream of UTF-8. As large as an [`ErrorStats`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Utf8Stats {
    count: u64,
    /// How many of them are rejections.
    rejected: u64,
    /// Meaningful if the count is not 0.
    first: Utf8Error,
}

impl Utf8Stats {
    pub(crate) const fn new() -> Self {
        Self { count: 0, rejected: 0, first: Utf8Error::PLACEHOLDER }
    }

    /// Counts an error and returns it.
    #[inline]
    pub(crate) fn note(&mut self, error: Utf8Error) -> Utf8Error {
        self.rejected += u64::from(error.is_rejection());
        self.note_ill_formed(error)
    }

    /// Like [`note`](Self::note), for an error that is known not to be a rejection. It is faster: rows `pieces/ff/all`.
    #[inline]
    pub(crate) fn note_ill_formed(&mut self, error: Utf8Error) -> Utf8Error {
        self.count += 1;
        if self.count == 1 {
            self.note_first(error);
        }
        error
    }

    #[cold]
    #[inline(never)]
    fn note_first(&mut self, error: Utf8Error) {
        self.first = error;
    }

    /// Adds `errors`, all ill-formed, to the count. `first` returns the first of them.
    #[inline]
    pub(crate) fn add(&mut self, errors: u64, first: impl FnOnce() -> Option<Utf8Error>) {
        if errors > 0
            && self.count == 0
            && let Some(first) = first()
        {
            self.first = first;
        }
        self.count += errors;
    }

    /// Adds the errors of a later part of the stream.
    pub(crate) fn extend(&mut self, later: &Self) {
        self.add(later.count, || later.first());
        self.rejected += later.rejected;
    }

    /// Subtracts the last `errors` from the count, `rejected` of which are rejections.
    pub(crate) fn forget(&mut self, errors: u64, rejected: u64) {
        self.count = self.count.saturating_sub(errors);
        self.rejected = self.rejected.saturating_sub(rejected);
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    pub(crate) const fn rejected(&self) -> u64 {
        self.rejected
    }

    pub(crate) const fn first(&self) -> Option<Utf8Error> {
        if self.count > 0 { Some(self.first) } else { None }
    }
}
