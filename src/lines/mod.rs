//! Lines: where they end, what they are, and why one is rejected.

pub(crate) mod delimiter;
pub(crate) mod line;
pub(crate) mod machine;

pub use delimiter::Delimiter;
pub use line::{Line, LineEnd, LineError, LineErrorKind};
