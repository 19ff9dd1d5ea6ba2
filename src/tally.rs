use crate::error::Utf8Error;

/// The errors of one stream, counted, and the first of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    count: u64,
    first: Option<Utf8Error>,
}

impl Tally {
    /// Counts an error and hands it on.
    #[inline]
    pub(crate) fn note(&mut self, error: Utf8Error) -> Utf8Error {
        self.count += 1;
        if self.count == 1 {
            self.note_first(error);
        }
        error
    }

    #[cold]
    #[inline(never)]
    fn note_first(&mut self, error: Utf8Error) {
        self.first = Some(error);
    }

    /// Counts `errors`, of which `first` tells the first.
    #[cfg(feature = "alloc")]
    pub(crate) fn add(&mut self, errors: u64, first: impl FnOnce() -> Option<Utf8Error>) {
        self.count += errors;
        if self.first.is_none() {
            self.first = first();
        }
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    pub(crate) const fn first(&self) -> Option<Utf8Error> {
        self.first
    }
}
