//! The reference: every operation in plain, safe code. It defines what is correct, and vector kernels call
//! it for what their blocks leave over.

pub(super) mod convert;
pub(super) mod find_outside;
pub(super) mod pairs;
pub(super) mod unmask;
pub(crate) mod validate;
