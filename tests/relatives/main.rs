//! Dialects, legacy encodings, UTF-16, detection and terminals.

#[cfg(feature = "alloc")]
#[path = "../support/counting.rs"]
mod counting;
mod detect;
mod dialect;
mod dialect_codec;
mod dialect_cpython;
#[cfg(feature = "alloc")]
#[path = "../support/dialect.rs"]
mod dialect_model;
#[cfg(feature = "alloc")]
mod fallback;
#[cfg(feature = "codec")]
mod fallback_codecs;
#[cfg(all(feature = "codec", feature = "serde"))]
mod fallback_lines;
#[cfg(feature = "alloc")]
#[path = "../support/fallback.rs"]
mod fallback_model;
#[cfg(feature = "stream")]
mod fallback_streams;
#[cfg(feature = "encoding_rs")]
mod fallback_whatwg;
#[cfg(all(feature = "codec", feature = "serde"))]
#[path = "../support/lines.rs"]
mod lines;
#[path = "../support/lists.rs"]
mod lists;
#[cfg(feature = "alloc")]
#[path = "../support/reference.rs"]
#[allow(dead_code, reason = "each test binary uses its own part")]
mod reference;
#[cfg(feature = "alloc")]
#[path = "../support/utf16.rs"]
mod subject;
mod terminal;
mod utf16;
