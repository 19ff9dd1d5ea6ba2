//! What one decoder accepts and another rejects is never passed on.

mod dialects;
#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../tools/src/bin/conformance/driver/mod.rs"]
#[allow(dead_code, reason = "each user takes its own part")]
mod driver;
#[cfg(all(feature = "codec", feature = "stream"))]
#[path = "../support/lists.rs"]
mod lists;
mod never_through;
