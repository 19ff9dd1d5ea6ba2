//! How is it noticed that a writer of text is dropped before everything is written?

/// Writes one line to standard error when it is dropped with unwritten bytes, in debug builds, at most once per
/// process.
///
/// A forgotten `flush` loses the end of a text without an error, so it should be noticed in development. It must do
/// no harm where it is intended, as when a task is cancelled: a panic would abort a process that is already panicking
/// and could end a healthy task, and release builds do nothing. After an error of the inner writer, nothing is
/// written either: the program knows.
#[derive(Debug, Default)]
pub(crate) struct Unwritten {
    #[cfg(debug_assertions)]
    is_known: bool,
}

impl Unwritten {
    /// Notes that the writer has failed, or was taken apart: unwritten bytes are then not reported.
    #[inline]
    pub(crate) fn forgive(&mut self) {
        #[cfg(debug_assertions)]
        {
            self.is_known = true;
        }
    }

    /// Call it when the writer of type `name` is dropped with `len` unwritten bytes.
    #[cfg(debug_assertions)]
    pub(crate) fn drop_with(&self, len: usize, name: &str) {
        use std::io::{Write, stderr};
        use std::sync::atomic::{AtomicBool, Ordering};

        static IS_SAID: AtomicBool = AtomicBool::new(false);
        let is_expected = len == 0 || self.is_known || std::thread::panicking();
        if !is_expected && !IS_SAID.swap(true, Ordering::Relaxed) {
            let message = "flush it, or call `into_parts` to drop them without this message";
            // `eprintln!` would panic if standard error is closed.
            let _ignored =
                writeln!(stderr(), "{name} dropped with {len} unwritten bytes: {message}");
        }
    }
}
