//! The public functions, on every level of this machine, compared with the standard library or with plain loops.

mod offsets;
mod programs;
#[path = "../support/mod.rs"]
mod support;
mod text;
mod transcode;
mod validate;

use std::sync::{Mutex, MutexGuard, PoisonError};

use utf8_simd::Level;

/// The right to change the detected level, which all threads share.
struct Levels {
    best: Level,
    _lock: MutexGuard<'static, ()>,
}

impl Levels {
    fn lock() -> Self {
        static LOCK: Mutex<()> = Mutex::new(());
        let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        Self { best: Level::detect(), _lock }
    }

    /// Calls `check` with each level detected.
    fn each(&self, check: impl Fn(&str)) {
        for level in Level::available() {
            level.set_detected();
            assert_eq!(Level::detect(), level);
            check(level.name());
        }
    }
}

impl Drop for Levels {
    fn drop(&mut self) {
        self.best.set_detected();
    }
}
