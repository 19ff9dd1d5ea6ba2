//! Lines of text: their ends, their limits and their errors.

pub(crate) mod delimiter;
pub(crate) mod line;
pub(crate) mod machine;

pub use delimiter::Delimiter;
pub use line::{Line, LineEnd, LineError, LineErrorKind, LinesError};
