//! Lines of text: their ends, their limits and their errors.
//!
//! `codec::Utf8LinesCodec`, `stream::Utf8Lines` and `io::Utf8Lines` read lines. Each takes a [`Delimiter`] and a
//! limit, 65,536 bytes unless you set another, and yields a [`Line`] or a [`LineError`].

pub(crate) mod delimiter;
pub(crate) mod line;
pub(crate) mod machine;

pub use delimiter::Delimiter;
pub use line::{Line, LineEnd, LineError, LineErrorKind, LinesError};
